/* src/store/store.c - the front of the store: opening, buckets, snapshots, reads, and the way to the committer. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "keys/keys.h"
#include "store/backend.h"
#include "store/batch_private.h"
#include "store/committer.h"
#include "store/keeper.h"

struct store {
    struct backend *backend;
    struct env *env;
    struct keeper *keeper; /* NULL: entries are plain keys */
    struct committer *committer;
    bool read_only, keeps_entries;
    pthread_rwlock_t lock; /* guards the table of buckets, not the buckets */
    struct bucket **chains;
    size_t chain_count, bucket_count; /* the former a power of two */
    uint64_t bytes_seen;              /* by store_upkeep(), whose thread alone has these two */
    uint64_t quiet_calls;             /* of it, in a row */
};

struct snapshot {
    struct bucket *bucket;
    struct backend_snapshot *taken;
    struct keeper_pin *pin;
    struct head head; /* once has_head */
    bool has_head;
};

/* ---- open and close ---- */

static enum status open_backend(struct op *op, const struct store_options *options, struct backend **backend)
{
    if (options->kind == STORE_MEMORY) {
        *backend = memory_backend();
        return ST_OK;
    }
#ifdef ORRERY_ROCKSDB
    return rocksdb_backend(op, options, backend);
#else
    return op_fail(op, ST_NOT_BUILT,
                   "This build has no RocksDB: it keeps data in memory only (--store memory).");
#endif
}

enum status store_open(struct op *op, const struct store_options *options, struct store **store)
{
    struct backend *backend = NULL;
    enum status st;

    TRY(open_backend(op, options, &backend));
    TRY(store_open_over(op, backend, options, store));
out:
    return st;
}

static enum status open_keeper(struct op *op, struct store *store, const struct store_options *options)
{
    store->keeps_entries = options->keeper || options->kind == STORE_MEMORY;
    if (!options->keeper)
        return ST_OK;
    return options->keeper(op, store->backend, options, &store->keeper);
}

enum status store_open_over(struct op *op, struct backend *backend, const struct store_options *options,
                            struct store **store)
{
    enum { CHAINS_FIRST = 64 };
    struct store *opened = heap_allocate(sizeof(*opened));
    enum status st;

    *opened = (struct store){
        .backend = backend, .env = op->env, .read_only = options->read_only, .chain_count = CHAINS_FIRST
    };
    opened->chains = heap_allocate(CHAINS_FIRST * sizeof(struct bucket *));
    thread_rwlock_init(&opened->lock);
    TRY(open_keeper(op, opened, options));
    opened->committer = committer_new(backend, opened->keeper, op->env, options->sync, options->threads);
    *store = opened;
    opened = NULL;
out:
    store_close(opened);
    return st;
}

static void free_chain(struct bucket *bucket)
{
    while (bucket) {
        struct bucket *next = bucket->next;

        free(bucket);
        bucket = next;
    }
}

/*
 * What is not written now is made again from the change log at the next start, so that a failure loses nothing. Nothing is
 * written while it is not known what became of the last group.
 */
static void close_keeper(struct store *store, bool writable)
{
    struct op op;

    if (!store->keeper)
        return;
    op_init(&op, store->env, SIZE_MAX / 2);
    op_begin(&op, INT64_MAX / 2);
    op.may_block = true;
    if (writable && store->keeper->ops->flush(&op, store->keeper) != ST_OK)
        log_line(LOG_WARN, "store: the index could not be written at the end: %s", op.error ? op.error : "");
    op_free(&op);
    store->keeper->ops->close(store->keeper);
}

void store_close(struct store *store)
{
    bool writable;

    if (!store)
        return;
    writable = store->committer && store_is_writable(store);
    committer_free(store->committer);
    close_keeper(store, writable);
    store->backend->ops->close(store->backend);
    for (size_t i = 0; i < store->chain_count; i++)
        free_chain(store->chains[i]);
    pthread_rwlock_destroy(&store->lock);
    free(store->chains);
    free(store);
}

/* ---- buckets ---- */

static struct bucket **chain_of(const struct store *store, uint64_t id)
{
    uint64_t mixed = id * 0x9e3779b97f4a7c15u;

    return &store->chains[mixed >> 32 & (store->chain_count - 1)];
}

/* Under the lock. */
static struct bucket *find_bucket(const struct store *store, uint64_t id)
{
    struct bucket *bucket = *chain_of(store, id);

    while (bucket && bucket->id != id)
        bucket = bucket->next;
    return bucket;
}

static void link_bucket(struct store *store, struct bucket *bucket)
{
    struct bucket **chain = chain_of(store, bucket->id);

    bucket->next = *chain;
    *chain = bucket;
}

static void grow_table(struct store *store)
{
    struct bucket **old = store->chains;
    size_t old_count = store->chain_count;

    store->chain_count *= 2;
    store->chains = heap_allocate(store->chain_count * sizeof(*old));
    for (size_t i = 0; i < old_count; i++) {
        for (struct bucket *bucket = old[i], *next; bucket; bucket = next) {
            next = bucket->next;
            link_bucket(store, bucket);
        }
    }
    free(old);
}

static struct bucket *new_bucket(struct store *store, uint64_t id, const struct head *head)
{
    struct bucket *bucket = heap_allocate(sizeof(*bucket));

    bucket->store = store;
    bucket->id = id;
    bucket->head = *head;
    bucket->floor_lsn = head->lsn; /* no transaction under way is older than this process */
    bucket->counts = head->counts;
    bucket_publish(bucket);
    atomic_init(&bucket->last_counter, head->counter);
    return bucket;
}

/* Somebody may have been faster. Until a bucket is in the table nobody commits to it, so its head holds. */
static struct bucket *add_bucket(struct store *store, uint64_t id, const struct head *head)
{
    struct bucket *bucket;

    pthread_rwlock_wrlock(&store->lock);
    bucket = find_bucket(store, id);
    if (!bucket) {
        if (store->bucket_count == store->chain_count)
            grow_table(store);
        bucket = new_bucket(store, id, head);
        link_bucket(store, bucket);
        store->bucket_count++;
    }
    pthread_rwlock_unlock(&store->lock);
    return bucket;
}

enum status store_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket)
{
    struct head head;
    enum status st = ST_OK;

    pthread_rwlock_rdlock(&store->lock);
    *bucket = find_bucket(store, id);
    pthread_rwlock_unlock(&store->lock);
    if (*bucket)
        return ST_OK;
    TRY(backend_read_head(op, store->backend, id, &head));
    *bucket = add_bucket(store, id, &head);
out:
    return st;
}

uint64_t bucket_id(const struct bucket *bucket)
{
    return bucket->id;
}

uint64_t bucket_lsn(const struct bucket *bucket)
{
    return atomic_load_explicit(&bucket->visible_lsn, memory_order_acquire);
}

bool bucket_usage(const struct bucket *bucket, struct bucket_usage *usage)
{
    usage->documents = atomic_load_explicit(&bucket->visible_documents, memory_order_relaxed);
    usage->bytes = atomic_load_explicit(&bucket->visible_bytes, memory_order_relaxed);
    return bucket->counts;
}

uint64_t bucket_next_counter(struct bucket *bucket)
{
    return atomic_fetch_add(&bucket->last_counter, 1) + 1;
}

/* ---- reading ---- */

bool bucket_keeps_entries(const struct bucket *bucket)
{
    return bucket->store->keeps_entries;
}

static void unpin(struct store *store, struct keeper_pin *pin)
{
    if (pin)
        store->keeper->ops->unpin(store->keeper, pin);
}

/* A pin that a flush has overtaken may lack what the snapshot does not have either: both are taken again. */
static enum status take(struct op *op, struct store *store, struct backend_snapshot **taken,
                        struct keeper_pin **pin)
{
    struct backend *backend = store->backend;
    struct keeper *keeper = store->keeper;
    bool current = false;
    enum status st = ST_OK;

    while (!current) {
        *pin = keeper ? keeper->ops->pin(keeper) : NULL;
        TRY(backend->ops->snapshot(op, backend, taken));
        current = !keeper || keeper->ops->pin_is_current(keeper, *pin);
        if (current)
            break;
        backend->ops->release(backend, *taken);
        unpin(store, *pin);
    }
out:
    if (st != ST_OK)
        unpin(store, *pin);
    return st;
}

enum status store_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot)
{
    struct backend_snapshot *taken;
    struct keeper_pin *pin;
    enum status st;

    TRY(take(op, bucket->store, &taken, &pin));
    *snapshot = heap_allocate(sizeof(**snapshot));
    **snapshot = (struct snapshot){ .bucket = bucket, .taken = taken, .pin = pin };
out:
    return st;
}

struct keeper *store_snapshot_keeper(const struct snapshot *snapshot)
{
    return snapshot->bucket->store->keeper;
}

struct keeper_pin *store_snapshot_pin(const struct snapshot *snapshot)
{
    return snapshot->pin;
}

void store_release(struct snapshot *snapshot)
{
    struct backend *backend;

    if (!snapshot)
        return;
    backend = snapshot->bucket->store->backend;
    backend->ops->release(backend, snapshot->taken);
    unpin(snapshot->bucket->store, snapshot->pin);
    free(snapshot);
}

enum status store_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                           struct slice *values)
{
    struct backend *backend = snapshot->bucket->store->backend;
    enum status st;

    op->work.round_trips++;
    TRY(backend->ops->get_many(op, backend, snapshot->taken, keys, count, values));
    for (size_t i = 0; i < count; i++)
        op->work.bytes_read += values[i].size;
out:
    return st;
}

enum status store_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value)
{
    struct backend *backend = bucket->store->backend;
    enum status st;

    op->work.round_trips++;
    TRY(backend->ops->get_many(op, backend, NULL, &key, 1, value));
    op->work.bytes_read += value->size;
out:
    return st;
}

enum status store_scan(struct op *op, struct snapshot *snapshot, struct range range, struct scan_limit limit,
                       struct rows *rows)
{
    struct backend *backend = snapshot->bucket->store->backend;
    enum status st;

    op->work.round_trips++;
    TRY(backend->ops->scan(op, backend, snapshot->taken, range, limit, rows));
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

/* ---- writing ---- */

/* What is told to a client of a commit that did not succeed; the log has the reason. */
static enum status explain(struct op *op, enum status why)
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

static enum status check_may_write(struct op *op, const struct store *store)
{
    enum status st;

    TRY(op_may_take_long(op));
    thread_assert_may_block();
    if (store->read_only)
        TRY(op_fail(op, ST_UNAVAILABLE, "The store was opened for reading only."));
out:
    return st;
}

static enum status run_request(struct op *op, struct store *store, struct request *request)
{
    enum status st;

    TRY(check_may_write(op, store));
    committer_run(store->committer, request, 1);
    st = explain(op, request->status);
out:
    return st;
}

static void take_outcome(struct op *op, const struct request *request, struct commit *commit)
{
    commit->status = explain(op, request->status);
    commit->error = op->error;
    commit->stamp = request->stamp; /* an ambiguous commit that turns out well has it too */
}

/* By a thread that may not wait, for somebody who will be told: the op's memory stays as it is until then. */
static bool may_leave(const struct op *op, const struct store *store)
{
    return !op->may_block && op->resume && !store->read_only && committer_is_threaded(store->committer);
}

static void leave(struct op *op, struct bucket *bucket, struct commit *commit)
{
    struct request *request = arena_alloc(&op->arena, sizeof(*request));

    assert(commit->batch->bucket == bucket->id);
    *request =
        (struct request){ .kind = REQUEST_COMMIT, .bucket = bucket, .batch = commit->batch, .waiting = op };
    commit->pending = request;
    commit->status = ST_PENDING;
    op->work.bytes_written += commit->batch->bytes;
    committer_submit(bucket->store->committer, request, 1);
}

void store_commit_end(struct op *op, struct commit *commit)
{
    take_outcome(op, commit->pending, commit);
}

static void run_commits(struct op *op, struct bucket *bucket, struct commit *commits, size_t count)
{
    struct request *requests = arena_alloc(&op->arena, count * sizeof(*requests));

    for (size_t i = 0; i < count; i++) {
        assert(commits[i].batch->bucket == bucket->id);
        requests[i] = (struct request){ .kind = REQUEST_COMMIT, .bucket = bucket, .batch = commits[i].batch };
    }
    committer_run(bucket->store->committer, requests, count);
    for (size_t i = 0; i < count; i++) {
        take_outcome(op, &requests[i], &commits[i]);
        op->work.bytes_written += commits[i].batch->bytes;
    }
}

void store_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count)
{
    enum status st;

    op->work.round_trips++;
    TRY(op_check(op)); /* once it waits in the queue it is carried out, deadline or not */
    if (count == 1 && may_leave(op, bucket->store)) {
        leave(op, bucket, &commits[0]);
        goto out;
    }
    TRY(check_may_write(op, bucket->store));
    if (count > 0)
        run_commits(op, bucket, commits, count);
out:
    for (size_t i = 0; st != ST_OK && i < count; i++) {
        commits[i].status = st;
        commits[i].error = op->error;
    }
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
    struct request request = { .kind = REQUEST_RECOVER };
    struct store *store = bucket->store;
    enum status st = ST_OK;

    if (committer_outcome(store->committer, bucket, batch, committed))
        return ST_OK;
    TRY(run_request(op, store, &request));
    if (!committer_outcome(store->committer, bucket, batch, committed))
        st = op_fail(op, ST_UNAVAILABLE, "What became of the write is no longer known.");
out:
    return st;
}

enum status store_drop(struct op *op, struct store *store, uint64_t id)
{
    struct request request = { .kind = REQUEST_DROP };
    struct backend *backend = store->backend;
    enum status st;

    TRY(store_bucket(op, store, id, &request.bucket));
    TRY(run_request(op, store, &request)); /* after this no commit brings a key back */
    if (store->keeper)
        TRY(store->keeper->ops->drop(op, store->keeper, id));
    st = backend->ops->remove_range(op, backend, key_bucket_first(&op->arena, id),
                                    key_bucket_end(&op->arena, id));
    if (st != ST_OK) /* a backend that has failed refuses what others write, too */
        committer_suspect(store->committer);
out:
    return st;
}

/* ---- the keeper's entries after a crash ---- */

enum status store_index_settled(struct op *op, struct bucket *bucket, uint64_t *lsn)
{
    struct keeper *keeper = bucket->store->keeper;

    *lsn = UINT64_MAX;
    return keeper ? keeper->ops->settled(op, keeper, bucket->id, lsn) : ST_OK;
}

enum status store_index_restore(struct op *op, struct bucket *bucket, struct batch *batch)
{
    struct keeper *keeper = bucket->store->keeper;
    size_t count;
    const struct batch_index_entry *entry = batch_index_entries(batch, &count);
    struct keeper_entry *list = arena_alloc(&op->arena, (count + 1) * sizeof(*list));
    enum status st;

    for (size_t i = 0; i < count; i++)
        list[i] = (struct keeper_entry){ entry[i].key, entry[i].present };
    TRY(keeper->ops->append(op, keeper, bucket->id, bucket_lsn(bucket), list, count));
out:
    return st;
}

void store_index_restored(struct bucket *bucket)
{
    bucket->store->keeper->ops->committed(bucket->store->keeper);
}

enum status store_index_flush(struct op *op, struct store *store)
{
    if (!store->keeper)
        return ST_OK;
    if (!store_is_writable(store))
        return op_fail(op, ST_UNAVAILABLE, "The store cannot write at the moment.");
    return store->keeper->ops->flush(op, store->keeper);
}

enum status store_backup(struct op *op, struct store *store, const char *directory)
{
    enum status st;

    TRY(op_may_take_long(op));
    thread_assert_may_block();
    TRY(store->backend->ops->backup(op, store->backend, directory));
out:
    return st;
}

bool store_is_read_only(const struct store *store)
{
    return store->read_only;
}

bool store_is_writable(const struct store *store)
{
    return !store->read_only && committer_is_writable(store->committer);
}

/* A change from one to the other holds writers up for some milliseconds: what lies between the two changes nothing. */
enum status store_upkeep(struct op *op, struct store *store)
{
    enum { FEW_BYTES = 128 * 1024, MANY_BYTES = 1024 * 1024, CALLS_TO_REST = 5 };
    const struct backend_ops *ops = store->backend->ops;
    struct store_stats stats;
    uint64_t bytes;

    if (!ops->rest || !store_is_writable(store))
        return ST_OK;
    committer_stats(store->committer, &stats);
    bytes = stats.bytes_written - store->bytes_seen;
    store->bytes_seen = stats.bytes_written;
    store->quiet_calls = bytes < FEW_BYTES ? store->quiet_calls + 1 : 0;
    if (bytes >= MANY_BYTES)
        return ops->rest(op, store->backend, false);
    return store->quiet_calls >= CALLS_TO_REST ? ops->rest(op, store->backend, true) : ST_OK;
}

void store_stats(struct store *store, struct store_stats *stats)
{
    committer_stats(store->committer, stats);
    stats->disk_bytes = store->backend->ops->disk_bytes(store->backend);
    if (store->keeper)
        store->keeper->ops->stats(store->keeper, stats);
}
