/*
 * test/fuzz/hybrid_row_fuzz.c - any bytes as a binary batch, and as the row of one operation in it.
 * What is taken lies within the bytes that were given.
 */
#include <assert.h>

#include "keys/bytes.h"
#include "resource/hybrid_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 8, HEAD = 10 + 13 };

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < 8 * size; i++) {
        crc ^= i % 8 ? 0 : data[i / 8];
        crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
    return ~crc;
}

static void check_within(struct slice whole, struct slice part)
{
    assert(!part.data || part.size == 0 ||
           (part.data >= whole.data && part.data + part.size <= whole.data + whole.size));
}

static void check(struct op *op, struct slice text)
{
    struct hybrid_row_operation operation[MAX];
    size_t count;

    if (hybrid_row_read(op, text, operation, MAX, &count) != ST_OK)
        return;
    for (size_t i = 0; i < count && i < MAX; i++) {
        check_within(text, operation[i].key);
        check_within(text, operation[i].id);
        check_within(text, operation[i].body);
        check_within(text, operation[i].indexing);
        check_within(text, operation[i].if_match);
        check_within(text, operation[i].if_none_match);
    }
}

/* Mutations would hardly ever have the right CRC. */
static struct slice as_stream(struct op *op, const uint8_t *data, size_t size)
{
    static const uint8_t head[HEAD] = { 0x81, 0xF0, 0xD8, 0xFF, 0x7F, 1,    HEAD - 13, 0,
                                        0,    0,    0x81, 0xF1, 0xD8, 0xFF, 0x7F };
    uint8_t *text = arena_alloc(&op->arena, HEAD + size);

    memcpy(text, head, HEAD);
    put_le(text + HEAD - 8, size, 4);
    put_le(text + HEAD - 4, crc32_of(data, size), 4);
    if (size)
        memcpy(text + HEAD, data, size);
    return slice_make(text, HEAD + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct op op;

    op_init(&op, env_system(), 4 << 20);
    check(&op, slice_make(data, size));
    check(&op, as_stream(&op, data, size));
    op_free(&op);
    return 0;
}
