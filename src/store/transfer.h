/*
 * src/store/transfer.h - all of a store as rows, for orrery copy: what one store has is put into another as it is, with the
 * LSNs and times that it was given there. Nothing is committed: no LSN is given, nothing is expected, nobody is told.
 *
 * Which rows there are depends on the store in two ways. Entries of the index may be rows (store_entries_are_rows) or
 * may lie in runs, which entries.h walks and restores; and a store with runs has rows about them (KEY_RUNS, KEY_SETTLED),
 * which are its own.
 *
 * Threads. Whoever writes has the store to itself: no other process uses it, and buckets of it that were opened before
 *     know nothing of what was loaded. It is closed, and opened again by those who use it.
 */
#pragma once
#include "store/store.h"

/* A bucket that has a head. Of a dropped one, which only a shared store still has, the head alone is left. */
struct bucket_found {
    uint64_t id;
    struct head head;
    bool dropped;
};

/*
 * The first one at or behind `from`; `is_there` is false when there is none. The snapshot may be that of any bucket of the store,
 * and shows all buckets as of one moment, here and in store_scan() and store_get_many().
 */
enum status store_next_bucket(struct op *op, struct snapshot *snapshot, uint64_t from,
                              struct bucket_found *found, bool *is_there);

bool store_entries_are_rows(const struct store *store);

/* How many processes use the data at the moment, this one not among them where it is `apart` or reads only. */
enum status store_count_users(struct op *op, struct store *store, unsigned *count);

/*
 * Puts rows as they are; one without a value is removed. All or none, and durable once it returns. A head's row makes the
 * bucket's head. ST_UNAVAILABLE: it may or may not have been done.
 */
enum status store_load(struct op *op, struct store *store, const struct row *rows, size_t count);

/* Everything of the bucket, as if it had never been written to. It may be half done when it fails. */
enum status store_clear(struct op *op, struct store *store, uint64_t id);
