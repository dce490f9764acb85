/*
 * src/query/function/fn_text.c - full-text search.
 * The names are known, so that a query that uses them is told what is missing and not that it is mistaken.
 */
#include "query/function/builtins.h"

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "FULLTEXTCONTAINS", 2, 2, .flags = NOT_BUILT },
    { "FULLTEXTCONTAINSALL", 2, ARGS_NO_MAX, .flags = NOT_BUILT },
    { "FULLTEXTCONTAINSANY", 2, ARGS_NO_MAX, .flags = NOT_BUILT },
    { "FULLTEXTSCORE", 2, ARGS_NO_MAX, .flags = NOT_BUILT },
    { "RRF", 2, ARGS_NO_MAX, .flags = NOT_BUILT },
    { "_FULLTEXTSCORE", 1, ARGS_NO_MAX, .flags = NOT_BUILT },
    { "_FULLTEXTWORDCOUNT", 1, 1, .flags = NOT_BUILT },
};

const struct builtin_family builtins_text = { rows, sizeof(rows) / sizeof(rows[0]) };
