/* src/query/plan/cost.c - what an access costs, by the counts that the index has. */
#include <assert.h>
#include <stdlib.h>

#include "index/set.h"
#include "query/plan/cost.h"

enum { KIDS_COUNTED = 32 }; /* of a long OR; the others are taken to be like these */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static enum status count_range(struct planner *planner, struct access *access)
{
    assert(access->kind == ACCESS_RANGE);
    return index_estimate(planner->op, planner->index->view, access->from, access->to, &access->entries);
}

/* Numbers of one term are in order, so that those outside the scope are passed over. */
static enum status cost_range(struct planner *planner, struct access *access, double scope, struct cost *cost)
{
    double all = planner->index->documents ? (double)planner->index->documents : 1;
    enum status st;

    TRY(count_range(planner, access));
    cost->items = least(scope, (double)access->entries * least(scope / all, 1));
    cost->work = cost_of_lookup + cost_of_entry * (access->one_term ? cost->items : (double)access->entries);
out:
    return st;
}

static enum status cost_or(struct planner *planner, struct access *access, double scope, struct cost *cost)
{
    size_t counted = access->kid_count < KIDS_COUNTED ? access->kid_count : KIDS_COUNTED;
    double more = (double)access->kid_count / (double)counted;
    enum status st = ST_OK;

    assert(access->kid_count > 0); /* a list begins with a kid */
    *cost = (struct cost){ 0 };
    for (size_t i = 0; i < counted; i++) {
        struct cost one;

        TRY(cost_access(planner, access->kid[i], scope, &one));
        cost->items += one.items * more;
        cost->work += one.work * more;
    }
    for (size_t i = counted; i < access->kid_count; i++)
        access->kid[i]->kid_used = access->kid[i]->kid_count;
    cost->items = least(cost->items, scope);
out:
    return st;
}

struct priced {
    struct access *access;
    struct cost cost;
};

static int by_items(const void *a, const void *b)
{
    double x = ((const struct priced *)a)->cost.items, y = ((const struct priced *)b)->cost.items;

    return x < y ? -1 : x > y;
}

/* A kid is worth reading when the documents that it spares cost more. */
static void choose_kids(struct access *access, const struct priced *priced, double scope, struct cost *cost)
{
    assert(access->kid_count > 0);
    access->kid_used = 1;
    *cost = priced[0].cost;
    for (size_t i = 0; i < access->kid_count; i++)
        access->kid[i] = priced[i].access;
    for (size_t i = 1; i < access->kid_count; i++) {
        double kept = scope > 0 ? priced[i].cost.items / scope : 1;
        double work = least(priced[i].cost.work, cost_of_lookup + cost->items * cost_of_seek);

        if (cost->items * (1 - kept) * cost_of_fetch <= work)
            continue;
        access->kid[i] = access->kid[access->kid_used];
        access->kid[access->kid_used++] = priced[i].access;
        cost->items *= kept;
        cost->work += work;
    }
}

static enum status cost_and(struct planner *planner, struct access *access, double scope, struct cost *cost)
{
    struct priced *priced = arena_try_alloc(&planner->op->arena, access->kid_count * sizeof(*priced));
    enum status st = ST_OK;

    if (!priced) { /* too many to weigh: they all hold what is wanted */
        access->kid_used = 1;
        return cost_access(planner, access->kid[0], scope, cost);
    }
    for (size_t i = 0; i < access->kid_count; i++) {
        priced[i].access = access->kid[i];
        TRY(cost_access(planner, access->kid[i], scope, &priced[i].cost));
    }
    qsort(priced, access->kid_count, sizeof(*priced), by_items);
    choose_kids(access, priced, scope, cost);
out:
    return st;
}

enum status cost_access(struct planner *planner, struct access *access, double scope, struct cost *cost)
{
    switch (access->kind) {
    case ACCESS_RANGE:
        return cost_range(planner, access, scope, cost);
    case ACCESS_AND:
        return cost_and(planner, access, scope, cost);
    case ACCESS_OR:
        return cost_or(planner, access, scope, cost);
    default:
        *cost = (struct cost){ .items = access->kind == ACCESS_ANY ? scope : 0 };
        return ST_OK;
    }
}

/* Keys are spread evenly over the numbers: a guess, where the index does not know the key. */
static double guess_by_spans(const struct query_index *index)
{
    double numbers = 0;

    for (size_t i = 0; i < index->span_count; i++)
        numbers += (double)(index->span[i].to - index->span[i].from);
    return least(1 + (double)index->documents * (numbers / 0x1p60), (double)index->documents);
}

static bool is_key(const struct query_index *index, const struct access *access)
{
    for (size_t i = 0; i < index->key_count; i++)
        if (access->kind == ACCESS_RANGE && access->one_term &&
            index_path_equal(&access->path, &index->key[i]))
            return true;
    return false;
}

/* What the filter says of the partition key, which is what made the scope narrow; `known`: it says something. */
static enum status count_key(struct planner *planner, struct access *access, double *items, bool *known)
{
    enum status st = ST_OK;

    if (is_key(planner->index, access)) {
        TRY(count_range(planner, access));
        *items = least(*items, (double)access->entries);
        *known = true;
    }
    for (size_t i = 0; access->kind == ACCESS_AND && i < access->kid_count; i++)
        TRY(count_key(planner, access->kid[i], items, known));
out:
    return st;
}

enum status cost_scope(struct planner *planner, struct access *access, double *items)
{
    const struct query_index *index = planner->index;
    bool known = false;
    enum status st;

    *items = (double)index->documents;
    TRY(count_key(planner, access, items, &known));
    TRY(count_key(planner, planner->key, items, &known));
    if (!known && index->span_count)
        *items = guess_by_spans(index);
out:
    return st;
}
