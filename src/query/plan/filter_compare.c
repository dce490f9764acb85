/* src/query/plan/filter_compare.c - comparisons, BETWEEN and IN: values at the path that is compared with constants. */
#include <assert.h>
#include <math.h>

#include "query/bind/fold.h"
#include "query/plan/filter_private.h"

static struct filter *defined(struct arena *arena, const struct alias *aliases, const struct expr *expr)
{
    return filter_kinds_at(arena, aliases, expr, JSON_NULL, JSON_OBJECT);
}

/* Values that nothing equals, whatever it is: undefined, and numbers that no document holds. */
static bool all_unequalled(const struct interval *interval, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (interval_is_stored(&interval[i]))
            return false;
    return true;
}

struct filter *filter_one_of(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                             const struct interval *point, size_t count)
{
    struct filter *filter = filter_at(arena, aliases, expr, point, count);

    if (filter->kind == FILTER_ANY && all_unequalled(point, count))
        return filter_none(arena);
    return filter;
}

struct filter *filter_equals(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                             struct value value)
{
    struct interval point = interval_of_value(value);

    return filter_one_of(arena, aliases, expr, &point, value.kind == JSON_UNDEFINED ? 0 : 1);
}

/* Defined and different. */
static struct filter *differs(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                              struct value value)
{
    struct interval both[2];

    if (value.kind == JSON_UNDEFINED)
        return filter_none(arena);
    if (!value_is_finite(value)) /* no document holds it: NaN, too, differs from everything */
        return defined(arena, aliases, expr);
    if (value.kind >= JSON_ARRAY) /* whose hash is not its own */
        return filter_loosely(defined(arena, aliases, expr));
    interval_complement(value, both);
    return filter_at(arena, aliases, expr, both, 2);
}

static struct filter *ordered(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                              enum operator_kind operation, struct value value)
{
    bool less = operation == OPERATOR_LESS || operation == OPERATOR_LESS_EQUAL;
    struct interval interval;

    if (value.kind == JSON_UNDEFINED || value.kind >= JSON_ARRAY ||
        (value.kind == JSON_NUMBER && isnan(value.number)))
        return filter_none(arena);
    if (!value_is_finite(value))
        return less == (value.number > 0) ? filter_kinds_at(arena, aliases, expr, JSON_NUMBER, JSON_NUMBER)
                                          : filter_none(arena);
    interval = interval_of_order(operation, value);
    return filter_at(arena, aliases, expr, &interval, 1);
}

static struct filter *distance(struct arena *arena, const struct alias *aliases, const struct expr *call,
                               enum operator_kind operation, struct value value)
{
    if (operation != OPERATOR_LESS && operation != OPERATOR_LESS_EQUAL && operation != OPERATOR_EQUAL)
        return filter_any();
    if (value.kind != JSON_NUMBER || !(value.number >= 0))
        return filter_none(arena);
    return isfinite(value.number) ? filter_near(arena, aliases, call, value.number) : filter_any();
}

static struct filter *compared(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                               enum operator_kind operation, struct value value)
{
    if (filter_claim(expr) == CLAIM_DISTANCE)
        return distance(arena, aliases, expr, operation, value);
    if (operation == OPERATOR_NOT_EQUAL)
        return differs(arena, aliases, expr, value);
    if (operation != OPERATOR_EQUAL)
        return ordered(arena, aliases, expr, operation, value);
    return filter_equals(arena, aliases, expr, value);
}

static struct filter *compare(struct arena *arena, const struct alias *aliases, enum operator_kind operation,
                              const struct expr *a, const struct expr *b)
{
    struct value value;

    if (fold_constant(b, &value))
        return compared(arena, aliases, a, operation, value);
    if (fold_constant(a, &value))
        return compared(arena, aliases, b, interval_turned_order(operation), value);
    return filter_any();
}

struct filter *filter_comparison(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                                 bool truth)
{
    enum operator_kind operation = truth ? expr->operation : interval_opposite_order(expr->operation);

    assert(expr->kid_count == 2);
    return compare(arena, aliases, operation, expr->kid[0], expr->kid[1]);
}

/* Both bounds of one kind are one interval; of several kinds, two that have nothing in common. */
struct filter *filter_between(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                              bool truth)
{
    const struct expr *path = expr->kid[0];
    struct filter *above, *below;
    struct interval both;
    struct value low, high;

    assert(expr->kid_count == 3);
    if (!fold_constant(expr->kid[1], &low) || !fold_constant(expr->kid[2], &high))
        return filter_any();
    if (truth == expr->negated) {
        below = ordered(arena, aliases, path, OPERATOR_LESS, low);
        return filter_pair(arena, FILTER_OR, below, ordered(arena, aliases, path, OPERATOR_GREATER, high));
    }
    above = ordered(arena, aliases, path, OPERATOR_GREATER_EQUAL, low);
    below = ordered(arena, aliases, path, OPERATOR_LESS_EQUAL, high);
    if (above->kind != FILTER_VALUES || below->kind != FILTER_VALUES || low.kind != high.kind ||
        !value_is_finite(low) || !value_is_finite(high))
        return filter_pair(arena, FILTER_AND, above, below);
    both = interval_meet(above->interval, below->interval);
    return filter_at(arena, aliases, path, &both, 1);
}

/* The constants of a list, undefined ones left out; NULL when it has others too, or there is no memory. */
static struct interval *points_of(struct arena *arena, const struct expr *expr, size_t *count)
{
    struct interval *point = arena_try_alloc(arena, expr->kid_count * sizeof(*point));
    struct value value;

    *count = 0;
    for (size_t i = 1; point && i < expr->kid_count; i++) {
        if (!fold_constant(expr->kid[i], &value))
            return NULL;
        if (value.kind != JSON_UNDEFINED)
            point[(*count)++] = interval_of_value(value);
    }
    return point;
}

/* IN a list: any of its values. NOT IN: defined, and whatever else. */
struct filter *filter_in(struct arena *arena, const struct alias *aliases, const struct expr *expr,
                         bool truth)
{
    struct interval *point;
    size_t count;

    if (truth == expr->negated)
        return filter_loosely(defined(arena, aliases, expr->kid[0]));
    point = points_of(arena, expr, &count);
    return point ? filter_one_of(arena, aliases, expr->kid[0], point, count) : filter_any();
}
