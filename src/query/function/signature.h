/*
 * src/query/function/signature.h - what kinds of values a function takes and gives, for the planner, which proves by it
 * that a filter is never true. signature_test.c calls every function with values of every kind.
 *
 * A signature is a letter for what is given, then one for each argument, the last of them for all that follow:
 *     n number   s string   b true or false   a array   o object   d any defined value   U any value, undefined too
 * An argument of another kind makes the result undefined. Any result may be undefined, but for B, which is b and always
 * defined. N among the arguments is a number or undefined. Behind | stands what holds of other numbers of arguments.
 *
 * Where a function says less than its code could (LENGTH takes any defined value), the service's planner says no more.
 */
#pragma once
#include "query/eval/builtin.h"

/* Of a call of so many arguments; NULL: nothing is known of it. */
const char *builtin_signature(const struct builtin *builtin, size_t count);

/* The letter of the next argument, from behind the first letter on; 0: nothing is known of it. */
char signature_next(const char **at);
