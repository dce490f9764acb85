/* src/query/value/value.c - values to JSON and back, their equality, their order. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/number.h"
#include "query/value.h"

struct value value_from_json(struct json json)
{
    struct value value = { .kind = (uint8_t)json_kind(json) };

    switch (value.kind) {
    case JSON_NUMBER:
        value.is_int = json_number(json, &value.integer, &value.number);
        break;
    case JSON_STRING:
        value.string = json_string(json);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        value.json = json;
        break;
    default:
        break;
    }
    return value;
}

static void add_number(struct json_builder *out, struct value value)
{
    if (value.is_int)
        json_add_int(out, value.integer);
    else if (isfinite(value.number))
        json_add_double(out, value.number);
    else
        json_add_not_finite(out, value.number);
}

void value_add(struct json_builder *out, struct value value)
{
    assert(value.kind != JSON_UNDEFINED);
    assert(!value.is_row);
    switch (value.kind) {
    case JSON_NULL:
        json_add_null(out);
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        json_add_bool(out, value.kind == JSON_TRUE);
        break;
    case JSON_NUMBER:
        add_number(out, value);
        break;
    case JSON_STRING:
        json_add_string(out, value.string);
        break;
    default:
        json_add(out, value.json);
    }
}

struct json value_to_json(struct op *op, struct value value)
{
    struct json_builder out;

    if (value.kind == JSON_UNDEFINED)
        return json_undefined;
    if (value.kind >= JSON_ARRAY)
        return value.json;
    json_builder_init(&out, &op->arena);
    value_add(&out, value);
    return json_built(&out);
}

/* An argument of a function is printed for each row, and for many of them it is all that is printed. */
static void print_int(struct buf *out, int64_t number)
{
    char text[NUMBER_TEXT_MAX];

    buf_append(out, text, (size_t)(number_print_int(text, number) - text));
}

/* 15 digits where they are enough to tell a fraction from its neighbours, else all that there are. */
static void print_double(struct buf *out, double number)
{
    char text[NUMBER_TEXT_MAX];

    snprintf(text, sizeof(text), "%.15g", number);
    if (number == trunc(number) || strtod(text, NULL) != number)
        snprintf(text, sizeof(text), "%.17g", number);
    buf_text(out, text);
}

void value_print_number(struct buf *out, struct value number)
{
    if (number.is_int)
        print_int(out, number.integer);
    else if (isfinite(number.number))
        print_double(out, number.number);
    else
        buf_slice(out, json_name_not_finite(number.number));
}

void value_print(struct buf *out, struct value value)
{
    switch (value.kind) {
    case JSON_NULL:
        buf_text(out, "null");
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        buf_text(out, value.kind == JSON_TRUE ? "true" : "false");
        break;
    case JSON_NUMBER:
        if (value.is_int)
            print_int(out, value.integer);
        else if (isfinite(value.number))
            json_print_double(out, value.number + 0.0); /* JSON has one zero */
        else
            buf_printf(out, "\"%.*s\"", SLICE_ARGS(json_name_not_finite(value.number)));
        break;
    case JSON_STRING:
        json_print_string(out, value.string);
        break;
    default:
        assert(value.kind != JSON_UNDEFINED);
        assert(!value.is_row);
        json_print(out, value.json);
    }
}

/* An int64 against a double, exactly. */
static int compare_mixed(int64_t integer, double number)
{
    int64_t whole;

    if (number >= 0x1p63)
        return -1;
    if (number < -0x1p63)
        return 1;
    whole = (int64_t)floor(number);
    if (integer == whole)
        return -(number > floor(number));
    return integer < whole ? -1 : 1;
}

/* NaN comes before every number, so that the order is total. */
static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(b) - isnan(a);
    return a < b ? -1 : a > b;
}

static int compare_numbers(struct value a, struct value b)
{
    if (a.is_int && b.is_int)
        return a.integer < b.integer ? -1 : a.integer > b.integer;
    if (isnan(a.number) || isnan(b.number) || a.is_int == b.is_int)
        return compare_doubles(a.number, b.number);
    return a.is_int ? compare_mixed(a.integer, b.number) : -compare_mixed(b.integer, a.number);
}

bool value_has_nan(struct json json)
{
    if (json_kind(json) == JSON_NUMBER)
        return !json_is_int(json) && isnan(json_double(json));
    if (json_kind(json) >= JSON_ARRAY)
        for (struct json_iter i = json_iter(json); json_next(&i);)
            if (value_has_nan(i.value))
                return true;
    return false;
}

bool value_equal(struct value a, struct value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case JSON_NUMBER:
        return !isnan(a.number) && !isnan(b.number) && compare_numbers(a, b) == 0;
    case JSON_STRING:
        return slice_equal(a.string, b.string);
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_equal(a.json, b.json) && !value_has_nan(a.json);
    default:
        return true;
    }
}

int value_compare(struct value a, struct value b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    switch (a.kind) {
    case JSON_NUMBER:
        return compare_numbers(a, b);
    case JSON_STRING:
        return slice_compare(a.string, b.string);
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_compare(a.json, b.json);
    default:
        return 0;
    }
}

struct hash128 value_hash(struct op *op, struct value value)
{
    struct arena_mark mark = arena_mark(&op->arena);
    struct hash128 hash = json_hash_seeded(op->seed, value_to_json(op, value));

    arena_rewind(&op->arena, mark);
    return hash;
}
