/*
 * src/store/local.c - the store whose data is this process's own: opening it, its buckets, and all of it at once.
 * local_read.c, local_write.c, local_entries.c and local_transfer.c are parts of it; local_private.h says what it is made of.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/local_private.h"

/* Of the cache of documents, which takes an eighth of what the store may have. */
enum { CACHE_BYTES_MAX = 512 * 1024 * 1024 };

/* ---- open and close ---- */

enum status backend_open(struct op *op, const struct store_options *options, struct backend **backend)
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

enum status local_open(struct op *op, const struct store_options *options, struct store **store)
{
    struct backend *backend = NULL;
    enum status st;

    TRY(backend_open(op, options, &backend));
    TRY(store_open_over(op, backend, options, store));
out:
    return st;
}

/* What is in memory anyway has no cache, but it has filters, and deltas that are worth a run. */
static struct packed_options options_of_packed(const struct store_options *options)
{
    const size_t bytes_in_memory = 32 * 1024 * 1024;
    size_t bytes = options->kind == STORE_MEMORY ? bytes_in_memory : options->cache_bytes;
    struct packed_options packed = options->packed ? *options->packed : packed_options_for(bytes);

    packed.threads = options->threads;
    packed.read_only = options->read_only;
    return packed;
}

static enum status open_packed(struct op *op, struct local *local)
{
    return packed_open(op, local->backend->runs, &local->packed_options, &local->packed);
}

/*
 * A store in memory gets no cache, except in tests: reads were no faster with one, and each cached document would be
 * in memory twice. The caller that opens it gives 0 bytes.
 */
static struct cache *open_cache(const struct store_options *options)
{
    size_t bytes = options->cache_bytes / 8;

    return bytes ? cache_open(bytes < CACHE_BYTES_MAX ? bytes : CACHE_BYTES_MAX) : NULL;
}

static enum status open_committer(struct op *op, struct local *local)
{
    const struct committer_parts parts = { local->backend, local->packed, local->cache };

    local->committer = committer_new(&parts, op->env, local->sync, local->threads);
    return local->committer ? ST_OK : op_fail(op, ST_UNAVAILABLE, "no thread can be started for the store");
}

static const struct store_ops local_ops;

static struct local *local_new(struct env *env, struct backend *backend, const struct store_options *options)
{
    enum { CHAINS_FIRST = 64 };
    struct local *local = heap_allocate(sizeof(*local));

    assert(options->entries != ENTRIES_PACKED || backend->runs);
    *local = (struct local){ .base = { .ops = &local_ops,
                                       .read_only = options->read_only,
                                       .keeps_entries = options->entries != ENTRIES_NONE,
                                       .commits_later = options->threads },
                             .backend = backend,
                             .env = env,
                             .cache = open_cache(options),
                             .sync = options->sync,
                             .threads = options->threads,
                             .is_packed = options->entries == ENTRIES_PACKED,
                             .packed_options = options_of_packed(options),
                             .chain_count = CHAINS_FIRST };
    local->chains = heap_allocate(CHAINS_FIRST * sizeof(local->chains[0]));
    thread_rwlock_init(&local->lock);
    return local;
}

static void local_close(struct store *store);

enum status store_open_over(struct op *op, struct backend *backend, const struct store_options *options,
                            struct store **store)
{
    struct local *local = local_new(op->env, backend, options);
    enum status st = ST_OK;

    if (local->is_packed)
        TRY(open_packed(op, local));
    TRY(open_committer(op, local));
    *store = &local->base;
out:
    if (st != ST_OK)
        local_close(&local->base);
    return st;
}

static void free_chain(struct local_bucket *bucket)
{
    while (bucket) {
        struct local_bucket *next = bucket->next;

        assert(!bucket->touched); /* no group is under way */
        free(bucket);
        bucket = next;
    }
}

/*
 * The next start makes again, from the change log, what is not written now, so a failure loses nothing. While the
 * outcome of the last group is not known, nothing is written.
 */
static void close_packed(struct local *local, bool writable)
{
    struct op op;

    if (!local->packed)
        return;
    op_init(&op, local->env, SIZE_MAX / 2);
    op_begin(&op, INT64_MAX / 2);
    op.may_block = true;
    if (writable && packed_flush(&op, local->packed) != ST_OK)
        log_line(LOG_WARN, "store: the index could not be written at the end: %s", op.error ? op.error : "");
    op_free(&op);
    packed_close(local->packed);
}

static void free_buckets(struct local *local)
{
    for (size_t i = 0; i < local->chain_count; i++) {
        free_chain(local->chains[i]);
        local->chains[i] = NULL;
    }
    local->bucket_count = 0;
}

static void local_close(struct store *store)
{
    struct local *local = local_of(store);
    bool writable =
        local->committer && store_is_writable(store) && !store->abandoned && !local->backend->is_fleeting;

    committer_free(local->committer);
    close_packed(local, writable);
    cache_close(local->cache);
    local->backend->ops->close(local->backend);
    free_buckets(local);
    pthread_rwlock_destroy(&local->lock);
    free(local->chains);
    free(local);
}

/* ---- buckets ---- */

static struct local_bucket **chain_of(const struct local *local, uint64_t id)
{
    uint64_t mixed = id * 0x9e3779b97f4a7c15u;

    return &local->chains[mixed >> 32 & (local->chain_count - 1)];
}

/* Under the lock. */
static struct local_bucket *find_bucket(const struct local *local, uint64_t id)
{
    struct local_bucket *bucket = *chain_of(local, id);

    while (bucket && bucket->base.id != id)
        bucket = bucket->next;
    return bucket;
}

static void link_bucket(struct local *local, struct local_bucket *bucket)
{
    struct local_bucket **chain = chain_of(local, bucket->base.id);

    assert(bucket->base.store == &local->base);
    bucket->next = *chain;
    *chain = bucket;
}

static void grow_table(struct local *local)
{
    struct local_bucket **old = local->chains;
    size_t old_count = local->chain_count;

    assert(old_count > 0);
    assert((old_count & (old_count - 1)) == 0); /* chain_of() masks with it */
    local->chain_count *= 2;
    local->chains = heap_allocate(local->chain_count * sizeof(*old));
    for (size_t i = 0; i < old_count; i++) {
        for (struct local_bucket *bucket = old[i], *next; bucket; bucket = next) {
            next = bucket->next;
            link_bucket(local, bucket);
        }
    }
    free(old);
}

void local_begin_turns(struct store *store)
{
    struct local *local = local_of(store);

    pthread_rwlock_rdlock(&local->lock);
    for (size_t i = 0; i < local->chain_count; i++)
        for (struct local_bucket *bucket = local->chains[i]; bucket; bucket = bucket->next)
            local_bucket_begin_turn(bucket);
    pthread_rwlock_unlock(&local->lock);
}

static struct local_bucket *new_bucket(struct local *local, uint64_t id, const struct head *head)
{
    struct local_bucket *bucket = heap_allocate(sizeof(*bucket));

    bucket->base = (struct bucket){ .store = &local->base, .id = id };
    bucket->head = *head;
    bucket->floor_lsn = head->lsn; /* no transaction under way is older than this process */
    bucket->counts = head->counts;
    local_bucket_publish(bucket);
    atomic_init(&bucket->last_counter, head->counter);
    return bucket;
}

/*
 * Another thread may have added it first. Until a bucket is in the table nobody commits to it, so the head that was
 * read holds.
 */
static struct local_bucket *add_bucket(struct local *local, uint64_t id, const struct head *head)
{
    struct local_bucket *bucket;

    pthread_rwlock_wrlock(&local->lock);
    bucket = find_bucket(local, id);
    if (!bucket) {
        if (local->bucket_count == local->chain_count)
            grow_table(local);
        bucket = new_bucket(local, id, head);
        link_bucket(local, bucket);
        local->bucket_count++;
    }
    pthread_rwlock_unlock(&local->lock);
    return bucket;
}

enum status local_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket)
{
    struct local *local = local_of(store);
    struct local_bucket *found;
    struct head head;
    enum status st = ST_OK;

    pthread_rwlock_rdlock(&local->lock);
    found = find_bucket(local, id);
    pthread_rwlock_unlock(&local->lock);
    if (!found) {
        TRY(backend_read_head(op, local->backend, id, &head));
        found = add_bucket(local, id, &head);
    }
    *bucket = &found->base;
out:
    return st;
}

static uint64_t local_lsn(const struct bucket *bucket)
{
    return atomic_load_explicit(&((const struct local_bucket *)bucket)->visible_lsn, memory_order_acquire);
}

static bool local_usage(const struct bucket *bucket, struct bucket_usage *usage)
{
    const struct local_bucket *local = (const struct local_bucket *)bucket;

    usage->documents = atomic_load_explicit(&local->visible_documents, memory_order_relaxed);
    usage->bytes = atomic_load_explicit(&local->visible_bytes, memory_order_relaxed);
    return local->counts;
}

static uint64_t local_next_counter(struct bucket *bucket)
{
    return atomic_fetch_add(&local_bucket_of(bucket)->last_counter, 1) + 1;
}

/* ---- all of it ---- */

static enum status local_backup(struct op *op, struct store *store, const char *directory)
{
    struct backend *backend = local_of(store)->backend;

    return backend->ops->backup(op, backend, directory);
}

struct store_mark {
    struct backend_snapshot *taken;
};

static enum status local_mark(struct op *op, struct store *store, struct store_mark **mark)
{
    struct local *local = local_of(store);
    struct backend *backend = local->backend;
    struct store_mark made;
    enum status st;

    if (!backend->ops->mark)
        TRY(op_fail(op, ST_NOT_BUILT, "A store with files has no marks: it is copied."));
    if (local->packed) /* what the mark's runs lack is computed again whenever it is gone back to */
        TRY(packed_flush(op, local->packed));
    TRY(backend->ops->mark(op, backend, &made.taken));
    *mark = heap_allocate_unset(sizeof(**mark));
    **mark = made;
out:
    return st;
}

static void local_unmark(struct store *store, struct store_mark *mark)
{
    struct backend *backend = local_of(store)->backend;

    backend->ops->unmark(backend, mark->taken);
    free(mark);
}

/*
 * What the committer, the buckets and the packed index know is about what came after. The latter finds its manifest and its
 * runs as they were, as after a restart; whoever opens the store again restores the entries that were in no run by then.
 */
static enum status local_rewind(struct op *op, struct store *store, const struct store_mark *mark)
{
    struct local *local = local_of(store);
    enum status st = ST_OK;

    assert(!local->cache);
    committer_free(local->committer);
    local->committer = NULL;
    local->bytes_seen = 0;
    free_buckets(local);
    if (local->packed)
        packed_close(local->packed);
    local->packed = NULL;
    local->backend->ops->rewind(local->backend, mark->taken);
    if (local->is_packed)
        TRY(open_packed(op, local));
    TRY(open_committer(op, local));
out:
    return st;
}

static bool local_is_writable(const struct store *store)
{
    return committer_is_writable(((const struct local *)store)->committer);
}

/*
 * Each change between rest and work holds writers up for some milliseconds, so a rate between the two bounds changes
 * nothing.
 */
static enum status local_upkeep(struct op *op, struct store *store)
{
    enum { FEW_BYTES = 128 * 1024, MANY_BYTES = 1024 * 1024, CALLS_TO_REST = 5 };
    struct local *local = local_of(store);
    const struct backend_ops *ops = local->backend->ops;
    struct store_stats stats;
    uint64_t bytes;

    if (!ops->rest || !store_is_writable(store))
        return ST_OK;
    committer_stats(local->committer, &stats);
    assert(stats.bytes_written >= local->bytes_seen); /* it only rises, and one thread asks */
    bytes = stats.bytes_written - local->bytes_seen;
    local->bytes_seen = stats.bytes_written;
    local->quiet_calls = bytes < FEW_BYTES ? local->quiet_calls + 1 : 0;
    if (bytes >= MANY_BYTES)
        return ops->rest(op, local->backend, false);
    return local->quiet_calls >= CALLS_TO_REST ? ops->rest(op, local->backend, true) : ST_OK;
}

static void add_packed_stats(struct packed *packed, struct store_stats *stats)
{
    struct packed_stats own;

    packed_stats(packed, &own);
    stats->index_memory_bytes = own.memory_bytes;
    stats->index_runs = own.runs;
    stats->index_run_bytes = own.run_bytes;
    stats->index_merges = own.merges;
}

static void add_cache_stats(struct cache *cache, struct store_stats *stats)
{
    struct cache_stats own;

    cache_stats(cache, &own);
    stats->cache_hits = own.hits;
    stats->cache_misses = own.misses;
    stats->cache_bytes = own.bytes;
}

static void add_backend_memory(struct backend *backend, struct store_stats *stats)
{
    struct backend_memory own = { 0 };

    if (backend->ops->memory)
        backend->ops->memory(backend, &own);
    stats->block_cache_bytes = own.blocks;
    stats->write_buffer_bytes = own.buffers;
}

static void local_stats(struct store *store, struct store_stats *stats)
{
    struct local *local = local_of(store);

    committer_stats(local->committer, stats);
    stats->disk_bytes = local->backend->ops->disk_bytes(local->backend);
    add_backend_memory(local->backend, stats);
    if (local->packed)
        add_packed_stats(local->packed, stats);
    if (local->cache)
        add_cache_stats(local->cache, stats);
}

static const struct store_ops local_ops = {
    .close = local_close,
    .bucket = local_bucket,
    .lsn = local_lsn,
    .usage = local_usage,
    .next_counter = local_next_counter,
    .snapshot = local_snapshot,
    .snapshot_together = local_snapshot_together,
    .release = local_release,
    .get_many = local_get_many,
    .get_items = local_get_items,
    .get_latest = local_get_latest,
    .scan = local_scan,
    .commit_many = local_commit_many,
    .commit_together = local_commit_together,
    .commit_later = local_commit_later,
    .commit_end = local_commit_end,
    .outcome = local_outcome,
    .drop = local_drop,
    .backup = local_backup,
    .mark = local_mark,
    .unmark = local_unmark,
    .rewind = local_rewind,
    .is_writable = local_is_writable,
    .upkeep = local_upkeep,
    .stats = local_stats,
    .entries_open = local_entries_open,
    .entries_count = local_entries_count,
    .entries_settled = local_entries_settled,
    .entries_restore = local_entries_restore,
    .entries_restored = local_entries_restored,
    .entries_flush = local_entries_flush,
    .next_bucket = local_next_bucket,
    .entries_are_rows = local_entries_are_rows,
    .load = local_load,
    .clear = local_clear,
};
