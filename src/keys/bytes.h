/*
 * src/keys/bytes.h - integers as bytes: big-endian in keys, where byte order must be number order,
 * little-endian in values, as json.h has it. `count` is a constant wherever these are called, and
 * the compiler makes an instruction or two of each; of a loop over the bytes it would make some for each.
 */
#pragma once
#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void put_be(uint8_t *to, uint64_t number, size_t count)
{
    assert(count && count <= sizeof(number));
    number = htobe64(number << 8 * (sizeof(number) - count));
    memcpy(to, &number, count);
}

static inline void put_le(uint8_t *to, uint64_t number, size_t count)
{
    assert(count && count <= sizeof(number));
    number = htole64(number);
    memcpy(to, &number, count);
}

/* In its parts of 4, 2 and 1: what is put together in memory is not there yet when it is read as a whole. */
static inline uint64_t get_le(const void *from, size_t count)
{
    const uint8_t *at = (const uint8_t *)from + count;
    uint64_t number = 0;
    uint32_t four;
    uint16_t two;

    assert(count && count <= sizeof(number));
    if (count == sizeof(number)) {
        memcpy(&number, from, sizeof(number));
        return le64toh(number);
    }
    if (count & 1)
        number = *--at;
    if (count & 2) {
        memcpy(&two, at -= sizeof(two), sizeof(two));
        number = number << 16 | le16toh(two);
    }
    if (count & 4) {
        memcpy(&four, at - sizeof(four), sizeof(four));
        number = number << 32 | le32toh(four);
    }
    return number;
}

static inline uint64_t get_be(const void *from, size_t count)
{
    const uint8_t *at = from;
    uint64_t number = 0;
    uint32_t four;
    uint16_t two;

    assert(count && count <= sizeof(number));
    if (count == sizeof(number)) {
        memcpy(&number, from, sizeof(number));
        return be64toh(number);
    }
    if (count & 4) {
        memcpy(&four, at, sizeof(four));
        number = be32toh(four);
        at += sizeof(four);
    }
    if (count & 2) {
        memcpy(&two, at, sizeof(two));
        number = number << 16 | be16toh(two);
        at += sizeof(two);
    }
    return count & 1 ? number << 8 | *at : number;
}
