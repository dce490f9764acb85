/*
 * src/catalog/split.h - ranges that split and merge: what becomes of a container's table of ranges.
 * Items stay where they are. A range that is gone gives its keys to ranges with new ids, which name it
 * among their ancestors. Each of these is a range_change for catalog_change_ranges(), and `wanted` is the struct of its name.
 */
#pragma once
#include "catalog/ranges.h"

/* One range into several. */
struct range_split {
    uint32_t id;
    const struct epk *cut; /* where the second of two begins; NULL: about equal parts */
    uint32_t parts;        /* how many then */
};
enum status range_split(struct op *op, const struct container *now, const void *wanted,
                        struct range_table *table);

/* Neighbours into one; in any order. */
struct range_merge {
    const uint32_t *id;
    uint32_t count;
};
enum status range_merge(struct op *op, const struct container *now, const void *wanted,
                        struct range_table *table);

/* As many ranges as that, by splitting those that have the largest part of all keys. */
struct range_spread {
    uint32_t count;
};
enum status range_spread(struct op *op, const struct container *now, const void *wanted,
                         struct range_table *table);
