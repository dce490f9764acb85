/*
 * src/query/plan/predicate.c - from a filter to the index ranges of the items that can pass it.
 * Each function gives the items for which an expression can be true or, for NOT, false; both are asked
 * separately, because an expression may be neither. What is not understood gives every item.
 */
#include <math.h>

#include "query/eval/builtin.h"
#include "query/plan/predicate.h"

static struct access *where(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                            bool truth);

/* The range of an expression that is a path; ANY for one that is none. */
static struct access *range_of(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                               const struct interval *interval)
{
    struct item_path path = { .count = 0 };

    if (!item_path_of(aliases, expr, &path))
        return access_any();
    return access_range(planner, &path, interval);
}

/* The same, where the filter asks for more than the interval says. */
static struct access *wider(struct planner *planner, struct access *access)
{
    return access_and(planner, access, access_any());
}

static struct access *kinds_of(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                               enum json_kind first, enum json_kind last)
{
    struct interval interval = interval_of_kinds(first, last);

    return range_of(planner, aliases, expr, &interval);
}

static struct access *defined(struct planner *planner, const struct alias *aliases, const struct expr *expr)
{
    return kinds_of(planner, aliases, expr, JSON_NULL, JSON_OBJECT);
}

/* ---- comparisons ---- */

/* No document holds a number that is not finite. */
static bool is_finite(struct value value)
{
    return value.kind != JSON_NUMBER || isfinite(value.number);
}

static struct access *equals(struct planner *planner, const struct alias *aliases, const struct expr *path,
                             struct value value)
{
    struct interval interval = interval_of_value(value);

    if (value.kind == JSON_UNDEFINED || !is_finite(value))
        return access_none(planner);
    return range_of(planner, aliases, path, &interval);
}

/* Defined and different: what lies before the value, and what lies behind it. */
static struct access *differs(struct planner *planner, const struct alias *aliases, const struct expr *path,
                              struct value value)
{
    struct interval before = { .first = JSON_NULL, .last = JSON_OBJECT };
    struct interval behind = before;

    if (value.kind == JSON_UNDEFINED || (value.kind == JSON_NUMBER && isnan(value.number)))
        return access_none(planner);
    if (!is_finite(value))
        return defined(planner, aliases, path);
    if (value.kind >= JSON_ARRAY) /* whose hash is not its own */
        return wider(planner, defined(planner, aliases, path));
    before.high = behind.low = (struct bound_value){ .is_set = true, .is_open = true, .value = value };
    return access_or(planner, range_of(planner, aliases, path, &before),
                     range_of(planner, aliases, path, &behind));
}

static enum operator_kind opposite(enum operator_kind operation)
{
    switch (operation) {
    case OPERATOR_LESS:
        return OPERATOR_GREATER_EQUAL;
    case OPERATOR_LESS_EQUAL:
        return OPERATOR_GREATER;
    case OPERATOR_GREATER:
        return OPERATOR_LESS_EQUAL;
    case OPERATOR_GREATER_EQUAL:
        return OPERATOR_LESS;
    case OPERATOR_EQUAL:
        return OPERATOR_NOT_EQUAL;
    default:
        return OPERATOR_EQUAL;
    }
}

/* a < b is b > a. */
static enum operator_kind turned(enum operator_kind operation)
{
    switch (operation) {
    case OPERATOR_LESS:
        return OPERATOR_GREATER;
    case OPERATOR_LESS_EQUAL:
        return OPERATOR_GREATER_EQUAL;
    case OPERATOR_GREATER:
        return OPERATOR_LESS;
    case OPERATOR_GREATER_EQUAL:
        return OPERATOR_LESS_EQUAL;
    default:
        return operation;
    }
}

/* Values that have an order have it among their own kind. */
static struct interval kind_of(struct value value)
{
    if (value_is_bool(value))
        return interval_of_kinds(JSON_FALSE, JSON_TRUE);
    return interval_of_kinds(value.kind, value.kind);
}

static struct access *ordered(struct planner *planner, const struct alias *aliases, const struct expr *path,
                              enum operator_kind operation, struct value value)
{
    bool less = operation == OPERATOR_LESS || operation == OPERATOR_LESS_EQUAL;
    struct interval interval = kind_of(value);
    struct bound_value *bound = less ? &interval.high : &interval.low;

    if (value.kind == JSON_UNDEFINED || value.kind >= JSON_ARRAY ||
        (value.kind == JSON_NUMBER && isnan(value.number)))
        return access_none(planner);
    if (!is_finite(value))
        return less == (value.number > 0) ? range_of(planner, aliases, path, &interval)
                                          : access_none(planner);
    *bound = (struct bound_value){ .is_set = true, .value = value };
    bound->is_open = operation == OPERATOR_LESS || operation == OPERATOR_GREATER;
    return range_of(planner, aliases, path, &interval);
}

static struct access *compared(struct planner *planner, const struct alias *aliases, const struct expr *path,
                               enum operator_kind operation, struct value value)
{
    if (predicate_is_distance(path))
        return predicate_distance(planner, aliases, path, operation, value);
    switch (operation) {
    case OPERATOR_EQUAL:
        return equals(planner, aliases, path, value);
    case OPERATOR_NOT_EQUAL:
        return differs(planner, aliases, path, value);
    default:
        return ordered(planner, aliases, path, operation, value);
    }
}

static struct access *comparison(struct planner *planner, const struct alias *aliases,
                                 const struct expr *expr, bool truth)
{
    enum operator_kind operation = truth ? expr->operation : opposite(expr->operation);
    struct value value;

    if (access_constant(expr->kid[1], &value))
        return compared(planner, aliases, expr->kid[0], operation, value);
    if (access_constant(expr->kid[0], &value))
        return compared(planner, aliases, expr->kid[1], turned(operation), value);
    return access_any();
}

static struct access *between(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                              bool truth)
{
    struct value low, high;
    struct access *above, *below;

    if (!access_constant(expr->kid[1], &low) || !access_constant(expr->kid[2], &high))
        return access_any();
    if (truth == expr->negated) {
        below = ordered(planner, aliases, expr->kid[0], OPERATOR_LESS, low);
        return access_or(planner, below, ordered(planner, aliases, expr->kid[0], OPERATOR_GREATER, high));
    }
    above = ordered(planner, aliases, expr->kid[0], OPERATOR_GREATER_EQUAL, low);
    below = ordered(planner, aliases, expr->kid[0], OPERATOR_LESS_EQUAL, high);
    if (above->kind == ACCESS_RANGE && below->kind == ACCESS_RANGE && low.kind == high.kind &&
        is_finite(low) && is_finite(high)) {
        struct interval both = kind_of(low);

        both.low = above->interval.low;
        both.high = below->interval.high;
        return value_compare(low, high) > 0 ? access_none(planner)
                                            : range_of(planner, aliases, expr->kid[0], &both);
    }
    return access_and(planner, above, below);
}

/* IN a list: any of its values. NOT IN: defined, and whatever else. */
static struct access *in_list(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                              bool truth)
{
    struct access *access = access_none(planner);
    struct value value;

    if (truth == expr->negated)
        return wider(planner, defined(planner, aliases, expr->kid[0]));
    for (size_t i = 1; i < expr->kid_count && access->kind != ACCESS_ANY; i++) {
        if (!access_constant(expr->kid[i], &value))
            return access_any();
        access = access_or(planner, access, equals(planner, aliases, expr->kid[0], value));
    }
    return access;
}

/* ---- strings ---- */

static struct access *begins_with(struct planner *planner, const struct alias *aliases,
                                  const struct expr *path, struct slice prefix)
{
    struct interval interval = interval_of_value(value_string(prefix));

    interval.is_prefix = true;
    return range_of(planner, aliases, path, &interval);
}

/* What stands before the first wildcard; `rest` is how the pattern goes on. */
static struct slice plain_part(struct slice pattern, struct slice escape, struct slice *rest)
{
    size_t size = 0;

    while (size < pattern.size && !strchr("%_[", pattern.data[size]) &&
           !(escape.size && pattern.data[size] == escape.data[0]))
        size++;
    *rest = slice_after(pattern, size);
    return slice_make(pattern.data, size);
}

static struct access *like(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                           bool truth)
{
    struct value pattern, escape = value_undefined;
    struct slice rest, plain;
    struct access *access;

    if (!access_constant(expr->kid[1], &pattern) ||
        (expr->kid_count > 2 && !access_constant(expr->kid[2], &escape)))
        return access_any();
    if (pattern.kind != JSON_STRING)
        return access_none(planner);
    if (truth == expr->negated)
        return wider(planner, kinds_of(planner, aliases, expr->kid[0], JSON_STRING, JSON_STRING));
    plain = plain_part(pattern.string, escape.kind == JSON_STRING ? escape.string : slice_of(""), &rest);
    if (rest.size == 0)
        return equals(planner, aliases, expr->kid[0], pattern);
    access = begins_with(planner, aliases, expr->kid[0], plain);
    return slice_is(rest, "%") ? access : wider(planner, access);
}

/* Whether a test of two strings is told to pass over case: then only the kind is known. */
static bool minds_case(const struct expr *call)
{
    struct value nocase;

    return call->kid_count < 3 || (access_constant(call->kid[2], &nocase) && nocase.kind == JSON_FALSE);
}

static struct access *string_test(struct planner *planner, const struct alias *aliases,
                                  const struct expr *call)
{
    bool starts = call->builtin->claim.kind == CLAIM_BEGINS;
    struct value part;

    if (!access_constant(call->kid[1], &part) || part.kind != JSON_STRING || !minds_case(call))
        return wider(planner, kinds_of(planner, aliases, call->kid[0], JSON_STRING, JSON_STRING));
    return starts ? begins_with(planner, aliases, call->kid[0], part.string)
                  : equals(planner, aliases, call->kid[0], part);
}

/* ---- kinds ---- */

static struct access *kind_test(struct planner *planner, const struct alias *aliases, const struct expr *call)
{
    const struct builtin_claim *claim = &call->builtin->claim;
    struct access *access = kinds_of(planner, aliases, call->kid[0], claim->first, claim->last);

    return claim->exact ? access : wider(planner, access);
}

/* ---- arrays ---- */

static struct access *element_has(struct planner *planner, struct item_path *path, struct json wanted);

/* Of an object that may have more members: each of these. */
static struct access *element_has_members(struct planner *planner, struct item_path *path, struct json wanted)
{
    struct interval kind = interval_of_kinds(JSON_OBJECT, JSON_OBJECT);
    struct access *access = wider(planner, access_range(planner, path, &kind));
    size_t depth = path->count;

    for (struct json_iter i = json_iter(wanted); json_next(&i) && depth < ACCESS_STEPS_MAX;) {
        path->step[path->count++] = (struct index_step){ .name = i.name };
        access = access_and(planner, access, element_has(planner, path, i.value));
        path->count = depth;
    }
    return wider(planner, access);
}

static struct access *element_has(struct planner *planner, struct item_path *path, struct json wanted)
{
    struct interval interval = interval_of_value(value_from_json(wanted));

    if (json_kind(wanted) == JSON_OBJECT)
        return element_has_members(planner, path, wanted);
    if (json_kind(wanted) == JSON_ARRAY) /* whose elements may match in part, too */
        interval = interval_of_kinds(JSON_ARRAY, JSON_ARRAY);
    return access_range(planner, path, &interval);
}

/* ARRAY_CONTAINS(path, constant): an element equals it or, `partly`, has what it has. */
static struct access *holds(struct planner *planner, const struct alias *aliases, const struct expr *array,
                            struct value wanted, bool partly)
{
    struct item_path path = { .count = 0 };
    struct interval interval = interval_of_value(wanted);

    if (!item_path_of(aliases, array, &path) || path.count == ACCESS_STEPS_MAX)
        return access_any();
    if (wanted.kind == JSON_UNDEFINED || !is_finite(wanted))
        return access_none(planner);
    path.step[path.count++] = (struct index_step){ .element = true };
    if (partly && wanted.kind >= JSON_ARRAY)
        return wider(planner, element_has(planner, &path, wanted.json));
    return access_range(planner, &path, &interval);
}

/* ARRAY_CONTAINS(constant, path): the path's value is one of the array's. */
static struct access *is_held(struct planner *planner, const struct alias *aliases, struct value array,
                              const struct expr *path)
{
    struct access *access = access_none(planner);

    if (array.kind != JSON_ARRAY)
        return access;
    for (struct json_iter i = json_iter(array.json); json_next(&i) && access->kind != ACCESS_ANY;)
        access = access_or(planner, access, equals(planner, aliases, path, value_from_json(i.value)));
    return access;
}

static struct access *array_contains(struct planner *planner, const struct alias *aliases,
                                     const struct expr *call)
{
    struct value wanted, array, partly = value_bool(false);

    if (call->kid_count > 2 && !access_constant(call->kid[2], &partly))
        return access_any();
    if (!value_is_bool(partly))
        return access_none(planner);
    if (access_constant(call->kid[1], &wanted))
        return holds(planner, aliases, call->kid[0], wanted, partly.kind == JSON_TRUE);
    if (partly.kind == JSON_FALSE && access_constant(call->kid[0], &array))
        return is_held(planner, aliases, array, call->kid[1]);
    return access_any();
}

static struct access *array_contains_each(struct planner *planner, const struct alias *aliases,
                                          const struct expr *call)
{
    bool all = call->builtin->claim.kind == CLAIM_HOLDS_ALL;
    struct access *access = all ? access_any() : access_none(planner);
    struct value wanted;

    for (size_t i = 1; i < call->kid_count; i++) {
        struct access *one = access_any();

        if (access_constant(call->kid[i], &wanted))
            one = holds(planner, aliases, call->kid[0], wanted, false);
        access = all ? access_and(planner, access, one) : access_or(planner, access, one);
    }
    return wider(planner, access);
}

/* ---- calls ---- */

typedef struct access *claim_code(struct planner *planner, const struct alias *aliases,
                                  const struct expr *call);

/* What is not here tells nothing where it is true. */
static claim_code *const claims[] = {
    [CLAIM_KINDS] = kind_test,
    [CLAIM_BEGINS] = string_test,
    [CLAIM_EQUALS] = string_test,
    [CLAIM_HOLDS] = array_contains,
    [CLAIM_HOLDS_ALL] = array_contains_each,
    [CLAIM_HOLDS_ANY] = array_contains_each,
    [CLAIM_TOUCHES] = predicate_area,
    [CLAIM_MAGNITUDE] = NULL,
};

static struct access *call(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                           bool truth)
{
    claim_code *code = claims[expr->builtin->claim.kind];

    return truth && code ? code(planner, aliases, expr) : access_any();
}

/* ---- logic ---- */

/* AND when true and OR when false: every operand; the other two: any. */
static struct access *logic(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                            bool truth)
{
    bool every = (expr->operation == OPERATOR_AND) == truth;
    struct access *access = where(planner, aliases, expr->kid[0], truth);

    for (size_t i = 1; i < expr->kid_count; i++) {
        struct access *more = where(planner, aliases, expr->kid[i], truth);

        access = every ? access_and(planner, access, more) : access_or(planner, access, more);
    }
    return access;
}

static struct access *binary(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                             bool truth)
{
    switch (expr->operation) {
    case OPERATOR_AND:
    case OPERATOR_OR:
        return logic(planner, aliases, expr, truth);
    case OPERATOR_EQUAL:
    case OPERATOR_NOT_EQUAL:
    case OPERATOR_LESS:
    case OPERATOR_LESS_EQUAL:
    case OPERATOR_GREATER:
    case OPERATOR_GREATER_EQUAL:
        return comparison(planner, aliases, expr, truth);
    default:
        return access_any();
    }
}

static struct access *rows(struct planner *planner, const struct alias *aliases, const struct select *select);

/* The items for which the expression can be true, or false. */
static struct access *where(struct planner *planner, const struct alias *aliases, const struct expr *expr,
                            bool truth)
{
    struct value value;

    if (access_constant(expr, &value))
        return value.kind == (truth ? JSON_TRUE : JSON_FALSE) ? access_any() : access_none(planner);
    switch (expr->kind) {
    case EXPR_MEMBER:
    case EXPR_INDEX:
    case EXPR_NAME:
        return equals(planner, aliases, expr, value_bool(truth));
    case EXPR_UNARY:
        return expr->operation == OPERATOR_NOT ? where(planner, aliases, expr->kid[0], !truth) : access_any();
    case EXPR_BINARY:
        return binary(planner, aliases, expr, truth);
    case EXPR_BETWEEN:
        return between(planner, aliases, expr, truth);
    case EXPR_IN:
        return in_list(planner, aliases, expr, truth);
    case EXPR_LIKE:
        return like(planner, aliases, expr, truth);
    case EXPR_CALL:
        return call(planner, aliases, expr, truth);
    case EXPR_EXISTS:
        return truth ? rows(planner, aliases, expr->select) : access_any();
    default:
        return access_any();
    }
}

/* ---- statements ---- */

static bool iterates(const struct alias *aliases)
{
    while (aliases && !aliases->iterates)
        aliases = aliases->outer;
    return aliases;
}

/* What the sources from `i` on, and then the filter, ask of an item. */
static struct access *sources(struct planner *planner, const struct alias *aliases,
                              const struct select *select, size_t i)
{
    const struct source *source = &select->source[i];
    struct alias alias = { .outer = aliases };
    struct access *filter;

    if (i == select->source_count)
        return select->where ? where(planner, aliases, select->where, true) : access_any();
    alias.slot = source->slot;
    alias.iterates = source->kind == SOURCE_ITERATE;
    alias.path = source->kind == SOURCE_SUBQUERY ? NULL : source->path;
    filter = sources(planner, &alias, select, i + 1);
    if (source->kind != SOURCE_SUBQUERY)
        return filter;
    return access_and(planner, filter, rows(planner, aliases, source->select));
}

/* Whether EXISTS counts every row: a value that is undefined is none. */
static bool is_always_defined(const struct select *select)
{
    struct value value;

    if (select->top || select->limit || select->offset)
        return false;
    return select->star || !select->value || select->item[0].expr->kind == EXPR_NAME ||
           (access_constant(select->item[0].expr, &value) && value.kind != JSON_UNDEFINED);
}

/* Ranges that all speak of an element: where there is one of those, there is an element. */
static bool is_of_element(const struct access *access)
{
    if (access->kind != ACCESS_OR)
        return access->kind == ACCESS_RANGE && access->of_element;
    for (size_t i = 0; i < access->kid_count; i++)
        if (!is_of_element(access->kid[i]))
            return false;
    return true;
}

/* The items for which a subquery has a row. An aggregate has one of nothing at all. */
static struct access *rows(struct planner *planner, const struct alias *aliases, const struct select *select)
{
    struct access *access;

    if (select->aggregate_count || select->group_count)
        return access_any();
    access = sources(planner, aliases, select, 0);
    if (select->source_count != 1 || iterates(aliases) || !is_of_element(access) ||
        !is_always_defined(select))
        return wider(planner, access);
    access->of_element = false; /* some element has it: that is all that the subquery asks */
    return access;
}

struct access *access_of_select(struct planner *planner, const struct select *select)
{
    if (select->whole || select->source_count == 0)
        return access_any();
    return sources(planner, NULL, select, 0);
}
