/* src/query/eval/truth.c - whether an expression holds. */
#include <assert.h>

#include "query/eval/operator.h"
#include "query/eval/truth.h"

static const struct expr *meant(const struct expr *expr)
{
    while (expr->instead)
        expr = expr->instead;
    return expr;
}

static enum json_kind kind_of(bool truth)
{
    return truth ? JSON_TRUE : JSON_FALSE;
}

/* AND and OR over any number of operands: `decides` settles it, whatever the others are. */
static enum json_kind logic(struct eval *eval, const struct expr *expr, enum json_kind decides)
{
    bool undefined = false;

    for (size_t i = 0; i < expr->kid_count; i++) {
        enum json_kind kind = eval_truth(eval, expr->kid[i]);

        if (kind == decides)
            return kind;
        undefined |= kind != JSON_TRUE && kind != JSON_FALSE;
    }
    return undefined ? JSON_UNDEFINED : kind_of(decides == JSON_FALSE);
}

/* What is compared: where it is, or in `room`. Sources and constants are not copied. */
static const struct value *operand(struct eval *eval, const struct expr *expr, struct value *room)
{
    expr = meant(expr);
    switch (expr->kind) {
    case EXPR_LITERAL:
    case EXPR_PARAMETER:
        return &expr->value;
    case EXPR_NAME:
        if (!eval->slot[expr->slot].is_row)
            return &eval->slot[expr->slot];
        *room = eval_plain(eval, eval->slot[expr->slot]);
        return room;
    case EXPR_MEMBER:
        *room = value_from_json(eval_member(eval, expr));
        return room;
    default:
        *room = eval_plain(eval, eval_expr(eval, expr));
        return room;
    }
}

static enum json_kind holds(enum operator_kind operation, int order)
{
    switch (operation) {
    case OPERATOR_EQUAL:
        return kind_of(order == 0);
    case OPERATOR_NOT_EQUAL:
        return kind_of(order != 0);
    case OPERATOR_LESS:
        return kind_of(order < 0);
    case OPERATOR_LESS_EQUAL:
        return kind_of(order <= 0);
    case OPERATOR_GREATER:
        return kind_of(order > 0);
    default:
        assert(operation == OPERATOR_GREATER_EQUAL);
        return kind_of(order >= 0);
    }
}

/* What operator_binary() says, sooner where two integers or two strings are compared, as mostly is the case. */
static enum json_kind compare(enum operator_kind operation, const struct value *a, const struct value *b)
{
    if (a->kind == JSON_NUMBER && a->is_int && b->kind == JSON_NUMBER && b->is_int)
        return holds(operation, a->integer < b->integer ? -1 : a->integer > b->integer);
    if (a->kind != JSON_STRING || b->kind != JSON_STRING)
        return operator_binary(operation, *a, *b).kind;
    if (operation == OPERATOR_EQUAL || operation == OPERATOR_NOT_EQUAL) /* sizes tell most of them apart */
        return kind_of(slice_equal(a->string, b->string) == (operation == OPERATOR_EQUAL));
    return holds(operation, slice_compare(a->string, b->string));
}

static enum json_kind comparison(struct eval *eval, const struct expr *expr)
{
    struct value room_a, room_b;
    const struct value *a = operand(eval, expr->kid[0], &room_a);
    const struct value *b = operand(eval, expr->kid[1], &room_b);

    return compare(expr->operation, a, b);
}

static enum json_kind opposite(enum json_kind kind)
{
    if (kind == JSON_TRUE)
        return JSON_FALSE;
    return kind == JSON_FALSE ? JSON_TRUE : JSON_UNDEFINED;
}

enum json_kind eval_truth(struct eval *eval, const struct expr *expr)
{
    expr = meant(expr);
    if (expr->kind == EXPR_UNARY && expr->operation == OPERATOR_NOT)
        return opposite(eval_truth(eval, expr->kid[0]));
    if (expr->kind == EXPR_MEMBER)
        return json_kind(eval_member(eval, expr));
    if (expr->kind != EXPR_BINARY || !is_of_truth(expr->operation))
        return eval_expr(eval, expr).kind;
    if (expr->operation == OPERATOR_AND)
        return logic(eval, expr, JSON_FALSE);
    if (expr->operation == OPERATOR_OR)
        return logic(eval, expr, JSON_TRUE);
    return comparison(eval, expr);
}
