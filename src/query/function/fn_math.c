/*
 * src/query/function/fn_math.c - the built-in functions of numbers.
 * Integers stay exact where the function allows it; what is outside a function's domain is NaN, as
 * in C. The INT functions take nothing but 64-bit integers, and begin anew past their end.
 */
#include <math.h>

#include "query/function/builtins.h"
#include "query/eval/eval.h"

static bool is_number(struct value value)
{
    return value.kind == JSON_NUMBER;
}

static struct value apply(struct value value, double (*function)(double))
{
    return is_number(value) ? value_double(function(value.number)) : value_undefined;
}

/* Functions that leave a whole number as it is. */
static struct value apply_rounding(struct value value, double (*function)(double))
{
    return is_number(value) && value.is_int ? value : apply(value, function);
}

static double cotangent(double angle)
{
    return 1 / tan(angle);
}

static double to_degrees(double radians)
{
    return radians * 180 / M_PI;
}

static double to_radians(double degrees)
{
    return degrees * M_PI / 180;
}

static double squared(double number)
{
    return number * number;
}

/* fn_cos() and the like: one number, to `how` with the C function. */
#define ONE_NUMBER(name, how, function)                                                  \
    static struct value fn_##name(struct eval *eval, const struct value *arg, int count) \
    {                                                                                    \
        (void)eval, (void)count;                                                         \
        return how(arg[0], function);                                                    \
    }

ONE_NUMBER(acos, apply, acos)
ONE_NUMBER(asin, apply, asin)
ONE_NUMBER(atan, apply, atan)
ONE_NUMBER(cos, apply, cos)
ONE_NUMBER(cot, apply, cotangent)
ONE_NUMBER(degrees, apply, to_degrees)
ONE_NUMBER(exp, apply, exp)
ONE_NUMBER(log10, apply, log10)
ONE_NUMBER(radians, apply, to_radians)
ONE_NUMBER(sin, apply, sin)
ONE_NUMBER(sqrt, apply, sqrt)
ONE_NUMBER(square, apply, squared)
ONE_NUMBER(tan, apply, tan)
ONE_NUMBER(ceiling, apply_rounding, ceil)
ONE_NUMBER(floor, apply_rounding, floor)
ONE_NUMBER(trunc, apply_rounding, trunc)

static struct value fn_abs(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (!is_number(arg[0]) || !arg[0].is_int)
        return apply(arg[0], fabs);
    return arg[0].integer > INT64_MIN ? value_int(llabs(arg[0].integer))
                                      : arg[0]; /* the least has no opposite */
}

/* NaN has none. */
static struct value fn_sign(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (!is_number(arg[0]) || isnan(arg[0].number))
        return value_undefined;
    return value_int((arg[0].number > 0) - (arg[0].number < 0));
}

static struct value fn_atn2(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (!is_number(arg[0]) || !is_number(arg[1]))
        return value_undefined;
    return value_double(atan2(arg[0].number, arg[1].number));
}

/* 10 and 2 have functions of their own, which are exact where a quotient of logarithms is not. */
static double log_to_base(double number, double base)
{
    if (base == 10)
        return log10(number);
    if (base == 2)
        return log2(number);
    return log(number) / log(base);
}

static struct value fn_log(struct eval *eval, const struct value *arg, int count)
{
    (void)eval;
    if (count == 1)
        return apply(arg[0], log);
    if (!is_number(arg[0]) || !is_number(arg[1]))
        return value_undefined;
    return value_double(log_to_base(arg[0].number, arg[1].number));
}

/* The remainder has the sign of the bin, so that what is left is a multiple of it, below the number, or wraps. */
static int64_t bin_integer(int64_t number, int64_t bin)
{
    int64_t rest = bin == -1 ? 0 : number % bin; /* INT64_MIN % -1 traps */

    if (rest != 0 && (rest < 0) != (bin < 0))
        rest += bin;
    return (int64_t)((uint64_t)number - (uint64_t)rest);
}

/* NUMBERBIN(number [, bin = 1]) */
static struct value fn_numberbin(struct eval *eval, const struct value *arg, int count)
{
    struct value bin = count > 1 ? arg[1] : value_int(1);

    (void)eval;
    if (!is_number(arg[0]) || !is_number(bin) || bin.number == 0 || !isfinite(arg[0].number) ||
        !isfinite(bin.number))
        return value_undefined;
    if (arg[0].is_int && bin.is_int)
        return value_int(bin_integer(arg[0].integer, bin.integer));
    return value_double(floor(arg[0].number / bin.number) * bin.number);
}

static struct value fn_pi(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)arg, (void)count;
    return value_double(M_PI);
}

static struct value fn_power(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    if (!is_number(arg[0]) || !is_number(arg[1]))
        return value_undefined;
    return value_double(pow(arg[0].number, arg[1].number));
}

/* From 0 up to 1, without it. */
static struct value fn_rand(struct eval *eval, const struct value *arg, int count)
{
    (void)arg, (void)count;
    return value_double((double)(env_random_u64(eval->op->env) >> 11) * 0x1p-53);
}

/* Halves go away from zero. ROUND(number, digits) keeps so many behind the point; before it, of negative ones. */
static struct value fn_round(struct eval *eval, const struct value *arg, int count)
{
    double scale, scaled;

    (void)eval;
    if (count == 1)
        return apply_rounding(arg[0], round);
    if (!is_number(arg[0]) || !value_is_int(arg[1]))
        return value_undefined;
    scale = pow(10, fabs(arg[1].number));
    if (arg[1].integer < 0)
        return value_double(round(arg[0].number / scale) * scale);
    scaled = arg[0].number * scale;
    if (arg[0].is_int || !isfinite(scaled)) /* nothing to round: no double has so many digits */
        return arg[0];
    return value_double(round(scaled) / scale);
}

static bool are_integers(const struct value *arg)
{
    return value_is_int(arg[0]) && value_is_int(arg[1]);
}

/* The least integer has no opposite, and so no quotient by -1. */
static bool can_divide(const struct value *arg)
{
    return are_integers(arg) && arg[1].integer != 0 && !(arg[0].integer == INT64_MIN && arg[1].integer == -1);
}

static struct value fn_intdiv(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return can_divide(arg) ? value_int(arg[0].integer / arg[1].integer) : value_undefined;
}

static struct value fn_intmod(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return can_divide(arg) ? value_int(arg[0].integer % arg[1].integer) : value_undefined;
}

static struct value fn_intbitnot(struct eval *eval, const struct value *arg, int count)
{
    (void)eval, (void)count;
    return value_is_int(arg[0]) ? value_int(~arg[0].integer) : value_undefined;
}

/* Counts of 64 and more, and negative ones, begin anew: the low six bits count. */
static int64_t shift_left(int64_t number, int64_t count)
{
    return (int64_t)((uint64_t)number << (count & 63));
}

static int64_t shift_right(int64_t number, int64_t count)
{
    return number >> (count & 63);
}

/* fn_intbitand() and the like: two integers to one. */
#define TWO_INTEGERS(name, expression)                                                   \
    static struct value fn_##name(struct eval *eval, const struct value *arg, int count) \
    {                                                                                    \
        int64_t a = arg[0].integer, b = arg[1].integer;                                  \
                                                                                         \
        (void)eval, (void)count;                                                         \
        return are_integers(arg) ? value_int(expression) : value_undefined;              \
    }

TWO_INTEGERS(intadd, (int64_t)((uint64_t)a + (uint64_t)b))
TWO_INTEGERS(intsub, (int64_t)((uint64_t)a - (uint64_t)b))
TWO_INTEGERS(intmul, (int64_t)((uint64_t)a *(uint64_t)b))
TWO_INTEGERS(intbitand, (a & b))
TWO_INTEGERS(intbitor, a | b)
TWO_INTEGERS(intbitxor, a ^ b)
TWO_INTEGERS(intbitleftshift, shift_left(a, b))
TWO_INTEGERS(intbitrightshift, shift_right(a, b))

static const struct builtin rows[] = {
    { "ABS", 1, 1, .code = fn_abs, .claim = { CLAIM_MAGNITUDE } },
    { "ACOS", 1, 1, .code = fn_acos },
    { "ASIN", 1, 1, .code = fn_asin },
    { "ATAN", 1, 1, .code = fn_atan },
    { "ATN2", 2, 2, .code = fn_atn2 },
    { "CEILING", 1, 1, .code = fn_ceiling },
    { "COS", 1, 1, .code = fn_cos },
    { "COT", 1, 1, .code = fn_cot },
    { "DEGREES", 1, 1, .code = fn_degrees },
    { "EXP", 1, 1, .code = fn_exp },
    { "FLOOR", 1, 1, .code = fn_floor },
    { "INTADD", 2, 2, .code = fn_intadd },
    { "INTBITAND", 2, 2, .code = fn_intbitand },
    { "INTBITLEFTSHIFT", 2, 2, .code = fn_intbitleftshift },
    { "INTBITNOT", 1, 1, .code = fn_intbitnot },
    { "INTBITOR", 2, 2, .code = fn_intbitor },
    { "INTBITRIGHTSHIFT", 2, 2, .code = fn_intbitrightshift },
    { "INTBITXOR", 2, 2, .code = fn_intbitxor },
    { "INTDIV", 2, 2, .code = fn_intdiv },
    { "INTMOD", 2, 2, .code = fn_intmod },
    { "INTMUL", 2, 2, .code = fn_intmul },
    { "INTSUB", 2, 2, .code = fn_intsub },
    { "LOG", 1, 2, .code = fn_log },
    { "LOG10", 1, 1, .code = fn_log10 },
    { "NUMBERBIN", 1, 2, .code = fn_numberbin },
    { "PI", 0, 0, .code = fn_pi },
    { "POWER", 2, 2, .code = fn_power },
    { "RADIANS", 1, 1, .code = fn_radians },
    { "RAND", 0, 0, .code = fn_rand, .flags = NOT_CONSTANT },
    { "ROUND", 1, 2, .code = fn_round },
    { "SIGN", 1, 1, .code = fn_sign },
    { "SIN", 1, 1, .code = fn_sin },
    { "SQRT", 1, 1, .code = fn_sqrt },
    { "SQUARE", 1, 1, .code = fn_square },
    { "TAN", 1, 1, .code = fn_tan },
    { "TRUNC", 1, 1, .code = fn_trunc },
};

const struct builtin_family builtins_math = { rows, sizeof(rows) / sizeof(rows[0]) };
