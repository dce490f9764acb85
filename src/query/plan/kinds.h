/*
 * src/query/plan/kinds.h - which kinds of values an expression can have, whatever the item: what no item makes true is
 * known before one is read.
 */
#pragma once
#include "query/value/tree.h"

/* A set of enum json_kind. */
typedef uint8_t kinds;

enum {
    KINDS_ALL = 0xff,
    KINDS_BOOLEAN = 1 << JSON_TRUE | 1 << JSON_FALSE,
    KINDS_DEFINED = KINDS_ALL & ~(1 << JSON_UNDEFINED),
};

static inline kinds kinds_one(enum json_kind kind)
{
    return (kinds)(1 << kind);
}

/* What a letter of a function's signature stands for (function/signature.h). */
kinds kinds_of_letter(char letter);

/* Of a bound and folded expression. Never too few. */
kinds kinds_of(const struct expr *expr);
