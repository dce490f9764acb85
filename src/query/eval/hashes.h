/*
 * src/query/eval/hashes.h - a set of 128-bit hashes: which values were seen before.
 * Two values with one hash are taken for one: with 128 bits that does not happen by chance, and not on purpose either,
 * because the hashes have a seed that nobody outside knows.
 */
#pragma once
#include "base/arena.h"
#include "base/hash.h"

struct hashes {
    struct arena *memory;
    struct hash128 *table; /* a power of two; {0, 0} is an empty place */
    size_t count, capacity;
};

/* 1 when it is new, 0 when it was there, -1 past the memory's limit. */
int hashes_add(struct hashes *hashes, struct hash128 hash);
bool hashes_has(const struct hashes *hashes, struct hash128 hash);
