/* src/query/eval/operator.h - the operators on values: three-valued logic, comparison, arithmetic, bits. */
#pragma once
#include "query/value/tree.h"

/* AND, OR and ?? do not evaluate what they need not: they are the evaluator's. */
struct value operator_unary(enum operator_kind operation, struct value a);
struct value operator_binary(enum operator_kind operation, struct value a, struct value b);
