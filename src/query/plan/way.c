/* src/query/plan/way.c - what each way to the items would cost, and the one that costs least. */
#include <assert.h>

#include "index/set.h"
#include "query/eval/builtin.h"
#include "query/plan/composite.h"
#include "query/plan/cost.h"
#include "query/plan/way.h"

/* A container of fewer items is looked through before the index is asked. */
enum { ITEMS_LOOKED_THROUGH = 40 };

/* Of items, where the index knows nothing of the filter. */
static const double passing_guess = 0.25;

static double least(double a, double b)
{
    return a < b ? a : b;
}

static bool always(const struct way *way)
{
    return way->allowed == QUERY_BY_INDEX;
}

/* ---- all items, or those that the access gives ---- */

/* Rows as they come end when the page is full; sorted and gathered ones need all items. */
static enum status look(struct way *way, const struct way_page *page)
{
    double wanted = page->ends_early ? page->rows : (double)UINT64_MAX;
    double passing;
    struct cost cost;
    enum status st;

    TRY(cost_scope(&way->planner, way->access, &way->scope_items));
    TRY(cost_access(&way->planner, way->picks, way->scope_items, &cost));
    way->access_items = cost.items;
    passing = way->scope_items > 0 && cost.items > 0 ? cost.items / way->scope_items : 1;
    way->scan = least(way->scope_items, wanted / passing);
    way->pick = cost.work + least(cost.items, wanted) * cost_of_fetch;
out:
    return st;
}

static void choose_items(struct way *way)
{
    assert(way->access); /* the filter was read */
    way->picked = way->access->kind != ACCESS_ANY && (always(way) || way->pick < way->scan);
    way->cost = way->picked ? way->pick : way->scan;
}

bool way_picks_fewer(const struct way *way, double rows)
{
    return way->kind == WAY_PICK && way->access_items * way->access_items < rows * way->scope_items;
}

enum status way_choose_items(struct way *way, const struct way_page *page)
{
    enum status st;

    assert(way->kind == WAY_WALK);
    TRY(look(way, page));
    choose_items(way);
out:
    return st;
}

/* So few items that looking at them all costs less than finding out. */
static bool is_small(const struct query_index *index)
{
    return index->documents < ITEMS_LOOKED_THROUGH;
}

/* Whether it is worth going another way, at that price. */
static bool is_worth(const struct way *way, double cost)
{
    return always(way) || cost < least(way->scan, way->pick);
}

/* ---- ORDER BY ---- */

/* Entries walked and items fetched until the page has its rows, out of those of its range that lie in the scope. */
static enum status cost_walk(struct way *way, const struct select *select, const struct way_page *page,
                             double *cost)
{
    double all = (double)way->planner.index->documents, inside, passing, fetched;
    bool any = way->access->kind == ACCESS_ANY;
    uint64_t entries;
    enum status st;

    TRY(index_estimate(way->planner.op, way->planner.index->view, way->walk.from, way->walk.to, &entries));
    inside = (double)entries * least(1, way->scope_items / all) + 1;
    passing = any ? 1 : least(1, (way->access_items + 1) / inside);
    if (any && select->where)
        passing = passing_guess;
    fetched = least(inside, page->rows / passing);
    *cost = cost_of_lookup + fetched * cost_of_fetch + fetched / inside * (double)entries * cost_of_entry;
out:
    return st;
}

/* Whether there are items without a value there: they are first in the order, or last when it is turned. */
static enum status find_missing(struct way *way)
{
    struct slice end = index_prefix_end(&way->planner.op->arena, way->walk.prefix);
    uint64_t entries;
    enum status st = ST_OK;

    way->misses = false;
    if (!way->walk.needs_value)
        return ST_OK;
    TRY(index_count(way->planner.op, way->planner.index->view, way->walk.prefix, end, &entries));
    way->misses = entries < way->planner.index->documents;
out:
    return st;
}

/* The page is among the items that the index does not have. */
static bool is_among_missing(const struct way *way, const struct way_page *page)
{
    if (way->walk.joined)
        return false;
    return page->is_first ? way->misses && !way->walk.reverse : page->from_undefined;
}

static enum status choose_walk(struct way *way, const struct select *select, const struct way_page *page)
{
    double cost;
    enum status st = ST_OK;

    if (!page->is_sorted || !order_walk_of(&way->planner, select, way->access, &way->walk))
        return ST_OK;
    TRY(cost_walk(way, select, page, &cost));
    if (!is_worth(way, cost))
        goto out;
    TRY(find_missing(way));
    if (is_among_missing(way, page))
        goto out;
    way->kind = WAY_WALK;
    way->cost = cost;
out:
    return st;
}

/* ---- aggregates, GROUP BY, DISTINCT ---- */

static enum status choose_entries(struct way *way, struct eval *eval, const struct select *select)
{
    double cost;
    enum status st;

    TRY(covered_choose(&way->planner, eval, select, way->access, way->picks, &way->covered));
    if (way->covered.kind == COVERED_NOT)
        goto out;
    TRY(covered_cost(&way->planner, &way->covered, &cost));
    if (!is_worth(way, cost) && (way->covered.kind != COVERED_COUNT || !is_small(way->planner.index)))
        goto out;
    way->kind = WAY_ENTRIES;
    way->cost = cost;
out:
    return st;
}

/* A count and nothing else: the service retrieves no document for it, however few there are, and neither do we. */
static bool only_counts(const struct select *select)
{
    for (size_t i = 0; i < select->aggregate_count; i++)
        if (!select->aggregate[i]->builtin->aggregate.counts)
            return false;
    return select->aggregate_count && !select->group_count && !select->whole;
}

/* ---- all ways ---- */

static void read_filter(struct way *way, const struct select *select)
{
    way->planner.key = access_of_key(&way->planner);
    way->access = access_with_left_out(&way->planner, access_of_select(&way->planner, select));
    way->picks = access_with_composites(&way->planner, way->access);
}

enum status way_choose(struct way *way, struct eval *eval, const struct query_index *index,
                       const struct select *select, const struct way_page *page)
{
    bool looks_through = index && is_small(index) && !only_counts(select);
    enum status st = ST_OK;

    assert(way->kind == WAY_SCAN); /* a way is chosen once */
    if (!index || way->allowed == QUERY_BY_SCAN || (!always(way) && !way->explains && looks_through))
        return ST_OK;
    way->planner.op = eval->op;
    way->planner.index = index;
    read_filter(way, select);
    TRY(look(way, page));
    if (!always(way) && looks_through)
        goto out;
    if (!index->left_out.data &&
        !page->needs_items) { /* otherwise terms do not have all rows, nor in their order */
        TRY(choose_entries(way, eval, select));
        TRY(choose_walk(way, select, page));
    }
    if (way->kind == WAY_SCAN)
        choose_items(way);
    if (way->picked)
        way->kind = WAY_PICK;
out:
    return st;
}
