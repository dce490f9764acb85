/* src/query/function/builtins.h - all built-in functions, by family; builtin.c joins them. */
#pragma once
#include "query/eval/builtin.h"

extern const struct builtin_family builtins_array, builtins_string, builtins_math, builtins_date,
    builtins_type, builtins_spatial, builtins_vector, builtins_text, builtins_convert, builtins_regex,
    builtins_unknown;

/* In any case; NULL when there is none. Threads: may be called from any. */
const struct builtin *builtin_find(struct slice name);
