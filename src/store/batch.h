/*
 * src/store/batch.h - a set of writes, in key order, that will happen together.
 * It is what a transaction has written so far: store/view.h lays it over a snapshot so that
 * the transaction reads its own writes, and store_commit() makes it real.
 *
 * Ownership. All of it lies in the op's arena; there is nothing to free.
 */
#pragma once
#include "base/op.h"

struct batch;

struct batch *batch_new(struct op *op, uint64_t bucket);
uint64_t batch_bucket(const struct batch *batch);

/*
 * Commit only if nothing was committed under `scope` after `lsn`. A scope is the hash of
 * what was read, such as an item; two that share a hash conflict without need, and are tried again.
 * A batch with a scope also marks that scope as changed. Each call adds an expectation, and all must hold.
 *
 * A hash says nothing of a key, so only a store that saw every commit since `lsn` can tell. The local store remembers
 * them (conflict.c). A shared store may compare with the bucket's head alone, and so refuse a batch that was
 * overtaken by any commit. Or it writes the scopes into the change log's rows, and reads the rows above `lsn` under
 * the head's lock.
 */
void batch_expect(struct batch *batch, uint64_t scope, uint64_t lsn);

/* Later writes of a key replace earlier ones. Keys and values are not copied. */
void batch_put(struct batch *batch, struct slice key, struct slice value);
void batch_delete(struct batch *batch, struct slice key);

/* A record: the committer writes LSN and ts into it (value_stamp in keys/record.h). */
void batch_put_stamped(struct batch *batch, struct slice key, uint8_t *value, size_t size);

/*
 * An entry of the index appears, or goes, with the batch. An add and a remove of one entry cancel each other: the
 * entries that are left are exactly the differences from the store. Keys are key_index()'s.
 */
void batch_index_add(struct batch *batch, struct slice key);
void batch_index_remove(struct batch *batch, struct slice key);

/*
 * Room for `count` entries of a whole document, whose keys have `key_bytes` bytes together. The caller fills in all
 * of them before it makes any other call on the batch. NULL past the arena's limit: then the batch is as it was.
 */
struct batch_index_entry *batch_index_room(struct batch *batch, size_t count, size_t key_bytes);

/* An entry whose key has a time of writing at `offset` (term_put_time), which the committer fills in. */
void batch_index_add_dated(struct batch *batch, struct slice key, size_t offset, bool descending);

struct batch_index_entry {
    struct slice key;
    bool present; /* false: it is removed */
    bool dated, descending;
    uint32_t offset; /* of the time in the key, when it is dated */
};

/* The entries that are left, in key order. The list is valid until the batch is changed again. */
const struct batch_index_entry *batch_index_entries(struct batch *batch, size_t *count);

/* A change: stored under key_log(bucket, LSN, position), stamped, in the order of these calls. */
void batch_log(struct batch *batch, uint8_t *change, size_t size);

/* A document counter in use by the batch; the bucket's head remembers the largest. */
void batch_uses_counter(struct batch *batch, uint64_t counter);

/*
 * Commit only if the bucket's last commit is the one with that LSN, whoever made it: nobody has written anything since. Else
 * ST_WRITE_CONFLICT.
 */
void batch_expect_last(struct batch *batch, uint64_t lsn);

/* The commit's LSN is above `lsn`: for a bucket that is begun anew, and must not fall behind what came before it. */
void batch_begins_above(struct batch *batch, uint64_t lsn);

/*
 * The batch was made by definitions (of containers, in bucket 0) as of that LSN of bucket 0: bucket_followed_lsn(). A shared
 * store refuses it (ST_WRITE_CONFLICT) when its bucket was redefined later, by whichever process.
 */
void batch_follows(struct batch *batch, uint64_t lsn);

/*
 * With this batch, which is one of bucket 0, another bucket is written by another definition, or no longer: batches for it
 * that follow an earlier LSN are refused from then on. `dropped`: so is every other.
 */
void batch_redefines(struct batch *batch, uint64_t bucket, bool dropped);

/*
 * For the last of several batches that are committed together (store_commit_together): `room` has STAMP_BYTES for each
 * of the others and lies in a stamped value of this batch. Their stamps are written there, in their order.
 */
void batch_holds_stamps(struct batch *batch, uint8_t *room);

/* The batch adds so many documents and bytes of records; below zero it removes them. The bucket's head sums them up. */
void batch_counts(struct batch *batch, int64_t documents, int64_t bytes);
int64_t batch_documents(const struct batch *batch);

bool batch_is_empty(const struct batch *batch);

struct batch_entry {
    struct slice key, value; /* value.data is NULL for a deletion */
    bool stamped;
};

/* The entry for a key; NULL when the batch does not touch it. */
const struct batch_entry *batch_find(const struct batch *batch, struct slice key);

/* The first entry at or after the key, or the last one before it; NULL at the end. */
const struct batch_entry *batch_at_or_after(const struct batch *batch, struct slice key);
const struct batch_entry *batch_before(const struct batch *batch, struct slice key);

/* From one entry to its neighbours, in key order; NULL at the end. */
const struct batch_entry *batch_first(const struct batch *batch);
const struct batch_entry *batch_next(const struct batch_entry *entry);
const struct batch_entry *batch_previous(const struct batch_entry *entry);
