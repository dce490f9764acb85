/* src/query/function/policy_path.h - whether an expression is the path that a policy names. */
#pragma once
#include "query/value/tree.h"

/* The path may name properties in quotes, and the expression by a parameter: c.a["b"], c.a[@p] and /a/"b". */
bool policy_path_is(const struct expr *expr, struct slice path);
