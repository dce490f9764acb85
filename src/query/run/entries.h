/*
 * src/query/run/entries.h - a source of rows made from index entries, where plan/covered.h found them to be enough.
 * Where a term holds a hash in place of the value, the items themselves are looked at.
 */
#pragma once
#include "query/plan/covered.h"
#include "query/run/cursor.h"

struct entries_source {
    struct query_source base;
    const struct covered *plan;
    struct planner *planner;
    const struct cursor *rows;  /* who reads it: its `passed` tells when an end has been found */
    struct query_source *items; /* of terms that are hashed */
    struct index_cursor *cursor;
    bool picking; /* items of a term that is hashed */
    bool turned;  /* COVERED_ENDS: looking from the other end */
    bool is_real; /* the last row is an item */
    bool is_cut;  /* and its value a string that is not whole in its term */
    uint64_t passed_before;
    uint64_t missing; /* items without the path, or all that are counted: one row more; 0 when it is given */
};

/* Everything it is given outlives it. */
enum status entries_open(struct entries_source *entries, const struct covered *plan, struct planner *planner,
                         const struct cursor *rows, struct query_source *items);
void entries_close(struct entries_source *entries); /* welcome on one that never opened */
