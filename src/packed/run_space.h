/*
 * src/packed/run_space.h - where the packed index keeps its bytes: rows that are written once, whole and in order.
 * Their keys are a space of their own, apart from the store's keys. Rows are not logged: a run is there once finish()
 * has said so, and stays until it is removed. Each backend of the local store offers a run space, and so do those of
 * tests.
 *
 * Two calls are about the store's own keys: get(), and settle(), which says in them how far the index is.
 *
 * Threads. Anybody's; a writer and a cursor are each used by one thread at a time.
 */
#pragma once
#include "base/op.h"

struct run_space;
struct run_writer;
struct run_cursor;

enum run_move {
    RUN_AT_OR_AFTER, /* the first row that is not before the key */
    RUN_BEFORE,      /* the last one before it */
    RUN_NEXT,
    RUN_PREVIOUS, /* from the row where the cursor is: that of the last call, which found one */
};

/* A row, in memory that is the caller's and is used again: all zero to begin with, free(memory) at the end. */
struct run_row {
    struct slice key, value; /* key.data is NULL when there is none */
    char *memory;
    size_t capacity;
};

/* For those who implement read(). */
void run_row_copy(struct run_row *row, struct slice key, struct slice value);

/* What settle() puts among the store's own keys. */
struct settled_row {
    struct slice key, value;
};

struct run_space_ops {
    enum status (*begin)(struct op *op, struct run_space *space, struct run_writer **writer);
    enum status (*add)(struct op *op, struct run_space *space, struct run_writer *writer, struct slice key,
                       struct slice value); /* keys rise */

    /* Durable and visible whole when it answers ST_OK, and else not there. The writer is gone either way. */
    enum status (*finish)(struct op *op, struct run_space *space, struct run_writer *writer);
    void (*abort)(struct run_space *space, struct run_writer *writer);

    /* Rows in [from, to) are whole runs that nobody reads any more. */
    enum status (*remove)(struct op *op, struct run_space *space, struct slice from, struct slice to);

    /* Reads what is there now; a run that is there when the cursor is opened is seen by it. It survives a
       reopening of the store. `once`: a long read of what will not be read again. */
    enum status (*open)(struct op *op, struct run_space *space, bool once, struct run_cursor **cursor);
    enum status (*read)(struct op *op, struct run_space *space, struct run_cursor *cursor, enum run_move move,
                        struct slice key, struct run_row *row);
    void (*close)(struct run_space *space, struct run_cursor *cursor);

    /* One of the store's own keys as of now; value.data is NULL when it is absent. */
    enum status (*get)(struct op *op, struct run_space *space, struct slice key, struct slice *value);

    /*
     * A write beside the committer's, atomic and synced: all that was visible before it is durable after it. Only
     * if the store was not reopened since reopens() gave that number: ST_WRITE_CONFLICT. Another failure leaves the
     * outcome open.
     */
    uint64_t (*reopens)(struct run_space *space);
    enum status (*settle)(struct op *op, struct run_space *space, uint64_t reopens,
                          const struct settled_row *rows, size_t count);
};

struct run_space {
    const struct run_space_ops *ops;
};
