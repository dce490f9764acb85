/*
 * src/index/packed.h - the keeper (store/keeper.h) that packs: a delta in memory over sorted runs of pages.
 * New entries lie in the delta (index/delta.h). When that is large it is sealed and written as a run (index/pack.c), and
 * of runs of one size four are merged into one (index/merge.c). A manifest says which runs there are.
 *
 * Promises
 * 1. A pin sees what it saw when it was taken, whatever is written out or merged meanwhile.
 * 2. What the manifest lists is there; what it does not list is removed. A crash at any moment loses entries of LSNs
 *    above `settled` only, and none of those below.
 * 3. Memory is bounded: two deltas, and the filters of runs up to their limit.
 * 4. A damaged page is ST_CORRUPT.
 */
#pragma once
#include "store/keeper.h"

struct packed_options {
    size_t delta_bytes;  /* it is sealed when it is larger */
    size_t filter_bytes; /* of all filters together; a run without one is looked into */
    size_t merge_runs;   /* so many of one level become one of the next */
    bool threads;        /* false: writing out and merging happen in committed(), for simulation */
    bool read_only;
};

/* A keeper_open, as store_options wants it. */
enum status packed_open(struct op *op, struct backend *backend, const struct store_options *options,
                        struct keeper **keeper);

enum status packed_open_with(struct op *op, struct backend *backend, const struct packed_options *options,
                             struct keeper **keeper);
