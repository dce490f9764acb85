/*
 * src/query/text/parse_private.h - one parse, shared by parse.c and the parse_*.c.
 * Each parse_ function takes what it is named for from the tokens and leaves the first one behind it in
 * p->token. A failure ends the parse: nothing is put back.
 */
#pragma once
#include "query/text/lex.h"
#include "query/text/mistake.h"
#include "query/text/parse.h"

/*
 * Parentheses inside one another, which leave no trace in the tree: libraries write a AND b AND c as
 * ((a AND b) AND c), hundreds of times.
 */
enum { NESTING_MAX = 8 * QUERY_DEPTH_MAX };

struct parse {
    struct op *op;
    struct lexer lexer;
    struct token token, next;
    uint32_t end; /* of the last token that was taken */
    int nesting;
};

/* A tree's nodes: one without kids, one more kid, and the end, where the last of its tokens has been taken. */
enum status parse_make(struct parse *p, enum expr_kind kind, uint32_t start, struct expr **result);
enum status parse_add_kid(struct parse *p, struct expr *expr, struct expr *kid);
enum status parse_finish(struct parse *p, struct expr *expr);

/* The statement in parentheses, which p->token opens. */
enum status parse_subquery(struct parse *p, struct select **select);
enum status parse_select(struct parse *p, struct select **select);

/* Without SELECT, from FROM on. */
enum status parse_condition(struct parse *p, struct select **select);
enum status parse_expression(struct parse *p, struct expr **expr);

/* An expression as the next kid; one or more of them, and what closes them. */
enum status parse_kid(struct parse *p, struct expr *expr);
enum status parse_kids(struct parse *p, struct expr *expr, enum token_kind close);

/* An operand: a value, a name, a call, what is in parentheses, and members of it. */
enum status parse_postfix(struct parse *p, struct expr **expr);
enum status parse_string(struct parse *p, struct expr **expr);

/* A minus glued to a number is part of it: -9223372036854775808 is an int64, and its digits alone are not. */
bool parse_at_negative(const struct parse *p);
enum status parse_negative(struct parse *p, struct expr **expr);

/* What FROM takes: a name, and members and elements below it, none of them computed. */
enum status parse_path(struct parse *p, struct expr **path);

/* TOP's, OFFSET's and LIMIT's: a number or a parameter. */
enum status parse_count(struct parse *p, struct expr **count);

/* Tokens: take the one at hand; take it if it is of that kind; it must be of that kind. */
void parse_take(struct parse *p);
bool parse_accept(struct parse *p, enum token_kind kind);
enum status parse_expect(struct parse *p, enum token_kind kind);

/* The token at hand may not stand where it does. */
enum status parse_unexpected(struct parse *p);
enum status parse_too_deep(struct parse *p, struct span span);

/* One level further in; the way out is p->nesting--, which a failure need not take. */
enum status parse_enter(struct parse *p);

/*
 * The array with room for one more than its `count`: a new one where the count is a power of two.
 * NULL when memory ends: mistake_memory().
 */
void *parse_grow(struct parse *p, void *array, size_t count, size_t element_bytes);

static inline struct span parse_span(const struct parse *p, uint32_t start)
{
    return (struct span){ start, p->end };
}

static inline void parse_raise(uint16_t *height, size_t to)
{
    if (*height < to)
        *height = (uint16_t)to;
}
