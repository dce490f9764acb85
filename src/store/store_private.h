/*
 * src/store/store_private.h - what a kind of store implements, for store.c, entries.c and the kinds themselves.
 * A kind embeds struct store, struct bucket and struct snapshot as the first members of its own structs, and fills in
 * a table. Calls mean here what store.h says of them. store.c makes the checks that are the same for every kind
 * (whether the op may wait, whether the store may be written) and counts the work. docs/internals/shared-stores.md
 * says what a kind owes that shares its data with other processes.
 */
#pragma once
#include <stdatomic.h>

#include "store/entries.h"
#include "store/transfer.h"

struct store_ops {
    void (*close)(struct store *store);

    enum status (*bucket)(struct op *op, struct store *store, uint64_t id, struct bucket **bucket);
    uint64_t (*lsn)(const struct bucket *bucket);
    bool (*usage)(const struct bucket *bucket, struct bucket_usage *usage);
    uint64_t (*next_counter)(struct bucket *bucket);

    /* A kind that learns the head when it takes the snapshot says so there (has_head). */
    enum status (*snapshot)(struct op *op, struct bucket *bucket, struct snapshot **snapshot);
    enum status (*snapshot_together)(struct op *op, struct bucket *const *buckets, size_t count,
                                     struct snapshot **snapshots);
    void (*release)(struct snapshot *snapshot); /* never NULL */
    enum status (*get_many)(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                            struct slice *values);
    enum status (*get_items)(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                             struct slice *values); /* NULL: as get_many() */
    enum status (*get_latest)(struct op *op, struct bucket *bucket, struct slice key, struct slice *value);
    enum status (*scan)(struct op *op, struct snapshot *snapshot, struct range range, struct scan_limit limit,
                        struct rows *rows);

    /* Waits, and gives each its status. */
    void (*commit_many)(struct op *op, struct bucket *bucket, struct commit *commits, size_t count);

    /* The same for batches of several buckets, of which all get one status. */
    enum status (*commit_together)(struct op *op, struct store *store, struct commit *commits, size_t count);

    /* Does not wait: ST_PENDING, and op->resume() later. Asked only where store.commits_later says so. */
    void (*commit_later)(struct op *op, struct bucket *bucket, struct commit *commit);
    void (*commit_end)(struct op *op, struct commit *commit);
    enum status (*outcome)(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed);
    enum status (*drop)(struct op *op, struct store *store, uint64_t id);

    enum status (*backup)(struct op *op, struct store *store, const char *directory);
    enum status (*mark)(struct op *op, struct store *store, struct store_mark **mark);
    void (*unmark)(struct store *store, struct store_mark *mark);
    enum status (*rewind)(struct op *op, struct store *store, const struct store_mark *mark);
    bool (*is_writable)(const struct store *store);
    enum status (*upkeep)(struct op *op, struct store *store);
    void (*stats)(struct store *store, struct store_stats *stats);
    struct store_peers (*peers)(struct store *store); /* NULL, as the next four: it is not shared */
    void (*announce)(struct store *store, struct slice endpoint);
    struct slice (*endpoints)(struct op *op, struct store *store);
    enum status (*lock_definitions)(struct op *op, struct store *store);
    void (*unlock_definitions)(struct store *store);

    enum status (*entries_open)(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                                struct entries_cursor **cursor);
    enum status (*entries_count)(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                                 bool rough, uint64_t *count);
    enum status (*entries_settled)(struct op *op, struct bucket *bucket, uint64_t *lsn);
    enum status (*entries_restore)(struct op *op, struct bucket *bucket, struct batch *batch);
    void (*entries_restored)(struct bucket *bucket);
    enum status (*entries_flush)(struct op *op, struct store *store);

    enum status (*next_bucket)(struct op *op, struct snapshot *snapshot, uint64_t from,
                               struct bucket_found *found, bool *is_there);
    bool (*entries_are_rows)(const struct store *store);
    enum status (*load)(struct op *op, struct store *store, const struct row *rows, size_t count);
    enum status (*clear)(struct op *op, struct store *store, uint64_t id);
    enum status (*count_members)(struct op *op, struct store *store, unsigned *count); /* NULL: not shared */
};

struct store {
    const struct store_ops *ops;
    bool read_only, keeps_entries;
    bool commits_later; /* commit_later() may be called */
    bool abandoned;     /* closing it writes nothing out */

    store_catch_up *catch_up; /* of a shared one: whoever keeps definitions; may be NULL */
    void *catch_up_context;
    _Atomic uint64_t followed_lsn;
};

struct bucket {
    struct store *store;
    uint64_t id;
    _Atomic uint64_t redefined_lsn; /* of bucket 0, with which it was last redefined, as far as is known */
    atomic_bool is_dropped;
};

struct snapshot {
    struct bucket *bucket;
    struct head head; /* once has_head */
    bool has_head;
};

struct entries_ops {
    enum status (*next)(struct op *op, struct entries_cursor *cursor, struct entries_block *block);
    enum status (*seek)(struct op *op, struct entries_cursor *cursor, struct slice term, uint64_t number);
    void (*end)(struct entries_cursor *cursor);
};

/* What every cursor begins with. */
struct entries_cursor {
    const struct entries_ops *ops;
};

/* ---- store.c, for the kinds ---- */

/* Sets the message for a client whose commit did not succeed; the log has the reason. Returns the given status. */
enum status store_explain(struct op *op, enum status why);

/* ST_OK when the op may wait and the store may be written. */
enum status store_check_may_write(struct op *op, const struct store *store);

/* ---- the kinds: how each is opened ---- */

enum status local_open(struct op *op, const struct store_options *options, struct store **store);
enum status postgres_open(struct op *op, const struct store_options *options, struct store **store);
