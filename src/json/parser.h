/*
 * src/json/parser.h - one parse, of text or of binary JSON: where it reads, where it writes, how it failed.
 * Room, of text. Each token writes at most 7 bytes more than its text has (a container's header for two
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

void parser_init(struct parser *p, struct op *op, struct slice bytes);

/* Tells the client what is wrong at p->at; false, to be returned. The others say what they are about. */
bool parser_fail(struct parser *p, const char *what);
bool parser_fail_too_large(struct parser *p);
bool parser_fail_too_deep(struct parser *p);

/* So many bytes more behind p->to, which may move. The output stays within the format's 32-bit sizes. */
bool parser_grow(struct parser *p, size_t bytes);

/*
 * What a name that repeats leaves: each name once, where it came first, with the value that came last. The object's
 * header is at `start`, and its last value ends the output. `spare` bytes of room are left behind it.
 */
bool parser_drop_repeated(struct parser *p, const struct object_names *names, size_t start, size_t spare);

static inline size_t parser_place(const struct parser *p)
{
    return (size_t)(p->to - (const uint8_t *)p->out.data);
}

/* The header of the container that began at `start`, whose last value ends the output. */
static inline void parser_end_container(struct parser *p, size_t start, enum tag tag, size_t count)
{
    uint8_t *header = (uint8_t *)p->out.data + start;

    put_container_header(header, tag, (size_t)(p->to - header) - CONTAINER_HEADER, count);
}

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
