/*
 * src/store/local_private.h - the store whose data is this process's own, for local*.c only: buckets in memory, one committer, a
 * backend that keeps the bytes, the packed index over the backend's runs, and a cache of documents in front of it.
 *
 *     local.c          opening, buckets, the rest of store.h
 *     local_read.c     snapshots and reads
 *     local_write.c    commits, outcomes, drops
 *     local_entries.c  index entries
 *     local_transfer.c all of it as rows
 */
#pragma once
#include <pthread.h>

#include "packed/packed.h"
#include "store/cache.h"
#include "store/committer.h"

struct local {
    struct store base;
    struct backend *backend;
    struct env *env;
    struct packed *packed; /* NULL: entries are plain keys */
    struct cache *cache;   /* of documents that point reads asked for; NULL: none */
    struct committer *committer;
    bool sync, threads; /* how the committer works */
    bool is_packed;     /* `packed` is there, but for a moment while the store is rewound */
    struct packed_options packed_options;
    pthread_rwlock_t lock; /* guards the table of buckets, not the buckets */
    struct local_bucket **chains;
    size_t chain_count, bucket_count; /* the former a power of two */
    uint64_t bytes_seen;              /* by store_upkeep(), whose thread alone has these two */
    uint64_t quiet_calls;             /* of it, in a row */
};

struct local_snapshot {
    struct snapshot base;
    struct backend_snapshot *taken;
    struct packed_pin *pin;        /* NULL: entries are plain keys */
    struct local_snapshot *moment; /* whose `taken` and `pin` it has: its own, or another's that it shares */
    unsigned sharers;              /* of its own: snapshots that have them, itself among them */
};

static inline struct local *local_of(struct store *store)
{
    return (struct local *)store; /* its first member */
}

static inline struct local_snapshot *local_snapshot_of(struct snapshot *snapshot)
{
    return (struct local_snapshot *)snapshot; /* its first member */
}

/* ---- local.c ---- */

enum status local_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket);

/* ---- calls of struct store_ops ---- */

enum status local_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot);
enum status local_snapshot_together(struct op *op, struct bucket *const *buckets, size_t count,
                                    struct snapshot **snapshots);
void local_release(struct snapshot *snapshot);
enum status local_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                           struct slice *values);
enum status local_get_items(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                            struct slice *values);
enum status local_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value);
enum status local_scan(struct op *op, struct snapshot *snapshot, struct range range, struct scan_limit limit,
                       struct rows *rows);

void local_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count);
enum status local_commit_together(struct op *op, struct store *store, struct commit *commits, size_t count);
void local_commit_later(struct op *op, struct bucket *bucket, struct commit *commit);
void local_commit_end(struct op *op, struct commit *commit);
enum status local_outcome(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed);
enum status local_drop(struct op *op, struct store *store, uint64_t id);

enum status local_entries_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                               struct entries_cursor **cursor);
enum status local_entries_count(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                                bool rough, uint64_t *count);
enum status local_entries_settled(struct op *op, struct bucket *bucket, uint64_t *lsn);
enum status local_entries_restore(struct op *op, struct bucket *bucket, struct batch *batch);
void local_entries_restored(struct bucket *bucket);
enum status local_entries_flush(struct op *op, struct store *store);

enum status local_next_bucket(struct op *op, struct snapshot *snapshot, uint64_t from,
                              struct bucket_found *found, bool *is_there);
bool local_entries_are_rows(const struct store *store);
enum status local_load(struct op *op, struct store *store, const struct row *rows, size_t count);
enum status local_clear(struct op *op, struct store *store, uint64_t id);

/* No bucket's head is known from memory any more: rows are written past the committer. */
void local_begin_turns(struct store *store);
