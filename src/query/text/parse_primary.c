/* src/query/text/parse_primary.c - what operators are applied to: literals, names, calls, subqueries, and steps below them. */
#include <math.h>

#include "query/text/parse_private.h"

static enum status parse_kids_if_any(struct parse *p, struct expr *expr, enum token_kind close)
{
    return parse_accept(p, close) ? ST_OK : parse_kids(p, expr, close);
}

/* The token at hand as the expression's name, whatever kind of word it is. */
static void take_name(struct parse *p, struct expr *expr)
{
    expr->name = p->token.text;
    expr->name_span = p->token.span;
    parse_take(p);
}

static enum status literal(struct parse *p, struct value value, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, EXPR_LITERAL, p->token.span.start, expr));
    (*expr)->value = value;
    parse_take(p);
    TRY(parse_finish(p, *expr));
out:
    return st;
}

static enum status parse_number(struct parse *p, struct expr **expr)
{
    struct value value;
    enum status st;

    TRY(token_number(p->op, &p->token, &value));
    if (isinf(value.number)) {
        p->token.kind = TOKEN_BAD_NUMBER;
        TRY(parse_unexpected(p));
    }
    TRY(literal(p, value, expr));
out:
    return st;
}

enum status parse_string(struct parse *p, struct expr **expr)
{
    struct slice string;
    enum status st;

    TRY(token_string(p->op, &p->token, &string));
    TRY(literal(p, value_string(string), expr));
out:
    return st;
}

static enum status parse_true(struct parse *p, struct expr **expr)
{
    return literal(p, value_bool(true), expr);
}

static enum status parse_false(struct parse *p, struct expr **expr)
{
    return literal(p, value_bool(false), expr);
}

static enum status parse_null(struct parse *p, struct expr **expr)
{
    return literal(p, value_null, expr);
}

static enum status parse_undefined(struct parse *p, struct expr **expr)
{
    return literal(p, value_undefined, expr);
}

static enum status parse_parameter(struct parse *p, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, EXPR_PARAMETER, p->token.span.start, expr));
    take_name(p, *expr);
    TRY(parse_finish(p, *expr));
out:
    return st;
}

/* A subquery by itself is no argument, which is told behind it. */
static enum status refuse_subquery(struct parse *p)
{
    struct select *ignored;
    enum status st;

    if (p->token.kind != TOKEN_SELECT)
        return ST_OK;
    TRY(parse_enter(p));
    TRY(parse_select(p, &ignored));
    TRY(parse_unexpected(p));
out:
    return st;
}

/* The token at hand is the function's name. `start` is before it where udf. stands in front. */
static enum status parse_arguments(struct parse *p, enum expr_kind kind, uint32_t start, struct expr **expr)
{
    bool may_be_subquery = kind == EXPR_CALL && p->token.kind == TOKEN_NAME;
    enum status st;

    TRY(parse_make(p, kind, start, expr));
    take_name(p, *expr);
    TRY(parse_expect(p, TOKEN_OPEN));
    if (may_be_subquery)
        TRY(refuse_subquery(p));
    TRY(parse_kids_if_any(p, *expr, TOKEN_CLOSE));
    TRY(parse_finish(p, *expr));
out:
    return st;
}

static enum status parse_function(struct parse *p, struct expr **expr)
{
    return parse_arguments(p, EXPR_CALL, p->token.span.start, expr);
}

static enum status parse_udf(struct parse *p, struct expr **expr)
{
    uint32_t start = p->token.span.start;

    parse_take(p);
    if (!parse_accept(p, TOKEN_DOT) || !token_is_name(p->token.kind))
        return parse_unexpected(p);
    return parse_arguments(p, EXPR_UDF, start, expr);
}

static enum status parse_nan(struct parse *p, struct expr **expr)
{
    return literal(p, value_double(NAN), expr);
}

static enum status parse_infinity(struct parse *p, struct expr **expr)
{
    return literal(p, value_double(INFINITY), expr);
}

/* A step behind it would come first: -1[0] is -(1[0]). */
bool parse_at_negative(const struct parse *p)
{
    struct lexer ahead = p->lexer;
    struct token behind;

    if (p->token.kind != TOKEN_MINUS || p->token.span.end != p->next.span.start)
        return false;
    if (p->next.kind != TOKEN_NUMBER && p->next.kind != TOKEN_NAN && p->next.kind != TOKEN_INFINITY)
        return false;
    lex_next(&ahead, &behind);
    return behind.kind != TOKEN_DOT && behind.kind != TOKEN_BRACKET_OPEN && behind.kind != TOKEN_OPEN;
}

enum status parse_negative(struct parse *p, struct expr **expr)
{
    uint32_t start = p->token.span.start;
    enum status st;

    parse_take(p);
    if (p->token.kind == TOKEN_NUMBER) {
        p->token.text = slice_make(p->token.text.data - 1, p->token.text.size + 1);
        TRY(parse_number(p, expr));
    } else {
        TRY(literal(p, value_double(p->token.kind == TOKEN_NAN ? NAN : -INFINITY), expr));
    }
    (*expr)->span.start = start;
out:
    return st;
}

static enum status parse_source_name(struct parse *p, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, EXPR_NAME, p->token.span.start, expr));
    take_name(p, *expr);
    TRY(parse_finish(p, *expr));
out:
    return st;
}

static enum status parse_name(struct parse *p, struct expr **expr)
{
    return p->next.kind == TOKEN_OPEN ? parse_function(p, expr) : parse_source_name(p, expr);
}

static enum status parse_array(struct parse *p, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, EXPR_ARRAY, p->token.span.start, expr));
    parse_take(p);
    TRY(parse_kids_if_any(p, *expr, TOKEN_BRACKET_CLOSE));
    TRY(parse_finish(p, *expr));
out:
    return st;
}

static enum status parse_member_name(struct parse *p, struct slice *name)
{
    enum status st = ST_OK;

    if (p->token.kind == TOKEN_STRING)
        st = token_string(p->op, &p->token, name);
    else if (token_is_name(p->token.kind))
        *name = p->token.text;
    else
        st = parse_unexpected(p);
    if (st == ST_OK)
        parse_take(p);
    return st;
}

static enum status parse_member(struct parse *p, struct expr *object)
{
    struct slice *names = parse_grow(p, object->names, object->kid_count, sizeof(*names));
    struct span *places = parse_grow(p, object->places, object->kid_count, sizeof(*places));
    enum status st;

    if (!names || !places)
        return mistake_memory(p->op);
    object->names = names;
    object->places = places;
    places[object->kid_count] = p->token.span;
    TRY(parse_member_name(p, &names[object->kid_count]));
    TRY(parse_expect(p, TOKEN_COLON));
    TRY(parse_kid(p, object));
out:
    return st;
}

static enum status parse_members(struct parse *p, struct expr *object)
{
    enum status st;

    if (parse_accept(p, TOKEN_BRACE_CLOSE))
        return ST_OK;
    do {
        TRY(parse_member(p, object));
    } while (parse_accept(p, TOKEN_COMMA));
    TRY(parse_expect(p, TOKEN_BRACE_CLOSE));
out:
    return st;
}

static enum status parse_object(struct parse *p, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, EXPR_OBJECT, p->token.span.start, expr));
    parse_take(p);
    TRY(parse_members(p, *expr));
    TRY(parse_finish(p, *expr));
out:
    return st;
}

/* The token at hand opens the subquery; `start` is before it where a keyword stands in front. */
static enum status parse_query(struct parse *p, enum expr_kind kind, uint32_t start, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, kind, start, expr));
    TRY(parse_subquery(p, &(*expr)->select));
    parse_raise(&(*expr)->height, (*expr)->select->height + HEIGHT_LEVEL);
    TRY(parse_finish(p, *expr));
out:
    return st;
}

static enum status parse_parentheses(struct parse *p, struct expr **expr)
{
    enum status st;

    if (p->next.kind == TOKEN_SELECT)
        return parse_query(p, EXPR_SUBQUERY, p->token.span.start, expr);
    parse_take(p);
    TRY(parse_expression(p, expr));
    TRY(parse_expect(p, TOKEN_CLOSE));
out:
    return st;
}

static enum status parse_keyword_query(struct parse *p, enum expr_kind kind, struct expr **expr)
{
    uint32_t start = p->token.span.start;

    parse_take(p);
    return parse_query(p, kind, start, expr);
}

static enum status parse_exists(struct parse *p, struct expr **expr)
{
    return parse_keyword_query(p, EXPR_EXISTS, expr);
}

static enum status parse_array_of(struct parse *p, struct expr **expr)
{
    return parse_keyword_query(p, EXPR_ARRAY_OF, expr);
}

/* Words that stand before a subquery, and are names elsewhere: of a function that there is not, of a source. */
static enum status parse_quantified(struct parse *p, enum expr_kind kind, struct expr **expr)
{
    struct token word = p->token;
    enum status st;

    if (p->next.kind != TOKEN_OPEN)
        return parse_source_name(p, expr);
    parse_take(p);
    if (p->next.kind == TOKEN_SELECT)
        return parse_query(p, kind, word.span.start, expr);
    TRY(parse_make(p, EXPR_CALL, word.span.start, expr));
    (*expr)->name = word.text;
    (*expr)->name_span = word.span;
    parse_take(p);
    TRY(parse_kids_if_any(p, *expr, TOKEN_CLOSE));
    TRY(parse_finish(p, *expr));
out:
    return st;
}

static enum status parse_all(struct parse *p, struct expr **expr)
{
    return parse_quantified(p, EXPR_ALL, expr);
}

static enum status parse_first(struct parse *p, struct expr **expr)
{
    return parse_quantified(p, EXPR_FIRST, expr);
}

static enum status parse_last(struct parse *p, struct expr **expr)
{
    return parse_quantified(p, EXPR_LAST, expr);
}

typedef enum status parse_code(struct parse *p, struct expr **expr);

static parse_code *const primaries[TOKEN_KIND_COUNT] = {
    [TOKEN_NAME] = parse_name,           [TOKEN_RANK] = parse_name,
    [TOKEN_PARAMETER] = parse_parameter, [TOKEN_NUMBER] = parse_number,
    [TOKEN_STRING] = parse_string,       [TOKEN_TRUE] = parse_true,
    [TOKEN_FALSE] = parse_false,         [TOKEN_NULL] = parse_null,
    [TOKEN_UNDEFINED] = parse_undefined, [TOKEN_UDF] = parse_udf,
    [TOKEN_LEFT] = parse_function,       [TOKEN_RIGHT] = parse_function,
    [TOKEN_BRACKET_OPEN] = parse_array,  [TOKEN_BRACE_OPEN] = parse_object,
    [TOKEN_OPEN] = parse_parentheses,    [TOKEN_EXISTS] = parse_exists,
    [TOKEN_ARRAY] = parse_array_of,      [TOKEN_ALL] = parse_all,
    [TOKEN_FIRST] = parse_first,         [TOKEN_LAST] = parse_last,
    [TOKEN_NAN] = parse_nan,             [TOKEN_INFINITY] = parse_infinity,
};

/* .name or ["name"]; the token at hand is the name. */
static enum status parse_named(struct parse *p, struct expr *member)
{
    enum status st;

    member->kind = EXPR_MEMBER;
    member->quoted = p->token.kind == TOKEN_STRING;
    member->name_span = p->token.span;
    TRY(parse_member_name(p, &member->name));
out:
    return st;
}

/* Where nothing may be computed: a number. */
static enum status parse_constant_kid(struct parse *p, struct expr *step)
{
    struct expr *kid = NULL;
    enum status st;

    if (p->token.kind != TOKEN_NUMBER)
        return parse_unexpected(p);
    TRY(parse_number(p, &kid));
    TRY(parse_add_kid(p, step, kid));
out:
    return st;
}

/* What stands in brackets and is no more than a string names a member. */
static enum status parse_bracket(struct parse *p, struct expr *step, bool computed)
{
    enum status st;

    if (p->token.kind == TOKEN_STRING && (p->next.kind == TOKEN_BRACKET_CLOSE || !computed))
        TRY(parse_named(p, step));
    else if (computed)
        TRY(parse_kid(p, step));
    else
        TRY(parse_constant_kid(p, step));
    TRY(parse_expect(p, TOKEN_BRACKET_CLOSE));
out:
    return st;
}

static enum status parse_dot(struct parse *p, struct expr *step)
{
    if (!token_is_name(p->token.kind))
        return parse_unexpected(p);
    return parse_named(p, step);
}

/* One step below *expr, which it becomes. `start` is that of the whole, parentheses included. */
static enum status parse_step(struct parse *p, uint32_t start, bool computed, struct expr **expr)
{
    struct expr *step;
    enum status st;

    TRY(parse_make(p, EXPR_INDEX, start, &step));
    TRY(parse_add_kid(p, step, *expr));
    if (parse_accept(p, TOKEN_DOT)) {
        TRY(parse_dot(p, step));
    } else {
        parse_take(p);
        TRY(parse_bracket(p, step, computed));
    }
    TRY(parse_finish(p, step));
    *expr = step;
out:
    return st;
}

static bool at_step(const struct parse *p)
{
    return p->token.kind == TOKEN_DOT || p->token.kind == TOKEN_BRACKET_OPEN;
}

enum status parse_postfix(struct parse *p, struct expr **expr)
{
    uint32_t start = p->token.span.start;
    parse_code *primary = primaries[p->token.kind];
    enum status st;

    if (!primary)
        return parse_unexpected(p);
    TRY(primary(p, expr));
    while (at_step(p))
        TRY(parse_step(p, start, true, expr));
out:
    return st;
}

enum status parse_path(struct parse *p, struct expr **path)
{
    uint32_t start = p->token.span.start;
    enum status st;

    if (!token_is_name(p->token.kind))
        return parse_unexpected(p);
    TRY(parse_source_name(p, path));
    while (at_step(p))
        TRY(parse_step(p, start, false, path));
out:
    return st;
}

enum status parse_count(struct parse *p, struct expr **count)
{
    if (p->token.kind == TOKEN_NUMBER)
        return parse_number(p, count);
    if (p->token.kind == TOKEN_PARAMETER)
        return parse_parameter(p, count);
    return parse_unexpected(p);
}
