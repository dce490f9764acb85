/* src/partition/sample.h - the keys of some items, taken by chance: where half of them lie. */
#pragma once
#include "base/op.h"
#include "keys/epk.h"

enum { SAMPLE_MAX = 511 };

struct sample {
    struct epk *epk; /* room for SAMPLE_MAX, the caller's */
    size_t count;
    uint64_t seen;
};

/* Each of those seen is in the sample with the same chance. */
void sample_add(struct op *op, struct sample *sample, struct slice epk);

/* For sample_cut(). */
void sample_sort(struct sample *sample);

/* The middle one of those from `min` up to `max`, or the next above it that leaves some before; false when there is none. */
bool sample_cut(const struct sample *sample, const struct epk *min, const struct epk *max, struct epk *cut);
