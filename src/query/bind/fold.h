/* src/query/bind/fold.h - what is the same for every row, computed once. */
#pragma once
#include "query/eval/eval.h"

/*
 * Evaluates the largest constant parts of a bound statement into the op's arena. From then on the evaluator
 * uses their values instead. The tree stays as it was written. eval->status says what goes wrong.
 */
void fold_select(struct eval *eval, struct select *select);

/* Whether an expression of a folded statement is the same for every row, and what it is. */
bool fold_constant(const struct expr *expr, struct value *value);
