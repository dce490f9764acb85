/*
 * src/query/plan/demand.h - what must hold of an item for a statement to have a row of it: values at paths, joined by
 * AND and OR.
 *     demand_of_select(arena, select)        from a bound and folded statement
 * ranges.c finds the partition keys in it. It goes further than filter.h, which is for the index: through functions
 * and operators back to their operands, into subqueries, and to what a value's kind says. The service's own planner
 * does so, and SDKs that ask for a plan expect its ranges.
 *
 * A demand is never too narrow: every item that gives a row meets it. What is not understood is DEMAND_ANY.
 *
 * Ownership. Everything lies in the arena, and points into the statement. Past the arena's limit a demand is
 *     DEMAND_ANY, which is no failure.
 */
#pragma once
#include "query/plan/interval.h"

enum demand_kind {
    DEMAND_ANY,    /* nothing */
    DEMAND_NONE,   /* what no item has */
    DEMAND_VALUES, /* the path's value lies in one of the intervals */
    DEMAND_AND,
    DEMAND_OR,
};

/* A member, or an element by its place. */
struct demand_step {
    struct slice name;
    bool is_element;
    double place;
};

/* From the item, or from an element that a source goes through, down. */
struct demand_path {
    int slot;       /* of what it begins with */
    bool is_hidden; /* come by in ways in which the service's planner sees no key */
    const struct demand_step *step;
    size_t count;
};

struct demand {
    enum demand_kind kind;
    struct demand_path path;         /* DEMAND_VALUES */
    const struct interval *interval; /* kinds may begin with undefined; none is a prefix */
    size_t interval_count;
    struct demand **kid; /* DEMAND_AND, DEMAND_OR */
    size_t kid_count;
};

const struct demand *demand_of_select(struct arena *arena, const struct select *select);
