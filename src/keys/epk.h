/*
 * src/keys/epk.h - effective partition keys, and document numbers, which begin with some of their bits.
 * The three hash versions are the service's own, to the byte; epk_test.c has the published vectors.
 */
#pragma once
#include "json/json.h"

enum epk_version { EPK_V1 = 1, EPK_V2 = 2, EPK_MULTI = 3 };

enum { EPK_COMPONENTS_MAX = 8, EPK_BYTES_MAX = 1024 };
enum { EPK_LEVEL_BYTES = 16 }; /* each component's share in EPK_MULTI, and all of EPK_V2 */

/* A partition key's values in path order. Undefined is a value too. */
struct partition_key {
    size_t count;
    struct json component[EPK_COMPONENTS_MAX]; /* undefined, null, bool, number or string */
};

/* Compared bytewise: the order of the hexadecimal text that clients see. */
struct epk {
    uint16_t size;
    uint8_t bytes[EPK_BYTES_MAX];
};

/*
 * A key with fewer components than the container has paths gives the EPK of a prefix (EPK_MULTI); no component, an
 * empty one.
 */
void epk_compute(enum epk_version version, const struct partition_key *key, struct epk *epk);

/* Where part `index` of `count` equal parts of all EPKs begins, as the service cuts them; 0 < index < count. */
void epk_cut(enum epk_version version, uint32_t index, uint32_t count, struct epk *cut);

/*
 * Divides the keys from `min` up to `max` into `count` about equal parts, and gives the key at which part `index`
 * begins; 0 < index < count. Hierarchical keys have `levels` levels: when `min` and `max` lie in one value of the
 * first level, the cut is made at a level below it. False when there is nothing to cut.
 */
bool epk_divide(enum epk_version version, size_t levels, const struct epk *min, const struct epk *max,
                uint32_t index, uint32_t count, struct epk *cut);

/* Which share of all keys lies from `min` up to `max`, judged by the first level alone. */
double epk_share(enum epk_version version, const struct epk *min, const struct epk *max);

static inline struct slice epk_slice(const struct epk *epk)
{
    return slice_make(epk->bytes, epk->size);
}

/*
 * A document's number: 20 bits of its EPK, then 40 bits of a counter. The store orders documents by number, so those
 * of one logical partition are neighbours, and storage order follows EPK order as far as 20 bits go. EPK_MULTI
 * divides the bits among the levels.
 */
enum { NUMBER_EPK_BITS = 20, NUMBER_COUNTER_BITS = 40 };

/*
 * `levels` is how many paths the container has. The EPK may also be the bound of a range: bytes that it lacks count
 * as zero, and a bound above every key, such as FF, gives ones.
 */
uint32_t epk_number_bits(enum epk_version version, size_t levels, const struct epk *epk);

static inline uint64_t number_make(uint32_t epk_bits, uint64_t counter)
{
    return (uint64_t)epk_bits << NUMBER_COUNTER_BITS | counter;
}

static inline uint64_t number_counter(uint64_t number)
{
    return number & ((1ull << NUMBER_COUNTER_BITS) - 1);
}

static inline uint32_t number_epk_bits(uint64_t number)
{
    return (uint32_t)(number >> NUMBER_COUNTER_BITS);
}

/* The same bits with the counter first: what rises with the time of creation, and stands in a document's _rid. */
static inline uint64_t number_by_creation(uint64_t number)
{
    return number_counter(number) << NUMBER_EPK_BITS | number_epk_bits(number);
}

static inline uint64_t number_from_creation(uint64_t by_creation)
{
    return number_make((uint32_t)(by_creation & ((1u << NUMBER_EPK_BITS) - 1)),
                       by_creation >> NUMBER_EPK_BITS);
}
