/*
 * src/catalog/split.h - splitting and merging ranges: the next table of a container's ranges.
 * Items stay where they are. A range that is gone gives its keys to ranges with new ids, which name it among their
 * ancestors. Each function here is a range_change for catalog_change_ranges(); `wanted` is the struct of its name.
 */
#pragma once
#include "catalog/ranges.h"

/* Splits one range into several. */
struct range_split {
    uint32_t id;
    const struct epk *cut; /* where the second of two parts begins; NULL: the parts are about equal */
    uint32_t parts;        /* how many parts; counts only without a cut */
};
enum status range_split(struct op *op, const struct container *now, const void *wanted,
                        struct range_table *table);

/* Merges neighbours into one range. Their ids may come in any order. */
struct range_merge {
    const uint32_t *id;
    uint32_t count;
};
enum status range_merge(struct op *op, const struct container *now, const void *wanted,
                        struct range_table *table);

/* Makes that many ranges, by splitting those that have the largest part of all keys. */
struct range_spread {
    uint32_t count;
};
enum status range_spread(struct op *op, const struct container *now, const void *wanted,
                         struct range_table *table);
