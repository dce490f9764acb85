/*
 * src/catalog/split.h - ranges that split and merge: what becomes of a container's table of ranges.
 * Items stay where they are. A range that is gone gives its keys to ranges with new ids, which name it
 * among their ancestors. Each of these is a `change` of catalog_change_ranges(), and `wanted` is the struct of its name.
 */
#pragma once
#include "catalog/ranges.h"

/* One range into several. */
struct range_split {
    uint32_t id;
    const struct epk *cut; /* where the second of two begins; NULL: about equal parts */
    uint32_t parts;        /* how many then */
};
range_change range_split;

/* Neighbours into one; in any order. */
struct range_merge {
    const uint32_t *id;
    uint32_t count;
};
range_change range_merge;

/* As many ranges as that, by splitting those that have the largest part of all keys. */
struct range_spread {
    uint32_t count;
};
range_change range_spread;
