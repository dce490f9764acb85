/* src/query/plan/demand_operator.c - operators, back to their operands. */
#include <assert.h>
#include <math.h>

#include "query/bind/fold.h"
#include "query/plan/demand_private.h"

static const kinds number = 1 << JSON_NUMBER, string = 1 << JSON_STRING;

static struct demand *each_of_kinds(struct reader *reader, struct term term, kinds wanted)
{
    struct demand *list = demand_list(reader, DEMAND_AND, term.expr->kid_count);

    for (size_t i = 0; i < term.expr->kid_count; i++)
        demand_put(list, demand_kinds(reader, demand_kid(term, i), wanted));
    return list;
}

/* ---- comparisons ---- */

static bool is_finite(struct value value)
{
    return value.kind != JSON_NUMBER || isfinite(value.number);
}

/* Values before or behind one of their kind. Nothing is before the empty text. */
static struct interval ordered(enum operator_kind operation, struct value value)
{
    if (operation == OPERATOR_LESS_EQUAL && value.kind == JSON_STRING && value.string.size == 0)
        return interval_of_value(value);
    return interval_of_order(operation, value);
}

/* Whether nothing of its kind lies before the value, or behind it. */
static bool is_at_end(enum operator_kind operation, struct value value)
{
    bool is_infinite = value.kind == JSON_NUMBER && isinf(value.number);

    if (operation == OPERATOR_LESS)
        return value.kind == JSON_NULL || value.kind == JSON_FALSE ||
               (value.kind == JSON_STRING && value.string.size == 0) || (is_infinite && value.number < 0);
    if (operation == OPERATOR_GREATER)
        return value.kind == JSON_NULL || value.kind == JSON_TRUE || (is_infinite && value.number > 0);
    return false;
}

static struct demand *in_order(struct reader *reader, enum operator_kind operation, struct term term,
                               struct value value)
{
    if (value.kind == JSON_UNDEFINED || value.kind >= JSON_ARRAY || is_at_end(operation, value))
        return demand_none(reader);
    if (value.kind == JSON_NUMBER && isnan(value.number))
        return demand_none(reader);
    return demand_among(reader, term, values_of_one(reader, ordered(operation, value)));
}

static struct demand *different(struct reader *reader, struct term term, struct value value)
{
    struct interval *both;

    if (value.kind == JSON_UNDEFINED)
        return demand_none(reader);
    both = value.kind < JSON_ARRAY && is_finite(value) ? values_room(reader, 2) : NULL;
    if (!both)
        return demand_kinds(reader, term, KINDS_DEFINED);
    interval_complement(value, both);
    return demand_among(reader, term, values_of(both, 2));
}

/* What equals infinity lies at the end of numbers: the service's planner names no key there. */
static struct demand *equal(struct reader *reader, struct term term, struct value value)
{
    if (value.kind == JSON_UNDEFINED)
        return demand_none(reader);
    if (value.kind != JSON_NUMBER || !isinf(value.number))
        return demand_equal(reader, term, value);
    return in_order(reader, value.number > 0 ? OPERATOR_GREATER_EQUAL : OPERATOR_LESS_EQUAL, term, value);
}

static struct demand *with_constant(struct reader *reader, enum operator_kind operation, struct term term,
                                    struct value value)
{
    if (operation == OPERATOR_EQUAL)
        return equal(reader, term, value);
    if (operation == OPERATOR_NOT_EQUAL)
        return different(reader, term, value);
    return in_order(reader, operation, term, value);
}

struct demand *demand_compared(struct reader *reader, enum operator_kind operation, struct term a,
                               struct term b)
{
    struct value value;

    if (demand_constant(b, &value))
        return with_constant(reader, operation, a, value);
    if (demand_constant(a, &value))
        return with_constant(reader, interval_turned_order(operation), b, value);
    return demand_pair(reader, DEMAND_AND, demand_kinds(reader, a, KINDS_DEFINED),
                       demand_kinds(reader, b, KINDS_DEFINED));
}

/* What is put in order with a value is of its kind. */
static kinds kinds_beside(struct value value)
{
    return value_is_bool(value) ? KINDS_BOOLEAN : kinds_one((enum json_kind)value.kind);
}

/* The kinds among which a constant has an order; everything that is defined where there is none. */
static kinds order_kinds(struct term a, struct term b)
{
    struct value value;

    if (!demand_constant(a, &value) && !demand_constant(b, &value))
        return KINDS_DEFINED;
    return kinds_beside(value);
}

static bool is_equality(enum operator_kind operation)
{
    return operation == OPERATOR_EQUAL || operation == OPERATOR_NOT_EQUAL;
}

/* Either way: both are defined and, where they are put in order, of one kind. */
static struct demand *comparable(struct reader *reader, struct term term)
{
    struct term a = demand_kid(term, 0), b = demand_kid(term, 1);

    return each_of_kinds(reader, term, is_equality(term.expr->operation) ? KINDS_DEFINED : order_kinds(a, b));
}

static struct demand *comparison(struct reader *reader, struct term term, kinds truths)
{
    enum operator_kind operation = term.expr->operation;

    assert(term.expr->kid_count == 2);
    if ((truths & KINDS_BOOLEAN) == KINDS_BOOLEAN)
        return comparable(reader, term);
    if (!(truths & kinds_one(JSON_TRUE)))
        operation = interval_opposite_order(operation);
    return demand_compared(reader, operation, demand_kid(term, 0), demand_kid(term, 1));
}

/* Not less than the one and not greater than the other; else one of these. */
struct demand *demand_between(struct reader *reader, struct term term, bool truth)
{
    struct term value = demand_kid(term, 0), low = demand_kid(term, 1), high = demand_kid(term, 2);

    if (truth)
        return demand_pair(reader, DEMAND_AND, demand_compared(reader, OPERATOR_GREATER_EQUAL, value, low),
                           demand_compared(reader, OPERATOR_LESS_EQUAL, value, high));
    return demand_pair(reader, DEMAND_OR, demand_compared(reader, OPERATOR_LESS, value, low),
                       demand_compared(reader, OPERATOR_GREATER, value, high));
}

/* ---- IN ---- */

static bool is_nan(struct value value)
{
    return value.kind == JSON_NUMBER && isnan(value.number);
}

/* The constants of a list, undefined ones left out; false when it has others. */
static bool points_of(struct reader *reader, struct term term, struct values *values)
{
    size_t count = term.expr->kid_count;
    struct interval *point = values_room(reader, count);
    size_t found = 0;
    struct value value;

    for (size_t i = 1; point && i < count; i++) {
        if (!demand_constant(demand_kid(term, i), &value) || (is_nan(value) && count == 2))
            return false;
        if (value.kind != JSON_UNDEFINED)
            point[found++] = interval_of_value(value);
    }
    *values = values_of(point, found);
    return point;
}

static struct demand *equals_each(struct reader *reader, struct term term)
{
    struct demand *list = demand_list(reader, DEMAND_OR, term.expr->kid_count);
    struct value value;

    for (size_t i = 1; i < term.expr->kid_count; i++) {
        if (fold_constant(term.expr->kid[i], &value) && is_nan(value))
            return demand_kinds(reader, demand_kid(term, 0), KINDS_DEFINED);
        demand_put(list, demand_compared(reader, OPERATOR_EQUAL, demand_kid(term, 0), demand_kid(term, i)));
    }
    return list;
}

enum { EXCLUDED_MAX = 8 };

/* None of a few constants. */
static struct demand *equals_none(struct reader *reader, struct term term)
{
    struct demand *list = demand_list(reader, DEMAND_AND, EXCLUDED_MAX);
    struct value value;

    demand_put(list, demand_kinds(reader, demand_kid(term, 0), KINDS_DEFINED));
    if (term.expr->kid_count > EXCLUDED_MAX)
        return list;
    for (size_t i = 1; i < term.expr->kid_count; i++)
        if (fold_constant(term.expr->kid[i], &value) && value.kind != JSON_UNDEFINED)
            demand_put(list, different(reader, demand_kid(term, 0), value));
    return list;
}

struct demand *demand_in(struct reader *reader, struct term term, bool truth)
{
    struct values points;

    if (!truth)
        return equals_none(reader, term);
    if (points_of(reader, term, &points))
        return points.count ? demand_among(reader, demand_kid(term, 0), points) : demand_none(reader);
    return equals_each(reader, term);
}

/* ---- logic ---- */

static struct demand *logic_is(struct reader *reader, struct term term, bool truth)
{
    bool every = (term.expr->operation == OPERATOR_AND) == truth;
    struct demand *list = demand_list(reader, every ? DEMAND_AND : DEMAND_OR, term.expr->kid_count);

    for (size_t i = 0; i < term.expr->kid_count; i++)
        demand_put(list,
                   demand_kinds(reader, demand_kid(term, i), kinds_one(truth ? JSON_TRUE : JSON_FALSE)));
    return list;
}

static struct demand *logic(struct reader *reader, struct term term, kinds truths)
{
    if ((truths & KINDS_BOOLEAN) != KINDS_BOOLEAN)
        return logic_is(reader, term, truths & kinds_one(JSON_TRUE));
    return demand_pair(reader, DEMAND_OR, logic_is(reader, term, true), logic_is(reader, term, false));
}

static struct demand *negation(struct reader *reader, struct term term, kinds truths)
{
    unsigned wanted = (truths & kinds_one(JSON_TRUE) ? kinds_one(JSON_FALSE) : 0u) |
                      (truths & kinds_one(JSON_FALSE) ? kinds_one(JSON_TRUE) : 0u);

    return demand_kinds(reader, demand_kid(term, 0), (kinds)wanted);
}

static struct demand *coalescing(struct reader *reader, struct term term, struct values values)
{
    struct demand *first = demand_among(reader, demand_kid(term, 0), values);
    struct demand *missing = demand_kinds(reader, demand_kid(term, 0), kinds_one(JSON_UNDEFINED));
    struct demand *second = demand_among(reader, demand_kid(term, 1), values);

    return demand_pair(reader, DEMAND_OR, first, demand_pair(reader, DEMAND_AND, missing, second));
}

struct demand *demand_choice(struct reader *reader, struct term condition, struct term then,
                             struct term otherwise, struct values values)
{
    struct demand *first =
        demand_pair(reader, DEMAND_AND, demand_kinds(reader, condition, kinds_one(JSON_TRUE)),
                    demand_among(reader, then, values));

    struct demand *second = demand_pair(
        reader, DEMAND_AND, demand_kinds(reader, condition, (kinds)(KINDS_ALL & ~kinds_one(JSON_TRUE))),
        demand_among(reader, otherwise, values));

    return demand_pair(reader, DEMAND_OR, first, second);
}

/* ---- arithmetic ---- */

static double computed(enum operator_kind operation, double a, double b)
{
    switch (operation) {
    case OPERATOR_ADD:
        return a + b;
    case OPERATOR_SUBTRACT:
        return a - b;
    case OPERATOR_MULTIPLY:
        return a * b;
    default:
        return a / b;
    }
}

/* Which number would give the result; with the constant on the left or on the right. */
static double solved(enum operator_kind operation, double constant, bool on_left, double result)
{
    switch (operation) {
    case OPERATOR_ADD:
        return result - constant;
    case OPERATOR_SUBTRACT:
        return on_left ? constant - result : result + constant;
    case OPERATOR_MULTIPLY:
        return result / constant;
    default:
        return on_left ? constant / result : result * constant;
    }
}

/* The one number that gives the result: of doubles, others beside it may be rounded to the same. */
static bool solve(enum operator_kind operation, double constant, bool on_left, double result, double *found)
{
    double near[3];

    *found = solved(operation, constant, on_left, result);
    if (!isfinite(*found) || fabs(*found) >= 0x1p53 || fabs(constant) >= 0x1p53 || fabs(result) >= 0x1p53)
        return false;
    near[0] = *found;
    near[1] = nextafter(*found, INFINITY);
    near[2] = nextafter(*found, -INFINITY);
    for (size_t i = 0; i < 3; i++) {
        double got =
            on_left ? computed(operation, constant, near[i]) : computed(operation, near[i], constant);

        if ((got == result) != (i == 0))
            return false;
    }
    return true;
}

static struct value value_of(double found)
{
    return found == trunc(found) ? value_int((int64_t)found) : value_double(found);
}

/* c.k + 1 = 5: c.k is 4. */
static struct demand *arithmetic(struct reader *reader, struct term term, struct values values)
{
    bool on_left;
    struct value constant;
    struct interval *point = values_room(reader, values.count);
    double found;

    on_left = fold_constant(term.expr->kid[0], &constant);
    if (!point || (!on_left && !fold_constant(term.expr->kid[1], &constant)) ||
        constant.kind != JSON_NUMBER || !values_are_points(values, JSON_NUMBER))
        return each_of_kinds(reader, term, number);
    for (size_t i = 0; i < values.count; i++) {
        const struct value *result = &values.interval[i].low.value;

        if (!interval_is_point(&values.interval[i]) || result->kind != JSON_NUMBER ||
            !solve(term.expr->operation, constant.number, on_left, result->number, &found))
            return each_of_kinds(reader, term, number);
        point[i] = interval_of_value(value_of(found));
    }
    return demand_among(reader, demand_kid(term, on_left ? 1 : 0), values_of(point, values.count));
}

static struct value negated(struct value value)
{
    return value.is_int ? value_int(-value.integer) : value_double(-value.number);
}

/* -c.k = 1, +c.k = 1. */
static struct demand *sign(struct reader *reader, struct term term, struct values values)
{
    struct interval *point = values_room(reader, values.count);

    for (size_t i = 0; point && i < values.count; i++) {
        struct value value = values.interval[i].low.value;

        if (!interval_is_point(&values.interval[i]) || value.kind != JSON_NUMBER || isinf(value.number) ||
            (value.is_int && value.integer == INT64_MIN))
            return demand_kinds(reader, demand_kid(term, 0), number);
        point[i] = interval_of_value(term.expr->operation == OPERATOR_MINUS ? negated(value) : value);
    }
    return point ? demand_among(reader, demand_kid(term, 0), values_of(point, values.count)) : demand_any();
}

static struct demand *unary(struct reader *reader, struct term term, struct values values)
{
    if (term.expr->operation == OPERATOR_NOT)
        return negation(reader, term, values_kinds(values));
    if (term.expr->operation == OPERATOR_BIT_NOT)
        return demand_kinds(reader, demand_kid(term, 0), number);
    return sign(reader, term, values);
}

struct demand *demand_operator(struct reader *reader, struct term term, struct values values)
{
    if (term.expr->kind == EXPR_UNARY)
        return unary(reader, term, values);
    switch (term.expr->operation) {
    case OPERATOR_AND:
    case OPERATOR_OR:
        return logic(reader, term, values_kinds(values));
    case OPERATOR_COALESCE:
        return coalescing(reader, term, values);
    case OPERATOR_CONCAT:
        return each_of_kinds(reader, term, string);
    case OPERATOR_EQUAL:
    case OPERATOR_NOT_EQUAL:
    case OPERATOR_LESS:
    case OPERATOR_LESS_EQUAL:
    case OPERATOR_GREATER:
    case OPERATOR_GREATER_EQUAL:
        return comparison(reader, term, values_kinds(values));
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
    case OPERATOR_MULTIPLY:
    case OPERATOR_DIVIDE:
        return arithmetic(reader, term, values);
    default:
        return each_of_kinds(reader, term, number);
    }
}
