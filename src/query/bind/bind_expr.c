/* src/query/bind/bind_expr.c - expressions: names, parameters, functions, computed properties. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "query/bind/bind_private.h"
#include "query/text/parse.h"
#include "query/function/vector.h"

enum { IN_LIST_SORTED_FROM = 9 };

static const struct visible *find_name(const struct visible *names, struct slice name)
{
    while (names && !slice_equal(names->name, name))
        names = names->outer;
    return names;
}

static enum status bind_name(struct binder *b, struct expr *expr, const struct visible *names)
{
    const struct visible *found = find_name(names, expr->name);

    if (!found)
        return mistake(b->op, expr->span, "SC2001", "Identifier '%.*s' could not be resolved.",
                       SLICE_ARGS(expr->name));
    assert(found->slot < b->bound->slots);
    expr->slot = found->slot;
    return ST_OK;
}

static int compare_parameter(const void *name, const void *parameter)
{
    return slice_compare(*(const struct slice *)name, ((const struct parameter *)parameter)->name);
}

/* A parameter that the request does not have is undefined. */
static void bind_parameter(const struct binder *b, struct expr *expr)
{
    const struct parameter *found = b->parameter_count == 0
                                        ? NULL
                                        : bsearch(&expr->name, b->parameter, b->parameter_count,
                                                  sizeof(*b->parameter), compare_parameter);

    expr->value = found ? found->value : value_undefined;
}

/* SELECT VALUE <expression> FROM c, with c standing for the item in that slot. */
static enum status bind_computed(struct binder *b, struct expr *expr, int slot, struct slice text)
{
    struct select *definition;
    struct visible name = { .slot = slot };
    enum status st;

    assert(!b->in_computed); /* a definition sees no other computed property */
    TRY(query_parse(b->op, text, &definition));
    if (!definition->value || definition->item_count != 1 || definition->source_count != 1)
        TRY(op_fail(b->op, ST_BAD_REQUEST, "A computed property has an unsupported definition: %.*s",
                    SLICE_ARGS(text)));
    name.name = definition->source[0].alias;
    b->in_computed = true;
    st = bind_expr(b, definition->item[0].expr, &name, IN_FILTER);
    b->in_computed = false;
    expr->instead = definition->item[0].expr;
out:
    return st;
}

/* A member of an item, by whichever spelling, may be a computed property. */
static enum status bind_member(struct binder *b, struct expr *expr, struct slice name)
{
    const struct expr *item = expr->kid[0];

    if (item->kind != EXPR_NAME || b->in_computed || !b->is_item[item->slot])
        return ST_OK;
    for (struct json_iter i = json_iter(b->options->computed); json_next(&i);)
        if (slice_equal(json_string(json_get(i.value, "name")), name))
            return bind_computed(b, expr, item->slot, json_string(json_get(i.value, "query")));
    return ST_OK;
}

static enum status check_count(struct binder *b, const struct expr *expr)
{
    int count = (int)expr->kid_count, least = expr->builtin->args_min, most = expr->builtin->args_max;
    const char *name = expr->builtin->name;

    if (count >= least && count <= most)
        return ST_OK;
    if (least == most)
        return mistake(b->op, expr->span, "SC2050", "The %s function requires %d argument(s).", name, least);
    if (most == ARGS_NO_MAX)
        return mistake(b->op, expr->span, "SC2050", "The %s function requires at least %d argument(s).", name,
                       least);
    return mistake(b->op, expr->span, "SC2050", "The %s function requires %d to %d argument(s).", name, least,
                   most);
}

static enum status bind_aggregate(struct binder *b, struct expr *expr, const struct visible *names,
                                  enum place place)
{
    struct select *select = b->select;
    struct expr **list;

    assert(expr->kid_count == 1); /* check_count() has seen to it */
    if (place == IN_AGGREGATE)
        return mistake(b->op, b->aggregate, "SC2101",
                       "Cannot perform an aggregate function on an expression containing an aggregate or a "
                       "subquery.");
    if (place != IN_SELECT)
        return mistake(b->op, expr->span, "SC2102", "An aggregate may not appear outside the SELECT clause.");
    if ((select->aggregate_count & (select->aggregate_count - 1)) == 0) { /* a power of two: it is full */
        list = arena_try_alloc(&b->op->arena, (2 * select->aggregate_count + 1) * sizeof(struct expr *));
        if (!list)
            return mistake_memory(b->op);
        if (select->aggregate_count)
            memcpy(list, select->aggregate, select->aggregate_count * sizeof(struct expr *));
        select->aggregate = list;
    }
    select->aggregate[select->aggregate_count++] = expr;
    expr->slot = b->bound->results++;
    b->aggregate = expr->span;
    return bind_expr(b, expr->kid[0], names, IN_AGGREGATE);
}

static enum status bind_call(struct binder *b, struct expr *expr, const struct visible *names,
                             enum place place)
{
    enum status st;

    expr->builtin = builtin_find(expr->name);
    if (!expr->builtin)
        return mistake(b->op, expr->name_span, "SC2005", "'%.*s' is not a recognized built-in function name.",
                       SLICE_ARGS(expr->name));
    if (expr->builtin->flags & NOT_BUILT)
        TRY(op_fail(b->op, ST_NOT_BUILT, "The function %s is not available in this version of the server.",
                    expr->builtin->name));
    TRY(check_count(b, expr));
    if (expr->builtin->flags & AGGREGATE) {
        st = bind_aggregate(b, expr, names, place);
        goto out;
    }
    for (size_t i = 0; i < expr->kid_count; i++)
        TRY(bind_expr(b, expr->kid[i], names, place));
    if (expr->builtin->bind)
        TRY(expr->builtin->bind(b->op, b->options, expr));
out:
    return st;
}

static enum status bind_udf(struct binder *b, const struct expr *expr)
{
    b->bound->calls_udfs = true;
    if (++b->udfs > QUERY_UDFS_MAX)
        return mistake(
            b->op, b->whole, "SC3005",
            "The SQL query exceeded the maximum number of user-defined function calls. The allowed "
            "limit is %d.",
            QUERY_UDFS_MAX);
    if (!b->options->udf)
        return op_fail(b->op, ST_NOT_BUILT,
                       "User-defined functions are not available in this version of the server: udf.%.*s",
                       SLICE_ARGS(expr->name));
    return ST_OK;
}

static int by_value(const void *a, const void *b)
{
    return value_compare(*(const struct value *)a, *(const struct value *)b);
}

/* A long list of defined constants is sorted once, and searched by halves for each row. */
static void bind_in_list(struct binder *b, struct expr *expr)
{
    struct in_list *list;

    if (expr->kid_count < IN_LIST_SORTED_FROM)
        return;
    for (size_t i = 1; i < expr->kid_count; i++)
        if ((expr->kid[i]->kind != EXPR_LITERAL && expr->kid[i]->kind != EXPR_PARAMETER) ||
            expr->kid[i]->value.kind == JSON_UNDEFINED || isnan(expr->kid[i]->value.number))
            return;
    list = arena_alloc(&b->op->arena, sizeof(*list));
    list->count = expr->kid_count - 1;
    list->value = arena_alloc(&b->op->arena, list->count * sizeof(*list->value));
    for (size_t i = 0; i < list->count; i++)
        list->value[i] = expr->kid[i + 1]->value;
    qsort(list->value, list->count, sizeof(*list->value), by_value);
    expr->memo = list;
}

static enum status bind_subquery(struct binder *b, struct expr *expr, const struct visible *names,
                                 enum place place)
{
    struct select *outer = b->select;
    enum status st;

    assert(b->depth >= 0);
    if (place == IN_AGGREGATE)
        TRY(mistake(b->op, b->aggregate, "SC2101",
                    "Cannot perform an aggregate function on an expression containing an aggregate or a "
                    "subquery."));
    b->depth++;
    st = bind_select(b, expr->select, names, false);
    b->depth--;
    b->select = outer;
out:
    return st;
}

enum status bind_expr(struct binder *b, struct expr *expr, const struct visible *names, enum place place)
{
    enum status st = ST_OK;

    if (expr->kind == EXPR_CALL)
        return bind_call(b, expr, names, place);
    if (expr->select)
        return bind_subquery(b, expr, names, place);
    for (size_t i = 0; i < expr->kid_count; i++)
        TRY(bind_expr(b, expr->kid[i], names, place));
    switch (expr->kind) {
    case EXPR_NAME:
        TRY(bind_name(b, expr, names));
        break;
    case EXPR_PARAMETER:
        bind_parameter(b, expr);
        break;
    case EXPR_MEMBER:
        TRY(bind_member(b, expr, expr->name));
        break;
    case EXPR_INDEX:
        if (expr->kid[1]->value.kind == JSON_STRING)
            TRY(bind_member(b, expr, expr->kid[1]->value.string));
        break;
    case EXPR_UDF:
        TRY(bind_udf(b, expr));
        break;
    case EXPR_IN:
        bind_in_list(b, expr);
        break;
    default:
        break;
    }
out:
    return st;
}
