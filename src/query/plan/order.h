/*
 * src/query/plan/order.h - whether an index has the statement's rows in the order of its ORDER BY.
 * A path's own terms do, and a composite index whose paths are those of the clause, behind
 * paths that the filter fixes to one value.
 */
#pragma once
#include "query/plan/access.h"

struct order_walk {
    struct slice from, to;             /* terms, as far as the filter lets them pass */
    struct slice prefix;               /* of all of them: path, and the values that are fixed */
    const struct index_joined *joined; /* NULL: the path's own terms */
    size_t fixed;                      /* so many of its parts */
    bool reverse;
    bool ties_turned; /* within a term, numbers are wanted the other way round than the walk has them */
    bool needs_value; /* only items that have the path are there, and the filter does not ask for it */
};

/* False when there is none. `access` is the filter's. */
bool order_walk_of(struct planner *planner, const struct select *select, const struct access *access,
                   struct order_walk *walk);

/* The terms of one path, whatever order is asked for. */
bool order_path_walk(struct planner *planner, const struct item_path *path, const struct access *access,
                     struct order_walk *walk);

/*
 * Whether a term holds a hash in place of a value: of a string, so that terms that begin alike are in no order, or of an
 * array or object, which ORDER BY has in the order of another hash.
 */
bool order_term_is_cut(const struct order_walk *walk, struct slice term);
