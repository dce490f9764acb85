/*
 * src/keys/bytes.h - integers as bytes: big-endian in keys, where byte order must be number order,
 * little-endian in values, as json.h has it. `count` is a constant wherever these are called, and
 * the compiler makes one instruction of each loop.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline void put_be(uint8_t *to, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)(number >> (8 * (count - 1 - i)));
}

static inline uint64_t get_be(const void *from, size_t count)
{
    const uint8_t *bytes = from;
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

static inline void put_le(uint8_t *to, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

static inline uint64_t get_le(const void *from, size_t count)
{
    const uint8_t *bytes = from;
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}
