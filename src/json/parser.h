/*
 * src/json/parser.h - one parse: where it reads, where it writes, how it failed.
 * Room. Each token writes at most 7 bytes more than its text has (a container's header for two
 * brackets). So each begins by making sure that there is room for the rest of the text and
 * TOKEN_ROOM, and then nothing inside it asks again.
 */
#pragma once
#include "json/names.h"
#include "json/scan.h"

enum { TOKEN_ROOM = 32 }; /* 7, and the block that copy_plain() may write past its end */

struct parser {
    struct op *op;
    const uint8_t *text, *at, *end;
    uint8_t *to, *limit; /* in out.data; out.size is brought up to date when it grows */
    struct buf out;
    enum status status;
    struct names names;
};

/* Tells the client what is wrong at p->at; false, to be returned. */
bool parser_fail(struct parser *p, const char *what);

/* A string to bytes, whatever it is made of; p->at is at its opening quote. */
bool parser_any_string(struct parser *p);

/* The same. Most strings are plain and end within one block; these need no call and no loop. */
static inline bool parser_string(struct parser *p)
{
    const uint8_t *start = p->at + 1;
    uint8_t *to = p->to;
    uint64_t mask;
    size_t size;

    if (p->end - start < BLOCK)
        return parser_any_string(p);
    mask = block_not_plain(start);
    size = mask ? first_in_mask(mask) : BLOCK;
    memcpy(to + 1, start, BLOCK);
    if (!mask || start[size] != '"')
        return parser_any_string(p);
    *to = (uint8_t)(TAG_SHORT_STRING + size);
    p->to = to + 1 + size;
    p->at = start + size + 1;
    return true;
}
