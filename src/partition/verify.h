/*
 * src/partition/verify.h - whether a container's index is what its items say it should be, entry by entry.
 * For orrery check and for tests. It reads all items and all entries, and compares the sums of both. Only when the
 * sums differ does it look for each entry.
 */
#pragma once
#include "catalog/catalog.h"
#include "store/view.h"

struct verify_result {
    uint64_t expected, found; /* entries, by the items and in the index */
    uint64_t missing, extra; /* entries that the index lacks, or has too many; both 0 when nothing is wrong */
    uint64_t document;       /* the number of one document that has too few or too many; 0: none */
};

/* A damaged record is passed over: main/check.c reads the records themselves, and reports it. */
enum status verify_index(struct op *op, const struct container *container, const struct view *view,
                         struct verify_result *result);
