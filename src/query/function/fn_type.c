/*
 * src/query/function/fn_type.c - what kind of value something is.
 * These always answer: undefined is of no kind, and not an undefined answer.
 */
#include <math.h>

#include "query/function/builtins.h"
#include "query/function/datetime.h"

#define TEST_OF(name, expression)                                                           \
    static struct value fn_is_##name(struct eval *eval, const struct value *arg, int count) \
    {                                                                                       \
        struct value x = arg[0];                                                            \
                                                                                            \
        (void)eval, (void)count;                                                            \
        return value_bool(expression);                                                      \
    }

static bool is_datetime(struct slice text)
{
    int64_t ticks;

    return datetime_parse(text, &ticks);
}

TEST_OF(array, x.kind == JSON_ARRAY)
TEST_OF(bool, value_is_bool(x))
TEST_OF(datetime, x.kind == JSON_STRING && is_datetime(x.string))
TEST_OF(defined, x.kind != JSON_UNDEFINED)
TEST_OF(finite_number, x.kind == JSON_NUMBER && isfinite(x.number))
TEST_OF(integer, x.kind == JSON_NUMBER && x.is_int) /* of 64 bits, which no double can tell */
TEST_OF(null, x.kind == JSON_NULL)
TEST_OF(number, x.kind == JSON_NUMBER)
TEST_OF(object, x.kind == JSON_OBJECT)
TEST_OF(primitive, x.kind != JSON_UNDEFINED && x.kind < JSON_ARRAY)
TEST_OF(string, x.kind == JSON_STRING)

static const struct builtin rows[] = {
    /* name, fewest and most arguments, code, flags */
    { "IS_ARRAY", 1, 1, fn_is_array, TAKES_UNDEFINED },
    { "IS_BOOL", 1, 1, fn_is_bool, TAKES_UNDEFINED },
    { "IS_BOOLEAN", 1, 1, fn_is_bool, TAKES_UNDEFINED }, /* as the Java SDK spells it when it resumes */
    { "IS_DATETIME", 1, 1, fn_is_datetime, TAKES_UNDEFINED },
    { "IS_DEFINED", 1, 1, fn_is_defined, TAKES_UNDEFINED },
    { "IS_FINITE_NUMBER", 1, 1, fn_is_finite_number, TAKES_UNDEFINED },
    { "IS_INTEGER", 1, 1, fn_is_integer, TAKES_UNDEFINED },
    { "IS_NULL", 1, 1, fn_is_null, TAKES_UNDEFINED },
    { "IS_NUMBER", 1, 1, fn_is_number, TAKES_UNDEFINED },
    { "IS_OBJECT", 1, 1, fn_is_object, TAKES_UNDEFINED },
    { "IS_PRIMITIVE", 1, 1, fn_is_primitive, TAKES_UNDEFINED },
    { "IS_STRING", 1, 1, fn_is_string, TAKES_UNDEFINED },
};

const struct builtin_family builtins_type = { rows, sizeof(rows) / sizeof(rows[0]) };
