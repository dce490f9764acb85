/* src/query/bind/fold.c - what is the same for every row, computed once. */
#include <assert.h>

#include "query/bind/fold.h"
#include "query/function/builtins.h"

static bool may_fold(const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_NAME:
    case EXPR_RESULT:
    case EXPR_UDF:
        return false;
    case EXPR_CALL:
        return !(expr->builtin->flags & (NOT_CONSTANT | AGGREGATE | TAKES_ROW));
    default:
        return !expr->select && !expr->instead;
    }
}

static bool is_value(const struct expr *expr)
{
    return expr->kind == EXPR_LITERAL || expr->kind == EXPR_PARAMETER;
}

static void replace(struct eval *eval, struct expr *expr)
{
    struct expr *literal;

    assert(expr->constant);
    if (is_value(expr))
        return;
    literal = arena_alloc(&eval->op->arena, sizeof(*literal));
    *literal = (struct expr){ .kind = EXPR_LITERAL, .value = eval_expr(eval, expr) };
    expr->instead = literal;
}

/* Marks what is constant, from the leaves up; a constant part of what is not is replaced. */
static void fold_expr(struct eval *eval, struct expr *expr)
{
    expr->constant = may_fold(expr);
    if (expr->select)
        fold_select(eval, expr->select);
    if (expr->instead)
        fold_expr(eval, expr->instead);
    for (size_t i = 0; i < expr->kid_count; i++) {
        fold_expr(eval, expr->kid[i]);
        expr->constant &= expr->kid[i]->constant;
    }
    if (expr->instead &&
        expr->instead->kind == EXPR_LITERAL) /* a computed property that depends on nothing */
        expr->constant = true;
    for (size_t i = 0; i < expr->kid_count && !expr->constant; i++)
        if (expr->kid[i]->constant)
            replace(eval, expr->kid[i]);
}

static void fold_root(struct eval *eval, struct expr *expr)
{
    if (!expr)
        return;
    fold_expr(eval, expr);
    if (expr->constant)
        replace(eval, expr);
}

void fold_select(struct eval *eval, struct select *select)
{
    for (size_t i = 0; i < select->source_count; i++) {
        fold_root(eval, select->source[i].path);
        if (select->source[i].select)
            fold_select(eval, select->source[i].select);
    }
    fold_root(eval, select->where);
    for (size_t i = 0; i < select->item_count; i++)
        fold_root(eval, select->item[i].expr);
    for (size_t i = 0; i < select->group_count; i++)
        fold_root(eval, select->group[i]);
    for (size_t i = 0; i < select->order_count; i++)
        fold_root(eval, select->order[i].expr);
}

bool fold_constant(const struct expr *expr, struct value *value)
{
    if (expr->instead)
        expr = expr->instead;
    if (!is_value(expr))
        return false;
    *value = expr->value;
    return true;
}
