/*
 * src/query/run/covered.h - answers from index entries alone, without items.
 * A statement that gathers rows (aggregates, GROUP BY, DISTINCT) and looks at one path of its items only, is run over
 * rows made from that path's terms, each standing for as many items as the term has. Where a term
 * holds a hash in place of the value, the items themselves are looked at.
 */
#pragma once
#include "query/plan/order.h"
#include "query/run/picked.h"

struct run;

enum covered_kind {
    COVERED_NOT,
    COVERED_TERMS, /* a row for each term of the path */
    COVERED_ENDS,  /* MIN and MAX: the first and the last that pass the filter */
    COVERED_COUNT, /* COUNT: a number is all there is to it */
};

struct covered_source {
    struct query_source base;
    enum covered_kind kind;
    struct run *run;
    struct query_source *items;
    struct access *counted; /* COVERED_COUNT: what is; NULL for everything */
    struct item_path path;
    struct order_walk walk;
    struct index_cursor *cursor;
    bool picking; /* items of a term that is hashed */
    bool turned;  /* COVERED_ENDS: looking from the other end */
    bool is_real; /* the last row is an item */
    bool is_cut;  /* and its value a string that is not whole in its term */
    uint64_t passed_before;
    uint64_t missing; /* items without the path: one row more; 0 when it is given, or there are none */
};

/* Whether entries are enough. Sets kind, path and walk. */
enum status covered_choose(struct run *run, struct covered_source *covered);

/* What that would cost, in the words of cost.h. */
enum status covered_cost(struct covered_source *covered, double *cost);
enum status covered_open(struct covered_source *covered);
void covered_close(struct covered_source *covered); /* welcome on one that never opened */
