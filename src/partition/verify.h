/*
 * src/partition/verify.h - whether a container's index is what its items say it should be, entry by entry.
 * For orrery check and for tests. It reads everything; the sums of both sides are compared, and only where they
 * differ is each entry looked for.
 */
#pragma once
#include "catalog/catalog.h"
#include "store/view.h"

struct verify_result {
    uint64_t expected, found; /* entries, by the items and in the index */
    uint64_t missing, extra;  /* which are all zero when nothing is wrong */
    uint64_t document;        /* the number of one that has too few or too many; 0: none */
};

/* A damaged record counts for nothing here: whoever reads the records reports it. */
enum status verify_index(struct op *op, const struct container *container, const struct view *view,
                         struct verify_result *result);
