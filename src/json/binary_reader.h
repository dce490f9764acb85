/*
 * src/json/binary_reader.h - one reading of binary JSON: parser.h, and where the innermost container ends.
 * The innermost container that has a length bounds what is read; others end where their contents do.
 * Room. What a token stands for may be larger than the token, so each asks for room for what it writes.
 */
#pragma once
#include "json/binary_format.h"
#include "json/parser.h"

enum {
    READER_ROOM = 32
}; /* beside what is asked for: a header, and what the hash of a name looks at behind it */

struct reader {
    struct parser p;    /* whose end is that of all bytes */
    const uint8_t *end; /* of the innermost container that has a length */
};

/* What a slow growth asks for: see parser_grow(). */
bool reader_grow(struct reader *r, size_t bytes);

/* The bytes end before the value does; false, to be returned. */
bool reader_fail_end(struct reader *r);

/* A string to bytes of ours. p.at is behind the marker, which is a string's. */
bool reader_is_string(uint8_t marker);
bool reader_string(struct reader *r, uint8_t marker);

/* Values that JSON has as strings: a GUID, and bytes as base64. */
bool reader_guid_value(struct reader *r);
bool reader_bytes(struct reader *r, uint8_t marker);

/* Plain text of that size; p.at is at its first byte. */
bool reader_plain(struct reader *r, uint64_t size);

static inline size_t reader_left(const struct reader *r)
{
    return (size_t)(r->end - r->p.at);
}

static inline bool reader_room(struct reader *r, size_t bytes)
{
    return (size_t)(r->p.limit - r->p.to) >= bytes + READER_ROOM || reader_grow(r, bytes + READER_ROOM);
}

static inline uint64_t reader_load(const uint8_t *at, size_t bytes)
{
    uint64_t number = 0;

    while (bytes--)
        number = number << 8 | at[bytes];
    return number;
}

/* A number of that many bytes; p.at is behind it then. */
static inline bool reader_take(struct reader *r, size_t bytes, uint64_t *number)
{
    if (reader_left(r) < bytes) {
        reader_fail_end(r);
        return false; /* here, so that the compiler sees it */
    }
    *number = reader_load(r->p.at, bytes);
    r->p.at += bytes;
    return true;
}

/* The same for a size below SHORT_STRING_END. Most strings are plain and end within one block: these need no call. */
static inline bool reader_short(struct reader *r, size_t size)
{
    const uint8_t *from = r->p.at;
    uint8_t *to = r->p.to;
    uint64_t mask;

    if (size > BLOCK || size > reader_left(r) || r->p.end - from < BLOCK || r->p.limit - to < READER_ROOM)
        return reader_plain(r, size);
    mask = block_not_plain(from);
    memcpy(to + 1, from, BLOCK);
    if (mask && first_in_mask(mask) < size)
        return reader_plain(r, size);
    *to = (uint8_t)(TAG_SHORT_STRING + size);
    r->p.to = to + 1 + size;
    r->p.at = from + size;
    return true;
}
