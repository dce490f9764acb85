/*
 * src/query/plan/filter.c - from the expressions of a filter to values at paths.
 * Each function gives the items for which an expression can be true or, for NOT, false; both are asked
 * separately, because an expression may be neither. What is not understood gives every item.
 */
#include <assert.h>

#include "query/bind/fold.h"
#include "query/plan/filter_private.h"
#include "query/plan/kinds.h"

/* Nobody writes into it: code that changes a filter looks at its kind first. */
static const struct filter the_any = { .kind = FILTER_ANY };

struct filter *filter_any(void)
{
    return (struct filter *)&the_any;
}

struct filter *filter_make(struct arena *arena, struct filter from)
{
    struct filter *filter = arena_try_alloc(arena, sizeof(*filter));

    if (!filter)
        return filter_any();
    *filter = from;
    return filter;
}

struct filter *filter_none(struct arena *arena)
{
    return filter_make(arena, (struct filter){ .kind = FILTER_NONE });
}

struct filter *filter_loosely(struct filter *filter)
{
    if (filter->kind != FILTER_ANY)
        filter->loose = true;
    return filter;
}

struct filter *filter_list(struct arena *arena, enum filter_kind kind, size_t room)
{
    struct filter **kid = arena_try_alloc(arena, room * sizeof(struct filter *));

    assert(kind == FILTER_AND || kind == FILTER_OR || kind == FILTER_ROWS);
    return kid ? filter_make(arena, (struct filter){ .kind = kind, .kid = kid }) : filter_any();
}

void filter_put(struct filter *list, struct filter *kid)
{
    if (list->kind != FILTER_ANY)
        list->kid[list->kid_count++] = kid;
}

struct filter *filter_pair(struct arena *arena, enum filter_kind kind, struct filter *a, struct filter *b)
{
    struct filter *pair = filter_list(arena, kind, 2);

    filter_put(pair, a);
    filter_put(pair, b);
    return pair;
}

/* ---- values at a path ---- */

/* In one piece, because most conditions are of this kind: the condition, its intervals, the steps of its path. */
struct filter *filter_at_path(struct arena *arena, const struct item_path *path,
                              const struct interval *interval, size_t count)
{
    size_t intervals_bytes = count * sizeof(*interval), steps_bytes = path->count * sizeof(path->step[0]);
    struct filter *made = arena_try_alloc(arena, sizeof(*made) + intervals_bytes + steps_bytes);
    struct interval *intervals;
    struct index_step *steps;

    if (!made)
        return filter_any();
    intervals = (struct interval *)(made + 1);
    steps = (struct index_step *)(intervals + count);
    *made = (struct filter){ .kind = FILTER_VALUES,
                             .interval = intervals,
                             .interval_count = count,
                             .path = { { steps, path->count }, path->traits } };
    if (count)
        memcpy(intervals, interval, intervals_bytes);
    memcpy(steps, path->step, steps_bytes);
    return made;
}

struct filter *filter_at(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                         const struct interval *interval, size_t count)
{
    struct item_path path;

    item_path_begin(&path);
    if (!item_path_of(aliases, expr, &path))
        return filter_any();
    return filter_at_path(arena, &path, interval, count);
}

struct filter *filter_kinds_at(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                               enum json_kind first, enum json_kind last)
{
    struct interval interval = interval_of_kinds(first, last);

    return filter_at(arena, aliases, expr, &interval, 1);
}

/* ---- logic ---- */

/* AND when true and OR when false: every operand; the other two: any. */
static struct filter *logic(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                            bool truth)
{
    bool every = (expr->operation == OPERATOR_AND) == truth;
    struct filter *list = filter_list(arena, every ? FILTER_AND : FILTER_OR, expr->kid_count);

    assert(expr->kid_count >= 2);
    for (size_t i = 0; i < expr->kid_count; i++)
        filter_put(list, filter_where(arena, aliases, expr->kid[i], truth));
    return list;
}

static struct filter *binary(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                             bool truth)
{
    switch (expr->operation) {
    case OPERATOR_AND:
    case OPERATOR_OR:
        return logic(arena, aliases, expr, truth);
    case OPERATOR_EQUAL:
    case OPERATOR_NOT_EQUAL:
    case OPERATOR_LESS:
    case OPERATOR_LESS_EQUAL:
    case OPERATOR_GREATER:
    case OPERATOR_GREATER_EQUAL:
        return filter_comparison(arena, aliases, expr, truth);
    default:
        return filter_any();
    }
}

/* Whose parts are asked one by one. */
static bool is_logic(const struct expr *expr)
{
    if (expr->kind == EXPR_UNARY)
        return expr->operation == OPERATOR_NOT;
    return expr->kind == EXPR_BINARY && (expr->operation == OPERATOR_AND || expr->operation == OPERATOR_OR);
}

struct filter *filter_where(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                            bool truth)
{
    struct value value;

    if (fold_constant(expr, &value))
        return value.kind == (truth ? JSON_TRUE : JSON_FALSE) ? filter_any() : filter_none(arena);
    if (!is_logic(expr) && !(kinds_of(expr) & kinds_one(truth ? JSON_TRUE : JSON_FALSE)))
        return filter_none(arena);
    switch (expr->kind) {
    case EXPR_NAME:
    case EXPR_MEMBER:
    case EXPR_INDEX:
        return filter_equals(arena, aliases, expr, value_bool(truth));
    case EXPR_UNARY:
        return expr->operation == OPERATOR_NOT ? filter_where(arena, aliases, expr->kid[0], !truth)
                                               : filter_any();
    case EXPR_BINARY:
        return binary(arena, aliases, expr, truth);
    case EXPR_BETWEEN:
        return filter_between(arena, aliases, expr, truth);
    case EXPR_IN:
        return filter_in(arena, aliases, expr, truth);
    case EXPR_LIKE:
        return filter_like(arena, aliases, expr, truth);
    case EXPR_CALL:
        return filter_call(arena, aliases, expr, truth);
    case EXPR_EXISTS:
        return truth ? filter_rows(arena, aliases, expr->select) : filter_any();
    default:
        return filter_any();
    }
}

/* ---- statements ---- */

/* Whether one of them may be an element of an array: itself, or as a row of a subquery. */
static bool iterates(const struct alias *aliases)
{
    while (aliases && aliases->source->kind == SOURCE_PATH)
        aliases = aliases->outer;
    return aliases;
}

bool filter_passes_rows(const struct select *select)
{
    return select->star && select->source_count == 1 && !select->distinct && !select->group_count &&
           !select->aggregate_count;
}

/* Every item is a row of it. FILTER_ANY says less: of a condition that was not understood, too. */
static bool asks_nothing(const struct select *select)
{
    const struct source *first = &select->source[0];

    if (!filter_passes_rows(select) || select->where)
        return false;
    return first->kind == SOURCE_SUBQUERY ? asks_nothing(first->select)
                                          : first->kind == SOURCE_PATH && first->path->kind == EXPR_NAME;
}

static struct filter *sources(struct arena *arena, const struct alias *aliases, const struct select *select,
                              size_t i);

/* What a subquery among the sources asks of an item. */
static struct filter *of_subquery(struct arena *arena, const struct alias *aliases,
                                  const struct select *select)
{
    return filter_passes_rows(select) ? sources(arena, aliases, select, 0)
                                      : filter_rows(arena, aliases, select);
}

/* What the sources from `i` on, and then the filter, ask of an item. */
static struct filter *sources(struct arena *arena, const struct alias *aliases, const struct select *select,
                              size_t i)
{
    const struct source *source = &select->source[i];
    struct alias alias = { aliases, source };
    struct filter *filter;

    assert(i <= select->source_count);
    if (i == select->source_count)
        return select->where ? filter_where(arena, aliases, select->where, true) : filter_any();
    filter = sources(arena, &alias, select, i + 1);
    if (source->kind != SOURCE_SUBQUERY || asks_nothing(source->select))
        return filter;
    if (i + 1 == select->source_count && !select->where)
        return of_subquery(arena, aliases, source->select);
    return filter_pair(arena, FILTER_AND, filter, of_subquery(arena, aliases, source->select));
}

/* Whether EXISTS counts every row: a value that is undefined is none. */
static bool is_always_defined(const struct select *select)
{
    struct value value;

    if (select->top || select->limit || select->offset)
        return false;
    return select->star || !select->value || select->item[0].expr->kind == EXPR_NAME ||
           (fold_constant(select->item[0].expr, &value) && value.kind != JSON_UNDEFINED);
}

/* The items for which a subquery has a row. An aggregate has one of nothing at all. */
struct filter *filter_rows(struct arena *arena, const struct alias *aliases, const struct select *select)
{
    struct filter *filter, *kid;

    if (select->aggregate_count || select->group_count)
        return filter_any();
    kid = sources(arena, aliases, select, 0);
    if (kid->kind == FILTER_ANY)
        return kid;
    filter = filter_list(arena, FILTER_ROWS, 1);
    filter_put(filter, kid);
    if (filter->kind == FILTER_ROWS)
        filter->settles = select->source_count == 1 && !iterates(aliases) && is_always_defined(select);
    return filter;
}

const struct filter *filter_of_select(struct arena *arena, const struct select *select)
{
    return sources(arena, NULL, select, 0);
}
