/* src/query/plan/covered.c - which statements look at one path only, and what its entries would cost. */
#include <assert.h>

#include "index/set.h"
#include "query/bind/bind.h"
#include "query/bind/fold.h"
#include "query/eval/builtin.h"
#include "query/eval/rows.h"
#include "query/plan/composite.h"
#include "query/plan/cost.h"
#include "query/plan/covered.h"
#include "query/plan/filter.h"

/* ---- what a statement looks at ---- */

struct looking {
    struct alias alias;
    struct item_path path;
    bool has_path;
};

static bool same_path(const struct item_path *a, const struct item_path *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!slice_equal(a->step[i].name, b->step[i].name))
            return false;
    return true;
}

/* A path of members, the same as before. */
static bool is_the_path(struct looking *looking, const struct item_path *path)
{
    if (path->count == 0 || path->traits.has_place || path->traits.has_elements || path->traits.computed)
        return false;
    if (looking->has_path)
        return same_path(&looking->path, path);
    looking->path = *path;
    looking->has_path = true;
    return true;
}

/* Whether the expression needs nothing of an item but its value at the path. */
static bool looks_at_path(struct looking *looking, const struct expr *expr)
{
    static const unsigned flags = NOT_CONSTANT | TAKES_ROW;
    struct item_path path = { .count = 0 };

    if (expr->instead)
        return expr->instead->kind == EXPR_LITERAL || expr->instead->kind == EXPR_RESULT;
    if (item_path_of(&looking->alias, expr, &path))
        return is_the_path(looking, &path);
    if (expr->kind == EXPR_NAME || expr->kind == EXPR_UDF || expr->select ||
        (expr->kind == EXPR_CALL && expr->builtin->flags & flags))
        return false;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (!looks_at_path(looking, expr->kid[i]))
            return false;
    return true;
}

static bool select_looks_at_path(struct looking *looking, const struct select *select)
{
    if (select->where && !looks_at_path(looking, select->where))
        return false;
    for (size_t i = 0; i < select->group_count; i++)
        if (!looks_at_path(looking, select->group[i]))
            return false;
    for (size_t i = 0; i < select->item_count; i++)
        if (!looks_at_path(looking, select->item[i].expr))
            return false;
    for (size_t i = 0; i < select->aggregate_count; i++)
        if (select->aggregate[i]->builtin->aggregate.keeps_order)
            return false;
    return !select->star;
}

const struct select *covered_items(const struct select *select)
{
    const struct source *first = select->source;

    if (select->source_count != 1)
        return NULL;
    if (first->kind == SOURCE_PATH)
        return first->path->kind == EXPR_NAME && first->path->slot == SLOT_ROOT ? select : NULL;
    return first->kind == SOURCE_SUBQUERY && filter_passes_rows(first->select) ? covered_items(first->select)
                                                                               : NULL;
}

/* Rows that are gathered, in no order. */
static bool is_gathered(const struct select *select)
{
    return select->order_count == 0 && (select->aggregate_count || select->group_count || select->distinct);
}

/* ---- COUNT alone ---- */

static bool only_counts(const struct select *select)
{
    struct value value;

    for (size_t i = 0; i < select->aggregate_count; i++)
        if (!select->aggregate[i]->builtin->aggregate.counts ||
            !fold_constant(select->aggregate[i]->kid[0], &value) || value.kind == JSON_UNDEFINED)
            return false;
    return select->aggregate_count && select->group_count == 0;
}

/* The statement's own, or one of those that it reads: covered_items(). */
static bool has_filter(const struct select *select)
{
    if (select->where)
        return true;
    return select->source[0].kind == SOURCE_SUBQUERY && has_filter(select->source[0].select);
}

/* The items that are counted: those of the filter, of the scope's own key. NULL: all there are. */
static bool count_is_exact(struct planner *planner, const struct select *select, struct access *filter,
                           struct access *picks, struct access **counted)
{
    struct access *access = has_filter(select) ? filter : NULL;

    if (access && (access->kind == ACCESS_ANY || !access->exact))
        return false;
    *counted = access ? picks : NULL;
    if (planner->index->is_whole)
        return !*counted || (*counted)->exact;
    if (!planner->index->key_is_scope || planner->key->kind == ACCESS_ANY || !planner->key->exact)
        return false;
    *counted = access ? access_and(planner, planner->key, access) : planner->key;
    *counted = access_with_composites(planner, *counted);
    return (*counted)->exact;
}

/* A term has each item once, and a path without elements one term an item. */
bool covered_is_counted(const struct access *access)
{
    bool has_elements = false;

    for (size_t i = 0; i < access->path.count; i++)
        has_elements |= access->path.step[i].element;
    return access->kind == ACCESS_RANGE && (access->one_term || !has_elements);
}

/* ---- rows from terms ---- */

/* Items without the path are one row more, in which it is undefined. Of a group it is not known when that was first made. */
static bool wants_missing(struct eval *eval, const struct select *select, bool *harmful)
{
    struct json_builder empty;
    bool passes, shows;

    assert(select->source_count == 1); /* covered_items() */
    json_builder_init(&empty, &eval->op->arena);
    json_begin_object(&empty);
    json_end(&empty);
    eval->slot[SLOT_ROOT] = eval->slot[select->source[0].slot] = value_from_json(json_built(&empty));
    passes = !select->where || eval_expr(eval, select->where).kind == JSON_TRUE;
    shows = select->group_count ||
            (select->aggregate_count == 0 && rows_project(eval, select).kind != JSON_UNDEFINED);
    *harmful = passes && shows;
    return passes && select->aggregate_count && !select->group_count;
}

static enum status find_missing(struct planner *planner, struct eval *eval, const struct select *select,
                                struct covered *covered)
{
    struct order_walk *walk = &covered->walk;
    struct slice end = index_prefix_end(&planner->op->arena, walk->prefix);
    uint64_t entries;
    bool harmful, wanted;
    enum status st = ST_OK;

    if (!walk->needs_value)
        return ST_OK;
    TRY(index_count(planner->op, planner->index->view, walk->prefix, end, &entries));
    wanted = wants_missing(eval, select, &harmful);
    TRY(eval->status);
    if (entries < planner->index->documents && harmful)
        covered->kind = COVERED_NOT;
    else if (wanted)
        covered->missing = planner->index->documents - entries;
out:
    return st;
}

/* MIN and MAX of the path itself: what lies between its first and its last value does not matter. */
static bool only_ends(const struct select *select, const struct looking *looking)
{
    for (size_t i = 0; i < select->aggregate_count; i++) {
        const struct expr *call = select->aggregate[i];
        struct item_path path = { .count = 0 };

        if (call->builtin->aggregate.shape != SHAPE_EXTREME ||
            !item_path_of(&looking->alias, call->kid[0], &path))
            return false;
    }
    return select->aggregate_count && select->group_count == 0;
}

static enum status choose_terms(struct planner *planner, struct eval *eval, const struct select *select,
                                struct access *access, struct covered *covered)
{
    const struct source *first = select->source;
    struct looking looking = { .alias = { .source = first } };
    enum status st = ST_OK;

    if (!planner->index->is_whole || !select_looks_at_path(&looking, select) || !looking.has_path ||
        !order_path_walk(planner, &looking.path, access, &covered->walk))
        return ST_OK;
    covered->path = looking.path;
    covered->kind = only_ends(select, &looking) ? COVERED_ENDS : COVERED_TERMS;
    TRY(find_missing(planner, eval, select, covered));
out:
    return st;
}

enum status covered_choose(struct planner *planner, struct eval *eval, const struct select *select,
                           struct access *access, struct access *picks, struct covered *covered)
{
    *covered = (struct covered){ .kind = COVERED_NOT };
    if (planner->index->hides || !is_gathered(select) || !covered_items(select))
        return ST_OK;
    if (only_counts(select) && count_is_exact(planner, select, access, picks, &covered->counted)) {
        covered->kind = COVERED_COUNT;
        return ST_OK;
    }
    return covered_items(select) == select ? choose_terms(planner, eval, select, access, covered) : ST_OK;
}

enum status covered_cost(struct planner *planner, const struct covered *covered, double *cost)
{
    struct access *access = covered->counted;
    struct cost reading;
    uint64_t entries;
    enum status st = ST_OK;

    assert(covered->kind != COVERED_NOT);
    *cost = 2 * cost_of_lookup;
    if (covered->kind == COVERED_TERMS) {
        TRY(index_estimate(planner->op, planner->index->view, covered->walk.from, covered->walk.to,
                           &entries));
        *cost += (double)entries * cost_of_covered;
    } else if (covered->kind == COVERED_COUNT && access && !covered_is_counted(access)) {
        TRY(cost_access(planner, access, (double)planner->index->documents, &reading));
        *cost += reading.work;
    }
out:
    return st;
}
