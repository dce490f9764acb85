/* src/query/text/mistake.c - what is wrong with a query, as the service says it. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "query/text/mistake.h"

enum { MISTAKES_TOLD_MAX = 200 };

/* Around the mistakes of an answer. */
static const char opening[] = "{\"errors\":[", closing[] = "]}";

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
    buf_text(out, opening);
    buf_text(out, "{\"severity\":\"Error\"");
}

static enum status end(struct op *op, struct buf *out, const char *fmt, va_list args)
{
    buf_text(out, ",\"message\":");
    json_print_string(out, format(op, fmt, args));
    buf_text(out, "}");
    buf_text(out, closing);
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

enum status mistake_bare(struct op *op, const char *fmt, ...)
{
    struct buf out;
    va_list args;

    buf_init(&out, &op->arena);
    buf_text(&out, "{\"Errors\":[");
    va_start(args, fmt);
    json_print_string(&out, format(op, fmt, args));
    va_end(args);
    buf_text(&out, "]}");
    if (out.failed)
        return mistake_memory(op);
    return op_fail(op, ST_BAD_QUERY, "%.*s", SLICE_ARGS(buf_as_slice(&out)));
}

void mistakes_init(struct mistakes *list, struct op *op)
{
    *list = (struct mistakes){ 0 };
    buf_init(&list->text, &op->arena);
}

enum status mistakes_take(struct op *op, struct mistakes *list, enum status st)
{
    size_t before = sizeof(opening) - 1, after = sizeof(closing) - 1;
    struct slice text;

    if (st != ST_BAD_QUERY)
        return st;
    text = slice_of(op->error);
    assert(text.size > before + after);
    buf_text(&list->text, list->count ? "," : "");
    buf_append(&list->text, text.data + before, text.size - before - after);
    return ++list->count < MISTAKES_TOLD_MAX ? ST_OK : mistakes_tell(op, list);
}

enum status mistakes_tell(struct op *op, const struct mistakes *list)
{
    if (list->count == 0)
        return ST_OK;
    if (list->text.failed)
        return mistake_memory(op);
    return op_fail(op, ST_BAD_QUERY, "%s%.*s%s", opening, SLICE_ARGS(buf_as_slice(&list->text)), closing);
}
