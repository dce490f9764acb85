/*
 * src/store/keeper.h - who keeps a store's index entries, when they are not plain keys of its backend.
 * index/ implements one (packed runs under a delta in memory); it is handed to store_open(), because store/ calls
 * nothing above itself. Without one, entries are keys like all others.
 *
 * An entry is a key of kind KEY_INDEX: bucket, term, number. The committer appends a group's entries before it
 * writes the group, so that whoever sees a commit in the backend finds its entries here; readers pass over
 * those of a later LSN than theirs. What is appended is exact: nothing is added that is there, nothing removed that is not.
 *
 * Threads. append(), committed() and forget() are the committer's; the rest is anybody's.
 */
#pragma once
#include "store/backend.h"

struct keeper;
struct store_stats;
struct keeper_pin; /* what a snapshot holds on to */
struct keeper_cursor;

struct keeper_entry {
    struct slice key;
    bool present; /* false: it is removed */
};

struct keeper_walk {
    struct slice from, to; /* keys: [from, to), within one bucket and one path */
    uint64_t first, last;  /* numbers: [first, last] */
    uint64_t lsn;          /* entries of later commits are not seen */
    bool reverse;
};

struct keeper_block {
    struct slice term; /* the key without bucket, kind and number */
    const uint64_t *number;
    size_t count; /* 0: the end */
};

struct keeper_ops {
    /*
     * All entries of one commit, in one call; a commit without any may be told too, so that `settled` moves on. Waits
     * while too much is in memory only. ST_UNAVAILABLE: it cannot be written out; the group is to be given up.
     */
    enum status (*append)(struct op *op, struct keeper *keeper, uint64_t bucket, uint64_t lsn,
                          const struct keeper_entry *entry, size_t count);

    /* The group was written: whatever was appended and not forgotten is committed. */
    void (*committed)(struct keeper *keeper);

    /* After a failed write: of this bucket nothing above the LSN was ever committed. */
    void (*forget)(struct keeper *keeper, uint64_t bucket, uint64_t lsn);

    /* The LSN up to which a bucket's entries are here without having been appended since the store was opened. */
    enum status (*settled)(struct op *op, struct keeper *keeper, uint64_t bucket, uint64_t *lsn);

    /* Held around a backend snapshot: pin, take the snapshot, and pin again when pin_is_current() says no. */
    struct keeper_pin *(*pin)(struct keeper *keeper);
    bool (*pin_is_current)(struct keeper *keeper, const struct keeper_pin *pin);
    void (*unpin)(struct keeper *keeper, struct keeper_pin *pin);

    enum status (*open)(struct op *op, struct keeper *keeper, struct keeper_pin *pin,
                        const struct keeper_walk *walk, struct keeper_cursor **cursor);
    enum status (*next)(struct op *op, struct keeper_cursor *cursor, struct keeper_block *block);
    enum status (*seek)(struct op *op, struct keeper_cursor *cursor, struct slice term, uint64_t number);
    void (*end)(struct keeper_cursor *cursor);

    /* Entries in [from, to) as of the LSN; `rough` allows a guess that costs no more than a few lookups. */
    enum status (*count)(struct op *op, struct keeper *keeper, struct keeper_pin *pin, struct slice from,
                         struct slice to, uint64_t lsn, bool rough, uint64_t *count);

    enum status (*drop)(struct op *op, struct keeper *keeper, uint64_t bucket);

    /* Writes out what is in memory only, for a clean close and for tests; waits until it is done. */
    enum status (*flush)(struct op *op, struct keeper *keeper);
    void (*stats)(struct keeper *keeper, struct store_stats *stats); /* those of the index */
    void (*close)(struct keeper *keeper);                            /* before the backend is */
};

struct keeper {
    const struct keeper_ops *ops;
};

/* keeper_open, in store.h, makes one over a backend, which stays the store's. */
