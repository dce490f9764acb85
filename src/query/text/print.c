/*
 * src/query/text/print.c - a tree back to text, as the service's planner writes it: keywords in upper
 * case, a clause a line, every operator in parentheses, strings in double quotes, doubles with up to
 * 17 digits. Names and functions stay as they were written. What is printed parses to the same tree.
 */
#include <assert.h>
#include <math.h>

#include "json/json.h"
#include "query/text/lex.h"
#include "query/text/parse.h"
#include "query/text/print.h"

enum {
    INDENT_SPACES = 4,
    CHAIN_NESTED_MAX = 64, /* a longer a + b + c ... prints flat: the parser bounds parentheses */
};

struct printer {
    struct buf *out;
    int level;       /* of subqueries, for the indent */
    bool is_outline; /* on one line, and ? for values */
};

static void print_expr(struct printer *printer, const struct expr *expr);
static void print_select(struct printer *printer, const struct select *select);

/* Operators of one level stand in one chain, read from the left; 0 is in none. */
static const struct {
    const char *text;
    int chain;
} operators[] = {
    [OPERATOR_OR] = { "OR", 1 },
    [OPERATOR_AND] = { "AND", 2 },
    [OPERATOR_NOT] = { "NOT", 0 },
    [OPERATOR_COALESCE] = { "??", 0 },
    [OPERATOR_CONCAT] = { "||", 4 },
    [OPERATOR_BIT_OR] = { "|", 5 },
    [OPERATOR_BIT_XOR] = { "^", 5 },
    [OPERATOR_BIT_AND] = { "&", 5 },
    [OPERATOR_BIT_NOT] = { "~", 0 },
    [OPERATOR_EQUAL] = { "=", 3 },
    [OPERATOR_NOT_EQUAL] = { "!=", 3 },
    [OPERATOR_LESS] = { "<", 3 },
    [OPERATOR_LESS_EQUAL] = { "<=", 3 },
    [OPERATOR_GREATER] = { ">", 3 },
    [OPERATOR_GREATER_EQUAL] = { ">=", 3 },
    [OPERATOR_SHIFT_LEFT] = { "<<", 3 },
    [OPERATOR_SHIFT_RIGHT] = { ">>", 3 },
    [OPERATOR_SHIFT_RIGHT_UNSIGNED] = { ">>>", 3 },
    [OPERATOR_ADD] = { "+", 5 },
    [OPERATOR_SUBTRACT] = { "-", 5 },
    [OPERATOR_MULTIPLY] = { "*", 6 },
    [OPERATOR_DIVIDE] = { "/", 6 },
    [OPERATOR_MODULO] = { "%", 6 },
    [OPERATOR_PLUS] = { "+", 0 },
    [OPERATOR_MINUS] = { "-", 0 },
};

static void text(struct printer *printer, const char *words)
{
    buf_text(printer->out, words);
}

static void line(struct printer *printer, const char *words)
{
    buf_byte(printer->out, printer->is_outline ? ' ' : '\n');
    for (int i = 0; i < printer->level * INDENT_SPACES && !printer->is_outline; i++)
        buf_byte(printer->out, ' ');
    text(printer, words);
}

/* Strings and numbers are what users fill in; true, false, null and undefined say what is asked. */
static void print_literal(struct printer *printer, struct value value)
{
    if (printer->is_outline && (value.kind == JSON_NUMBER || value.kind == JSON_STRING))
        text(printer, "?");
    else if (value.kind == JSON_UNDEFINED)
        text(printer, "undefined");
    else if (value.kind == JSON_NUMBER && value.number == 0 && signbit(value.number))
        text(printer, "-0.0"); /* -0 would be read as 0 */
    else if (value.kind == JSON_NUMBER)
        value_print_number(printer->out, value);
    else
        value_print(printer->out, value);
}

static bool is_value(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL || expr->kind == EXPR_PARAMETER;
}

/* However many there are, a list of values is one. */
static bool is_list_of_values(struct expr *const *kid, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_value(kid[i]))
            return false;
    return count > 0;
}

static void print_list(struct printer *printer, struct expr *const *kid, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text(printer, ", ");
        print_expr(printer, kid[i]);
    }
}

/* Of an outline's values one stands for all. */
static void print_values(struct printer *printer, struct expr *const *kid, size_t count)
{
    if (printer->is_outline && is_list_of_values(kid, count))
        text(printer, "?");
    else
        print_list(printer, kid, count);
}

/* What a step is taken from; a literal is in parentheses, for 1.a is no number and no member. */
static void print_base(struct printer *printer, const struct expr *expr)
{
    bool literal = expr->kind == EXPR_LITERAL;

    text(printer, literal ? "(" : "");
    print_expr(printer, expr);
    text(printer, literal ? ")" : "");
}

static void print_member(struct printer *printer, const struct expr *expr)
{
    print_base(printer, expr->kid[0]);
    if (!expr->quoted) {
        text(printer, ".");
        buf_slice(printer->out, expr->name);
        return;
    }
    text(printer, "[");
    json_print_string(printer->out, expr->name);
    text(printer, "]");
}

static void print_index(struct printer *printer, const struct expr *expr)
{
    print_base(printer, expr->kid[0]);
    text(printer, "[");
    print_expr(printer, expr->kid[1]);
    text(printer, "]");
}

static void print_unary(struct printer *printer, const struct expr *expr)
{
    text(printer, "(");
    text(printer, operators[expr->operation].text);
    text(printer, " ");
    print_expr(printer, expr->kid[0]);
    text(printer, ")");
}

static bool goes_on_left(const struct expr *expr)
{
    const struct expr *left = expr->kid[0];

    return operators[expr->operation].chain != 0 && left->kind == EXPR_BINARY &&
           operators[left->operation].chain == operators[expr->operation].chain;
}

static size_t chain_length(const struct expr *expr)
{
    size_t length = expr->kid_count - 1;

    for (; goes_on_left(expr); expr = expr->kid[0])
        length += expr->kid[0]->kid_count - 1;
    return length;
}

/* The tree has the last operation on top; the text begins with the first. */
static void print_chain(struct printer *printer, const struct expr *expr, const char *close)
{
    if (goes_on_left(expr))
        print_chain(printer, expr->kid[0], close);
    else
        print_expr(printer, expr->kid[0]);
    for (size_t i = 1; i < expr->kid_count; i++) {
        buf_printf(printer->out, " %s ", operators[expr->operation].text);
        print_expr(printer, expr->kid[i]);
        text(printer, close);
    }
}

static bool goes_on_right(const struct expr *expr)
{
    return expr->kid[1]->kind == EXPR_BINARY && expr->kid[1]->operation == OPERATOR_COALESCE;
}

/* a ?? (b ?? c): the one that is read from the right. */
static void print_coalesce(struct printer *printer, const struct expr *expr)
{
    size_t length = 1;
    bool nested;

    for (const struct expr *link = expr; goes_on_right(link); link = link->kid[1])
        length++;
    nested = length <= CHAIN_NESTED_MAX;
    text(printer, "(");
    for (; goes_on_right(expr); expr = expr->kid[1]) {
        print_expr(printer, expr->kid[0]);
        text(printer, nested ? " ?? (" : " ?? ");
    }
    print_expr(printer, expr->kid[0]);
    text(printer, " ?? ");
    print_expr(printer, expr->kid[1]);
    for (size_t i = 0; i < (nested ? length : 1); i++)
        text(printer, ")");
}

static void print_binary(struct printer *printer, const struct expr *expr)
{
    size_t length = chain_length(expr);
    bool nested = length <= CHAIN_NESTED_MAX;

    for (size_t i = 0; i < (nested ? length : 1); i++)
        text(printer, "(");
    print_chain(printer, expr, nested ? ")" : "");
    text(printer, nested ? "" : ")");
}

static void print_ternary(struct printer *printer, const struct expr *expr)
{
    text(printer, "(");
    print_expr(printer, expr->kid[0]);
    text(printer, " ? ");
    print_expr(printer, expr->kid[1]);
    text(printer, " : ");
    print_expr(printer, expr->kid[2]);
    text(printer, ")");
}

/* (a [NOT] WORD b ...) for the three that may be negated. The service's planner has two blanks in NOT  IN. */
static void print_negatable(struct printer *printer, const struct expr *expr, const char *word)
{
    text(printer, "(");
    print_expr(printer, expr->kid[0]);
    text(printer, expr->negated ? " NOT " : " ");
    text(printer, expr->negated && expr->kind == EXPR_IN ? " " : "");
    text(printer, word);
    text(printer, " ");
    if (expr->kind == EXPR_IN) {
        text(printer, "(");
        print_values(printer, expr->kid + 1, expr->kid_count - 1);
        text(printer, "))");
        return;
    }
    print_expr(printer, expr->kid[1]);
    if (expr->kid_count > 2) {
        text(printer, expr->kind == EXPR_BETWEEN ? " AND " : " ESCAPE ");
        print_expr(printer, expr->kid[2]);
    }
    text(printer, ")");
}

static void print_call(struct printer *printer, const struct expr *expr)
{
    if (expr->kind == EXPR_UDF)
        text(printer, "udf.");
    buf_slice(printer->out, expr->name);
    text(printer, "(");
    print_list(printer, expr->kid, expr->kid_count);
    text(printer, ")");
}

static void print_array(struct printer *printer, const struct expr *expr)
{
    text(printer, "[");
    print_values(printer, expr->kid, expr->kid_count);
    text(printer, "]");
}

static void print_object(struct printer *printer, const struct expr *expr)
{
    text(printer, "{");
    for (size_t i = 0; i < expr->kid_count; i++) {
        if (i > 0)
            text(printer, ", ");
        json_print_string(printer->out, expr->names[i]);
        text(printer, ": ");
        print_expr(printer, expr->kid[i]);
    }
    text(printer, "}");
}

static void print_subquery(struct printer *printer, const char *word, const struct select *select)
{
    text(printer, word);
    text(printer, "(");
    printer->level++;
    line(printer, "");
    print_select(printer, select);
    printer->level--;
    line(printer, ")");
}

/* One level deeper than others, as the service writes it. */
static void print_array_of(struct printer *printer, const struct select *select)
{
    printer->level++;
    print_subquery(printer, "ARRAY", select);
    printer->level--;
}

static const char *subquery_word(enum expr_kind kind)
{
    switch (kind) {
    case EXPR_EXISTS:
        return "EXISTS";
    case EXPR_ALL:
        return "ALL";
    case EXPR_FIRST:
        return "FIRST";
    case EXPR_LAST:
        return "LAST";
    default:
        return "";
    }
}

static void print_expr(struct printer *printer, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_LITERAL:
        print_literal(printer, expr->value);
        break;
    case EXPR_PARAMETER:
        buf_slice(printer->out, printer->is_outline ? slice_of("?") : expr->name);
        break;
    case EXPR_NAME:
        buf_slice(printer->out, expr->name);
        break;
    case EXPR_MEMBER:
        print_member(printer, expr);
        break;
    case EXPR_INDEX:
        print_index(printer, expr);
        break;
    case EXPR_UNARY:
        print_unary(printer, expr);
        break;
    case EXPR_BINARY:
        if (expr->operation == OPERATOR_COALESCE)
            print_coalesce(printer, expr);
        else
            print_binary(printer, expr);
        break;
    case EXPR_TERNARY:
        print_ternary(printer, expr);
        break;
    case EXPR_BETWEEN:
        print_negatable(printer, expr, "BETWEEN");
        break;
    case EXPR_IN:
        print_negatable(printer, expr, "IN");
        break;
    case EXPR_LIKE:
        print_negatable(printer, expr, "LIKE");
        break;
    case EXPR_CALL:
    case EXPR_UDF:
        print_call(printer, expr);
        break;
    case EXPR_ARRAY:
        print_array(printer, expr);
        break;
    case EXPR_OBJECT:
        print_object(printer, expr);
        break;
    case EXPR_RESULT:
        assert(!"a statement's own expressions are printed, not what the binder evaluates instead");
        break;
    case EXPR_ARRAY_OF:
        print_array_of(printer, expr->select);
        break;
    default:
        print_subquery(printer, subquery_word(expr->kind), expr->select);
    }
}

/* Whether it is a name without quotes, too. */
static bool is_name(struct slice word)
{
    struct lexer lexer = { .text = word };
    struct token token;

    lex_next(&lexer, &token);
    return token_is_name(token.kind) && token.text.size == word.size;
}

/* One of no characters is written all the same. */
static void print_alias(struct printer *printer, const struct select_item *item)
{
    if (item->alias.size == 0 && item->alias_span.end == 0)
        return;
    text(printer, " AS ");
    if (is_name(item->alias))
        buf_slice(printer->out, item->alias);
    else
        json_print_string(printer->out, item->alias);
}

static void print_items(struct printer *printer, const struct select *select)
{
    for (size_t i = 0; i < select->item_count; i++) {
        if (i > 0)
            text(printer, ", ");
        print_expr(printer, select->item[i].expr);
        print_alias(printer, &select->item[i]);
    }
}

static void print_what(struct printer *printer, const struct select *select)
{
    if (select->value)
        text(printer, "VALUE ");
    if (select->star)
        text(printer, "*");
    else
        print_items(printer, select);
}

static void print_source(struct printer *printer, const struct source *source)
{
    if (source->kind == SOURCE_ITERATE) {
        buf_slice(printer->out, source->alias);
        text(printer, " IN ");
        print_expr(printer, source->path);
        return;
    }
    if (source->kind == SOURCE_SUBQUERY)
        print_subquery(printer, "", source->select);
    else
        print_expr(printer, source->path);
    if (source->alias_written) {
        text(printer, " AS ");
        buf_slice(printer->out, source->alias);
    }
}

static void print_from(struct printer *printer, const struct select *select)
{
    for (size_t i = 0; i < select->source_count; i++) {
        line(printer, i == 0 ? "FROM " : "JOIN ");
        print_source(printer, &select->source[i]);
    }
}

static void print_where(struct printer *printer, const struct select *select)
{
    if (!select->where)
        return;
    line(printer, "WHERE ");
    print_expr(printer, select->where);
}

static void print_group(struct printer *printer, const struct select *select)
{
    if (select->group_count == 0)
        return;
    line(printer, "GROUP BY ");
    print_list(printer, select->group, select->group_count);
}

static void print_order(struct printer *printer, const struct select *select)
{
    for (size_t i = 0; i < select->order_count; i++) {
        const struct order_item *item = &select->order[i];

        if (i == 0)
            line(printer, select->rank ? "ORDER BY RANK " : "ORDER BY ");
        else
            text(printer, ", ");
        print_expr(printer, item->expr);
        if (item->direction_written)
            text(printer, item->descending ? " DESC" : " ASC");
    }
}

static void print_limit(struct printer *printer, const struct select *select)
{
    if (!select->limit)
        return;
    line(printer, "OFFSET ");
    print_expr(printer, select->offset);
    text(printer, " LIMIT ");
    print_expr(printer, select->limit);
}

static void print_select(struct printer *printer, const struct select *select)
{
    text(printer, select->distinct ? "SELECT DISTINCT " : "SELECT ");
    if (select->top) {
        text(printer, "TOP ");
        print_expr(printer, select->top);
        text(printer, " ");
    }
    print_what(printer, select);
    print_from(printer, select);
    print_where(printer, select);
    print_group(printer, select);
    print_order(printer, select);
    print_limit(printer, select);
}

void query_print(struct buf *out, const struct select *select)
{
    print_select(&(struct printer){ .out = out }, select);
}

void query_print_outline(struct buf *out, const struct select *select)
{
    print_select(&(struct printer){ .out = out, .is_outline = true }, select);
}

void query_print_expr(struct buf *out, const struct expr *expr)
{
    print_expr(&(struct printer){ .out = out }, expr);
}

void query_print_list(struct buf *out, const struct select *select)
{
    print_what(&(struct printer){ .out = out }, select);
}

void query_print_from(struct buf *out, const struct select *select)
{
    print_from(&(struct printer){ .out = out }, select);
}

void query_print_where(struct buf *out, const struct select *select)
{
    print_where(&(struct printer){ .out = out }, select);
}

void query_print_group(struct buf *out, const struct select *select)
{
    print_group(&(struct printer){ .out = out }, select);
}

void query_print_order(struct buf *out, const struct select *select)
{
    print_order(&(struct printer){ .out = out }, select);
}

void query_print_limit(struct buf *out, const struct select *select)
{
    print_limit(&(struct printer){ .out = out }, select);
}
