/* src/query/run/computed.c - computed properties: what a definition may say, and its value for the index. */
#include <math.h>

#include "base/limits.h"
#include "query/bind/fold.h"
#include "query/eval/builtin.h"
#include "query/computed.h"
#include "query/text/parse.h"
#include "query/run/compile.h"

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
    static const unsigned flags = NOT_CONSTANT | AGGREGATE | SPATIAL | TAKES_ROW;
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

static enum status compile(struct op *op, struct slice name, struct slice text, struct query **query)
{
    static const struct query_options none = { 0 };
    const struct select *select;
    const char *why;
    enum status st;

    TRY(query_compile(op, text, json_undefined, &none, query));
    select = query_select(*query);
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
            return op_fail(op, ST_BAD_REQUEST,
                           "Computed property name '%.*s' cannot be used in multiple definitions.",
                           SLICE_ARGS(json_string(name)));
    return ST_OK;
}

/* "SC2001" is 2001 here. */
static void print_code(struct buf *out, struct json code)
{
    buf_text(out, ",\"code\":");
    if (json_kind(code) == JSON_STRING && slice_starts_with(json_string(code), "SC"))
        buf_slice(out, slice_after(json_string(code), 2));
    else
        json_print(out, code);
}

/* Of a definition's query the service tells what is wrong by number, and not where. */
static struct slice details_of(struct op *op, struct slice mistakes)
{
    struct json told;
    struct buf out;
    bool first = true;

    if (json_parse(op, mistakes, &told) != ST_OK)
        return mistakes;
    buf_init(&out, &op->arena);
    buf_text(&out, "{\"errors\":[");
    for (struct json_iter i = json_iter(json_get(told, "errors")); json_next(&i); first = false) {
        buf_text(&out, first ? "{\"severity\":\"Error\"" : ",{\"severity\":\"Error\"");
        if (json_kind(json_get(i.value, "code")) != JSON_UNDEFINED)
            print_code(&out, json_get(i.value, "code"));
        buf_text(&out, ",\"message\":");
        json_print(&out, json_get(i.value, "message"));
        buf_byte(&out, '}');
    }
    buf_text(&out, "]}");
    return out.failed ? mistakes : buf_as_slice(&out);
}

/* What a query gets wrong is told as the service tells it of a definition: with the query and its place in the list. */
static enum status check_query(struct op *op, struct json property, size_t at)
{
    struct slice text = json_string(json_get(property, "query"));
    struct query *query;
    enum status st = compile(op, json_string(json_get(property, "name")), text, &query);

    if (st == ST_BAD_QUERY) {
        struct slice details = details_of(op, slice_of(arena_text(&op->arena, slice_of(op->error))));

        return op_fail(op, ST_BAD_REQUEST,
                       "Computed property at index (%zu) has a malformed query: '%.*s' Error details: '%.*s'",
                       at, SLICE_ARGS(text), SLICE_ARGS(details));
    }
    if (st == ST_BAD_REQUEST && !query_select(query)->value)
        return op_fail(
            op, ST_BAD_REQUEST,
            "Required VALUE expression missing from computed property query '%.*s' at index (%zu).",
            SLICE_ARGS(text), at);
    return st;
}

enum status computed_check(struct op *op, struct json properties)
{
    enum status st = ST_OK;
    size_t at = 0;

    if (json_kind(properties) != JSON_ARRAY)
        return ST_OK;
    if (json_count(properties) > COMPUTED_PROPERTIES_MAX)
        return op_fail(op, ST_BAD_REQUEST, "A container has at most %d computed properties.",
                       COMPUTED_PROPERTIES_MAX);
    for (struct json_iter i = json_iter(properties); json_next(&i);) {
        TRY(check_unique(op, properties, i.value));
        TRY(check_query(op, i.value, at++));
    }
out:
    return st;
}

/* ---- for the index ---- */

/* A member of the item that is part of its document: what begins with _ may be the server's. */
static bool is_stored_member(const struct expr *expr)
{
    struct value name = value_string(expr->name);

    if (expr->kind == EXPR_INDEX && !fold_constant(expr->kid[1], &name))
        return false;
    return expr->kid[0]->kind == EXPR_NAME && name.kind == JSON_STRING &&
           !(name.string.size && name.string.data[0] == '_');
}

/* Of nothing else than the document: not the whole item, which has system properties, nor the vector policy. */
static bool is_of_document(const struct expr *expr)
{
    if (expr->instead)
        expr = expr->instead;
    if ((expr->kind == EXPR_MEMBER || expr->kind == EXPR_INDEX) && is_stored_member(expr))
        return true;
    if (expr->kind == EXPR_NAME || (expr->kind == EXPR_CALL && expr->builtin->flags & NOT_OF_ITEM))
        return false;
    for (size_t i = 0; i < expr->kid_count; i++)
        if (!is_of_document(expr->kid[i]))
            return false;
    return true;
}

/* In memory of its own: how much there is must not depend on who asks. */
static enum status compute(struct op *own, struct json property, struct json document, struct value *value)
{
    struct query *query;
    enum status st;

    *value = value_undefined;
    TRY(compile(own, json_string(json_get(property, "name")), json_string(json_get(property, "query")),
                &query));
    if (!is_of_document(query_select(query)->item[0].expr))
        TRY(ST_BAD_REQUEST);
    if (json_kind(document) == JSON_OBJECT)
        TRY(query_value(own, query, document, value));
out:
    return st;
}

static bool is_unknown(enum status st, struct value value)
{
    return st == ST_QUERY_MEMORY || !value_is_finite(value);
}

static enum status keep(struct op *op, struct json made, struct json *kept)
{
    struct slice bytes = json_bytes(made);
    char *copy = arena_try_alloc(&op->arena, bytes.size);

    if (!copy)
        return op_fail_as(op, ST_TOO_LARGE);
    memcpy(copy, bytes.data, bytes.size);
    *kept = (struct json){ .at = (const uint8_t *)copy };
    return ST_OK;
}

enum status computed_value(struct op *op, struct json computed, size_t which, struct json document,
                           struct index_computed *result)
{
    struct value value;
    struct op own;
    enum status st;

    *result = (struct index_computed){ .value = json_undefined };
    op_init(&own, op->env, OP_MEMORY_BYTES_MAX);
    own.deadline_ms = op->deadline_ms;
    st = compute(&own, json_element(computed, which), document, &value);
    result->unknown = is_unknown(st, value);
    if (result->unknown)
        st = ST_OK;
    else if (st == ST_OK && value.kind != JSON_UNDEFINED)
        st = keep(op, value_to_json(&own, value), &result->value);
    else if (st != ST_OK)
        st = op_fail(op, st, "a computed property has no value");
    op_free(&own);
    return st;
}
