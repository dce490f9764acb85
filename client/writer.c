/* client/writer.c - writing JSON as text, call by call; the first mistake is kept and told at the end. */
#include <math.h>
#include <stdlib.h>

#include "client.h"

struct orrery_writer {
    struct arena arena;
    struct buf out;
    orrery_status status;
    bool object[JSON_DEPTH_MAX]; /* of each container that is open */
    bool empty[JSON_DEPTH_MAX];
    int depth;
    bool named; /* a name waits for its value */
    bool whole; /* there is a value on the outside */
};

orrery_status orrery_writer_new(orrery_writer **writer)
{
    if (!writer)
        return ORRERY_EINVAL;
    *writer = allocator_zeroed(1, sizeof(**writer));
    if (!*writer)
        return ORRERY_ENOMEM;
    arena_init(&(*writer)->arena, SIZE_MAX);
    orrery_writer_reset(*writer);
    return ORRERY_OK;
}

void orrery_writer_free(orrery_writer *writer)
{
    if (!writer)
        return;
    arena_free(&writer->arena);
    allocator_free(writer);
}

void orrery_writer_reset(orrery_writer *writer)
{
    if (!writer)
        return;
    arena_reset(&writer->arena);
    buf_init(&writer->out, &writer->arena);
    writer->status = ORRERY_OK;
    writer->depth = 0;
    writer->named = writer->whole = false;
}

static bool fail(orrery_writer *writer, orrery_status status)
{
    if (writer->status == ORRERY_OK)
        writer->status = status;
    return false;
}

/* Whether a value may stand here, with its comma. */
static bool begin_value(orrery_writer *writer)
{
    bool *empty;

    if (!writer || writer->status != ORRERY_OK)
        return false;
    if (writer->depth == 0) {
        if (writer->whole)
            return fail(writer, ORRERY_EINVAL);
        writer->whole = true;
        return true;
    }
    if (writer->object[writer->depth - 1] != writer->named)
        return fail(writer, ORRERY_EINVAL);
    empty = &writer->empty[writer->depth - 1];
    if (!writer->named && !*empty)
        buf_byte(&writer->out, ',');
    *empty = writer->named = false;
    return true;
}

static void open_container(orrery_writer *writer, bool object)
{
    if (!begin_value(writer))
        return;
    if (writer->depth == JSON_DEPTH_MAX) {
        fail(writer, ORRERY_EINVAL);
        return;
    }
    buf_byte(&writer->out, object ? '{' : '[');
    writer->object[writer->depth] = object;
    writer->empty[writer->depth++] = true;
}

void orrery_write_object(orrery_writer *writer)
{
    open_container(writer, true);
}

void orrery_write_array(orrery_writer *writer)
{
    open_container(writer, false);
}

void orrery_write_end(orrery_writer *writer)
{
    if (!writer || writer->status != ORRERY_OK)
        return;
    if (writer->depth == 0 || writer->named) {
        fail(writer, ORRERY_EINVAL);
        return;
    }
    writer->depth--;
    buf_byte(&writer->out, writer->object[writer->depth] ? '}' : ']');
}

/* A string is what a parser takes for one: that settles what UTF-8 is. */
static void write_text(orrery_writer *writer, struct slice text)
{
    size_t start = writer->out.size;
    struct arena arena;
    struct json parsed;

    json_print_string(&writer->out, text);
    if (writer->out.failed)
        return;
    arena_init(&arena, SIZE_MAX);
    fail(writer, parse_json(&arena, slice_make(writer->out.data + start, writer->out.size - start), &parsed));
    arena_free(&arena);
}

void orrery_write_name(orrery_writer *writer, const char *name)
{
    if (!writer || writer->status != ORRERY_OK)
        return;
    if (!name || writer->depth == 0 || !writer->object[writer->depth - 1] || writer->named) {
        fail(writer, ORRERY_EINVAL);
        return;
    }
    if (!writer->empty[writer->depth - 1])
        buf_byte(&writer->out, ',');
    write_text(writer, slice_of(name));
    buf_byte(&writer->out, ':');
    writer->named = true;
}

void orrery_write_string(orrery_writer *writer, const char *text, size_t size)
{
    if (!text)
        orrery_write_null(writer);
    else if (begin_value(writer))
        write_text(writer, size_of(text, size));
}

void orrery_write_number(orrery_writer *writer, double number)
{
    if (!begin_value(writer))
        return;
    if (isfinite(number))
        json_print_double(&writer->out, number);
    else
        fail(writer, ORRERY_EINVAL);
}

void orrery_write_int(orrery_writer *writer, int64_t number)
{
    if (begin_value(writer))
        buf_printf(&writer->out, "%lld", (long long)number);
}

void orrery_write_bool(orrery_writer *writer, int value)
{
    if (begin_value(writer))
        buf_text(&writer->out, value ? "true" : "false");
}

void orrery_write_null(orrery_writer *writer)
{
    if (begin_value(writer))
        buf_text(&writer->out, "null");
}

void orrery_write_value(orrery_writer *writer, orrery_value value)
{
    if (!begin_value(writer))
        return;
    if (value.at)
        json_print(&writer->out, value_json(value));
    else
        fail(writer, ORRERY_EINVAL);
}

void orrery_write_json(orrery_writer *writer, const char *json, size_t size)
{
    struct arena arena;
    struct json value = json_undefined;

    if (!begin_value(writer))
        return;
    if (!json) {
        fail(writer, ORRERY_EINVAL);
        return;
    }
    arena_init(&arena, SIZE_MAX);
    fail(writer, parse_json(&arena, size_of(json, size), &value));
    if (writer->status == ORRERY_OK)
        buf_slice(&writer->out, slice_trim(size_of(json, size)));
    arena_free(&arena);
}

orrery_status orrery_writer_status(const orrery_writer *writer)
{
    if (!writer)
        return ORRERY_ENOMEM;
    if (writer->out.failed)
        return ORRERY_ENOMEM;
    if (writer->status == ORRERY_OK && (writer->depth > 0 || !writer->whole))
        return ORRERY_EINVAL;
    return writer->status;
}

const char *orrery_writer_text(const orrery_writer *writer, size_t *size)
{
    char *end;

    if (orrery_writer_status(writer) != ORRERY_OK)
        return NULL;
    end = buf_reserve((struct buf *)&writer->out, 1); /* room only: nothing is added */
    if (!end)
        return NULL;
    *end = '\0';
    if (size)
        *size = writer->out.size;
    return writer->out.data;
}

struct slice writer_unfinished(const orrery_writer *writer)
{
    return buf_as_slice(&writer->out);
}

orrery_status writer_state(const orrery_writer *writer)
{
    return writer->out.failed ? ORRERY_ENOMEM : writer->status;
}
