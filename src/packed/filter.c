/* src/packed/filter.c - a term has six bits, all in one block, so that asking costs one cache miss. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/heap.h"
#include "keys/bytes.h"
#include "keys/ordered.h"
#include "packed/filter.h"

enum { BLOCK_BYTES = 64, BLOCK_BITS = 512, TERM_BITS = 10, PROBES = 6, PATH_BYTES = 8, FOLDS_MAX = 6 };

struct filter {
    uint64_t blocks;
    uint64_t terms; /* that went in */
    uint8_t *bits;
};

static uint64_t blocks_for(uint64_t terms)
{
    return terms * TERM_BITS / BLOCK_BITS + 1;
}

static struct filter *make(uint64_t blocks)
{
    struct filter *filter = heap_allocate_unset(sizeof(*filter));

    assert(blocks > 0); /* each hash has a block */
    *filter = (struct filter){ .blocks = blocks, .bits = heap_allocate(blocks * BLOCK_BYTES) };
    return filter;
}

/* A number of blocks that can be halved a few times. */
struct filter *filter_new(uint64_t terms)
{
    const uint64_t unit = 1u << FOLDS_MAX;
    uint64_t blocks = blocks_for(terms);

    return make(blocks > unit ? (blocks + unit - 1) / unit * unit : blocks);
}

struct filter *filter_from(struct slice bytes)
{
    struct filter *filter;

    if (bytes.size == 0 || bytes.size % BLOCK_BYTES != 0)
        return NULL;
    filter = make(bytes.size / BLOCK_BYTES);
    memcpy(filter->bits, bytes.data, bytes.size);
    return filter;
}

void filter_free(struct filter *filter)
{
    if (!filter)
        return;
    free(filter->bits);
    free(filter);
}

bool filter_hash(uint64_t bucket, struct slice term, uint64_t *hash)
{
    size_t value_bytes = term.size > PATH_BYTES ? ordered_size(slice_after(term, PATH_BYTES)) : 0;

    if (value_bytes == 0)
        return false;
    *hash = murmur3_128(term.data, PATH_BYTES + value_bytes).h1 ^ bucket * 0x9e3779b97f4a7c15u;
    return true;
}

/* The high half of the hash picks the block, in order, so that two neighbours can become one. */
static uint8_t *block_of(const struct filter *filter, uint64_t hash)
{
    uint64_t block = (uint64_t)((unsigned __int128)hash * filter->blocks >> 64);

    return filter->bits + block * BLOCK_BYTES;
}

static unsigned probe(uint64_t hash, unsigned which)
{
    return (hash * 0xff51afd7ed558ccdu) >> (9 * which) & (BLOCK_BITS - 1);
}

void filter_add(struct filter *filter, uint64_t hash)
{
    uint8_t *block = block_of(filter, hash);

    for (unsigned i = 0; i < PROBES; i++)
        block[probe(hash, i) / 8] |= (uint8_t)(1u << probe(hash, i) % 8);
    filter->terms++;
}

bool filter_may_have(const struct filter *filter, uint64_t hash)
{
    const uint8_t *block = block_of(filter, hash);

    for (unsigned i = 0; i < PROBES; i++)
        if (!(block[probe(hash, i) / 8] & 1u << probe(hash, i) % 8))
            return false;
    return true;
}

static void fold(struct filter *filter)
{
    assert(filter->blocks % 2 == 0); /* neighbours become one: none may be left over */
    filter->blocks /= 2;
    for (uint64_t block = 0; block < filter->blocks; block++)
        for (size_t i = 0; i < BLOCK_BYTES; i++)
            filter->bits[block * BLOCK_BYTES + i] =
                filter->bits[2 * block * BLOCK_BYTES + i] | filter->bits[(2 * block + 1) * BLOCK_BYTES + i];
}

void filter_shrink(struct filter *filter)
{
    while (filter->blocks % 2 == 0 && filter->blocks / 2 >= blocks_for(filter->terms))
        fold(filter);
    filter->bits = heap_grow(filter->bits, filter->blocks * BLOCK_BYTES);
}

struct slice filter_bytes(const struct filter *filter)
{
    return slice_make(filter->bits, filter->blocks * BLOCK_BYTES);
}
