/*
 * src/base/buf.h - bytes that grow, in an arena.
 * Appending never fails in the middle of a sentence: past the arena's limit the buffer
 * goes into a failed state, keeps what it has and ignores the rest. Ask once, at the end.
 */
#pragma once
#include "base/arena.h"

struct buf {
    char *data;
    size_t size, capacity;
    struct arena *arena;
    bool failed;
    bool moves; /* it is large, and nobody keeps a slice of it while it grows: no copy is left behind */
};

void buf_init(struct buf *buf, struct arena *arena);

/* Room for `bytes` more behind data + size, or NULL when it has failed. Grow size by what was used. */
char *buf_reserve(struct buf *buf, size_t bytes);

/* What buf_append() does where there is no room yet. */
void buf_append_growing(struct buf *buf, const void *data, size_t size);

/* Mostly there is room, and an answer's head is made of a hundred small pieces. One that has failed has no room. */
static inline void buf_append(struct buf *buf, const void *data, size_t size)
{
    if (buf->capacity - buf->size < size) {
        buf_append_growing(buf, data, size);
        return;
    }
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
}

void buf_u64(struct buf *buf, uint64_t number); /* decimal */

__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *buf, const char *fmt, ...);

static inline void buf_slice(struct buf *buf, struct slice bytes)
{
    buf_append(buf, bytes.data, bytes.size);
}

static inline void buf_text(struct buf *buf, const char *text)
{
    buf_append(buf, text, strlen(text));
}

static inline void buf_byte(struct buf *buf, char byte)
{
    buf_append(buf, &byte, 1);
}

static inline struct slice buf_as_slice(const struct buf *buf)
{
    return slice_make(buf->data ? buf->data : "", buf->size);
}
