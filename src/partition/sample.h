/* src/partition/sample.h - the keys of some items, taken by chance, to find where half of all items lie. */
#pragma once
#include "base/op.h"
#include "keys/epk.h"

enum { SAMPLE_MAX = 511 };

struct sample {
    struct epk *epk; /* the caller's memory, with room for SAMPLE_MAX */
    size_t count;
    uint64_t seen;
};

/* Every key seen so far is in the sample with the same chance. */
void sample_add(struct op *op, struct sample *sample, struct slice epk);

/* Called once after the last key, before sample_cut(). */
void sample_sort(struct sample *sample);

/*
 * Finds the key at which a range [min, max) is split: the middle key of its sample or, when all keys before the
 * middle are equal to it, the next greater one. False when there is none.
 */
bool sample_cut(const struct sample *sample, const struct epk *min, const struct epk *max, struct epk *cut);
