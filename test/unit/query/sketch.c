/* test/unit/query/sketch.c - a tree in one line. */
#include <math.h>

#include "query/text/parse.h"
#include "sketch.h"
#include "test.h"

static const char *const operator_names[] = {
    [OPERATOR_OR] = "OR",         [OPERATOR_AND] = "AND",        [OPERATOR_NOT] = "NOT",
    [OPERATOR_COALESCE] = "??",   [OPERATOR_CONCAT] = "||",      [OPERATOR_BIT_OR] = "|",
    [OPERATOR_BIT_XOR] = "^",     [OPERATOR_BIT_AND] = "&",      [OPERATOR_BIT_NOT] = "~",
    [OPERATOR_EQUAL] = "=",       [OPERATOR_NOT_EQUAL] = "!=",   [OPERATOR_LESS] = "<",
    [OPERATOR_LESS_EQUAL] = "<=", [OPERATOR_GREATER] = ">",      [OPERATOR_GREATER_EQUAL] = ">=",
    [OPERATOR_SHIFT_LEFT] = "<<", [OPERATOR_SHIFT_RIGHT] = ">>", [OPERATOR_SHIFT_RIGHT_UNSIGNED] = ">>>",
    [OPERATOR_ADD] = "+",         [OPERATOR_SUBTRACT] = "-",     [OPERATOR_MULTIPLY] = "*",
    [OPERATOR_DIVIDE] = "/",      [OPERATOR_MODULO] = "%",       [OPERATOR_PLUS] = "+",
    [OPERATOR_MINUS] = "-",
};

static void sketch_select(struct buf *out, const struct select *select);

static void sketch_number(struct buf *out, struct value value)
{
    if (value.is_int)
        buf_printf(out, "%lld", (long long)value.integer);
    else
        buf_printf(out, "%.17g", value.number);
}

static void sketch_literal(struct buf *out, struct value value)
{
    static const char *const words[] = {
        [JSON_UNDEFINED] = "undefined", [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"
    };

    if (value.kind == JSON_NUMBER)
        sketch_number(out, value);
    else if (value.kind == JSON_STRING)
        json_print_string(out, value.string);
    else
        buf_text(out, words[value.kind]);
}

/* What stands first inside the parentheses. */
static const char *head(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_MEMBER:
        return ".";
    case EXPR_INDEX:
        return "[]";
    case EXPR_UNARY:
    case EXPR_BINARY:
        return operator_names[expr->operation];
    case EXPR_TERNARY:
        return "?";
    case EXPR_BETWEEN:
        return expr->negated ? "NOT BETWEEN" : "BETWEEN";
    case EXPR_IN:
        return expr->negated ? "NOT IN" : "IN";
    case EXPR_LIKE:
        return expr->negated ? "NOT LIKE" : "LIKE";
    case EXPR_ARRAY:
        return "array";
    case EXPR_OBJECT:
        return "object";
    case EXPR_SUBQUERY:
        return "query";
    case EXPR_EXISTS:
        return "EXISTS";
    case EXPR_ARRAY_OF:
        return "ARRAY";
    case EXPR_ALL:
        return "ALL";
    case EXPR_FIRST:
        return "FIRST";
    case EXPR_LAST:
        return "LAST";
    case EXPR_UDF:
        return "udf.";
    default:
        return "";
    }
}

static void sketch_expr(struct buf *out, const struct expr *expr);

static void sketch_kids(struct buf *out, const struct expr *expr)
{
    for (size_t i = 0; i < expr->kid_count; i++) {
        buf_text(out, " ");
        if (expr->kind == EXPR_OBJECT)
            buf_printf(out, "%.*s:", SLICE_ARGS(expr->names[i]));
        sketch_expr(out, expr->kid[i]);
    }
}

static void sketch_node(struct buf *out, const struct expr *expr)
{
    buf_printf(out, "(%s", head(expr));
    if (expr->kind == EXPR_CALL || expr->kind == EXPR_UDF)
        buf_slice(out, expr->name);
    sketch_kids(out, expr);
    if (expr->kind == EXPR_MEMBER)
        buf_printf(out, expr->quoted ? " \"%.*s\"" : " %.*s", SLICE_ARGS(expr->name));
    if (expr->select) {
        buf_text(out, " ");
        sketch_select(out, expr->select);
    }
    buf_text(out, ")");
}

static void sketch_expr(struct buf *out, const struct expr *expr)
{
    if (expr->kind == EXPR_LITERAL)
        sketch_literal(out, expr->value);
    else if (expr->kind == EXPR_NAME || expr->kind == EXPR_PARAMETER)
        buf_slice(out, expr->name);
    else
        sketch_node(out, expr);
}

static void sketch_part(struct buf *out, const char *name, const struct expr *expr)
{
    if (!expr)
        return;
    buf_printf(out, " %s ", name);
    sketch_expr(out, expr);
}

static void sketch_source(struct buf *out, const struct source *source)
{
    static const char *const words[] = {
        [SOURCE_PATH] = "", [SOURCE_ITERATE] = "IN ", [SOURCE_SUBQUERY] = ""
    };

    buf_text(out, words[source->kind]);
    if (source->path)
        sketch_expr(out, source->path);
    else
        sketch_select(out, source->select);
    if (source->alias.size)
        buf_printf(out, source->alias_written ? " AS %.*s" : " as %.*s", SLICE_ARGS(source->alias));
}

static void sketch_items(struct buf *out, const struct select *select)
{
    for (size_t i = 0; i < select->item_count; i++) {
        sketch_part(out, i ? "," : "", select->item[i].expr);
        if (select->item[i].alias.size)
            buf_printf(out, " AS %.*s", SLICE_ARGS(select->item[i].alias));
    }
}

static void sketch_order(struct buf *out, const struct select *select)
{
    for (size_t i = 0; i < select->order_count; i++) {
        sketch_part(out, i ? "," : select->rank ? "RANK" : "ORDER", select->order[i].expr);
        if (select->order[i].direction_written)
            buf_text(out, select->order[i].descending ? " DESC" : " ASC");
    }
}

static void sketch_select(struct buf *out, const struct select *select)
{
    buf_printf(out, "(SELECT%s", select->distinct ? " DISTINCT" : "");
    sketch_part(out, "TOP", select->top);
    buf_text(out, select->star ? " *" : select->value ? " VALUE" : "");
    sketch_items(out, select);
    for (size_t i = 0; i < select->source_count; i++) {
        buf_text(out, i ? " JOIN " : " FROM ");
        sketch_source(out, &select->source[i]);
    }
    sketch_part(out, "WHERE", select->where);
    for (size_t i = 0; i < select->group_count; i++)
        sketch_part(out, i ? "," : "GROUP", select->group[i]);
    sketch_order(out, select);
    sketch_part(out, "OFFSET", select->offset);
    sketch_part(out, "LIMIT", select->limit);
    buf_text(out, ")");
}

/* Out of its JSON, so that what the JSON looks like is tested once and not everywhere. */
static void sketch_mistake(struct buf *out, struct op *op)
{
    struct json body, error, location;

    if (json_parse(op, slice_of(op->error), &body) != ST_OK) {
        buf_text(out, op->error);
        return;
    }
    error = json_element(json_get(body, "errors"), 0);
    location = json_get(error, "location");
    if (json_get(error, "code").at)
        buf_slice(out, json_string(json_get(error, "code")));
    buf_printf(out, " %d-%d %.*s", (int)json_int(json_get(location, "start")),
               (int)json_int(json_get(location, "end")), SLICE_ARGS(json_string(json_get(error, "message"))));
}

const char *sketch_bytes(struct slice text)
{
    struct op *op = test_op();
    struct select *select;
    struct buf out;

    buf_init(&out, &op->arena);
    if (query_parse(op, text, &select) == ST_OK)
        sketch_select(&out, select);
    else
        sketch_mistake(&out, op);
    buf_byte(&out, '\0');
    return out.data;
}

const char *sketch_query(const char *text)
{
    return sketch_bytes(slice_of(text));
}

const char *sketch_value(const char *text)
{
    struct op *op = test_op();
    struct select *select;
    struct buf out;

    buf_init(&out, &op->arena);
    buf_printf(&out, "SELECT VALUE %s", text);
    if (query_parse(op, buf_as_slice(&out), &select) != ST_OK) {
        buf_init(&out, &op->arena);
        sketch_mistake(&out, op);
    } else {
        buf_init(&out, &op->arena);
        sketch_expr(&out, select->item[0].expr);
    }
    buf_byte(&out, '\0');
    return out.data;
}
