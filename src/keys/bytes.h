/*
 * src/keys/bytes.h - integers as bytes: big-endian in keys, where byte order must be number order,
 * little-endian in values, as json.h has it. `count` is a constant of up to 8 wherever these are called, and then each is an
 * instruction or two: gcc does not make these of a loop over the bytes.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are stored as they lie in memory");

static inline void put_le(uint8_t *to, uint64_t number, size_t count)
{
    memcpy(to, &number, count);
}

static inline void put_be(uint8_t *to, uint64_t number, size_t count)
{
    if (count)
        put_le(to, __builtin_bswap64(number << 8 * (8 - count)), count);
}

static inline uint64_t get_some_le(const void *from, size_t count)
{
    uint64_t number = 0;

    memcpy(&number, from, count);
    return number;
}

/* What is neither 4 nor 8 long is put together in registers: through memory it would wait for what was just written. */
static inline uint64_t get_le(const void *from, size_t count)
{
    if (count > 4 && count < 8)
        return get_some_le(from, 4) | get_some_le((const uint8_t *)from + 4, count - 4) << 32;
    return get_some_le(from, count);
}

static inline uint64_t get_be(const void *from, size_t count)
{
    return count ? __builtin_bswap64(get_le(from, count)) >> 8 * (8 - count) : 0;
}
