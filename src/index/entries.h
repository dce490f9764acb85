/*
 * src/index/entries.h - a document's entries, and what changes from one version of it to the next.
 *
 * Promises
 * 1. A committed document has exactly the entries that its policy gives it, each once.
 * 2. A replace touches only the entries that differ.
 */
#pragma once
#include "index/policy.h"
#include "store/batch.h"

/* One version of an item. */
struct index_item {
    const struct index_policy *policy; /* the one that it was indexed by; NULL: it has no entries */
    struct json document;
    int64_t ts_ms;    /* TERM_TIME_UNKNOWN while the item is not committed */
    size_t bytes_max; /* how much its terms may take; 0: no limit, as it was written with them */
    bool left_out;    /* set by index_change(): its terms would take more, so the item has none */
};

/* Puts the changed entries into the batch, all of them or none. `before` NULL is a create, `after` NULL a delete. */
enum status index_change(struct op *op, struct batch *batch, uint64_t number, const struct index_item *before,
                         struct index_item *after);

/* Every entry of an item, in the order of terms: for orrery check and recovery. The terms lie in the op's arena. */
struct index_terms {
    struct slice *term;
    size_t count;
};

enum status index_terms(struct op *op, const struct index_item *item, struct index_terms *terms);
