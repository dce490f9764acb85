/* src/query/computed.c - what the definition of a computed property may say. */
#include "base/limits.h"
#include "query/builtin.h"
#include "query/computed.h"
#include "query/parse.h"
#include "query/query.h"

static enum status refuse(struct op *op, struct slice name, const char *why)
{
    return op_fail(op, ST_BAD_REQUEST, "The computed property '%.*s' has an invalid definition: %s.",
                   SLICE_ARGS(name), why);
}

/* Everything that the query language has and a definition may not use. */
static const char *forbidden_clause(const struct select *select)
{
    if (select->star || !select->value)
        return "it must be SELECT VALUE";
    if (select->source_count != 1 || select->source[0].kind != SOURCE_PATH ||
        select->source[0].path->kind != EXPR_NAME)
        return "FROM must name the container and nothing else";
    if (select->where || select->group_count || select->order_count || select->top || select->offset ||
        select->distinct)
        return "WHERE, GROUP BY, ORDER BY, TOP, DISTINCT and OFFSET LIMIT are not allowed";
    return NULL;
}

static const char *forbidden_expr(const struct expr *expr)
{
    static const unsigned flags = NOT_CONSTANT | AGGREGATE | NOT_BUILT | SPATIAL | TAKES_ROW;
    const char *why = NULL;

    if (expr->select)
        return "subqueries are not allowed";
    if (expr->kind == EXPR_UDF)
        return "user-defined functions are not allowed";
    if (expr->kind == EXPR_PARAMETER)
        return "parameters are not allowed";
    if (expr->builtin && expr->builtin->flags & flags)
        return "aggregates, spatial functions and functions that change from call to call are not allowed";
    for (size_t i = 0; i < expr->kid_count && !why; i++)
        why = forbidden_expr(expr->kid[i]);
    return why;
}

static enum status check_text(struct op *op, struct slice name, struct slice text)
{
    static const struct query_options none = { 0 };
    const struct select *select;
    struct query *query;
    const char *why;
    enum status st;

    TRY(query_compile(op, text, json_undefined, &none, &query));
    select = query_select(query);
    why = forbidden_clause(select);
    if (!why)
        why = forbidden_expr(select->item[0].expr);
    if (why)
        TRY(refuse(op, name, why));
out:
    return st;
}

static enum status check_unique(struct op *op, struct json properties, struct json property)
{
    struct json name = json_get(property, "name");

    for (struct json_iter i = json_iter(properties); json_next(&i) && i.value.at != property.at;)
        if (json_equal(json_get(i.value, "name"), name))
            return refuse(op, json_string(name), "the name is used twice");
    return ST_OK;
}

enum status computed_check(struct op *op, struct json properties)
{
    enum status st = ST_OK;

    if (json_kind(properties) != JSON_ARRAY)
        return ST_OK;
    if (json_count(properties) > COMPUTED_PROPERTIES_MAX)
        return op_fail(op, ST_BAD_REQUEST, "A container has at most %d computed properties.",
                       COMPUTED_PROPERTIES_MAX);
    for (struct json_iter i = json_iter(properties); json_next(&i);) {
        TRY(check_unique(op, properties, i.value));
        TRY(check_text(op, json_string(json_get(i.value, "name")), json_string(json_get(i.value, "query"))));
    }
out:
    return st;
}
