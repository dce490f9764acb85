/*
 * src/query/plan/covered.h - whether index entries alone, without items, answer a statement.
 * One that gathers rows (aggregates, GROUP BY, DISTINCT) and looks at one path of its items only can be run over
 * rows made from that path's terms, each standing for as many items as the term has. run/entries.h makes them.
 */
#pragma once
#include "query/eval/eval.h"
#include "query/plan/order.h"

enum covered_kind {
    COVERED_NOT,
    COVERED_TERMS, /* a row for each term of the path */
    COVERED_ENDS,  /* MIN and MAX: the first and the last that pass the filter */
    COVERED_COUNT, /* COUNT: a number is all there is to it */
};

struct covered {
    enum covered_kind kind;
    struct access *counted; /* COVERED_COUNT: what is; NULL for everything */
    struct item_path path;
    struct order_walk walk;
    uint64_t missing; /* items without the path: one row more */
};

/*
 * Whether entries are enough. `access` is the filter's, `picks` the same with composite indexes. The filter is evaluated
 * for an item that has nothing at all.
 */
enum status covered_choose(struct planner *planner, struct eval *eval, const struct select *select,
                           struct access *access, struct access *picks, struct covered *covered);

/*
 * The statement that reads the container: this one, or the one that it has the items of, whole and all that pass, as
 * FROM (SELECT * FROM c WHERE ...) has them. NULL: its rows are others.
 */
const struct select *covered_items(const struct select *select);

/* What that would cost, in the words of cost.h. */
enum status covered_cost(struct planner *planner, const struct covered *covered, double *cost);

/* Whether a range has one entry an item, so that they need only be counted. */
bool covered_is_counted(const struct access *access);
