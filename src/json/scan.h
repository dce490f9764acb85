/*
 * src/json/scan.h - the bytes of a string, a block at a time.
 * A byte is "plain" when it is ASCII and JSON need not escape it. A mask has its lowest set
 * bits at the first byte of a block that is not; BLOCK_SHIFT turns bits into bytes.
 * SCAN_BY_WORDS takes the way of a processor that has no instructions for it.
 */
#pragma once
#include "json/format.h"

#if defined(__SSE2__) && !defined(SCAN_BY_WORDS)
#include <emmintrin.h>

enum { BLOCK = 16, BLOCK_SHIFT = 0 };

static inline uint64_t block_escapes(const uint8_t *from)
{
    __m128i x = _mm_loadu_si128((const __m128i *)from);
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);

    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
}

static inline uint64_t block_not_plain(const uint8_t *from)
{
    __m128i x = _mm_loadu_si128((const __m128i *)from);
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20)); /* signed: 0x80 and up as well */

    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
}
#elif defined(__ARM_NEON) && !defined(SCAN_BY_WORDS)
#include <arm_neon.h>

enum { BLOCK = 16, BLOCK_SHIFT = 2 };

/* Four bits for each byte: NEON has no movemask. */
static inline uint64_t block_mask(uint8x16_t hits)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hits), 4)), 0);
}

static inline uint8x16_t block_hits(uint8x16_t x)
{
    uint8x16_t quotes = vorrq_u8(vceqq_u8(x, vdupq_n_u8('"')), vceqq_u8(x, vdupq_n_u8('\\')));

    return vorrq_u8(quotes, vcltq_u8(x, vdupq_n_u8(0x20)));
}

static inline uint64_t block_escapes(const uint8_t *from)
{
    return block_mask(block_hits(vld1q_u8(from)));
}

static inline uint64_t block_not_plain(const uint8_t *from)
{
    uint8x16_t x = vld1q_u8(from);

    return block_mask(vorrq_u8(block_hits(x), vcgeq_u8(x, vdupq_n_u8(0x80))));
}
#else
enum { BLOCK = 8, BLOCK_SHIFT = 3 };

#define EACH_BYTE(byte) (0x0101010101010101u * (byte))

/* The top bit of each byte below `limit`. A borrow may add bits, but only above a true one. */
static inline uint64_t bytes_below(uint64_t x, uint8_t limit)
{
    return (x - EACH_BYTE(limit)) & ~x & EACH_BYTE(0x80);
}

static inline uint64_t block_escapes(const uint8_t *from)
{
    uint64_t x = load_u64(from);

    return bytes_below(x, 0x20) | bytes_below(x ^ EACH_BYTE('"'), 1) | bytes_below(x ^ EACH_BYTE('\\'), 1);
}

static inline uint64_t block_not_plain(const uint8_t *from)
{
    return block_escapes(from) | (load_u64(from) & EACH_BYTE(0x80));
}
#endif

static inline bool byte_escapes(uint8_t byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

static inline bool byte_is_plain(uint8_t byte)
{
    return !byte_escapes(byte) && byte < 0x80;
}

static inline size_t first_in_mask(uint64_t mask)
{
    return (size_t)__builtin_ctzll(mask) >> BLOCK_SHIFT;
}

/*
 * Copies plain bytes and returns how many there were before the end or before the first other
 * byte. May write up to a block more than that.
 */
static inline size_t copy_plain(uint8_t *to, const uint8_t *from, const uint8_t *end)
{
    const uint8_t *start = from;

    for (; end - from >= BLOCK; from += BLOCK, to += BLOCK) {
        uint64_t mask = block_not_plain(from);

        memcpy(to, from, BLOCK);
        if (mask)
            return (size_t)(from - start) + first_in_mask(mask);
    }
    for (; from < end && byte_is_plain(*from); from++)
        *to++ = *from;
    return (size_t)(from - start);
}

/* How many bytes there are before the first that JSON must escape. */
static inline size_t count_unescaped(const uint8_t *from, const uint8_t *end)
{
    const uint8_t *start = from;

    for (; end - from >= BLOCK; from += BLOCK) {
        uint64_t mask = block_escapes(from);

        if (mask)
            return (size_t)(from - start) + first_in_mask(mask);
    }
    while (from < end && !byte_escapes(*from))
        from++;
    return (size_t)(from - start);
}

/* How many plain bytes there are in front. */
static inline size_t count_plain(const uint8_t *from, const uint8_t *end)
{
    const uint8_t *start = from;

    while (end - from >= BLOCK && !block_not_plain(from))
        from += BLOCK;
    while (from < end && byte_is_plain(*from))
        from++;
    return (size_t)(from - start);
}

/* memcpy for the sizes most strings have, without a call. Writes nothing past `size`. */
static inline void copy_short(void *to, const void *from, size_t size)
{
    char *into = to;
    const char *start = from;

    if (size > 32) {
        memcpy(into, start, size);
    } else if (size >= 16) {
        memcpy(into, start, 16);
        memcpy(into + size - 16, start + size - 16, 16);
    } else if (size >= 8) {
        memcpy(into, start, 8);
        memcpy(into + size - 8, start + size - 8, 8);
    } else if (size >= 4) {
        memcpy(into, start, 4);
        memcpy(into + size - 4, start + size - 4, 4);
    } else if (size) {
        into[0] = start[0];
        into[size / 2] = start[size / 2];
        into[size - 1] = start[size - 1];
    }
}

/* The size of the UTF-8 sequence at `at`, 0 when it is none (Unicode, table 3-7). */
static inline size_t utf8_sequence(const uint8_t *at, const uint8_t *end)
{
    uint8_t lead = at[0], low = 0x80, high = 0xbf;
    size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

    if (size == 1)
        return 1;
    if (lead < 0xc2 || lead > 0xf4 || (size_t)(end - at) < size)
        return 0;
    if (lead == 0xe0)
        low = 0xa0; /* below: overlong */
    else if (lead == 0xed)
        high = 0x9f; /* above: surrogates */
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f; /* above: past U+10FFFF */
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return size;
}
