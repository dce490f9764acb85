/* src/query/text/mistake.c - what is wrong with a query, as the service says it. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "query/text/mistake.h"

enum status mistake_memory(struct op *op)
{
    return op_fail(op, ST_QUERY_MEMORY, "The query needs more memory than a request may use.");
}

/* The message of a mistake, in the arena: what it cites may be long. */
static struct slice format(struct op *op, const char *fmt, va_list args)
{
    va_list again;
    char *text;
    int size;

    va_copy(again, args);
    size = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    assert(size >= 0);
    text = arena_alloc(&op->arena, (size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, fmt, args);
    return slice_make(text, (size_t)size);
}

static void begin(struct op *op, struct buf *out)
{
    buf_init(out, &op->arena);
    buf_text(out, "{\"errors\":[{\"severity\":\"Error\"");
}

static enum status end(struct op *op, struct buf *out, const char *fmt, va_list args)
{
    buf_text(out, ",\"message\":");
    json_print_string(out, format(op, fmt, args));
    buf_text(out, "}]}");
    if (out->failed)
        return mistake_memory(op);
    return op_fail(op, ST_BAD_QUERY, "%.*s", SLICE_ARGS(buf_as_slice(out)));
}

enum status mistake(struct op *op, struct span span, const char *code, const char *fmt, ...)
{
    struct buf out;
    va_list args;
    enum status st;

    begin(op, &out);
    buf_printf(&out, ",\"location\":{\"start\":%u,\"end\":%u}", span.start, span.end);
    if (code)
        buf_printf(&out, ",\"code\":\"%s\"", code);
    va_start(args, fmt);
    st = end(op, &out, fmt, args);
    va_end(args);
    return st;
}

enum status mistake_number(struct op *op, int code, const char *fmt, ...)
{
    struct buf out;
    va_list args;
    enum status st;

    begin(op, &out);
    buf_printf(&out, ",\"code\":%d", code);
    va_start(args, fmt);
    st = end(op, &out, fmt, args);
    va_end(args);
    return st;
}
