/* src/query/text/parse.c - one statement from text to tree: the way in, and what its parts share. */
#include "json/scan.h"
#include "query/text/parse_private.h"

enum {
    CITED_CHARACTERS_MAX = 127
}; /* of a token: a string without an end goes on for the rest of the text */

void parse_take(struct parse *p)
{
    p->end = p->token.span.end;
    p->token = p->next;
    lex_next(&p->lexer, &p->next);
}

bool parse_accept(struct parse *p, enum token_kind kind)
{
    if (p->token.kind != kind)
        return false;
    parse_take(p);
    return true;
}

enum status parse_expect(struct parse *p, enum token_kind kind)
{
    return parse_accept(p, kind) ? ST_OK : parse_unexpected(p);
}

/* Its beginning, when it is too long to tell. */
static struct slice cited(struct slice text)
{
    size_t size = 0, characters = 0;

    for (; size < text.size; size++) {
        characters += ((uint8_t)text.data[size] & 0xc0) != 0x80;
        if (characters > CITED_CHARACTERS_MAX)
            break;
    }
    return slice_make(text.data, size);
}

enum status parse_unexpected(struct parse *p)
{
    struct slice text = cited(p->token.text);
    struct span span = p->token.span;

    switch (p->token.kind) {
    case TOKEN_END:
        return mistake(p->op, span, "SC1002", "Syntax error, unexpected end-of-file.");
    case TOKEN_BAD_CHARACTER:
        return mistake(p->op, span, "SC1010", "Syntax error, invalid token '%.*s'.", SLICE_ARGS(text));
    case TOKEN_BAD_NUMBER:
        return mistake(p->op, span, "SC1011", "Syntax error, invalid numeric value token '%.*s'.",
                       SLICE_ARGS(text));
    case TOKEN_BAD_STRING:
        return mistake(p->op, span, "SC1012", "Syntax error, invalid string literal token '%.*s'.",
                       SLICE_ARGS(text));
    default:
        return mistake(p->op, span, "SC1001", "Syntax error, incorrect syntax near '%.*s'.",
                       SLICE_ARGS(text));
    }
}

enum status parse_too_deep(struct parse *p, struct span span)
{
    return mistake(p->op, span, NULL,
                   "The SQL query exceeded the maximum depth of nested expressions. The allowed limit is %d.",
                   QUERY_DEPTH_MAX);
}

enum status parse_enter(struct parse *p)
{
    if (p->nesting == NESTING_MAX)
        return parse_too_deep(p, p->token.span);
    p->nesting++;
    return ST_OK;
}

void *parse_grow(struct parse *p, void *array, size_t count, size_t element_bytes)
{
    size_t capacity = count ? 2 * count : 2;
    void *larger;

    if (count == 1 || (count & (count - 1)) != 0)
        return array;
    larger = arena_try_alloc(&p->op->arena, capacity * element_bytes);
    if (larger && count)
        memcpy(larger, array, count * element_bytes);
    return larger;
}

enum status parse_make(struct parse *p, enum expr_kind kind, uint32_t start, struct expr **result)
{
    struct expr *expr = arena_try_alloc(&p->op->arena, sizeof(*expr));

    if (!expr)
        return mistake_memory(p->op);
    *expr = (struct expr){ .kind = kind, .height = HEIGHT_LEVEL, .span.start = start };
    *result = expr;
    return ST_OK;
}

/* A link in a chain of operators, a + b + c, costs a walk through the tree little; anything else is a level. */
static size_t step_to(const struct expr *expr, const struct expr *kid)
{
    return expr->kind == EXPR_BINARY && kid->kind == EXPR_BINARY ? 1 : HEIGHT_LEVEL;
}

enum status parse_add_kid(struct parse *p, struct expr *expr, struct expr *kid)
{
    struct expr **kids = parse_grow(p, expr->kid, expr->kid_count, sizeof(*kids));

    if (!kids)
        return mistake_memory(p->op);
    expr->kid = kids;
    kids[expr->kid_count++] = kid;
    parse_raise(&expr->height, kid->height + step_to(expr, kid));
    return ST_OK;
}

enum status parse_finish(struct parse *p, struct expr *expr)
{
    expr->span.end = p->end;
    return expr->height <= HEIGHT_LEVEL * QUERY_DEPTH_MAX ? ST_OK : parse_too_deep(p, expr->span);
}

/* Counts characters up to the end, or to the first that is not UTF-8: false. */
static bool count_characters(struct slice text, uint32_t *count)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;
    size_t size;

    *count = 0;
    for (;;) {
        size = count_plain(at, end);
        at += size;
        *count += (uint32_t)size;
        if (at == end)
            return true;
        size = utf8_sequence(at, end);
        if (!size)
            return false;
        at += size;
        *count += 1;
    }
}

static enum status check_text(struct op *op, struct slice text)
{
    uint32_t count;

    if (!count_characters(text, &count))
        return mistake(op, (struct span){ count, count + 1 }, "SC1001",
                       "Syntax error, the query text is not valid UTF-8.");
    if (text.size > QUERY_BYTES_MAX)
        return mistake(op, (struct span){ 0, count }, "SC3020",
                       "The SQL query text exceeded the maximum limit of %d characters.", QUERY_BYTES_MAX);
    return ST_OK;
}

enum { BYTES_OF_A_STEP = 8 }; /* of an operation (base/op.h): they are bound, folded and planned with, too */

typedef enum status parse_whole(struct parse *p, struct select **select);

static enum status parse_text(struct op *op, struct slice text, parse_whole *whole, struct select **select)
{
    struct parse p = { .op = op, .lexer.text = text };
    enum status st;

    TRY(check_text(op, text));
    TRY(op_spend_often(op, text.size / BYTES_OF_A_STEP));
    lex_next(&p.lexer, &p.token);
    lex_next(&p.lexer, &p.next);
    TRY(whole(&p, select));
    TRY(parse_expect(&p, TOKEN_END));
    if ((*select)->star && (*select)->source_count == 0)
        TRY(mistake(op, (*select)->star_span, "SC1021",
                    "Syntax error, 'SELECT *' is not valid if FROM clause is omitted."));
out:
    return st;
}

enum status query_parse(struct op *op, struct slice text, struct select **select)
{
    return parse_text(op, text, parse_select, select);
}

enum status query_parse_condition(struct op *op, struct slice text, struct select **select)
{
    return parse_text(op, text, parse_condition, select);
}
