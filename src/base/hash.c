/*
 * src/base/hash.c - CRC-32C, by the processor where it can, MurmurHash3, and SipHash.
 * They read words as they lie in memory, which is right on little-endian machines only.
 */
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

/* Processors that have CRC-32C: how to know, how to tell the compiler, and the two sizes of the instruction. */
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#define CRC_TARGET __attribute__((target("sse4.2")))
#define CRC_LANES_TARGET __attribute__((target("sse4.2,pclmul")))
#define crc_word(crc, word) ((uint32_t)_mm_crc32_u64(crc, word))
#define crc_byte(crc, byte) _mm_crc32_u8(crc, byte)
#define processor_has_crc() __builtin_cpu_supports("sse4.2")
#elif defined(__ARM_FEATURE_CRC32) /* the compiler was told of a processor that has it */
#include <arm_acle.h>
#define CRC_TARGET
#define crc_word(crc, word) __crc32cd(crc, word)
#define crc_byte(crc, byte) __crc32cb(crc, byte)
#define processor_has_crc() true
#elif defined(__aarch64__) && defined(__linux__) && !defined(__clang__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define CRC_TARGET __attribute__((target("+crc")))
#define crc_word(crc, word) __crc32cd(crc, word)
#define crc_byte(crc, byte) __crc32cb(crc, byte)
#define processor_has_crc() ((getauxval(AT_HWCAP) & HWCAP_CRC32) != 0)
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are loaded as they lie in memory");

static uint64_t load64(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

static uint32_t load32(const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

/* ------- CRC-32C ------- */

/* A checksum is linear: the entry of a byte is the sum of the entries of its bits. */
#define ENTRY(i)                                                                           \
    (((i)&1 ? 0xf26b8303u : 0) ^ ((i)&2 ? 0xe13b70f7u : 0) ^ ((i)&4 ? 0xc79a971fu : 0) ^   \
     ((i)&8 ? 0x8ad958cfu : 0) ^ ((i)&16 ? 0x105ec76fu : 0) ^ ((i)&32 ? 0x20bd8edeu : 0) ^ \
     ((i)&64 ? 0x417b1dbcu : 0) ^ ((i)&128 ? 0x82f63b78u : 0))
#define ENTRIES_4(i) ENTRY(i), ENTRY(i + 1), ENTRY(i + 2), ENTRY(i + 3)
#define ENTRIES_16(i) ENTRIES_4(i), ENTRIES_4(i + 4), ENTRIES_4(i + 8), ENTRIES_4(i + 12)
#define ENTRIES_64(i) ENTRIES_16(i), ENTRIES_16(i + 16), ENTRIES_16(i + 32), ENTRIES_16(i + 48)

static const uint32_t crc_table[256] = { ENTRIES_64(0), ENTRIES_64(64), ENTRIES_64(128), ENTRIES_64(192) };

uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;

    crc = ~crc;
    for (; size; size--)
        crc = crc >> 8 ^ crc_table[(crc ^ *at++) & 0xff];
    return ~crc;
}

#ifdef CRC_TARGET

CRC_TARGET static uint32_t crc_by_processor(uint32_t crc, const uint8_t *at, size_t size)
{
    crc = ~crc;
    for (; size >= 8; size -= 8, at += 8)
        crc = crc_word(crc, load64(at));
    for (; size; size--)
        crc = crc_byte(crc, *at++);
    return ~crc;
}

#ifdef CRC_LANES_TARGET

/*
 * An instruction waits for the one before it, of the same checksum: so three checksums go on side by side, each over a
 * third of a block, and are added up. That of the first is multiplied by x^(8n - 33) for the n bytes behind it,
 * that of the second likewise; the instruction that makes 32 bits of the product's 64 does the rest.
 */
enum { SHORT_LANE = 64, LONG_LANE = 256 };

#define SHIFT_64 0x9e4addf8
#define SHIFT_128 0x0d3b6092
#define SHIFT_256 0xb9e02b86
#define SHIFT_512 0xdd7e3b0c

CRC_LANES_TARGET static uint64_t shifted(uint32_t crc, uint32_t by)
{
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128(crc), _mm_cvtsi64_si128(by), 0));
}

CRC_LANES_TARGET static uint32_t crc_of_lanes(uint32_t crc, const uint8_t *at, size_t lane, uint32_t one,
                                              uint32_t two)
{
    uint32_t second = 0, third = 0;

    for (size_t i = 0; i < lane; i += 8) {
        crc = crc_word(crc, load64(at + i));
        second = crc_word(second, load64(at + lane + i));
        third = crc_word(third, load64(at + 2 * lane + i));
    }
    return crc_word(0, shifted(crc, two) ^ shifted(second, one)) ^ third;
}

/* As much of it as blocks are made of; the checksum without its first and last inversion. */
CRC_LANES_TARGET static uint32_t crc_of_blocks(uint32_t crc, const uint8_t *at, size_t size)
{
    for (; size >= 3 * LONG_LANE; size -= 3 * LONG_LANE, at += 3 * LONG_LANE)
        crc = crc_of_lanes(crc, at, LONG_LANE, SHIFT_256, SHIFT_512);
    for (; size >= 3 * SHORT_LANE; size -= 3 * SHORT_LANE, at += 3 * SHORT_LANE)
        crc = crc_of_lanes(crc, at, SHORT_LANE, SHIFT_64, SHIFT_128);
    return crc;
}

static uint32_t crc_by_best(uint32_t crc, const uint8_t *at, size_t size)
{
    size_t blocks = size - size % (3 * LONG_LANE) % (3 * SHORT_LANE);

    if (!blocks || !__builtin_cpu_supports("pclmul"))
        return crc_by_processor(crc, at, size);
    crc = ~crc_of_blocks(~crc, at, blocks);
    return crc_by_processor(crc, at + blocks, size - blocks);
}

#else
#define crc_by_best crc_by_processor
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
    return processor_has_crc() ? crc_by_best(crc, data, size) : crc32c_by_table(crc, data, size);
}

#else

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
    return crc32c_by_table(crc, data, size);
}

#endif

/* ------- MurmurHash3 ------- */

static uint32_t rotate32(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t scramble32(uint32_t word)
{
    return rotate32(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

uint32_t murmur3_32(const void *data, size_t size)
{
    const uint8_t *at = data;
    uint8_t tail[4] = { 0 };
    uint32_t hash = 0;
    size_t left;

    for (left = size; left >= 4; left -= 4, at += 4)
        hash = rotate32(hash ^ scramble32(load32(at)), 13) * 5 + 0xe6546b64u;
    if (left)
        memcpy(tail, at, left);
    hash ^= scramble32(load32(tail)); /* changes nothing when there is no tail */
    hash ^= (uint32_t)size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static uint64_t rotate64(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static const uint64_t factor1 = 0x87c37b91114253d5u, factor2 = 0x4cf5ad432745937fu;

static uint64_t scramble_first(uint64_t word)
{
    return rotate64(word * factor1, 31) * factor2;
}

static uint64_t scramble_second(uint64_t word)
{
    return rotate64(word * factor2, 33) * factor1;
}

static uint64_t finish64(uint64_t word)
{
    word = (word ^ word >> 33) * 0xff51afd7ed558ccdu;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53u;
    return word ^ word >> 33;
}

static struct hash128 mix_block(struct hash128 hash, const uint8_t *block)
{
    hash.h1 ^= scramble_first(load64(block));
    hash.h1 = (rotate64(hash.h1, 27) + hash.h2) * 5 + 0x52dce729u;
    hash.h2 ^= scramble_second(load64(block + 8));
    hash.h2 = (rotate64(hash.h2, 31) + hash.h1) * 5 + 0x38495ab5u;
    return hash;
}

/* What is left of less than a block, and zeros. */
static struct hash128 mix_end(struct hash128 hash, const uint8_t tail[MURMUR3_BLOCK_BYTES], size_t size)
{
    hash.h1 ^= scramble_first(load64(tail)) ^ size;
    hash.h2 ^= scramble_second(load64(tail + 8)) ^ size;
    hash.h1 += hash.h2;
    hash.h2 += hash.h1;
    hash.h1 = finish64(hash.h1);
    hash.h2 = finish64(hash.h2);
    hash.h1 += hash.h2;
    hash.h2 += hash.h1;
    return hash;
}

struct hash128 murmur3_128(const void *data, size_t size)
{
    return murmur3_128_from((struct hash128){ 0 }, data, size);
}

struct hash128 murmur3_128_from(struct hash128 seed, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint8_t tail[MURMUR3_BLOCK_BYTES] = { 0 };
    struct hash128 hash = seed;
    size_t left;

    for (left = size; left >= MURMUR3_BLOCK_BYTES; left -= MURMUR3_BLOCK_BYTES, at += MURMUR3_BLOCK_BYTES)
        hash = mix_block(hash, at);
    if (left)
        memcpy(tail, at, left);
    return mix_end(hash, tail, size);
}

void murmur3_add(struct murmur3 *murmur3, const void *data, size_t size)
{
    const uint8_t *at = data;

    while (size) {
        size_t used = murmur3->size % MURMUR3_BLOCK_BYTES, part = MURMUR3_BLOCK_BYTES - used;

        if (part > size)
            part = size;
        memcpy(murmur3->block + used, at, part);
        murmur3->size += part;
        at += part;
        size -= part;
        if (murmur3->size % MURMUR3_BLOCK_BYTES == 0)
            murmur3->hash = mix_block(murmur3->hash, murmur3->block);
    }
}

struct hash128 murmur3_end(struct murmur3 *murmur3)
{
    size_t used = murmur3->size % MURMUR3_BLOCK_BYTES;

    memset(murmur3->block + used, 0, MURMUR3_BLOCK_BYTES - used);
    return mix_end(murmur3->hash, murmur3->block, murmur3->size);
}

/* ------- SipHash ------- */

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t turn_left(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_rounds(struct sip *sip, int count)
{
    while (count-- > 0) {
        sip->v0 += sip->v1;
        sip->v2 += sip->v3;
        sip->v1 = turn_left(sip->v1, 13) ^ sip->v0;
        sip->v3 = turn_left(sip->v3, 16) ^ sip->v2;
        sip->v0 = turn_left(sip->v0, 32) + sip->v3;
        sip->v2 += sip->v1;
        sip->v3 = turn_left(sip->v3, 21) ^ sip->v0;
        sip->v1 = turn_left(sip->v1, 17) ^ sip->v2;
        sip->v2 = turn_left(sip->v2, 32);
    }
}

static void sip_word(struct sip *sip, uint64_t word)
{
    sip->v3 ^= word;
    sip_rounds(sip, 2);
    sip->v0 ^= word;
}

static uint64_t sip_end(struct sip *sip)
{
    sip_rounds(sip, 4);
    return sip->v0 ^ sip->v1 ^ sip->v2 ^ sip->v3;
}

struct hash128 siphash_128(struct hash_seed seed, const void *data, size_t size)
{
    struct sip sip = { seed.k0 ^ 0x736f6d6570736575u, seed.k1 ^ 0x646f72616e646f6du ^ 0xee,
                       seed.k0 ^ 0x6c7967656e657261u, seed.k1 ^ 0x7465646279746573u };
    const uint8_t *at = data, *end = at + size / 8 * 8;
    uint64_t last = (uint64_t)size << 56;
    struct hash128 hash;

    for (; at < end; at += 8)
        sip_word(&sip, load64(at));
    for (size_t i = 0; i < size % 8; i++)
        last |= (uint64_t)at[i] << 8 * i;
    sip_word(&sip, last);
    sip.v2 ^= 0xee;
    hash.h1 = sip_end(&sip);
    sip.v1 ^= 0xdd;
    hash.h2 = sip_end(&sip);
    return hash;
}
