/* src/store/store.c - the front of every kind of store: what is checked and counted alike, and the way to the kind's own calls. */
#include <assert.h>

#include "base/thread.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "store/batch_private.h"
#include "store/store_private.h"

#ifndef ORRERY_POSTGRES
enum status postgres_open(struct op *op, const struct store_options *options, struct store **store)
{
    (void)options, (void)store;
    return op_fail(op, ST_NOT_BUILT, "This build has no libpq: it cannot keep its data in PostgreSQL.");
}
#endif

/* A new kind of store is a row here, and one in test/store/fixture.c. */
static enum status (*const open_kind[])(struct op *op, const struct store_options *options,
                                        struct store **store) = {
    [STORE_MEMORY] = local_open,
    [STORE_ROCKSDB] = local_open,
    [STORE_POSTGRES] = postgres_open,
};

enum status store_open(struct op *op, const struct store_options *options, struct store **store)
{
    assert(options->kind < sizeof(open_kind) / sizeof(open_kind[0]));
    return open_kind[options->kind](op, options, store);
}

void store_close(struct store *store)
{
    if (store)
        store->ops->close(store);
}

/* ---- buckets ---- */

enum status store_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket)
{
    return store->ops->bucket(op, store, id, bucket);
}

uint64_t bucket_id(const struct bucket *bucket)
{
    return bucket->id;
}

uint64_t bucket_lsn(const struct bucket *bucket)
{
    return bucket->store->ops->lsn(bucket);
}

bool bucket_usage(const struct bucket *bucket, struct bucket_usage *usage)
{
    return bucket->store->ops->usage(bucket, usage);
}

uint64_t bucket_next_counter(struct bucket *bucket)
{
    return bucket->store->ops->next_counter(bucket);
}

bool bucket_keeps_entries(const struct bucket *bucket)
{
    return bucket->store->keeps_entries;
}

/* ---- reading ---- */

/*
 * Nobody goes on by old definitions. What was read is still what it was. Another thread may have caught up since the caller
 * found its container, so a drop is told also when it is known.
 */
static enum status follow(struct op *op, const struct bucket *bucket)
{
    struct store *store = bucket->store;

    if (!store->catch_up)
        return ST_OK;
    if (atomic_load(&bucket->redefined_lsn) > atomic_load(&store->followed_lsn) &&
        store->catch_up(op, store->catch_up_context) != ST_OK)
        return op_fail(op, ST_UNAVAILABLE, "The definitions cannot be read at the moment.");
    return atomic_load(&bucket->is_dropped) ? store_explain(op, ST_OWNER_NOT_FOUND) : ST_OK;
}

static enum status follow_all(struct op *op, struct bucket *const *buckets, size_t count,
                              struct snapshot **snapshots)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < count; i++)
        TRY(follow(op, buckets[i]));
out:
    for (size_t i = 0; st != ST_OK && i < count; i++) {
        store_release(snapshots[i]);
        snapshots[i] = NULL;
    }
    return st;
}

enum status store_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot)
{
    enum status st;

    TRY(bucket->store->ops->snapshot(op, bucket, snapshot));
    TRY(follow_all(op, &bucket, 1, snapshot));
out:
    return st;
}

enum status store_snapshot_together(struct op *op, struct bucket *const *buckets, size_t count,
                                    struct snapshot **snapshots)
{
    enum status st;

    assert(count > 0);
    TRY(buckets[0]->store->ops->snapshot_together(op, buckets, count, snapshots));
    TRY(follow_all(op, buckets, count, snapshots));
out:
    return st;
}

void store_release(struct snapshot *snapshot)
{
    if (snapshot)
        snapshot->bucket->store->ops->release(snapshot);
}

static enum status count_values(struct op *op, enum status st, const struct slice *values, size_t count)
{
    op->work.round_trips++;
    for (size_t i = 0; st == ST_OK && i < count; i++)
        op->work.bytes_read += values[i].size;
    return st;
}

enum status store_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                           struct slice *values)
{
    const struct store_ops *ops = snapshot->bucket->store->ops;

    return count_values(op, ops->get_many(op, snapshot, keys, count, values), values, count);
}

enum status store_get_items(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                            struct slice *values)
{
    const struct store_ops *ops = snapshot->bucket->store->ops;

    if (!ops->get_items)
        return store_get_many(op, snapshot, keys, count, values);
    return count_values(op, ops->get_items(op, snapshot, keys, count, values), values, count);
}

enum status store_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value)
{
    enum status st;

    assert(key_is_of_bucket(key, bucket->id));
    op->work.round_trips++;
    TRY(bucket->store->ops->get_latest(op, bucket, key, value));
    TRY(follow(op, bucket));
    op->work.bytes_read += value->size;
out:
    return st;
}

enum status store_scan(struct op *op, struct snapshot *snapshot, struct range range, struct scan_limit limit,
                       struct rows *rows)
{
    enum status st;

    op->work.round_trips++;
    TRY(snapshot->bucket->store->ops->scan(op, snapshot, range, limit, rows));
    for (size_t i = 0; i < rows->count; i++)
        op->work.bytes_read += rows->row[i].value.size;
out:
    return st;
}

enum status store_snapshot_head(struct op *op, struct snapshot *snapshot, struct head *head)
{
    struct slice key, value;
    enum status st = ST_OK;

    if (!snapshot->has_head) {
        key = key_head(&op->arena, snapshot->bucket->id);
        TRY(store_get_many(op, snapshot, &key, 1, &value));
        TRY(head_decode(op, value, &snapshot->head));
        snapshot->has_head = true;
    }
    *head = snapshot->head;
out:
    return st;
}

uint64_t store_snapshot_lsn(const struct snapshot *snapshot, uint64_t before)
{
    return snapshot->has_head ? snapshot->head.lsn : before;
}

enum status store_newest_lsn(struct op *op, struct bucket *bucket, uint64_t *lsn)
{
    struct snapshot *snapshot = NULL;
    struct head head;
    enum status st = ST_OK;

    *lsn = bucket_lsn(bucket);
    if (!store_is_shared(bucket->store))
        return ST_OK;
    TRY(bucket->store->ops->snapshot(op, bucket, &snapshot));
    TRY(store_snapshot_head(op, snapshot, &head));
    *lsn = head.lsn;
out:
    store_release(snapshot);
    return st;
}

/* ---- definitions, and other processes ---- */

void store_follow(struct store *store, store_catch_up *catch_up, void *context)
{
    store->catch_up = catch_up;
    store->catch_up_context = context;
}

void store_note_followed(struct store *store, uint64_t lsn)
{
    atomic_store(&store->followed_lsn, lsn);
}

uint64_t bucket_followed_lsn(const struct bucket *bucket)
{
    return atomic_load(&bucket->store->followed_lsn);
}

enum status store_lock_definitions(struct op *op, struct store *store)
{
    return store->ops->lock_definitions ? store->ops->lock_definitions(op, store) : ST_OK;
}

void store_unlock_definitions(struct store *store)
{
    if (store->ops->unlock_definitions)
        store->ops->unlock_definitions(store);
}

bool store_is_shared(const struct store *store)
{
    return store->ops->peers != NULL;
}

bool bucket_is_shared(const struct bucket *bucket)
{
    return store_is_shared(bucket->store);
}

struct store_peers store_peers(struct store *store)
{
    return store->ops->peers ? store->ops->peers(store) : (struct store_peers){ .count = 1, .leads = true };
}

void store_announce(struct store *store, struct slice endpoint)
{
    assert(endpoint.size <= STORE_ENDPOINT_MAX);
    if (store->ops->announce)
        store->ops->announce(store, endpoint);
}

struct slice store_endpoints(struct op *op, struct store *store)
{
    return store->ops->endpoints ? store->ops->endpoints(op, store) : slice_of("");
}

/* ---- writing ---- */

void stamp_encode(const struct commit_stamp *stamp, uint8_t bytes[STAMP_BYTES])
{
    put_le(bytes, stamp->lsn, 8);
    put_le(bytes + 8, (uint64_t)stamp->ts_ms, 8);
}

struct commit_stamp stamp_decode(const uint8_t bytes[STAMP_BYTES])
{
    return (struct commit_stamp){ get_le(bytes, 8), (int64_t)get_le(bytes + 8, 8) };
}

enum status store_explain(struct op *op, enum status why)
{
    switch (why) {
    case ST_OK:
        return ST_OK;
    case ST_WRITE_CONFLICT:
        return op_fail(op, why, "Another operation changed the same item. Nothing was written.");
    case ST_OWNER_NOT_FOUND:
        return op_fail(op, why, "The container has been deleted.");
    case ST_AMBIGUOUS:
        return op_fail(op, why, "The store failed during the write. It may or may not have been written.");
    default:
        return op_fail(op, why, "The store cannot write at the moment. Nothing was written.");
    }
}

enum status store_check_may_write(struct op *op, const struct store *store)
{
    enum status st;

    TRY(op_may_take_long(op));
    thread_assert_may_block();
    if (store->read_only)
        TRY(op_fail(op, ST_UNAVAILABLE, "The store was opened for reading only."));
out:
    return st;
}

/* By a thread that may not wait, for somebody who will be told. */
static bool may_leave(const struct op *op, const struct store *store)
{
    return !op->may_block && op->resume && !store->read_only && store->commits_later;
}

static void leave(struct op *op, struct bucket *bucket, struct commit *commit)
{
    commit->status = ST_PENDING;
    op->work.bytes_written += commit->batch->bytes; /* at once: the op may be another thread's in a moment */
    bucket->store->ops->commit_later(op, bucket, commit);
}

/* What is written, or may be, is told: its answer is not refused for want of memory. */
static void note_done(struct op *op, const struct commit *commit)
{
    if (commit->status == ST_OK || commit->status == ST_AMBIGUOUS)
        op->claim.is_owed = true;
}

static void run_commits(struct op *op, struct bucket *bucket, struct commit *commits, size_t count)
{
    bucket->store->ops->commit_many(op, bucket, commits, count);
    for (size_t i = 0; i < count; i++) {
        assert(commits[i].status != ST_PENDING); /* commit_many() waits */
        op->work.bytes_written += commits[i].batch->bytes;
        note_done(op, &commits[i]);
    }
}

void store_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count)
{
    enum status st;

    op->work.round_trips++;
    for (size_t i = 0; i < count; i++) {
        assert(commits[i].batch->bucket == bucket->id);
        commits[i].bucket = bucket;
    }
    TRY(op_check(op)); /* once it waits in the queue it is carried out, deadline or not */
    if (count == 1 && may_leave(op, bucket->store)) {
        leave(op, bucket, &commits[0]);
        goto out;
    }
    TRY(store_check_may_write(op, bucket->store));
    if (count > 0)
        run_commits(op, bucket, commits, count);
out:
    for (size_t i = 0; st != ST_OK && i < count; i++) {
        commits[i].status = st;
        commits[i].error = op->error;
    }
}

static void check_together(const struct commit *commits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert(commits[i].batch->bucket == commits[i].bucket->id);
        assert(commits[i].bucket->store == commits[0].bucket->store);
        assert(!commits[i].batch->stamps || i + 1 == count); /* only the last holds those of all the others */
        for (size_t before = 0; before < i; before++)
            assert(commits[before].bucket != commits[i].bucket); /* each bucket gets one LSN */
    }
}

enum status store_commit_together(struct op *op, struct commit *commits, size_t count)
{
    struct store *store;
    enum status st;

    assert(count > 0);
    check_together(commits, count);
    store = commits[0].bucket->store;
    op->work.round_trips++;
    TRY(op_check(op));
    TRY(store_check_may_write(op, store));
    TRY(store->ops->commit_together(op, store, commits, count));
out:
    for (size_t i = 0; i < count; i++) {
        commits[i].status = st;
        commits[i].error = op->error;
        op->work.bytes_written += st == ST_OK ? commits[i].batch->bytes : 0;
        note_done(op, &commits[i]);
    }
    return st;
}

void store_commit_end(struct op *op, struct commit *commit)
{
    assert(commit->status == ST_PENDING);
    commit->bucket->store->ops->commit_end(op, commit);
    assert(commit->status != ST_PENDING); /* the op goes on only when the commit is done */
    note_done(op, commit);
}

enum status store_commit(struct op *op, struct bucket *bucket, struct batch *batch,
                         struct commit_stamp *stamp)
{
    struct commit commit = { .batch = batch };

    store_commit_many(op, bucket, &commit, 1);
    *stamp = commit.stamp;
    return commit.status;
}

enum status store_outcome(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed)
{
    return bucket->store->ops->outcome(op, bucket, batch, committed);
}

enum status store_drop(struct op *op, struct store *store, uint64_t id)
{
    return store->ops->drop(op, store, id);
}

/* ---- all of it ---- */

enum status store_backup(struct op *op, struct store *store, const char *directory)
{
    enum status st;

    TRY(op_may_take_long(op));
    thread_assert_may_block();
    TRY(store->ops->backup(op, store, directory));
out:
    return st;
}

void store_abandon(struct store *store)
{
    if (store)
        store->abandoned = true;
    store_close(store);
}

enum status store_mark(struct op *op, struct store *store, struct store_mark **mark)
{
    return store->ops->mark(op, store, mark);
}

void store_unmark(struct store *store, struct store_mark *mark)
{
    if (mark)
        store->ops->unmark(store, mark);
}

enum status store_rewind(struct op *op, struct store *store, const struct store_mark *mark)
{
    return store->ops->rewind(op, store, mark);
}

bool store_is_read_only(const struct store *store)
{
    return store->read_only;
}

bool store_is_writable(const struct store *store)
{
    return !store->read_only && store->ops->is_writable(store);
}

enum status store_upkeep(struct op *op, struct store *store)
{
    return store->ops->upkeep(op, store);
}

void store_stats(struct store *store, struct store_stats *stats)
{
    store->ops->stats(store, stats);
}

/* ---- as rows (transfer.h) ---- */

enum status store_next_bucket(struct op *op, struct snapshot *snapshot, uint64_t from,
                              struct bucket_found *found, bool *is_there)
{
    op->work.round_trips++;
    return snapshot->bucket->store->ops->next_bucket(op, snapshot, from, found, is_there);
}

bool store_entries_are_rows(const struct store *store)
{
    return store->ops->entries_are_rows(store);
}

enum status store_count_users(struct op *op, struct store *store, unsigned *count)
{
    *count = 0;
    return store->ops->count_members ? store->ops->count_members(op, store, count) : ST_OK;
}

enum status store_load(struct op *op, struct store *store, const struct row *rows, size_t count)
{
    enum status st;

    assert(count > 0);
    op->work.round_trips++;
    TRY(store_check_may_write(op, store));
    TRY(store->ops->load(op, store, rows, count));
out:
    return st;
}

enum status store_clear(struct op *op, struct store *store, uint64_t id)
{
    enum status st;

    TRY(store_check_may_write(op, store));
    TRY(store->ops->clear(op, store, id));
out:
    return st;
}
