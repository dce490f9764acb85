/*
 * test/fuzz/json_fuzz.c - any bytes as text, and any bytes as a value.
 * What parses is a good value, and prints to text that parses to the same bytes.
 */
#include <stdlib.h>

#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct slice printed(struct op *op, struct json value)
{
    struct buf out;

    buf_init(&out, &op->arena);
    json_print(&out, value);
    require(!out.failed);
    return buf_as_slice(&out);
}

static void as_text(struct op *op, struct slice text)
{
    struct json value, again;

    if (json_parse(op, text, &value) != ST_OK)
        return;
    require(json_check(json_bytes(value)));
    require(json_parse(op, printed(op, value), &again) == ST_OK);
    require(slice_equal(json_bytes(value), json_bytes(again)));
    require(json_equal(value, again) && json_compare(value, again) == 0);
}

/* Names may repeat in bytes from outside, so that the bytes need not come back the same. */
static void as_value(struct op *op, struct slice bytes)
{
    struct json value = json_from_bytes(bytes), again;

    if (!json_check(bytes))
        return;
    require(json_parse(op, printed(op, value), &again) == ST_OK);
    json_hash(value);
    require(json_equal(value, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct op op;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    as_text(&op, slice_make(data, size));
    as_value(&op, slice_make(data, size));
    op_free(&op);
    return 0;
}
