/*
 * src/store/rows.h - fills a block of rows up to its limit; the backends and the view share it,
 * so that a limit means the same everywhere.
 */
#pragma once
#include "store/store.h"

struct row_block {
    struct op *op;
    struct scan_limit limit;
    struct rows *rows;
    size_t capacity, bytes;
};

void row_block_init(struct row_block *block, struct op *op, struct scan_limit limit, struct rows *rows);

/* False, and rows->more is set, when the limit ends the block before this row. */
bool row_block_takes(struct row_block *block, struct slice key, struct slice value);

/* Adds a row as it lies, or a copy in the op's arena. ST_TOO_LARGE past the arena's limit. */
enum status row_block_add(struct row_block *block, struct slice key, struct slice value);
enum status row_block_copy(struct row_block *block, struct slice key, struct slice value);

/* A copy in the op's arena, for backends; ST_TOO_LARGE past its limit. Of a large value it takes steps (base/op.h). */
enum { ROW_BYTES_OF_A_STEP = 8192 };
enum status row_copy_value(struct op *op, struct slice value, struct slice *copy);
