/*
 * src/json/format.h - the bytes that json.h lays out: tags, sizes, loads and stores.
 * Only json/ includes this. Writers here ask for room that their caller has made.
 */
#pragma once
#include <assert.h>
#include <endian.h>
#include <math.h>
#include <string.h>

#include "json/json.h"

enum tag {
    TAG_NULL = 0x01,
    TAG_FALSE,
    TAG_TRUE,
    TAG_I8,
    TAG_I16,
    TAG_I32,
    TAG_I64,
    TAG_F64,
    TAG_LONG_STRING,
    TAG_ESCAPED_STRING,
    TAG_ARRAY,
    TAG_OBJECT,
    TAG_SMALL_INT = 0x20,    /* and the number itself, up to 0x3f */
    TAG_SHORT_STRING = 0x40, /* and the size, up to 0x7f */
    TAG_END = 0x80,
};

enum {
    SMALL_INT_END = 32,
    SHORT_STRING_END = 64,
    STRING_HEADER = 5,    /* of a string that is not short: tag, size */
    CONTAINER_HEADER = 9, /* tag, body size (what follows the header), count */
    NUMBER_BYTES_MAX = 9,
};

static inline uint32_t load_u32(const uint8_t *at)
{
    uint32_t number;

    memcpy(&number, at, sizeof(number));
    return le32toh(number);
}

static inline uint64_t load_u64(const uint8_t *at)
{
    uint64_t number;

    memcpy(&number, at, sizeof(number));
    return le64toh(number);
}

static inline void store_u32(uint8_t *to, uint32_t number)
{
    number = htole32(number);
    memcpy(to, &number, sizeof(number));
}

static inline void store_u64(uint8_t *to, uint64_t number)
{
    number = htole64(number);
    memcpy(to, &number, sizeof(number));
}

static inline double load_double(const uint8_t *at)
{
    uint64_t bits = load_u64(at);
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static inline bool tag_is_string(uint8_t tag)
{
    return tag >= TAG_SHORT_STRING || tag == TAG_LONG_STRING || tag == TAG_ESCAPED_STRING;
}

/* The whole of a value, its tag included. */
static inline size_t size_at(const uint8_t *at)
{
    static const uint8_t fixed[TAG_SMALL_INT] = { 0, 1, 1, 1, 2, 3, 5, 9, 9, 5, 5, 9, 9 };
    uint8_t tag = *at;

    if (tag >= TAG_SMALL_INT)
        return tag >= TAG_SHORT_STRING ? 1 + (size_t)(tag - TAG_SHORT_STRING) : 1;
    return fixed[tag] + (tag >= TAG_LONG_STRING ? (size_t)load_u32(at + 1) : 0);
}

static inline struct slice string_at(const uint8_t *at)
{
    if (*at >= TAG_SHORT_STRING)
        return slice_make(at + 1, *at - TAG_SHORT_STRING);
    return slice_make(at + STRING_HEADER, load_u32(at + 1));
}

static inline int64_t int_at(const uint8_t *at)
{
    switch (*at) {
    case TAG_I8:
        return (int8_t)at[1];
    case TAG_I16:
        return (int16_t)(at[1] | at[2] << 8);
    case TAG_I32:
        return (int32_t)load_u32(at + 1);
    case TAG_I64:
        return (int64_t)load_u64(at + 1);
    default:
        return *at - TAG_SMALL_INT;
    }
}

static inline uint8_t *put_int(uint8_t *to, int64_t number)
{
    if (number >= 0 && number < SMALL_INT_END) {
        *to = (uint8_t)(TAG_SMALL_INT + number);
        return to + 1;
    }
    store_u32(to + 1, (uint32_t)number);
    if (number == (int8_t)number) {
        *to = TAG_I8;
        return to + 2;
    }
    if (number == (int16_t)number) {
        *to = TAG_I16;
        return to + 3;
    }
    if (number == (int32_t)number) {
        *to = TAG_I32;
        return to + 5;
    }
    *to = TAG_I64;
    store_u64(to + 1, (uint64_t)number);
    return to + 9;
}

/* Whether a double is an int64: then it is stored as one. */
static inline bool double_is_int(double number)
{
    return number >= -0x1p63 && number < 0x1p63 && (double)(int64_t)number == number;
}

static inline uint8_t *put_double(uint8_t *to, double number)
{
    uint64_t bits;

    if (double_is_int(number))
        return put_int(to, (int64_t)number);
    memcpy(&bits, &number, sizeof(bits));
    *to = TAG_F64;
    store_u64(to + 1, bits);
    return to + 9;
}

/* The header of a string; its bytes follow. */
static inline uint8_t *put_string_header(uint8_t *to, size_t size, bool escaped)
{
    if (size < SHORT_STRING_END && !escaped) {
        *to = (uint8_t)(TAG_SHORT_STRING + size);
        return to + 1;
    }
    *to = escaped ? TAG_ESCAPED_STRING : TAG_LONG_STRING;
    store_u32(to + 1, (uint32_t)size);
    return to + STRING_HEADER;
}

static inline void put_container_header(uint8_t *to, enum tag tag, size_t body_bytes, size_t count)
{
    *to = (uint8_t)tag;
    store_u32(to + 1, (uint32_t)body_bytes);
    store_u32(to + 5, (uint32_t)count);
}
