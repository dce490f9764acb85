/*
 * src/store/backend.h - what keeps the bytes: a snapshot-able ordered map with atomic writes.
 * The local store (local.c) is written against this and nothing else; test/store/faulty.c wraps one to make
 * calls fail. A backend knows nothing of buckets, LSNs or batches.
 *
 * Threads. write() and reopen() are called by the committer only; all else by anybody.
 */
#pragma once
#include "packed/run_space.h"
#include "store/store.h"

struct backend;
struct backend_snapshot;

struct mutation {
    struct slice key, value; /* value.data is NULL for a deletion */
};

/* In bytes, as of now. */
struct backend_memory {
    uint64_t blocks;  /* of files, in the cache */
    uint64_t buffers; /* of what was written and is not in files yet */
};

struct backend_ops {
    enum status (*snapshot)(struct op *op, struct backend *backend, struct backend_snapshot **snapshot);
    void (*release)(struct backend *backend, struct backend_snapshot *snapshot);

    /* Answers ST_WOULD_BLOCK when op->may_block is false and the disk would be needed (but for rocksdb_open.c, PIECE_BYTES).
       get_many() without a snapshot reads what is there now. */
    enum status (*get_many)(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                            const struct slice *keys, size_t count, struct slice *values);
    enum status (*scan)(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                        struct range range, struct scan_limit limit, struct rows *rows);

    /* Atomic. When it fails the outcome is unknown, and nothing more is written before reopen(). */
    enum status (*write)(struct op *op, struct backend *backend, const struct mutation *mutations,
                         size_t count, bool sync);
    enum status (*remove_range)(struct op *op, struct backend *backend, struct slice from, struct slice to);

    /* Goes back to what is durable. Meanwhile reads through old snapshots go on or wait. When it fails, reads
       still work where the backend can manage that, and reopen() may be tried again. */
    enum status (*reopen)(struct op *op, struct backend *backend);
    uint64_t (*disk_bytes)(struct backend *backend);

    /* What it has in memory of its own. NULL: nothing. */
    void (*memory)(struct backend *backend, struct backend_memory *memory);

    /* `rests`: little is written, so the backend may spend time to make reads cheaper. May be NULL. */
    enum status (*rest)(struct op *op, struct backend *backend, bool rests);

    /* As store_backup(). */
    enum status (*backup)(struct op *op, struct backend *backend, const char *directory);

    /* A snapshot to go back to; then everything is again as it sees it, in one write, and it stays. NULL: it cannot. */
    enum status (*mark)(struct op *op, struct backend *backend, struct backend_snapshot **mark);
    void (*unmark)(struct backend *backend, struct backend_snapshot *mark);
    void (*rewind)(struct backend *backend, const struct backend_snapshot *mark);
    void (*close)(struct backend *backend);
};

struct backend {
    const struct backend_ops *ops;
    struct run_space *runs; /* its own, for the packed index */
    bool is_fleeting;       /* nothing of it is there after close() */
};

struct backend *memory_backend(void);

/* The backend that the options' kind of store has. */
enum status backend_open(struct op *op, const struct store_options *options, struct backend **backend);
enum status rocksdb_backend(struct op *op, const struct store_options *options, struct backend **backend);

/* A local store over any backend, which it then owns: how tests put a faulty one underneath. */
enum status store_open_over(struct op *op, struct backend *backend, const struct store_options *options,
                            struct store **store);
