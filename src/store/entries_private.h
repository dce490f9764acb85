/*
 * src/store/entries_private.h - the ways in which the local store keeps entries: for entries.c, and those who implement one.
 * A cursor begins with its table.
 */
#pragma once
#include "store/entries.h"

struct entries_ops {
    enum status (*next)(struct op *op, struct entries_cursor *cursor, struct entries_block *block);
    enum status (*seek)(struct op *op, struct entries_cursor *cursor, struct slice term, uint64_t number);
    void (*end)(struct entries_cursor *cursor);
};

struct entries_cursor {
    const struct entries_ops *ops;
};
