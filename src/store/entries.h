/*
 * src/store/entries.h - index entries as a store has them: the set of (term, number) of a bucket, walked in order and
 * counted.
 *     store_entries_open(op, snapshot, &walk, &cursor);
 *     while (store_entries_next(op, cursor, &block) == ST_OK && block.count) ...
 *     store_entries_end(cursor);
 * Entries come and go with the batches that name them (batch_index_add() in batch.h). How they are kept is the
 * store's own business: as plain keys, which are the reference, or packed (packed/packed.h). index/set.h lays a
 * transaction's own entries over them.
 *
 * Ownership. A block's term and numbers live until the cursor's next call. A cursor is ended before its snapshot is
 * released.
 * Threads. A cursor is used by one thread, and waits on the store.
 *
 * Promises
 * 1. A cursor gives each (term, number) once, in order; in reverse exactly the other way round.
 * 2. It sees what its snapshot sees: no entry of a later commit, each of an earlier one.
 */
#pragma once
#include "store/store.h"

struct entries_cursor;

struct entries_walk {
    struct slice from, to; /* terms of one path: [from, to); `to` may be the path's end */
    uint64_t first, last;  /* numbers: [first, last]; entries outside are passed over */
    bool reverse;          /* largest term first, and within it the largest number */
};

/* Numbers of one term, in the walk's order. A term with many comes in several blocks. */
struct entries_block {
    struct slice term;
    const uint64_t *number;
    size_t count; /* 0: the end */
};

enum status store_entries_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                               struct entries_cursor **cursor);
enum status store_entries_next(struct op *op, struct entries_cursor *cursor, struct entries_block *block);

/* Passes over everything before (term, number) in the walk's order; never goes back. */
enum status store_entries_seek(struct op *op, struct entries_cursor *cursor, struct slice term,
                               uint64_t number);
void store_entries_end(struct entries_cursor *cursor); /* NULL is welcome */

/* Entries with terms in [from, to), all numbers. `rough` allows a guess that costs no more than a few lookups. */
enum status store_entries_count(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                                bool rough, uint64_t *count);

/*
 * Packed entries that are only in memory are lost in a crash. Entries up to `lsn` survived; the caller that opens the
 * store makes the later ones again. A store that never loses entries answers UINT64_MAX.
 */
enum status store_entries_settled(struct op *op, struct bucket *bucket, uint64_t *lsn);

/*
 * Adds the entries of a batch as of the bucket's last LSN, before anything else is written to the bucket. They can
 * settle only after the caller has given all of them, which it says with store_entries_restored(). Called only where
 * store_entries_settled() does not answer UINT64_MAX.
 */
enum status store_entries_restore(struct op *op, struct bucket *bucket, struct batch *batch);
void store_entries_restored(struct bucket *bucket);

/* Waits until no entry is in memory only. For tests, and before a copy is taken. */
enum status store_entries_flush(struct op *op, struct store *store);
