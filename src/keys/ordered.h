/*
 * src/keys/ordered.h - a JSON value as bytes that sort by memcmp as ORDER BY sorts.
 *
 *     kind 1 byte: undefined 01, null 02, false 03, true 04, number 05, string 06, array 07, object 08
 *     number: the largest double not above it, 8 bytes in order-preserving form; then 00, or for an
 *             int64 that is no double 01 and the exact difference, 2 bytes
 *     string: each byte plus one, then 00; past 256 bytes the first 256, then 01 and a 128-bit hash
 *     array, object: a 128-bit hash
 *
 * The bytes tell where they end, so a document number may follow. Where they hold a hash, two different values may
 * have the same bytes: only the document tells them apart.
 */
#pragma once
#include "json/json.h"

enum { ORDERED_STRING_BYTES = 256, ORDERED_BYTES_MAX = 1 + ORDERED_STRING_BYTES + 1 + 16 };

size_t ordered_encode(struct json value, uint8_t out[ORDERED_BYTES_MAX]);

/* An array or an object whose json_hash() is known already. */
enum { ORDERED_HASHED_BYTES = 1 + 16 };

size_t ordered_encode_hashed(enum json_kind kind, struct hash128 hash, uint8_t out[ORDERED_HASHED_BYTES]);

/* A time, as the number of whole seconds that _ts shows. For descending order every bit is inverted. */
enum { ORDERED_TIME_BYTES = 10 };

void ordered_put_time(uint8_t out[ORDERED_TIME_BYTES], int64_t ts_ms, bool descending);

/* How many bytes the value at the front takes; 0 when the bytes are no ordered value. */
size_t ordered_size(struct slice bytes);

/* Whether the bytes hold a hash in place of the value. */
bool ordered_is_hashed(struct slice bytes);

/* Makes the value again, in the op's arena. Undefined when the bytes hold undefined, and when they hold a hash. */
struct json ordered_decode(struct op *op, struct slice bytes);
