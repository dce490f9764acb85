/*
 * src/store/store.h - an ordered map from (bucket, bytes) to bytes, changed by whole batches.
 * There are kinds of store. The local one (local.c) has its data to itself: buckets in this process's memory, one
 * committer, and a backend for the bytes, memory.c (tests, simulation) or rocksdb.c. The one in PostgreSQL (postgres.c)
 * has its data in another process. A shared one has it there beside other writers. A call's paragraph "Shared" says what such a store may answer, and what a
 * caller may rely on with either kind. The suite in test/store/ runs unchanged over each kind, and counts round
 * trips. Keys are those of keys/keys.h, which begin with their bucket. docs/internals/shared-stores.md has the whole
 * contract.
 *
 * Promises
 * 1. A batch is visible whole or not at all, now and after any crash.
 * 2. What store_commit() has acknowledged survives power loss (durability sync).
 * 3. LSNs of a bucket rise by one with each commit (batch_begins_above() makes a larger step), in the order in which commits become
 *    visible; a snapshot and its LSN agree. Neither LSN nor ts ever goes back.
 * 4. A batch with an expectation commits only if what it expects unchanged is.
 * 5. After a failed write nothing is given an LSN before the backend was reopened and its
 *    heads were read again. Reads go on meanwhile.
 *
 * Ownership. The caller owns a snapshot from store_snapshot() to store_release().
 *     Rows that come back lie in the op's arena and live as long as the op.
 *     A bucket lives until store_close() or store_drop(); nobody frees it.
 * Threads. A store and its buckets may be shared. A snapshot is used by one thread at a time.
 */
#pragma once
#include "base/limits.h"
#include "base/op.h"
#include "base/slice.h"
#include "keys/record.h"
#include "store/batch.h"

struct store;
struct bucket;
struct snapshot;

struct packed_options;

enum store_kind { STORE_MEMORY, STORE_ROCKSDB, STORE_POSTGRES };

/* How index entries (entries.h) are kept. None: batches should have none, and older versions wrote none. */
enum entries_kept { ENTRIES_PLAIN, ENTRIES_PACKED, ENTRIES_NONE };

struct store_options {
    enum store_kind kind;
    const char *directory; /* made when missing; NULL for the memory store; how to connect, for PostgreSQL */
    bool sync;             /* false: acknowledge before the sync, and lose the last moments in a power cut */
    size_t cache_bytes;    /* how much else is kept in memory follows it */
    bool read_only;        /* for orrery check: changes nothing on disk, or in the database */
    bool apart;            /* shared: for orrery copy, which is none of those who use the data */
    bool threads;          /* false: store_commit() runs the committer itself, for simulation */
    enum entries_kept entries;
    const struct packed_options *packed; /* sizes for tests; NULL: they follow cache_bytes */
};

enum status store_open(struct op *op, const struct store_options *options, struct store **store);
void store_close(struct store *store); /* NULL is welcome */

/* The same of a store whose data is about to be removed: nothing is written out. */
void store_abandon(struct store *store);

/*
 * Finds a bucket, reading its head on first use. It need not have been written before.
 * Shared: others may write to it, or drop it, at any time; the bucket stays usable, and a commit to a dropped one is
 * ST_OWNER_NOT_FOUND.
 */
enum status store_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket);

uint64_t bucket_id(const struct bucket *bucket);

/*
 * The last LSN that readers can see; no round trip.
 * Shared: the largest that this process has seen, in a commit of its own or in the head of a snapshot. It never
 * falls, is never below what this process has acknowledged or shown, and may lag behind other writers for as long as
 * nothing is read. A caller that needs the bucket as it is now takes a snapshot and asks for its head.
 */
uint64_t bucket_lsn(const struct bucket *bucket);

/* The last LSN of the bucket as it is now: a round trip, where others may have written. */
enum status store_newest_lsn(struct op *op, struct bucket *bucket, uint64_t *lsn);

/*
 * Definitions. What a container is, is written in bucket 0, and kept in memory by whoever reads and writes by it. It says as
 * of which LSN of bucket 0 it knows everything.
 * Shared: when a bucket that is read turns out to have been redefined after that LSN (batch_redefines), by another process,
 * `catch_up` is called before the read returns, on a thread that may wait. ST_OWNER_NOT_FOUND: the bucket was dropped.
 */
typedef enum status store_catch_up(struct op *op, void *context);
void store_follow(struct store *store, store_catch_up *catch_up, void *context);
void store_note_followed(struct store *store, uint64_t lsn);
uint64_t bucket_followed_lsn(const struct bucket *bucket);

/*
 * Between these two no other process changes definitions: they need not be judged by each other. It is no promise, as a lock
 * is lost with its connection: expectations are. Shared: one round trip each, and a wait for the other process.
 */
enum status store_lock_definitions(struct op *op, struct store *store);
void store_unlock_definitions(struct store *store);

/*
 * Whether other processes may use the same data, how many do at the moment, this one among them, and whether it is this one
 * that does what needs doing once. The last two are hints, seconds old: two may lead at a time.
 */
bool store_is_shared(const struct store *store);
bool bucket_is_shared(const struct bucket *bucket);
struct store_peers {
    unsigned count;
    bool leads;
};
struct store_peers store_peers(struct store *store);

/*
 * Where clients find this process, such as db1.example:8081, is told to the others. The second gives what all of them have
 * told, with blanks between, in the op's arena; as old as store_peers(). Nothing where the store is not shared.
 */
void store_announce(struct store *store, struct slice endpoint);
struct slice store_endpoints(struct op *op, struct store *store);

struct bucket_usage {
    uint64_t documents, bytes; /* of the records: expired ones count until they are removed */
};

/*
 * As of the last commits; no round trip. False when the bucket was begun by an older version, which did not count.
 * Shared: as of the LSN that bucket_lsn() gives. For estimates and listings, never for a decision that must be right.
 */
bool bucket_usage(const struct bucket *bucket, struct bucket_usage *usage);

/*
 * A counter for a new document: never given twice, not even after a crash, once committed with it.
 * Shared: given out of a block that this process has reserved in the head by a write of its own, in store_bucket() or
 * in the commit before the block ends; counters of a block that nobody used are never used. They rise within a
 * process only. COUNTER_NONE where none could be reserved: what is committed with it is refused.
 */
#define COUNTER_NONE ((1ull << NUMBER_COUNTER_BITS) - 1)
uint64_t bucket_next_counter(struct bucket *bucket);

/* Whether documents should have index entries here: not with ENTRIES_NONE. */
bool bucket_keeps_entries(const struct bucket *bucket);

/*
 * One bucket as of one commit.
 * Shared: it may end early (ST_UNAVAILABLE), as it does here when the store is reopened: the caller begins anew.
 */
enum status store_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot);

/*
 * Several buckets of one store as of one moment: of what store_commit_together() wrote they have all or nothing. Each
 * snapshot is released by itself.
 */
enum status store_snapshot_together(struct op *op, struct bucket *const *buckets, size_t count,
                                    struct snapshot **snapshots);

/* The head as of the snapshot. One round trip, once for each snapshot. */
enum status store_snapshot_head(struct op *op, struct snapshot *snapshot, struct head *head);

/* The LSN that the snapshot shows everything of, without a round trip: its head's where that is known, else `before`. */
uint64_t store_snapshot_lsn(const struct snapshot *snapshot, uint64_t before);

/* values[i].data is NULL where keys[i] is absent: an answer, not an error. */
enum status store_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                           struct slice *values);

/*
 * Records of documents, for those who only read them: what the snapshot sees, but that one that was written again since
 * without a new LSN, for another indexing policy, may come as it is now. May come from a cache.
 */
enum status store_get_items(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                            struct slice *values);

/*
 * One key as of now, without a snapshot. It is cheaper, and enough where one value says everything by itself.
 * Shared: nothing of it may be kept from one call to the next, unless the head of the bucket is read in the same
 * round trip and is what it was.
 */
enum status store_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value);

struct row {
    struct slice key, value;
};

struct rows {
    struct row *row;
    size_t count;
    bool more; /* the limit ended the block, not the range */
};

struct range {
    struct slice from, to; /* [from, to) */
    bool reverse;          /* the same keys, largest first */
};

struct scan_limit {
    size_t rows, bytes; /* at least one row comes back whatever its size */
};

/* Up to `limit` of the range, in order or in reverse, as one block. */
enum status store_scan(struct op *op, struct snapshot *snapshot, struct range range, struct scan_limit limit,
                       struct rows *rows);

struct commit_stamp {
    uint64_t lsn;
    int64_t ts_ms;
};

/* A stamp as bytes of a value (batch_holds_stamps). */
enum { STAMP_BYTES = 16 };

void stamp_encode(const struct commit_stamp *stamp, uint8_t bytes[STAMP_BYTES]);
struct commit_stamp stamp_decode(const uint8_t bytes[STAMP_BYTES]);

/*
 * All of the batch or none, if its expectation still holds. Waits for the sync.
 * ST_WRITE_CONFLICT: nothing was written, try again with a new snapshot. A store that cannot tell scopes apart,
 * because it lacks the room or does not know other processes' commits, may answer it without need. No store leaves it
 * out.
 * ST_UNAVAILABLE: nothing was written, the store is recovering or the disk is full.
 * ST_AMBIGUOUS: it may have been written, with this stamp; store_outcome() tells once the store is back.
 */
enum status store_commit(struct op *op, struct bucket *bucket, struct batch *batch,
                         struct commit_stamp *stamp);

/* One of several batches that are committed each by itself, with its own LSN. */
struct commit {
    struct batch *batch;
    struct commit_stamp stamp;
    enum status status;    /* as store_commit() would have given it */
    const char *error;     /* the reason, where it is not ST_OK */
    struct bucket *bucket; /* the store's own, as what follows; of store_commit_together() the caller's */
    void *pending;         /* while it is ST_PENDING */
};

/*
 * All of them are handed to the committer together, in this order, and mostly share one sync. A single commit may be
 * ST_PENDING (op.resume). It must then stay where it is in memory, and store_commit_end() gives its outcome once the
 * op goes on.
 */
void store_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count);
void store_commit_end(struct op *op, struct commit *commit);

/*
 * Batches of several buckets, one each, all or none: promise 1 holds for them as if they were one batch, and an
 * expectation of one that does not hold refuses all. Each has the next LSN of its bucket. Waits. All get the status
 * that is returned. ST_AMBIGUOUS: store_outcome() tells it by any of them.
 * Shared: one transaction over the heads concerned, in the order of their ids.
 */
enum status store_commit_together(struct op *op, struct commit *commits, size_t count);

/*
 * What became of a batch whose commit was ambiguous. ST_UNAVAILABLE while that cannot be told.
 * Shared: the change log has a row for each LSN, written by the process that got that LSN. Comparing the row with the
 * batch's own token tells, even after the LSN was given to another.
 */
enum status store_outcome(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed);

/* NULL is welcome, so cleanup asks nothing. */
void store_release(struct snapshot *snapshot);

/*
 * Removes every key of the bucket, for good, outside any transaction. May be repeated.
 * Shared: the head stays behind and says so, because other processes may be about to commit.
 */
enum status store_drop(struct op *op, struct store *store, uint64_t id);

/*
 * Copies the store into a directory that does not exist yet, while writes go on. Everything that was acknowledged
 * before the call is in the copy. Of the writes that come meanwhile it has whole batches, and with each batch all
 * that went before it. Files that never change are linked where possible. A failed backup leaves nothing behind.
 */
enum status store_backup(struct op *op, struct store *store, const char *directory);

/*
 * A moment of a store in memory to go back to. The caller owns a mark from store_mark() to store_unmark(), which comes before
 * store_close(). store_rewind() makes everything as it was then; the mark stays good. Whoever calls it has the store to
 * itself: no snapshot of it is out, and the buckets that it has given out are gone.
 * ST_NOT_BUILT: the store has files, and is copied instead (store_backup).
 */
struct store_mark;

enum status store_mark(struct op *op, struct store *store, struct store_mark **mark);
void store_unmark(struct store *store, struct store_mark *mark); /* NULL is welcome */
enum status store_rewind(struct op *op, struct store *store, const struct store_mark *mark);

/* Opened for reading only. */
bool store_is_read_only(const struct store *store);

/* False while writes are refused: from a failed write until the store has been reopened. A hint, for reports. */
bool store_is_writable(const struct store *store);

/*
 * One thread calls this now and then. When little was written since the last calls, the backend merges its files into
 * fewer ones, which makes reads cheaper. While much is written it puts that off, which makes writes cheaper.
 */
enum status store_upkeep(struct op *op, struct store *store);

struct store_stats {
    uint64_t commits, groups, syncs, conflicts, failures, reopens;
    uint64_t bytes_written; /* keys and values handed to the backend */
    uint64_t disk_bytes;
    uint64_t block_cache_bytes, write_buffer_bytes; /* of the backend */
    uint64_t index_memory_bytes;                    /* of entries in memory, filters and pages */
    uint64_t index_runs, index_run_bytes, index_merges;
    uint64_t cache_hits, cache_misses, cache_bytes; /* of the cache of documents */
};

void store_stats(struct store *store, struct store_stats *stats);
