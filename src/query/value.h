/*
 * src/query/value.h - a value while a query computes with it.
 * Kinds are those of JSON, undefined among them. A number is one type to the user: inside it is
 * an int64 or a double, which a whole one below 2^53 never is; unlike JSON's it may be NaN or infinite.
 *  Arrays and objects are binary documents (json.h), in the item or in the op's arena.
 *
 * Ownership. A value points into the item it was read from or into the op's arena, and lives as
 *     long as either.
 */
#pragma once
#include <math.h>

#include "json/json.h"

struct query_row;

struct value {
    uint8_t kind;  /* enum json_kind */
    bool is_int;   /* of a number: `integer` holds it exactly */
    bool is_row;   /* of an object: a whole item, whose system properties are not beside it; `row` is set */
    double number; /* of a number: the nearest double, always */
    union {
        int64_t integer;
        struct slice string; /* UTF-8 */
        struct json json;    /* array, object */
        struct query_row *row;
    };
};

static const struct value value_undefined = { .kind = JSON_UNDEFINED };
static const struct value value_null = { .kind = JSON_NULL };

static inline struct value value_bool(bool truth)
{
    return (struct value){ .kind = truth ? JSON_TRUE : JSON_FALSE };
}

static inline struct value value_int(int64_t integer)
{
    return (
        struct value){ .kind = JSON_NUMBER, .is_int = true, .number = (double)integer, .integer = integer };
}

/*
 * Whole numbers below 2^53 become integers. Beyond, a double may stand for its neighbours too and stays one, as -0
 * does, which 1 / -0.0 tells from 0.
 */
static inline struct value value_double(double number)
{
    if (number > -0x1p53 && number < 0x1p53 && number == (double)(int64_t)number &&
        (number != 0 || !signbit(number)))
        return value_int((int64_t)number);
    return (struct value){ .kind = JSON_NUMBER, .number = number };
}

static inline struct value value_string(struct slice utf8)
{
    return (struct value){ .kind = JSON_STRING, .string = utf8 };
}

/* Any JSON value, undefined included. */
struct value value_from_json(struct json json);

/* Whether it may stand where an integer is wanted: `integer` holds it, and of -0 it holds 0. */
static inline bool value_is_int(struct value value)
{
    return value.kind == JSON_NUMBER && (value.is_int || value.number == 0);
}

/* What JSON has: any value but NaN and infinity. */
static inline bool value_is_finite(struct value value)
{
    return value.kind != JSON_NUMBER || isfinite(value.number);
}

static inline bool value_is_bool(struct value value)
{
    return value.kind == JSON_TRUE || value.kind == JSON_FALSE;
}

/*
 * A value as JSON bytes, in the arena where it is not JSON already. Undefined gives undefined; so
 * does running out of the arena's limit, which the caller tells apart by the value's kind.
 * Numbers that are not finite stay what they are until they are printed: then they are the strings of their names.
 */
struct json value_to_json(struct op *op, struct value value);
void value_add(struct json_builder *out, struct value value); /* defined, and no row */
void value_print(struct buf *out, struct value value);        /* defined, and no row */

/* A number as the language writes it: 1e+20, 0.33333333333333331, NaN. */
void value_print_number(struct buf *out, struct value number);

/* Deep equality of two defined values as the language's `=` sees it once types agree; NaN equals nothing. */
bool value_equal(struct value a, struct value b);

/* Whether NaN is in it: then it equals nothing, not even itself. */
bool value_has_nan(struct json json);

/* The order of ORDER BY over any two values: undefined < null < false < true < numbers < strings < arrays < objects. */
int value_compare(struct value a, struct value b);

/* Equal values have equal hashes; undefined has one too. */
struct hash128 value_hash(struct op *op, struct value value);
