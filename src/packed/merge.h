/*
 * src/packed/merge.h - several runs, neighbours in age, become one; or one becomes smaller.
 * What one adds and a later one removes disappears. Where the oldest run of all takes part there is nothing
 * below to be removed from, and no removes are left. Buckets that were dropped are left out.
 *
 * Threads. Readers of the runs go on meanwhile.
 */
#pragma once
#include "packed/run.h"

/* Called now and then, so that a long merge holds nobody up; another status than ST_OK ends it. */
typedef enum status merge_pause(void *context);

struct merge {
    struct run *const *run; /* oldest first */
    size_t count;
    bool whole; /* the oldest one takes part */
    uint64_t id;
    merge_pause *pause;
    bool (*is_dropped)(void *context, uint64_t bucket);
    void *context;
};

/* As run_builder_finish(): facts->marks is 0 when nothing is left. */
enum status merge_runs(struct op *op, struct run_space *space, const struct merge *merge,
                       struct run_facts *facts, struct filter **filter);
