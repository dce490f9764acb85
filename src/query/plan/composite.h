/*
 * src/query/plan/composite.h - what a filter asks of a composite index: values of its first paths, and a range of the
 * next.
 */
#pragma once
#include "query/plan/access.h"

/* The terms of one composite index that can pass. */
struct composite_range {
    const struct index_joined *joined;
    size_t fixed;                                /* so many of its first parts have one value each */
    const struct access *value[INDEX_PARTS_MAX]; /* of those */
    bool narrowed;                               /* the filter says something of the part behind them, too */
    bool exact;                                  /* no other item has one of these terms */
    struct slice prefix;                         /* of all of them: path, and the values that are fixed */
    struct slice from, to;
};

/* At most `fixed_max` parts are fixed. False when the index cannot be used, or there is no memory. */
bool composite_range_of(struct planner *planner, const struct access *access,
                        const struct index_joined *joined, size_t fixed_max, struct composite_range *range);

/*
 * The same items, with ranges of composite indexes in place of the conditions that those indexes serve; the access
 * itself when none serves any. Only for callers that read numbers, because a composite's range tells nothing of
 * single paths.
 */
struct access *access_with_composites(struct planner *planner, struct access *access);
