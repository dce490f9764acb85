/*
 * src/base/slice.h - a run of bytes that somebody else owns.
 * A slice is passed by value. data == NULL means "absent", which is not the same as empty.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *data;
    size_t size;
};

/* For printf: printf("%.*s", SLICE_ARGS(s)). */
#define SLICE_ARGS(s) (int)(s).size, (s).data

static inline struct slice slice_make(const void *data, size_t size)
{
    return (struct slice){ data, size };
}

static inline struct slice slice_of(const char *text)
{
    return (struct slice){ text, strlen(text) };
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_of(text));
}

/* Byte order, a prefix before what it begins: the order of keys in the store. */
static inline int slice_compare(struct slice a, struct slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.data, b.data, common) : 0;

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static inline bool slice_starts_with(struct slice a, const char *prefix)
{
    size_t size = strlen(prefix);

    return a.size >= size && memcmp(a.data, prefix, size) == 0;
}

/* What is left after the first `count` bytes. */
static inline struct slice slice_after(struct slice a, size_t count)
{
    return (struct slice){ a.data + count, a.size - count };
}

/* ASCII only, which is what HTTP and the protocol's keywords are made of. */
bool slice_equal_nocase(struct slice a, struct slice b);

/* Mostly the sizes differ, and that of a keyword is known to the compiler. */
static inline bool slice_is_nocase(struct slice a, const char *text)
{
    return a.size == strlen(text) && slice_equal_nocase(a, slice_make(text, a.size));
}

/* To lower case, into room for as many bytes. */
void slice_lower(struct slice a, char *to);

struct slice slice_trim_blanks(struct slice a);

/* Without the blanks around it. Mostly there are none. */
static inline struct slice slice_trim(struct slice a)
{
    if (a.size == 0 || ((unsigned char)a.data[0] > ' ' && (unsigned char)a.data[a.size - 1] > ' '))
        return a;
    return slice_trim_blanks(a);
}

/* Decimal digits only; false when empty, malformed or too large. */
bool slice_to_u64(struct slice a, uint64_t *number);
bool slice_to_i64(struct slice a, int64_t *number);
