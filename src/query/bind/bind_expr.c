/* src/query/bind/bind_expr.c - expressions: names, parameters, functions, computed properties. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "query/bind/bind_private.h"
#include "query/eval/hashes.h"
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

    expr->refused = !found;
    if (!found)
        return bind_wrong(b, mistake(b->op, expr->span, "SC2001", "Identifier '%.*s' could not be resolved.",
                                     SLICE_ARGS(expr->name)));
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
    const struct parameters *given = b->parameters;
    const struct parameter *found = given->count == 0 ? NULL
                                                      : bsearch(&expr->name, given->parameter, given->count,
                                                                sizeof(*given->parameter), compare_parameter);

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
    st = bind_expr(b, definition->item[0].expr, &name, IN_FROM);
    b->in_computed = false;
    expr->instead = definition->item[0].expr;
out:
    return st;
}

/* A member of an item, by whichever spelling, may be a computed property. */
static enum status bind_member(struct binder *b, struct expr *expr, struct slice name)
{
    const struct expr *item = expr->kid[0];

    if (item->kind != EXPR_NAME || b->in_computed || !b->slot[item->slot].is_item)
        return ST_OK;
    for (struct json_iter i = json_iter(b->options->computed); json_next(&i);)
        if (slice_equal(json_string(json_get(i.value, "name")), name))
            return bind_computed(b, expr, item->slot, json_string(json_get(i.value, "query")));
    return ST_OK;
}

/* The function is named as the query spells it. */
static enum status check_count(struct binder *b, const struct expr *expr)
{
    int count = (int)expr->kid_count, least = expr->builtin->args_min, most = expr->builtin->args_max;

    if (count >= least && count <= most)
        return ST_OK;
    if (least == most)
        return mistake(b->op, expr->span, "SC2050", "The %.*s function requires %d argument(s).",
                       SLICE_ARGS(expr->name), least);
    if (most == ARGS_NO_MAX)
        return mistake(b->op, expr->span, "SC2050", "The %.*s function requires at least %d argument(s).",
                       SLICE_ARGS(expr->name), least);
    return mistake(b->op, expr->span, "SC2050", "The %.*s function requires %d to %d argument(s).",
                   SLICE_ARGS(expr->name), least, most);
}

static enum status grow_aggregates(struct binder *b, struct select *select)
{
    struct expr **list;

    if ((select->aggregate_count & (select->aggregate_count - 1)) != 0) /* no power of two: there is room */
        return ST_OK;
    list = arena_try_alloc(&b->op->arena, (2 * select->aggregate_count + 1) * sizeof(struct expr *));
    if (!list)
        return mistake_memory(b->op);
    if (select->aggregate_count)
        memcpy(list, select->aggregate, select->aggregate_count * sizeof(struct expr *));
    select->aggregate = list;
    return ST_OK;
}

static enum status bind_aggregate(struct binder *b, struct expr *expr, enum place place)
{
    struct select *select = b->select;
    enum status st;

    assert(expr->kid_count == 1); /* check_count() has seen to it */
    if (place == IN_AGGREGATE || place == IN_FROM) {
        b->nested_aggregate = true;
        return ST_OK;
    }
    if (place == IN_WHERE)
        return mistake(b->op, expr->span, "SC2104", "Aggregates are not allowed in the WHERE clause.");
    if (place == IN_GROUP)
        return bind_not_in_group(b, expr->span);
    if (select->rank && b->depth == 0)
        TRY(bind_wrong(b, mistake(b->op, expr->span, "SC2226",
                                  "Aggregate functions are not allowed with the ORDER BY RANK clause.")));
    TRY(grow_aggregates(b, select));
    select->aggregate[select->aggregate_count++] = expr;
    expr->slot = b->bound->results++;
    if (b->nested_aggregate)
        TRY(mistake(b->op, expr->span, "SC2101",
                    "Cannot perform an aggregate function on an expression containing an aggregate or a "
                    "subquery."));
out:
    return st;
}

static enum status bind_arguments(struct binder *b, struct expr *expr, const struct visible *names,
                                  enum place place)
{
    bool is_aggregate = expr->builtin && expr->builtin->flags & AGGREGATE;
    enum status st = ST_OK;

    if (is_aggregate && place == IN_SELECT) {
        place = IN_AGGREGATE;
        b->nested_aggregate = false;
    }
    for (size_t i = 0; i < expr->kid_count; i++)
        TRY(bind_expr(b, expr->kid[i], names, place));
out:
    return st;
}

/* What there is to say of the call, behind its arguments. */
static enum status check_call(struct binder *b, struct expr *expr, enum place place)
{
    enum status st;

    if (!expr->builtin || expr->builtin->flags & FUSES)
        return mistake(b->op, expr->name_span, "SC2005", "'%.*s' is not a recognized built-in function name.",
                       SLICE_ARGS(expr->name));
    TRY(check_count(b, expr));
    if (expr->builtin->flags & SCORES && !b->in_rank)
        TRY(mistake(b->op, expr->span, "SC2240",
                    "The FullTextScore function is only allowed in the ORDER BY RANK clause."));
    if (expr->builtin->flags & AGGREGATE)
        TRY(bind_aggregate(b, expr, place));
    if (expr->builtin->bind)
        TRY(expr->builtin->bind(b->op, b->options, expr));
out:
    return st;
}

/* What is wrong with it is where it stands. */
static bool is_misplaced_aggregate(const struct expr *call)
{
    return call->builtin && call->builtin->flags & AGGREGATE && call->kid_count == 1;
}

static enum status bind_call(struct binder *b, struct expr *expr, const struct visible *names,
                             enum place place)
{
    size_t mistakes;
    enum status st;

    expr->builtin = builtin_find(expr->name);
    if (expr->builtin && expr->builtin->flags & TAKES_LONG)
        TRY(op_may_take_long(b->op));
    TRY(bind_arguments(b, expr, names, place));
    mistakes = b->mistakes.count;
    TRY(bind_wrong(b, check_call(b, expr, place)));
    expr->refused = b->mistakes.count > mistakes && !is_misplaced_aggregate(expr);
out:
    return st;
}

static enum status bind_udf(struct binder *b, const struct expr *expr)
{
    enum status st = op_may_take_long(b->op); /* JavaScript does */

    if (st != ST_OK)
        return st;
    b->bound->calls_udfs = true;
    if (++b->udfs > QUERY_UDFS_MAX)
        return bind_wrong(
            b,
            mistake(b->op, b->whole, "SC3005",
                    "The SQL query exceeded the maximum number of user-defined function calls. The allowed "
                    "limit is %d.",
                    QUERY_UDFS_MAX));
    if (!b->options->udf)
        return op_fail(b->op, ST_NOT_BUILT,
                       "User-defined functions are not available in this version of the server: udf.%.*s",
                       SLICE_ARGS(expr->name));
    return ST_OK;
}

/* One character. */
static enum status check_escape(struct binder *b, struct expr *like)
{
    const struct expr *escape = like->kid_count > 2 ? like->kid[2] : NULL;
    struct slice text;
    size_t characters = 0;

    if (!escape || escape->value.kind != JSON_STRING)
        return ST_OK;
    text = escape->value.string;
    for (size_t i = 0; i < text.size; i++)
        characters += ((uint8_t)text.data[i] & 0xc0) != 0x80;
    if (characters == 1)
        return ST_OK;
    like->refused = true;
    return mistake(b->op, escape->span, "SC2207",
                   "The invalid escape character '%.*s' was specified in a LIKE predicate.",
                   SLICE_ARGS(text));
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

/* Whether the statement may have more than one row, whatever the data. */
static bool may_be_many(const struct binder *b, const struct select *select)
{
    if (select->group_count)
        return true;
    if (select->aggregate_count && b->mistakes.count == 0)
        return false;
    for (size_t i = 0; i < select->source_count; i++)
        if (select->source[i].kind == SOURCE_ITERATE ||
            (select->source[i].kind == SOURCE_SUBQUERY && may_be_many(b, select->source[i].select)))
            return true;
    return false;
}

static enum status bind_subquery(struct binder *b, struct expr *expr, const struct visible *names,
                                 enum place place)
{
    struct select *outer = b->select;
    bool nested_aggregate = b->nested_aggregate;
    enum status st;

    assert(b->depth >= 0);
    if (place == IN_GROUP) /* nobody looks at what is in it */
        return bind_wrong(b, bind_not_in_group(b, bind_subquery_span(expr)));
    b->depth++;
    TRY(bind_select(b, expr->select, names, false));
    b->depth--;
    b->select = outer;
    b->nested_aggregate = nested_aggregate;
    if (expr->kind == EXPR_SUBQUERY && may_be_many(b, expr->select))
        TRY(bind_wrong(
            b, mistake(b->op, expr->select->span, "SC2201",
                       "The cardinality of a scalar subquery result set cannot be greater than one.")));
out:
    return st;
}

static struct expr *negation(struct binder *b, struct expr *of)
{
    struct expr *not = arena_alloc(&b->op->arena, sizeof(*not ));

    *not = (struct expr){ .kind = EXPR_UNARY, .operation = OPERATOR_NOT, .span = of->span };
    not ->kid = arena_alloc(&b->op->arena, sizeof(not ->kid[0]));
    not ->kid[not ->kid_count++] = of;
    return not ;
}

/* ALL(rows) is NOT EXISTS(rows that the filter refuses). Whatever they give plays no part. */
static void rewrite_all(struct binder *b, struct expr *expr)
{
    struct expr *exists = arena_alloc(&b->op->arena, sizeof(*exists));
    struct select *rows = expr->select;

    *exists = *expr;
    exists->kind = EXPR_EXISTS;
    if (!rows->where) {
        rows->where = arena_alloc(&b->op->arena, sizeof(*rows->where));
        *rows->where = (struct expr){ .kind = EXPR_LITERAL, .value = value_bool(true), .span = expr->span };
    }
    rows->where = negation(b, rows->where);
    *expr = *negation(b, exists);
}

enum status bind_repeated_name(struct binder *b, struct slice name, struct span span)
{
    return bind_wrong(b, mistake(b->op, span, "SC2022",
                                 "Object creation error, property name '%.*s' specified more than once.",
                                 SLICE_ARGS(name)));
}

static enum status bind_object(struct binder *b, struct expr *expr, const struct visible *names,
                               enum place place)
{
    struct hashes seen = { .memory = &b->op->arena };
    enum status st = ST_OK;

    for (size_t i = 0; i < expr->kid_count; i++) {
        struct slice name = expr->names[i];

        if (expr->kid_count > 1 && hashes_add(&seen, murmur3_128(name.data, name.size)) == 0)
            TRY(bind_repeated_name(b, name, expr->places[i]));
        TRY(bind_expr(b, expr->kid[i], names, place));
    }
out:
    return st;
}

static bool is_place(const struct expr *key)
{
    return (key->kind == EXPR_LITERAL || key->kind == EXPR_PARAMETER) &&
           (key->value.kind == JSON_STRING || key->value.kind == JSON_NUMBER);
}

/* In brackets stands what is known before there is a row; what they are behind is not looked at otherwise. */
static enum status bind_index(struct binder *b, struct expr *expr, const struct visible *names,
                              enum place place)
{
    struct expr *key = expr->kid[1];
    enum status st;

    TRY(bind_expr(b, key, names, place));
    if (!is_place(key)) {
        expr->refused = true;
        TRY(bind_wrong(b, mistake(b->op, expr->span, "SC2990",
                                  "The specified query includes 'member indexer' which is currently not "
                                  "supported.")));
        goto out;
    }
    TRY(bind_expr(b, expr->kid[0], names, place));
    if (key->value.kind == JSON_STRING)
        TRY(bind_member(b, expr, key->value.string));
out:
    return st;
}

static enum status bind_kids(struct binder *b, struct expr *expr, const struct visible *names,
                             enum place place)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < expr->kid_count; i++)
        TRY(bind_expr(b, expr->kid[i], names, place));
out:
    return st;
}

/* What is left to do where the parts have been bound. */
static enum status bind_node(struct binder *b, struct expr *expr, const struct visible *names)
{
    switch (expr->kind) {
    case EXPR_NAME:
        return bind_name(b, expr, names);
    case EXPR_PARAMETER:
        bind_parameter(b, expr);
        return ST_OK;
    case EXPR_MEMBER:
        return bind_member(b, expr, expr->name);
    case EXPR_UDF:
        return bind_udf(b, expr);
    case EXPR_IN:
        bind_in_list(b, expr);
        return ST_OK;
    case EXPR_LIKE:
        return bind_wrong(b, check_escape(b, expr));
    default:
        return ST_OK;
    }
}

static enum status bind_of_kind(struct binder *b, struct expr *expr, const struct visible *names,
                                enum place place)
{
    enum status st = ST_OK;

    if (expr->kind == EXPR_ALL)
        rewrite_all(b, expr);
    if (expr->select)
        return bind_subquery(b, expr, names, place);
    switch (expr->kind) {
    case EXPR_CALL:
        return bind_call(b, expr, names, place);
    case EXPR_OBJECT:
        return bind_object(b, expr, names, place);
    case EXPR_INDEX:
        return bind_index(b, expr, names, place);
    default:
        TRY(bind_kids(b, expr, names, place));
        TRY(bind_node(b, expr, names));
    }
out:
    return st;
}

enum status bind_expr(struct binder *b, struct expr *expr, const struct visible *names, enum place place)
{
    enum status st;

    if (++b->bound->nodes > INLINE_QUERY_NODES_MAX)
        TRY(op_may_take_long(b->op));
    TRY(bind_of_kind(b, expr, names, place));
out:
    return st;
}
