/*
 * src/query/function/fn_convert.c - values to strings and back, arrays to strings and back.
 * STRINGTO... read JSON text; text that is none gives undefined.
 */
#include <string.h>

#include "query/function/builtins.h"
#include "query/eval/chars.h"

static void print_json(struct buf *out, struct json json);

static void print_elements(struct buf *out, struct json json)
{
    bool object = json_kind(json) == JSON_OBJECT, first = true;

    buf_byte(out, object ? '{' : '[');
    for (struct json_iter i = json_iter(json); json_next(&i) && !out->failed; first = false) {
        buf_text(out, first ? "" : ",");
        if (object) {
            json_print_string(out, i.name);
            buf_byte(out, ':');
        }
        print_json(out, i.value);
    }
    buf_byte(out, object ? '}' : ']');
}

/* JSON, but for numbers, which are written as the language writes them. */
static void print_json(struct buf *out, struct json json)
{
    switch (json_kind(json)) {
    case JSON_NUMBER:
        value_print_number(out, value_from_json(json));
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        print_elements(out, json);
        break;
    default:
        json_print(out, json);
    }
}

static struct value fn_tostring(struct eval *eval, const struct value *arg, int count)
{
    struct buf out;

    (void)count;
    if (arg[0].kind == JSON_STRING)
        return arg[0];
    buf_init(&out, &eval->op->arena);
    if (arg[0].kind == JSON_NUMBER)
        value_print_number(&out, arg[0]);
    else if (arg[0].kind >= JSON_ARRAY)
        print_json(&out, arg[0].json);
    else
        value_print(&out, arg[0]);
    return chars_built(eval, &out);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number without the zeros in front, which JSON does not allow; where it ends. */
static size_t put_number(struct buf *out, struct slice text, size_t at)
{
    size_t end = at + 1;

    if (text.data[at] == '-')
        buf_byte(out, text.data[at++]);
    while (at + 1 < text.size && text.data[at] == '0' && is_digit(text.data[at + 1]))
        at++;
    if (end < at)
        end = at;
    while (end < text.size && (is_digit(text.data[end]) || strchr(".eE+-", text.data[end])))
        end++;
    buf_append(out, text.data + at, end - at);
    return end;
}

/* A string with its control characters escaped, which JSON wants; where it ends. */
static size_t put_string(struct buf *out, struct slice text, size_t at)
{
    buf_byte(out, text.data[at++]);
    for (; at < text.size && text.data[at] != '"'; at++) {
        if (text.data[at] == '\\' && at + 1 < text.size)
            buf_byte(out, text.data[at++]);
        if ((uint8_t)text.data[at] < ' ')
            buf_printf(out, "\\u%04x", (uint8_t)text.data[at]);
        else
            buf_byte(out, text.data[at]);
    }
    return at;
}

/* What the service takes for JSON, as JSON. */
static struct slice strict(struct eval *eval, struct slice text)
{
    struct buf out;

    buf_init(&out, &eval->op->arena);
    for (size_t at = 0; at < text.size && !out.failed;) {
        char c = text.data[at];

        if (is_digit(c) || c == '-') {
            at = put_number(&out, text, at);
            continue;
        }
        if (c == '"')
            at = put_string(&out, text, at);
        if (at < text.size)
            buf_byte(&out, text.data[at++]);
    }
    return buf_as_slice(&out);
}

enum { STRICT_COST = 32 }; /* of a byte, in bytes that are looked at: a control character is printed */

/* What the string says as JSON. What is wrong with it is nobody's error. */
static struct value read_json(struct eval *eval, struct value string)
{
    const char *error = eval->op->error;
    struct json json;
    enum status st;

    if (string.kind != JSON_STRING)
        return value_undefined;
    st = json_parse(eval->op, string.string, &json);
    if (st != ST_OK && st != ST_TOO_LARGE && eval_spend(eval, STRICT_COST * string.string.size))
        st = json_parse(eval->op, strict(eval, string.string), &json);
    if (st == ST_OK)
        return value_from_json(json);
    if (eval->status != ST_OK)
        return value_undefined;
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

enum { SPLIT_COST = 16 }; /* of a part, in bytes that are looked at */

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
    while (separator.size && (at = chars_find(rest, separator)) != CHARS_NONE &&
           eval_spend(eval, SPLIT_COST)) {
        json_add_string(&out, slice_make(rest.data, at));
        rest = slice_after(rest, at + separator.size);
    }
    json_add_string(&out, rest);
    json_end(&out);
    return eval_built(eval, &out);
}

static const struct builtin rows[] = {
    /* name, fewest and most arguments; then what is not as usual */
    { "STRINGJOIN", 2, 2, "STRING_JOIN", .code = fn_stringjoin, .flags = TAKES_LONG },
    { "STRINGSPLIT", 2, 2, "STRING_SPLIT", .code = fn_stringsplit },
    { "STRINGTOARRAY", 1, 1, "STRING_TO_ARRAY", .code = fn_stringtoarray, .flags = TAKES_LONG },
    { "STRINGTOBOOLEAN", 1, 1, "STRING_TO_BOOLEAN", .code = fn_stringtoboolean },
    { "STRINGTONULL", 1, 1, "STRING_TO_NULL", .code = fn_stringtonull },
    { "STRINGTONUMBER", 1, 1, "STRING_TO_NUMBER", .code = fn_stringtonumber },
    { "STRINGTOOBJECT", 1, 1, "STRING_TO_OBJECT", .code = fn_stringtoobject, .flags = TAKES_LONG },
    { "TOSTRING", 1, 1, "TO_STRING", .code = fn_tostring },
};

const struct builtin_family builtins_convert = { rows, sizeof(rows) / sizeof(rows[0]) };
