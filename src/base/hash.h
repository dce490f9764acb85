/* src/base/hash.h - checksums and hashes. Their values are part of formats and of the protocol. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli). Continue a checksum by passing the last one; begin with 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

/* The same for processors that have no instruction for it. */
uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t size);

/* MurmurHash3 by Austin Appleby, seed 0, as the protocol's partition keys use it. */
uint32_t murmur3_32(const void *data, size_t size);

struct hash128 {
    uint64_t h1, h2;
};

struct hash128 murmur3_128(const void *data, size_t size);

/* The same, begun with another seed than 0. */
struct hash128 murmur3_128_from(struct hash128 seed, const void *data, size_t size);

/* The same of bytes that come piece by piece. Begins as { 0 }. */
enum { MURMUR3_BLOCK_BYTES = 16 };

struct murmur3 {
    struct hash128 hash;
    uint8_t block[MURMUR3_BLOCK_BYTES];
    size_t size;
};

void murmur3_add(struct murmur3 *murmur3, const void *data, size_t size);
struct hash128 murmur3_end(struct murmur3 *murmur3);

/*
 * SipHash-2-4 of 128 bits, by Aumasson and Bernstein. Anybody can make two texts with one MurmurHash3, whatever its
 * seed. Of this hash nobody can who does not know the seed, so it may stand for what it was made of.
 */
struct hash_seed {
    uint64_t k0, k1;
};

struct hash128 siphash_128(struct hash_seed seed, const void *data, size_t size);

static inline bool hash_seed_is_none(struct hash_seed seed)
{
    return (seed.k0 | seed.k1) == 0;
}
