/*
 * src/packed/merge.h - several runs, neighbours in age, become one; or one becomes smaller.
 * An entry that one run adds and a later one removes disappears. When the oldest run of all takes part, no run lies
 * below it that a remove could be about, so no removes are left. Entries of dropped buckets are left out.
 *
 * Threads. Readers of the runs go on meanwhile.
 */
#pragma once
#include "packed/run.h"

/* A merge calls it now and then, so that a long merge holds nobody up. Any status but ST_OK ends the merge. */
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
