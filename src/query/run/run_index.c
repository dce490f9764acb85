/* src/query/run/run_index.c - which way a run takes: through the index, or past it. */
#include "index/set.h"
#include "query/plan/composite.h"
#include "query/plan/cost.h"
#include "query/run/run_private.h"

/* A container of fewer items is looked through before the index is asked. */
enum { ITEMS_LOOKED_THROUGH = 40 };

/* The first page looks whether the answer is small: run_plain.c. */
enum { ROWS_OF_FIRST_PAGE = 1000 };

/* Of items, where the index knows nothing of the filter. */
static const double passing_guess = 0.25;

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* What the index says of the filter. */
struct outlook {
    double scope; /* items */
    struct cost cost;
    double scan, pick; /* what it costs to look at all of them, or at those that the access gives */
};

static bool always(const struct run *run)
{
    return run->query->options.way == QUERY_BY_INDEX;
}

/* How many rows are enough for the page. */
static double rows_wanted(const struct run *run)
{
    double rows = (double)run->limits->rows;

    if (run->at.order == ORDER_NUMBER && run->first && !run->nested && rows < ROWS_OF_FIRST_PAGE)
        rows = ROWS_OF_FIRST_PAGE;
    return least(rows, (double)run->at.take) + (double)run->at.skip;
}

/* Rows as they come end when the page is full; sorted and gathered ones need all items. */
static enum status look(struct run *run, struct outlook *outlook)
{
    struct cost *cost = &outlook->cost;
    double wanted = run->at.order == ORDER_NUMBER ? rows_wanted(run) : (double)UINT64_MAX;
    double passing;
    enum status st;

    TRY(cost_scope(&run->planner, run->access, &outlook->scope));
    TRY(cost_access(&run->planner, run->picks, outlook->scope, cost));
    passing = outlook->scope > 0 && cost->items > 0 ? cost->items / outlook->scope : 1;
    outlook->scan = least(outlook->scope, wanted / passing);
    outlook->pick = cost->work + least(cost->items, wanted) * cost_of_fetch;
    run->scope_items = outlook->scope;
    run->access_items = cost->items;
out:
    return st;
}

static void pick_items(struct run *run)
{
    picked_open(&run->picked, &run->planner, run->source, run->picks, run->query->options.budget);
    run->source = &run->picked.base;
}

static void choose_items(struct run *run, const struct outlook *outlook)
{
    if (run->access->kind != ACCESS_ANY && (always(run) || outlook->pick < outlook->scan))
        pick_items(run);
}

/* ---- ORDER BY ---- */

/* Entries walked and items fetched until the page has its rows, out of those of its range that lie in the scope. */
static enum status cost_walk(struct run *run, const struct order_walk *walk, const struct outlook *outlook,
                             double *cost)
{
    double all = (double)run->planner.index->documents, inside, passing, fetched;
    uint64_t entries;
    enum status st;

    TRY(index_estimate(run->eval.op, run->planner.index->view, walk->from, walk->to, &entries));
    inside = (double)entries * least(1, outlook->scope / all) + 1;
    passing = run->access->kind != ACCESS_ANY ? least(1, (outlook->cost.items + 1) / inside) : 1;
    if (run->access->kind == ACCESS_ANY && run->select->where)
        passing = passing_guess;
    fetched = least(inside, rows_wanted(run) / passing);
    *cost = cost_of_lookup + fetched * cost_of_fetch + fetched / inside * (double)entries * cost_of_entry;
out:
    return st;
}

/* Whether there are items without a value there: they are first in the order, or last when it is turned. */
static enum status has_missing(struct run *run, const struct order_walk *walk, bool *misses)
{
    struct slice end = index_prefix_end(&run->eval.op->arena, walk->prefix);
    uint64_t entries;
    enum status st = ST_OK;

    *misses = false;
    if (!walk->needs_value)
        return ST_OK;
    TRY(index_count(run->eval.op, run->planner.index->view, walk->prefix, end, &entries));
    *misses = entries < run->planner.index->documents;
out:
    return st;
}

/* The page is among the items that the index does not have. */
static bool is_among_missing(const struct run *run, const struct order_walk *walk, bool misses)
{
    if (walk->joined)
        return false;
    if (!run->first)
        return run->at.key[0].kind == JSON_UNDEFINED;
    return misses && !walk->reverse;
}

static enum status choose_walk(struct run *run, const struct outlook *outlook, bool *done)
{
    struct order_walk walk;
    bool misses;
    double cost;
    enum status st = ST_OK;

    if (run->nested || run->select->distinct || run->at.order != ORDER_SORTED ||
        !order_walk_of(&run->planner, run->select, run->access, &walk))
        return ST_OK;
    TRY(cost_walk(run, &walk, outlook, &cost));
    if (!always(run) && cost >= least(outlook->scan, outlook->pick))
        goto out;
    TRY(has_missing(run, &walk, &misses));
    if (is_among_missing(run, &walk, misses))
        goto out;
    *done = run->walked = true;
    TRY(run_ordered(run, &walk, misses));
out:
    return st;
}

enum status run_sort_instead(struct run *run)
{
    struct outlook outlook;
    enum status st;

    TRY(look(run, &outlook));
    choose_items(run, &outlook);
    TRY(run->source->seek(run->eval.op, run->source, 0));
    run_sorted(run);
    st = run->eval.status;
out:
    return st;
}

/* ---- aggregates, GROUP BY, DISTINCT ---- */

static enum status choose_covered(struct run *run, const struct outlook *outlook, bool *chosen)
{
    double cost;
    enum status st;

    TRY(covered_choose(run, &run->covered));
    if (run->covered.kind == COVERED_NOT)
        goto out;
    TRY(covered_cost(&run->covered, &cost));
    if (!always(run) && cost >= least(outlook->scan, outlook->pick))
        goto out;
    TRY(covered_open(&run->covered));
    run->source = &run->covered.base;
    *chosen = true;
out:
    return st;
}

/* ---- all ways ---- */

enum status run_use_index(struct run *run, bool *done)
{
    const struct query_index *index = run->source->index;
    struct outlook outlook;
    bool covered = false;
    enum status st = ST_OK;

    if (!index || run->query->options.way == QUERY_BY_SCAN)
        return ST_OK;
    if (!always(run) && !run->query->options.explain && index->documents < ITEMS_LOOKED_THROUGH)
        return ST_OK;
    run->planner = (struct planner){ .op = run->eval.op, .index = index };
    run->planner.planar = run->query->options.planar;
    run->planner.key = access_of_key(&run->planner);
    run->access = access_with_left_out(&run->planner, access_of_select(&run->planner, run->select));
    run->picks = access_with_composites(&run->planner, run->access);
    TRY(look(run, &outlook));
    if (!always(run) && index->documents < ITEMS_LOOKED_THROUGH)
        goto out;
    if (!index->left_out.data) { /* terms do not have all rows, nor in their order */
        TRY(choose_covered(run, &outlook, &covered));
        TRY(choose_walk(run, &outlook, done));
    }
    if (!*done && !covered)
        choose_items(run, &outlook);
out:
    return st;
}
