/*
 * test/unit/query/call.h - calling a built-in directly, arguments and result as text.
 *     CHECK(gives(&builtins_math, "POWER", "[2, 3]", "8"));
 * Apostrophes stand for double quotes. Among the arguments the strings '<undefined>', '<NaN>' and
 * '<Infinity>' stand for what JSON cannot say; a result that is undefined is "undefined".
 */
#pragma once
#include "query/function/builtins.h"
#include "query/eval/eval.h"

/* A fresh context on the test's op. */
struct eval test_eval(void);

/* One call of a function; undefined arguments are handled as the evaluator handles them. */
struct value call(const struct builtin_family *family, const char *name, const char *args);

/* Whether the call's result prints so; says what it was when it does not. */
bool gives(const struct builtin_family *family, const char *name, const char *args, const char *expected);

/* For arguments that are too long to write down. */
struct slice repeated(const char *text, size_t count);
