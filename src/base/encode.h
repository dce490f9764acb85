/*
 * src/base/encode.h - bytes as text and back: base64, hexadecimal, percent-encoding, dates.
 * Decoders answer false for anything malformed and never write past what they were given.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

/* The standard alphabet with padding. */
void base64_encode(struct buf *out, struct slice bytes);

/* Room needed: 3 bytes for each 4 characters. Padding is required; nothing may follow it.
   Bytes have one text: bits that belong to no byte must be zero. */
bool base64_decode(struct slice text, uint8_t *bytes, size_t capacity, size_t *size);

void hex_encode_upper(struct buf *out, struct slice bytes);
bool hex_decode(struct slice text, uint8_t *bytes, size_t capacity, size_t *size);

/* Percent-decoding only: a plus sign stays a plus sign. */
bool percent_decode(struct arena *arena, struct slice text, struct slice *decoded);

/* Escapes all but unreserved characters (RFC 3986). */
void percent_encode(struct buf *out, struct slice text);

enum { HTTP_DATE_SIZE = 29 };

/* "Thu, 27 Apr 2017 00:51:12 GMT". Strangers choose times, too: what is before 1970 or after 9999 is the first or the last of these. */
void http_date_format(int64_t ms, char date[HTTP_DATE_SIZE + 1]);
bool http_date_parse(struct slice date, int64_t *ms);

/*
 * The text as it stands between the quotes of a JSON string. What is no UTF-8 becomes U+FFFD. As much as there is room for: a
 * byte takes six at most. How many bytes were written.
 */
enum { QUOTED_BYTES_MAX = 6 };
size_t quoted_write(char *to, size_t room, struct slice text);
