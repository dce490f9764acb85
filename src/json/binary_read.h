/*
 * src/json/binary_read.h - binary JSON, as .NET and Rust send items, straight to the form of json.h.
 * A body in this form is known by its first byte alone: 0x80, with which no text begins. It may hold whatever text may
 * hold, within the same limits: JSON_DEPTH_MAX levels, the arena's memory for the value, valid UTF-8. What the bytes
 * say is bounded, not only how many there are: a reference of two bytes may stand for a long string.
 *
 * Taken: every form of a value that SDKs write or read, but for strings of a dictionary that is not sent. A number that
 * is no number becomes the string that the same client writes into text: "NaN", "Infinity", "-Infinity".
 * Refused with 400, though an SDK's own reader takes it: bytes behind the value, invalid UTF-8, references that do not
 * lead back.
 *
 * Ownership. The value lies in the op's arena and keeps nothing of the bytes.
 * Threads. Nothing here has state.
 */
#pragma once
#include "json/json.h"

bool json_is_binary(struct slice body);

/*
 * Binary to value; json_is_binary() has said that it is. A loop thread is told ST_WOULD_BLOCK when the value grows far
 * beyond its bytes.
 */
enum status json_parse_binary(struct op *op, struct slice bytes, struct json *value);

/* A request's body in whichever form it comes: json_parse() or the above. */
enum status json_parse_body(struct op *op, struct slice body, struct json *value);
