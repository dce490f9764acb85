/* test/unit/query/call.c - calling a built-in directly, arguments and result as text. */
#include <math.h>

#include "call.h"
#include "test.h"

enum { ARGS_MAX = 16 };

struct eval test_eval(void)
{
    static void *memo;

    memo = NULL;
    return (struct eval){ .op = test_op(), .memo = &memo, .kept = &test_op()->arena };
}

static struct value argument(struct json json)
{
    struct value value = value_from_json(json);

    if (value.kind != JSON_STRING)
        return value;
    if (slice_is(value.string, "<undefined>"))
        return value_undefined;
    if (slice_is(value.string, "<NaN>"))
        return value_double(NAN);
    return slice_is(value.string, "<Infinity>") ? value_double(INFINITY) : value;
}

static int parse_arguments(const char *text, struct value *arg)
{
    char *quoted = arena_text(&test_op()->arena, slice_of(text));
    struct json json = json_undefined;
    int count = 0;

    for (char *at = quoted; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (json_parse(test_op(), slice_of(quoted), &json) != ST_OK)
        printf("malformed arguments: %s\n", text);
    for (struct json_iter i = json_iter(json); count < ARGS_MAX && json_next(&i);)
        arg[count++] = argument(i.value);
    return count;
}

static const struct builtin *find(const struct builtin_family *family, const char *name)
{
    for (size_t i = 0; i < family->count; i++)
        if (strcmp(family->row[i].name, name) == 0)
            return &family->row[i];
    printf("no function %s\n", name);
    return NULL;
}

struct value call(const struct builtin_family *family, const char *name, const char *args)
{
    const struct builtin *row = find(family, name);
    struct eval eval = test_eval();
    struct value arg[ARGS_MAX];
    int count = parse_arguments(args, arg);

    if (!row || count < row->args_min || count > row->args_max) {
        printf("%s takes another number of arguments than %s\n", name, args);
        return value_undefined;
    }
    for (int i = 0; i < count; i++)
        if (arg[i].kind == JSON_UNDEFINED && !(row->flags & TAKES_UNDEFINED))
            return value_undefined;
    return row->code(&eval, arg, count);
}

static struct slice printed(struct value value)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    if (value.kind == JSON_UNDEFINED)
        buf_text(&out, "undefined");
    else
        value_print(&out, value);
    for (size_t i = 0; i < out.size; i++)
        out.data[i] = out.data[i] == '"' ? '\'' : out.data[i];
    return buf_as_slice(&out);
}

bool gives(const struct builtin_family *family, const char *name, const char *args, const char *expected)
{
    struct slice got = printed(call(family, name, args));

    if (slice_is(got, expected))
        return true;
    printf("%s of %s gives %.*s\n", name, args, SLICE_ARGS(got));
    return false;
}

struct slice repeated(const char *text, size_t count)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    for (size_t i = 0; i < count; i++)
        buf_text(&out, text);
    return buf_as_slice(&out);
}
