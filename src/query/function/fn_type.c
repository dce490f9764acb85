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
TEST_OF(integer, value_is_int(x)) /* an int64, or a double that stands for no other */
TEST_OF(null, x.kind == JSON_NULL)
TEST_OF(number, x.kind == JSON_NUMBER)
TEST_OF(object, x.kind == JSON_OBJECT)
TEST_OF(primitive, x.kind != JSON_UNDEFINED && x.kind < JSON_ARRAY)
TEST_OF(string, x.kind == JSON_STRING)

/* True of exactly these kinds, or of some values among them. */
#define ONLY(first, last) .flags = TAKES_UNDEFINED, .claim = { CLAIM_KINDS, first, last, true }
#define AMONG(first, last) .flags = TAKES_UNDEFINED, .claim = { CLAIM_KINDS, first, last, false }

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "IS_ARRAY", 1, 1, "ISARRAY", .code = fn_is_array, ONLY(JSON_ARRAY, JSON_ARRAY) },
    { "IS_BOOL", 1, 1, "ISBOOL", .code = fn_is_bool, ONLY(JSON_FALSE, JSON_TRUE) },
    { "IS_BOOLEAN", 1, 1, "ISBOOLEAN", .code = fn_is_bool,
      ONLY(JSON_FALSE, JSON_TRUE) }, /* as the Java SDK spells it when it resumes */
    { "IS_DATETIME", 1, 1, "ISDATETIME", .code = fn_is_datetime, AMONG(JSON_STRING, JSON_STRING) },
    { "IS_DEFINED", 1, 1, "ISDEFINED", .code = fn_is_defined, ONLY(JSON_NULL, JSON_OBJECT) },
    { "IS_FINITE_NUMBER", 1, 1, "ISFINITENUMBER", .code = fn_is_finite_number,
      ONLY(JSON_NUMBER, JSON_NUMBER) },
    { "IS_INTEGER", 1, 1, "ISINTEGER", .code = fn_is_integer, AMONG(JSON_NUMBER, JSON_NUMBER) },
    { "IS_NULL", 1, 1, "ISNULL", .code = fn_is_null, ONLY(JSON_NULL, JSON_NULL) },
    { "IS_NUMBER", 1, 1, "ISNUMBER", .code = fn_is_number, ONLY(JSON_NUMBER, JSON_NUMBER) },
    { "IS_OBJECT", 1, 1, "ISOBJECT", .code = fn_is_object, ONLY(JSON_OBJECT, JSON_OBJECT) },
    { "IS_PRIMITIVE", 1, 1, "ISPRIMITIVE", .code = fn_is_primitive, ONLY(JSON_NULL, JSON_STRING) },
    { "IS_STRING", 1, 1, "ISSTRING", .code = fn_is_string, ONLY(JSON_STRING, JSON_STRING) },
};

const struct builtin_family builtins_type = { rows, sizeof(rows) / sizeof(rows[0]) };
