/*
 * src/query/eval/operator.c - the operators on values.
 * Nothing is converted: an operand of the wrong type gives undefined. Only = and != look across
 * types, where different ones are unequal. Bits are those of 32-bit integers with a sign, also behind >>>.
 */
#include <assert.h>
#include <math.h>

#include "query/eval/operator.h"

static bool are_numbers(struct value a, struct value b)
{
    return a.kind == JSON_NUMBER && b.kind == JSON_NUMBER;
}

static bool is_nan(struct value value)
{
    return value.kind == JSON_NUMBER && isnan(value.number);
}

/* NaN equals nothing, and differs from everything. */
static struct value equal(struct value a, struct value b, bool wanted)
{
    if (a.kind == JSON_UNDEFINED || b.kind == JSON_UNDEFINED)
        return value_undefined;
    if (value_is_bool(a) && value_is_bool(b))
        return value_bool((a.kind == b.kind) == wanted);
    return value_bool(value_equal(a, b) == wanted);
}

/* Null, booleans, numbers and strings have an order, each among themselves. */
static bool are_ordered(struct value a, struct value b)
{
    if (value_is_bool(a))
        return value_is_bool(b);
    return a.kind == b.kind && (a.kind == JSON_NULL || a.kind == JSON_NUMBER || a.kind == JSON_STRING);
}

static struct value compare(enum operator_kind operation, struct value a, struct value b)
{
    int order;

    if (!are_ordered(a, b) || is_nan(a) || is_nan(b))
        return value_undefined;
    order = value_compare(a, b);
    switch (operation) {
    case OPERATOR_LESS:
        return value_bool(order < 0);
    case OPERATOR_LESS_EQUAL:
        return value_bool(order <= 0);
    case OPERATOR_GREATER:
        return value_bool(order > 0);
    default:
        assert(operation == OPERATOR_GREATER_EQUAL);
        return value_bool(order >= 0);
    }
}

/* Exact while both are integers and the result is one; false where doubles must do. */
static bool integer_arithmetic(enum operator_kind operation, int64_t a, int64_t b, int64_t *result)
{
    switch (operation) {
    case OPERATOR_ADD:
        return !__builtin_add_overflow(a, b, result);
    case OPERATOR_SUBTRACT:
        return !__builtin_sub_overflow(a, b, result);
    case OPERATOR_MULTIPLY:
        return !__builtin_mul_overflow(a, b, result);
    case OPERATOR_DIVIDE:
        if (b == 0 || (a == INT64_MIN && b == -1) || a % b != 0)
            return false;
        *result = a / b;
        return true;
    default:
        if (b == 0)
            return false;
        *result = b == -1 ? 0 : a % b;
        return true;
    }
}

static struct value arithmetic(enum operator_kind operation, struct value a, struct value b)
{
    int64_t result;

    if (!are_numbers(a, b))
        return value_undefined;
    if (a.is_int && b.is_int && integer_arithmetic(operation, a.integer, b.integer, &result))
        return value_int(result);
    switch (operation) {
    case OPERATOR_ADD:
        return value_double(a.number + b.number);
    case OPERATOR_SUBTRACT:
        return value_double(a.number - b.number);
    case OPERATOR_MULTIPLY:
        return value_double(a.number * b.number);
    case OPERATOR_DIVIDE:
        return value_double(a.number / b.number);
    default:
        assert(operation == OPERATOR_MODULO);
        return value_double(fmod(a.number, b.number));
    }
}

/* As in JavaScript: a double, cut to a whole number, then taken modulo 2^32; what is not finite is 0. */
static uint32_t to_bits(struct value value)
{
    if (!isfinite(value.number))
        return 0;
    return (uint32_t)(int64_t)fmod(trunc(value.number), 0x1p32);
}

static struct value negative(struct value value)
{
    if (value.kind != JSON_NUMBER)
        return value_undefined;
    return value.is_int ? value_int((int64_t)(0 - (uint64_t)value.integer)) : value_double(-value.number);
}

static struct value bits(enum operator_kind operation, struct value a, struct value b)
{
    uint32_t left, right;

    if (!are_numbers(a, b))
        return value_undefined;
    left = to_bits(a);
    right = to_bits(b);
    switch (operation) {
    case OPERATOR_BIT_OR:
        return value_int((int32_t)(left | right));
    case OPERATOR_BIT_XOR:
        return value_int((int32_t)(left ^ right));
    case OPERATOR_BIT_AND:
        return value_int((int32_t)(left & right));
    case OPERATOR_SHIFT_LEFT:
        return value_int((int32_t)(left << (right & 31)));
    case OPERATOR_SHIFT_RIGHT:
        return value_int((int32_t)left >> (right & 31));
    default:
        assert(operation == OPERATOR_SHIFT_RIGHT_UNSIGNED); /* AND, OR, ?? and || are the evaluator's */
        return value_int((int32_t)(left >> (right & 31)));
    }
}

struct value operator_unary(enum operator_kind operation, struct value a)
{
    switch (operation) {
    case OPERATOR_NOT:
        return value_is_bool(a) ? value_bool(a.kind == JSON_FALSE) : value_undefined;
    case OPERATOR_BIT_NOT:
        return a.kind == JSON_NUMBER ? value_int((int32_t)~to_bits(a)) : value_undefined;
    case OPERATOR_MINUS:
        return negative(a);
    default:
        assert(operation == OPERATOR_PLUS);
        return a.kind == JSON_NUMBER ? a : value_undefined;
    }
}

struct value operator_binary(enum operator_kind operation, struct value a, struct value b)
{
    switch (operation) {
    case OPERATOR_EQUAL:
        return equal(a, b, true);
    case OPERATOR_NOT_EQUAL:
        return equal(a, b, false);
    case OPERATOR_LESS:
    case OPERATOR_LESS_EQUAL:
    case OPERATOR_GREATER:
    case OPERATOR_GREATER_EQUAL:
        return compare(operation, a, b);
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
    case OPERATOR_MULTIPLY:
    case OPERATOR_DIVIDE:
    case OPERATOR_MODULO:
        return arithmetic(operation, a, b);
    default:
        return bits(operation, a, b);
    }
}
