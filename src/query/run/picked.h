/*
 * src/query/run/picked.h - a source that gives only the items an access names, by their numbers and in their order.
 * To whoever reads it, it is the source behind it with some of its items left out.
 */
#pragma once
#include "query/plan/numbers.h"

struct picked_source {
    struct query_source base;
    struct query_source *items; /* where the items come from */
    struct planner *planner;
    const struct access *access;
    struct arena memory; /* of the numbers */
    struct numbers numbers;
    size_t room;
    uint64_t next; /* numbers below have been given */
};

void picked_open(struct op *op, struct picked_source *picked, struct planner *planner,
                 struct query_source *items, const struct access *access);
void picked_close(struct picked_source *picked); /* welcome on one that never opened */
