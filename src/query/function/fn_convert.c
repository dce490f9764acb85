/*
 * src/query/function/fn_convert.c - values to strings and back, arrays to strings and back.
 * STRINGTO... read JSON text; text that is none gives undefined.
 */
#include <math.h>

#include "query/function/builtins.h"
#include "query/eval/chars.h"

/* Strings are themselves, numbers that JSON lacks are their names, the rest is JSON text. */
static struct value fn_tostring(struct eval *eval, const struct value *arg, int count)
{
    struct buf out;

    (void)count;
    if (arg[0].kind == JSON_STRING)
        return arg[0];
    if (arg[0].kind == JSON_NUMBER && !isfinite(arg[0].number))
        return value_string(slice_of(isnan(arg[0].number) ? "NaN"
                                     : arg[0].number > 0  ? "Infinity"
                                                          : "-Infinity"));
    buf_init(&out, &eval->op->arena);
    value_print(&out, arg[0]);
    return chars_built(eval, &out);
}

/* What the string says as JSON. What is wrong with it is nobody's error. */
static struct value read_json(struct eval *eval, struct value string)
{
    const char *error = eval->op->error;
    struct json json;
    enum status st;

    if (string.kind != JSON_STRING)
        return value_undefined;
    st = json_parse(eval->op, string.string, &json);
    if (st == ST_OK)
        return value_from_json(json);
    eval->op->error = error;
    return st == ST_TOO_LARGE ? eval_fail(eval, ST_QUERY_MEMORY) : value_undefined;
}

static struct value read_kind(struct eval *eval, struct value string, enum json_kind kind)
{
    struct value read = read_json(eval, string);

    return read.kind == kind ? read : value_undefined;
}

static struct value fn_stringtoarray(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    return read_kind(eval, arg[0], JSON_ARRAY);
}

static struct value fn_stringtoboolean(struct eval *eval, const struct value *arg, int count)
{
    struct value read = read_json(eval, arg[0]);

    (void)count;
    return value_is_bool(read) ? read : value_undefined;
}

static struct value fn_stringtonull(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    return read_kind(eval, arg[0], JSON_NULL);
}

static struct value fn_stringtonumber(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    return read_kind(eval, arg[0], JSON_NUMBER);
}

static struct value fn_stringtoobject(struct eval *eval, const struct value *arg, int count)
{
    (void)count;
    return read_kind(eval, arg[0], JSON_OBJECT);
}

static struct value fn_stringjoin(struct eval *eval, const struct value *arg, int count)
{
    struct slice between = slice_of("");
    struct buf out;

    (void)count;
    if (arg[0].kind != JSON_ARRAY || arg[1].kind != JSON_STRING)
        return value_undefined;
    buf_init(&out, &eval->op->arena);
    for (struct json_iter i = json_iter(arg[0].json); json_next(&i) && !out.failed;) {
        if (json_kind(i.value) != JSON_STRING)
            return value_undefined;
        buf_slice(&out, between);
        buf_slice(&out, json_string(i.value));
        between = arg[1].string;
    }
    return chars_built(eval, &out);
}

/* An empty separator separates nothing. */
static struct value fn_stringsplit(struct eval *eval, const struct value *arg, int count)
{
    struct slice rest = arg[0].string, separator = arg[1].string;
    struct json_builder out;
    size_t at;

    (void)count;
    if (arg[0].kind != JSON_STRING || arg[1].kind != JSON_STRING)
        return value_undefined;
    json_builder_init(&out, &eval->op->arena);
    json_begin_array(&out);
    while (separator.size && (at = chars_find(rest, separator)) != CHARS_NONE) {
        json_add_string(&out, slice_make(rest.data, at));
        rest = slice_after(rest, at + separator.size);
    }
    json_add_string(&out, rest);
    json_end(&out);
    return eval_built(eval, &out);
}

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "STRINGJOIN", 2, 2, .code = fn_stringjoin },
    { "STRINGSPLIT", 2, 2, .code = fn_stringsplit },
    { "STRINGTOARRAY", 1, 1, .code = fn_stringtoarray },
    { "STRINGTOBOOLEAN", 1, 1, .code = fn_stringtoboolean },
    { "STRINGTONULL", 1, 1, .code = fn_stringtonull },
    { "STRINGTONUMBER", 1, 1, .code = fn_stringtonumber },
    { "STRINGTOOBJECT", 1, 1, .code = fn_stringtoobject },
    { "TOSTRING", 1, 1, .code = fn_tostring },
};

const struct builtin_family builtins_convert = { rows, sizeof(rows) / sizeof(rows[0]) };
