/* src/store/rows.c - a block of rows that grows in the op's arena until its limit. */
#include <assert.h>

#include "store/rows.h"

void row_block_init(struct row_block *block, struct op *op, struct scan_limit limit, struct rows *rows)
{
    assert(limit.rows > 0);
    *rows = (struct rows){ 0 };
    *block = (struct row_block){ .op = op, .limit = limit, .rows = rows };
}

bool row_block_takes(struct row_block *block, struct slice key, struct slice value)
{
    size_t bytes = key.size + value.size, left = block->limit.bytes - block->bytes;
    bool fits = block->limit.bytes > block->bytes && bytes <= left;

    if (block->rows->count < block->limit.rows && (fits || block->rows->count == 0))
        return true;
    block->rows->more = true;
    return false;
}

static enum status too_large(struct op *op)
{
    return op_fail(op, ST_TOO_LARGE, "The operation needs more memory than one operation may use.");
}

enum status row_block_add(struct row_block *block, struct slice key, struct slice value)
{
    struct rows *rows = block->rows;

    assert(rows->count < block->limit.rows); /* row_block_takes() said yes */
    assert(!rows->more);
    if (!arena_list_reserve(&block->op->arena, &rows->row, &block->capacity, rows->count + 1,
                            sizeof(*rows->row)))
        return too_large(block->op);
    rows->row[rows->count++] = (struct row){ key, value };
    block->bytes += key.size + value.size;
    return ST_OK;
}

enum status row_block_copy(struct row_block *block, struct slice key, struct slice value)
{
    char *copy = arena_try_alloc(&block->op->arena, key.size + value.size);

    if (!copy)
        return too_large(block->op);
    memcpy(copy, key.data, key.size);
    memcpy(copy + key.size, value.data, value.size);
    return row_block_add(block, slice_make(copy, key.size), slice_make(copy + key.size, value.size));
}

enum status row_copy_value(struct op *op, struct slice value, struct slice *copy)
{
    char *bytes;
    enum status st;

    TRY(op_spend_often(op, value.size / ROW_BYTES_OF_A_STEP));
    bytes = arena_try_alloc(&op->arena, value.size);
    if (!bytes)
        TRY(too_large(op));
    memcpy(bytes, value.data, value.size);
    *copy = slice_make(bytes, value.size);
out:
    return st;
}
