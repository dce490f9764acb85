/*
 * test/fuzz/binary_fuzz.c - any bytes as binary JSON.
 * What is read is a good value, which is written, as binary and as text, so that the same value is read again.
 */
#include <stdlib.h>

#include "json/binary_read.h"
#include "json/binary_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VALUE_BYTES_MAX = 1 << 20 }; /* of references: more leaves no memory for what is written */

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_again(struct op *op, const struct buf *out, struct json value)
{
    struct json again;

    require(!out->failed);
    require(json_parse_body(op, buf_as_slice(out), &again) == ST_OK);
    require(slice_equal(json_bytes(value), json_bytes(again)));
}

static void check(struct op *op, struct slice bytes)
{
    struct json value;
    struct buf out;

    if (json_parse_binary(op, bytes, &value) != ST_OK || json_size(value) > VALUE_BYTES_MAX)
        return;
    require(json_check(json_bytes(value)));
    buf_init(&out, &op->arena);
    json_print_binary(&out, value);
    require(out.size <= binary_bytes_max(json_size(value)));
    require_again(op, &out, value);
    buf_init(&out, &op->arena);
    json_print(&out, value);
    require_again(op, &out, value);
}

/* The first byte is given: a mutation of it would make all else worthless. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct op op;
    uint8_t *bytes;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    bytes = malloc(size + 1); /* of its own, so that the sanitizer sees a read past the end */
    require(bytes);
    bytes[0] = 0x80;
    if (size)
        memcpy(bytes + 1, data, size);
    check(&op, slice_make(bytes, size + 1));
    free(bytes);
    op_free(&op);
    return 0;
}
