/*
 * src/packed/run.h - entries that are written out: pages (packed/page.h) in the space, in order, that never change.
 *
 *     page     run 8, bucket 6, term, number 8: of the page's last entry
 *     filter   run 8, FF * 6, position 4: a part of the run's filter
 *
 * Ownership. Counted. When a retired run loses its last holder, run_gone() tells the owner, who removes its rows.
 * Threads. Anybody's.
 */
#pragma once
#include <stdatomic.h>

#include "packed/filter.h"
#include "packed/run_space.h"

enum { RUN_ID_BYTES = 8, RUN_PREFIX_BYTES = 8 + 6 };

/* No bucket has this number: the filter lies behind all pages. */
#define RUN_FILTER_BUCKET 0xffffffffffffu

/* What the manifest says of a run. */
struct run_facts {
    uint64_t id;
    uint64_t level; /* 0: from a delta; one more each time it was merged to something larger */
    uint64_t bytes, pages, terms;
    uint64_t marks; /* adds and removes */
    int64_t net;    /* adds less removes */
    uint64_t filter_bytes;
};

struct run;
typedef void run_gone(void *context, uint64_t id);

struct run *run_new(const struct run_facts *facts, struct filter *filter, run_gone *gone, void *context);
const struct run_facts *run_facts(const struct run *run);
const struct filter *run_filter(const struct run *run); /* NULL: it is not in memory */
struct run *run_hold(struct run *run);
void run_release(struct run *run);

/* How many of its pages belong to dropped buckets. Only the thread that holds work_mutex asks and tells. */
uint64_t run_dropped_pages(const struct run *run);
void run_adds_dropped_pages(struct run *run, uint64_t pages);

/* Its rows are to be removed when the last one lets go. */
void run_retire(struct run *run);

/* Rows [from, to) of a run, or of all runs from one on. */
void run_key(uint8_t out[RUN_ID_BYTES], uint64_t id);

/* The filter, out of its rows; NULL when it has none. */
enum status run_read_filter(struct op *op, struct run_space *space, const struct run_facts *facts,
                            struct filter **filter);
