/*
 * src/query/function/signature.h - what kinds of values a function takes and gives, for the planner, which proves by it
 * that a filter is never true. signature_test.c calls every function with values of every kind.
 *
 * A signature is a letter for what is given, then one for each argument, the last of them for all that follow:
 *     n number   s string   b true or false   a array   o object   d any defined value   u any value, undefined too
 * An argument of another kind makes the result undefined. Any result may be undefined, but for B, which is b and always
 * defined.
 */
#pragma once
#include "query/eval/builtin.h"

/* NULL: nothing is known of it. */
const char *builtin_signature(const struct builtin *builtin);
