/*
 * src/query/text/parse_expr.c - expressions: operators by their precedence.
 * A flat text never makes a deep recursion: what operators of one level join is gathered in a loop.
 * Lists, AND and OR may be of any length; chains of other operators make the tree higher by one for
 * each, and QUERY_DEPTH_MAX ends them.
 */
#include "query/text/parse_private.h"

/* Loosest first. The ternary operator is looser than all. */
enum level {
    LEVEL_NONE,
    LEVEL_COALESCE,
    LEVEL_BETWEEN, /* beside OR, of which it is no operand */
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_TEST, /* IN and LIKE, which do not follow one another */
    LEVEL_COMPARE,
    LEVEL_CONCAT,
    LEVEL_ADD,
    LEVEL_MULTIPLY,
    LEVEL_UNARY, /* NOT among them: NOT a = b is (NOT a) = b */
};

/* How loose the operands may be that stand before and behind an operator. */
struct operator_row {
    enum level level, left, right;
    enum operator_kind operation;
};

#define LEFT_TO_RIGHT(level) level, level, level + 1
#define RIGHT_TO_LEFT(level) level, level + 1, level
#define TEST(level) level, LEVEL_COMPARE, LEVEL_COMPARE

/* Between two operands, as the service's compiler binds them. */
static const struct operator_row operators[TOKEN_KIND_COUNT] = {
    [TOKEN_COALESCE] = { RIGHT_TO_LEFT(LEVEL_COALESCE), OPERATOR_COALESCE },
    [TOKEN_BETWEEN] = { TEST(LEVEL_BETWEEN) },
    [TOKEN_OR] = { LEFT_TO_RIGHT(LEVEL_OR), OPERATOR_OR },
    [TOKEN_AND] = { LEFT_TO_RIGHT(LEVEL_AND), OPERATOR_AND },
    [TOKEN_NOT] = { TEST(LEVEL_TEST) }, /* NOT IN and the like */
    [TOKEN_IN] = { TEST(LEVEL_TEST) },
    [TOKEN_LIKE] = { TEST(LEVEL_TEST) },
    [TOKEN_EQUAL] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_EQUAL },
    [TOKEN_NOT_EQUAL] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_NOT_EQUAL },
    [TOKEN_LESS] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_LESS },
    [TOKEN_LESS_EQUAL] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_LESS_EQUAL },
    [TOKEN_GREATER] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_GREATER },
    [TOKEN_GREATER_EQUAL] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_GREATER_EQUAL },
    [TOKEN_SHIFT_LEFT] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_SHIFT_LEFT },
    [TOKEN_SHIFT_RIGHT] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_SHIFT_RIGHT },
    [TOKEN_SHIFT_RIGHT_UNSIGNED] = { LEFT_TO_RIGHT(LEVEL_COMPARE), OPERATOR_SHIFT_RIGHT_UNSIGNED },
    [TOKEN_CONCAT] = { LEFT_TO_RIGHT(LEVEL_CONCAT), OPERATOR_CONCAT },
    [TOKEN_PLUS] = { LEFT_TO_RIGHT(LEVEL_ADD), OPERATOR_ADD },
    [TOKEN_MINUS] = { LEFT_TO_RIGHT(LEVEL_ADD), OPERATOR_SUBTRACT },
    [TOKEN_BIT_AND] = { LEFT_TO_RIGHT(LEVEL_ADD), OPERATOR_BIT_AND },
    [TOKEN_BIT_OR] = { LEFT_TO_RIGHT(LEVEL_ADD), OPERATOR_BIT_OR },
    [TOKEN_BIT_XOR] = { LEFT_TO_RIGHT(LEVEL_ADD), OPERATOR_BIT_XOR },
    [TOKEN_STAR] = { LEFT_TO_RIGHT(LEVEL_MULTIPLY), OPERATOR_MULTIPLY },
    [TOKEN_SLASH] = { LEFT_TO_RIGHT(LEVEL_MULTIPLY), OPERATOR_DIVIDE },
    [TOKEN_PERCENT] = { LEFT_TO_RIGHT(LEVEL_MULTIPLY), OPERATOR_MODULO },
};

static enum status parse_operators(struct parse *p, enum level loosest, struct expr **expr);

static enum status make_operator(struct parse *p, enum expr_kind kind, enum operator_kind operation,
                                 uint32_t start, struct expr **expr)
{
    enum status st;

    TRY(parse_make(p, kind, start, expr));
    (*expr)->operation = operation;
out:
    return st;
}

static enum status apply_unary(struct parse *p, enum operator_kind operation, uint32_t start,
                               struct expr **expr)
{
    struct expr *unary;
    enum status st;

    TRY(make_operator(p, EXPR_UNARY, operation, start, &unary));
    TRY(parse_add_kid(p, unary, *expr));
    TRY(parse_finish(p, unary));
    *expr = unary;
out:
    return st;
}

/* In front of an operand. */
static bool prefix_operator(enum token_kind kind, enum operator_kind *operation)
{
    switch (kind) {
    case TOKEN_PLUS:
        *operation = OPERATOR_PLUS;
        return true;
    case TOKEN_MINUS:
        *operation = OPERATOR_MINUS;
        return true;
    case TOKEN_BIT_NOT:
        *operation = OPERATOR_BIT_NOT;
        return true;
    case TOKEN_NOT:
        *operation = OPERATOR_NOT;
        return true;
    default:
        return false;
    }
}

static enum status parse_unary(struct parse *p, struct expr **expr)
{
    uint32_t start = p->token.span.start;
    enum operator_kind operation;
    enum status st;

    if (!prefix_operator(p->token.kind, &operation))
        return parse_postfix(p, expr);
    if (parse_at_negative(p))
        return parse_negative(p, expr);
    TRY(parse_enter(p));
    parse_take(p);
    TRY(parse_unary(p, expr));
    TRY(apply_unary(p, operation, start, expr));
    p->nesting--;
out:
    return st;
}

static enum status parse_between(struct parse *p, struct expr *test)
{
    struct expr *bound;
    enum status st;

    test->kind = EXPR_BETWEEN;
    TRY(parse_operators(p, LEVEL_COMPARE, &bound));
    TRY(parse_add_kid(p, test, bound));
    TRY(parse_expect(p, TOKEN_AND));
    TRY(parse_operators(p, LEVEL_COMPARE, &bound));
    TRY(parse_add_kid(p, test, bound));
out:
    return st;
}

static enum status parse_in(struct parse *p, struct expr *test)
{
    enum status st;

    test->kind = EXPR_IN;
    TRY(parse_expect(p, TOKEN_OPEN));
    TRY(parse_kids(p, test, TOKEN_CLOSE));
out:
    return st;
}

static enum status parse_escape(struct parse *p, struct expr *test)
{
    struct expr *escape;
    enum status st;

    if (p->token.kind != TOKEN_STRING)
        return parse_unexpected(p);
    TRY(parse_string(p, &escape));
    TRY(parse_add_kid(p, test, escape));
out:
    return st;
}

static enum status parse_like(struct parse *p, struct expr *test)
{
    struct expr *pattern;
    enum status st;

    test->kind = EXPR_LIKE;
    TRY(parse_operators(p, LEVEL_COMPARE, &pattern));
    TRY(parse_add_kid(p, test, pattern));
    if (parse_accept(p, TOKEN_ESCAPE))
        TRY(parse_escape(p, test));
out:
    return st;
}

/* BETWEEN, IN or LIKE, with or without NOT, of what stands before them. */
static enum status parse_test(struct parse *p, const struct operator_row *row, uint32_t start,
                              struct expr **expr)
{
    struct expr *test;
    enum status st;

    TRY(parse_make(p, EXPR_IN, start, &test));
    TRY(parse_add_kid(p, test, *expr));
    test->negated = parse_accept(p, TOKEN_NOT);
    if (row->level == LEVEL_BETWEEN && parse_accept(p, TOKEN_BETWEEN))
        TRY(parse_between(p, test));
    else if (parse_accept(p, TOKEN_LIKE))
        TRY(parse_like(p, test));
    else if (parse_accept(p, TOKEN_IN))
        TRY(parse_in(p, test));
    else
        TRY(parse_unexpected(p));
    TRY(parse_finish(p, test));
    *expr = test;
out:
    return st;
}

/* Whether `right` can join what `left` joins already: a AND b AND c is one AND of three. */
static bool goes_on(const struct expr *left, enum operator_kind operation)
{
    return left->kind == EXPR_BINARY && (operation == OPERATOR_AND || operation == OPERATOR_OR) &&
           operation == left->operation;
}

static enum status join(struct parse *p, enum operator_kind operation, uint32_t start, struct expr **left,
                        struct expr *right)
{
    struct expr *both = *left;
    enum status st;

    if (!goes_on(*left, operation)) {
        TRY(make_operator(p, EXPR_BINARY, operation, start, &both));
        TRY(parse_add_kid(p, both, *left));
    }
    both->span.start = start;
    TRY(parse_add_kid(p, both, right));
    TRY(parse_finish(p, both));
    *left = both;
out:
    return st;
}

static enum status parse_right(struct parse *p, const struct operator_row *row, uint32_t start,
                               struct expr **left)
{
    bool nests = row->right == row->level;
    struct expr *right;
    enum status st;

    if (nests)
        TRY(parse_enter(p));
    parse_take(p);
    TRY(parse_operators(p, row->right, &right));
    TRY(join(p, row->operation, start, left, right));
    p->nesting -= nests;
out:
    return st;
}

/* The operator at hand; NOT BETWEEN is one of BETWEEN's level where that may stand. */
static const struct operator_row *operator_at(const struct parse *p, enum level loosest)
{
    bool between = p->token.kind == TOKEN_NOT && p->next.kind == TOKEN_BETWEEN && loosest <= LEVEL_BETWEEN;

    return &operators[between ? TOKEN_BETWEEN : p->token.kind];
}

static bool is_test(enum level level)
{
    return level == LEVEL_TEST || level == LEVEL_BETWEEN;
}

/* Operands and the operators between them that are no looser than `loosest`. */
static enum status parse_operators(struct parse *p, enum level loosest, struct expr **expr)
{
    uint32_t start = p->token.span.start;
    enum level level = LEVEL_UNARY; /* of what stands to the left */
    const struct operator_row *row;
    enum status st;

    TRY(parse_unary(p, expr));
    for (;;) {
        row = operator_at(p, loosest);
        if (row->level < loosest || row->level == LEVEL_NONE || level < row->left)
            break;
        TRY(is_test(row->level) ? parse_test(p, row, start, expr) : parse_right(p, row, start, expr));
        level = row->level;
    }
out:
    return st;
}

static enum status parse_ternary(struct parse *p, uint32_t start, struct expr **expr)
{
    struct expr *ternary;
    enum status st;

    TRY(parse_make(p, EXPR_TERNARY, start, &ternary));
    TRY(parse_add_kid(p, ternary, *expr));
    TRY(parse_kid(p, ternary));
    TRY(parse_expect(p, TOKEN_COLON));
    TRY(parse_kid(p, ternary));
    TRY(parse_finish(p, ternary));
    *expr = ternary;
out:
    return st;
}

enum status parse_expression(struct parse *p, struct expr **expr)
{
    uint32_t start = p->token.span.start;
    enum status st;

    TRY(parse_enter(p));
    TRY(parse_operators(p, LEVEL_COALESCE, expr));
    if (parse_accept(p, TOKEN_QUESTION))
        TRY(parse_ternary(p, start, expr));
    p->nesting--;
out:
    return st;
}

enum status parse_kid(struct parse *p, struct expr *expr)
{
    struct expr *kid;
    enum status st;

    TRY(parse_expression(p, &kid));
    TRY(parse_add_kid(p, expr, kid));
out:
    return st;
}

enum status parse_kids(struct parse *p, struct expr *expr, enum token_kind close)
{
    enum status st;

    do {
        TRY(parse_kid(p, expr));
    } while (parse_accept(p, TOKEN_COMMA));
    TRY(parse_expect(p, close));
out:
    return st;
}
