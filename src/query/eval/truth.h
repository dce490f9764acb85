/*
 * src/query/eval/truth.h - whether an expression holds: JSON_TRUE, JSON_FALSE, or what else its value is.
 * A filter asks for no more, so that comparisons, AND, OR and NOT make no values on the way.
 */
#pragma once
#include "query/eval/eval.h"

/* The kind of the expression's value. */
enum json_kind eval_truth(struct eval *eval, const struct expr *expr);

/* Whether it is one of those that eval_truth() is for: eval_expr() asks it. */
static inline bool is_of_truth(enum operator_kind operation)
{
    return operation == OPERATOR_AND || operation == OPERATOR_OR ||
           (operation >= OPERATOR_EQUAL && operation <= OPERATOR_GREATER_EQUAL);
}
