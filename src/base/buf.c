/* src/base/buf.c - growing bytes. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"

enum { CAPACITY_FIRST = 256, CAPACITY_DOUBLED_MAX = 4 * 1024 * 1024 };

void buf_init(struct buf *buf, struct arena *arena)
{
    *buf = (struct buf){ .arena = arena };
}

/* One that moves without a copy grows in smaller steps once it is large. */
static size_t next_capacity(const struct buf *buf, size_t wanted)
{
    size_t capacity = buf->capacity ? 2 * buf->capacity : CAPACITY_FIRST;

    if (buf->moves && buf->capacity >= CAPACITY_DOUBLED_MAX)
        capacity = buf->capacity + buf->capacity / 4;
    return capacity < wanted ? wanted : capacity;
}

static bool grow_by_moving(struct buf *buf, size_t capacity)
{
    char *data = arena_try_regrow(buf->arena, buf->data, buf->capacity, capacity);

    if (!data)
        return false;
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

static bool grow(struct buf *buf, size_t wanted)
{
    size_t capacity = next_capacity(buf, wanted);
    char *data;

    assert(buf->size <= buf->capacity);
    assert(wanted > buf->capacity);
    if (buf->moves)
        return grow_by_moving(buf, capacity);
    if (arena_try_extend(buf->arena, buf->data, buf->capacity, capacity)) {
        buf->capacity = capacity;
        return true;
    }
    data = arena_try_alloc(buf->arena, capacity);
    if (!data)
        return false;
    if (buf->size)
        memcpy(data, buf->data, buf->size);
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

char *buf_reserve(struct buf *buf, size_t bytes)
{
    if (buf->failed)
        return NULL;
    if (buf->capacity - buf->size < bytes && !grow(buf, buf->size + bytes)) {
        buf->failed = true;
        buf->capacity = buf->size;
        return NULL;
    }
    return buf->data + buf->size;
}

void buf_append_growing(struct buf *buf, const void *data, size_t size)
{
    char *room = buf_reserve(buf, size);

    assert(size > 0);
    if (!room)
        return;
    memcpy(room, data, size);
    buf->size += size;
}

/* The two digits of each number below a hundred. */
static const char pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

void buf_u64(struct buf *buf, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    for (; number >= 100; number /= 100) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * (number % 100), 2);
    }
    if (number >= 10)
        digits[--at] = pairs[2 * number + 1];
    digits[--at] = number >= 10 ? pairs[2 * number] : (char)('0' + number);
    buf_append(buf, digits + at, sizeof(digits) - at);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    int size;
    char *room;

    va_start(args, fmt);
    size = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    room = buf_reserve(buf, (size_t)size + 1);
    if (!room)
        return;
    va_start(args, fmt);
    vsnprintf(room, (size_t)size + 1, fmt, args);
    va_end(args);
    buf->size += (size_t)size;
}
