/*
 * src/query/eval/builtin.h - the built-in functions: one row each.
 * The binder has checked the argument count. A function is called only when every argument is
 * defined, unless its row says TAKES_UNDEFINED; no argument is ever a row (value.h). A wrong type gives
 * undefined: a value, and not an error.
 *
 * To add one: write fn_it() in the fn_*.c of its family, add its row there and its test/query/<it>_*.case.
 */
#pragma once
#include "query/value.h"

struct eval;

typedef struct value builtin_code(struct eval *eval, const struct value *arg, int count);

enum { ARGS_NO_MAX = 0x7fff };

enum builtin_flags {
    TAKES_UNDEFINED = 1 << 0,
    NOT_CONSTANT = 1 << 1, /* differs from row to row or from call to call: RAND, GETCURRENTDATETIME */
    AGGREGATE = 1 << 2,    /* no code: aggregate.c computes it over many rows */
    NOT_BUILT = 1 << 3,    /* known, and refused with a clear error: docs/compat.md */
    SPATIAL = 1 << 4,      /* not allowed in computed properties */
    TAKES_ROW = 1 << 5,    /* the one argument is a source's name: DOCUMENTID */
};

struct builtin {
    const char *name; /* upper case */
    int args_min, args_max;
    builtin_code *code;
    unsigned flags;
};

/* A family's rows, in no order: builtin_find() has an index of its own. */
struct builtin_family {
    const struct builtin *row;
    size_t count;
};
