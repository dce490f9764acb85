/*
 * src/store/rocksdb.c - the backend that keeps the bytes on disk, in RocksDB: its life, its writes.
 * rocksdb_open.c opens it, rocksdb_read.c reads, rocksdb_runs.c has runs, rocksdb_backup.c copies; nothing else knows
 * RocksDB.
 *
 * Reopening. RocksDB does not let one process open a directory twice, so the old handle is
 * closed first. Snapshots that are still held then end: reading through one afterwards
 * answers ST_UNAVAILABLE. It must not wait for them to be released, because those who
 * wait for the failed commit hold some. Calls under way are waited for.
 * If opening for writing fails (a full disk), it is opened for reading, so that reads go on.
 *
 * Runs of the packed index lie in a column family of their own, `index`, which was not there in older stores.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/folder.h"
#include "store/rocksdb_private.h"

/* ---- errors ---- */

/* What a reader must not see goes to the log. */
enum status rocks_failed(struct op *op, const char *what, char *message)
{
    enum status st;

    if (rocks_says(message, "Result incomplete")) /* the disk would be needed */
        st = op_fail_as(op, ST_WOULD_BLOCK);
    else if (rocks_says(message, "Corruption"))
        st = op_fail(op, ST_CORRUPT, "RocksDB, %s: %s", what, message);
    else
        st = op_fail(op, ST_UNAVAILABLE, "RocksDB, %s: %s", what, message);
    if (st != ST_WOULD_BLOCK)
        log_line(LOG_ERROR, "store: %s", op->error);
    rocksdb_free(message);
    return st;
}

enum status rocks_enter(struct op *op, struct rocks *rocks)
{
    if (op->may_block)
        readers_enter(&rocks->handle_lock);
    else if (!readers_try_enter(&rocks->handle_lock))
        return op_fail_as(op, ST_WOULD_BLOCK);
    if (rocks->db)
        return ST_OK;
    readers_leave(&rocks->handle_lock);
    return op_fail(op, ST_UNAVAILABLE, "The store could not be reopened after a failure.");
}

void rocks_leave(struct rocks *rocks)
{
    readers_leave(&rocks->handle_lock);
}

/* ---- writing ---- */

static void fill_batch(rocksdb_writebatch_t *batch, const struct mutation *mutations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mutation *m = &mutations[i];

        if (m->value.data)
            rocksdb_writebatch_put(batch, m->key.data, m->key.size, m->value.data, m->value.size);
        else
            rocksdb_writebatch_delete(batch, m->key.data, m->key.size);
    }
}

/* A batch keeps its memory when it is cleared, which is good until it is a lot. */
static void clear_batch(struct rocks *rocks)
{
    const size_t kept_bytes_max = 256 * 1024;
    size_t size;

    rocksdb_writebatch_data(rocks->batch, &size);
    rocksdb_writebatch_clear(rocks->batch);
    if (size <= kept_bytes_max)
        return;
    rocksdb_writebatch_destroy(rocks->batch);
    rocks->batch = rocksdb_writebatch_create();
}

static enum status rocks_write(struct op *op, struct backend *backend, const struct mutation *mutations,
                               size_t count, bool sync)
{
    struct rocks *rocks = rocks_of(backend);
    char *message = NULL;
    enum status st;

    assert(count > 0);
    TRY(rocks_enter(op, rocks));
    assert(rocksdb_writebatch_count(rocks->batch) == 0); /* it was cleared after the last write */
    fill_batch(rocks->batch, mutations, count);
    rocksdb_write(rocks->db, sync ? rocks->write_synced : rocks->write_unsynced, rocks->batch, &message);
    clear_batch(rocks);
    rocks_leave(rocks);
    if (message)
        st = rocks_failed(op, "writing", message);
out:
    return st;
}

/* A dropped container of less is left to the compactions that come anyhow. */
enum { TIDY_BYTES_MIN = 4 * 1024 * 1024 };

static bool is_worth_tidying(struct rocks *rocks, struct slice from, struct slice to)
{
    uint64_t bytes = 0;
    char *message = NULL;

    assert(rocks->db); /* within rocks_enter() and rocks_leave() */
    rocksdb_approximate_sizes(rocks->db, 1, &from.data, &from.size, &to.data, &to.size, &bytes, &message);
    rocksdb_free(message);
    return bytes >= TIDY_BYTES_MIN;
}

/*
 * A range that was deleted takes its space until its files are compacted, and the newest files (level 0)
 * wait for many others before they are. In the thread of tidy.c: the calls of others go on meanwhile.
 */
static void compact(void *context, struct slice from, struct slice to)
{
    struct rocks *rocks = context;

    readers_enter(&rocks->handle_lock);
    if (rocks->db)
        rocksdb_compact_range(rocks->db, from.data, from.size, to.data, to.size);
    readers_leave(&rocks->handle_lock);
}

/*
 * Called before the handle is closed. The thread that closes it needs the exclusive lock and must not wait for a
 * compaction, because all other calls would wait behind it.
 */
static void stop_compacting(struct rocks *rocks)
{
    readers_enter(&rocks->handle_lock);
    if (rocks->db)
        rocksdb_disable_manual_compaction(rocks->db); /* a new handle has it enabled again */
    readers_leave(&rocks->handle_lock);
}

/* Whole files first, which costs next to nothing; what is left over gets one range tombstone. */
static enum status rocks_remove_range(struct op *op, struct backend *backend, struct slice from,
                                      struct slice to)
{
    struct rocks *rocks = rocks_of(backend);
    rocksdb_writebatch_t *batch;
    char *message = NULL;
    bool tidies = false;
    enum status st;

    assert(slice_compare(from, to) < 0);
    TRY(rocks_enter(op, rocks));
    rocksdb_delete_file_in_range(rocks->db, from.data, from.size, to.data, to.size, &message);
    if (!message) {
        tidies = is_worth_tidying(rocks, from, to);
        batch = rocksdb_writebatch_create();
        rocksdb_writebatch_delete_range(batch, from.data, from.size, to.data, to.size);
        rocksdb_write(rocks->db, rocks->write_synced, batch, &message);
        rocksdb_writebatch_destroy(batch);
    }
    rocks_leave(rocks);
    if (message)
        st = rocks_failed(op, "removing a range", message);
    else if (tidies)
        tidy_add(rocks->tidy, from, to);
out:
    return st;
}

/* ---- life ---- */

static enum status rocks_reopen(struct op *op, struct backend *backend)
{
    struct rocks *rocks = rocks_of(backend);
    const char *why;
    enum status st;

    stop_compacting(rocks);
    readers_exclude(&rocks->handle_lock);
    atomic_fetch_add(&rocks->reopens, 1);
    rocks_close_handle(rocks);
    st = rocks_open_for_writing(op, rocks);
    why = op->error;
    if (st != ST_OK && rocks_open_for_reading(op, rocks) == ST_OK)
        op->error = why; /* the first reason is the one that matters */
    readers_admit(&rocks->handle_lock);
    return st;
}

static uint64_t rocks_disk_bytes(struct backend *backend)
{
    return folder_bytes(rocks_of(backend)->directory);
}

static uint64_t property(struct rocks *rocks, rocksdb_column_family_handle_t *family, const char *name)
{
    uint64_t value = 0;

    if (family && rocksdb_property_int_cf(rocks->db, family, name, &value) != 0)
        return 0;
    return value;
}

static void rocks_memory(struct backend *backend, struct backend_memory *memory)
{
    static const char buffers[] = "rocksdb.cur-size-all-mem-tables";
    struct rocks *rocks = rocks_of(backend);

    readers_enter(&rocks->handle_lock);
    if (rocks->db) {
        memory->blocks = property(rocks, rocks->rows, "rocksdb.block-cache-usage"); /* the index shares it */
        memory->buffers = property(rocks, rocks->rows, buffers) + property(rocks, rocks->index, buffers);
    }
    readers_leave(&rocks->handle_lock);
}

/* Leaves the next start nothing to replay. What cannot be flushed is in the write-ahead log all the same. */
static void flush(struct rocks *rocks)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    char *message = NULL;

    rocksdb_flush(rocks->db, options, &message);
    if (!message && rocks->index)
        rocksdb_flush_cf(rocks->db, options, rocks->index, &message);
    if (message)
        log_line(LOG_WARN, "store: not flushed at close: %s", message);
    rocksdb_free(message);
    rocksdb_flushoptions_destroy(options);
}

static void rocks_close(struct backend *backend)
{
    struct rocks *rocks = rocks_of(backend);

    rocks_drop_idle(rocks);
    assert(!rocks->snapshots && !rocks->cursors); /* all were released */
    stop_compacting(rocks);
    tidy_close(rocks->tidy);
    if (rocks->db && !rocks->read_only)
        flush(rocks);
    rocks_close_handle(rocks);
    rocksdb_writebatch_destroy(rocks->batch);
    rocksdb_readoptions_destroy(rocks->read_latest_cached);
    rocksdb_readoptions_destroy(rocks->read_latest);
    rocksdb_writeoptions_destroy(rocks->write_synced);
    rocksdb_writeoptions_destroy(rocks->write_unsynced);
    rocksdb_options_destroy(rocks->index_options);
    rocksdb_options_destroy(rocks->options);
    pthread_mutex_destroy(&rocks->backup_mutex);
    pthread_mutex_destroy(&rocks->settle_mutex);
    pthread_mutex_destroy(&rocks->snapshots_mutex);
    readers_free(&rocks->handle_lock);
    free(rocks->directory);
    free(rocks);
    rocks_release_new();
}

static const struct backend_ops rocks_ops = {
    .snapshot = rocks_snapshot,
    .release = rocks_release,
    .get_many = rocks_get_many,
    .scan = rocks_scan,
    .write = rocks_write,
    .remove_range = rocks_remove_range,
    .reopen = rocks_reopen,
    .disk_bytes = rocks_disk_bytes,
    .memory = rocks_memory,
    .rest = rocks_rest,
    .backup = rocks_backup,
    .close = rocks_close,
};

static struct rocks *rocks_new(const struct store_options *options)
{
    struct rocks *rocks = heap_allocate(sizeof(*rocks));
    rocksdb_cache_t *cache;

    rocks_hold_new();
    cache = rocksdb_cache_create_lru(options->cache_bytes);
    rocks->backend = (struct backend){ .ops = &rocks_ops, .runs = &rocks->runs };
    rocks->runs.ops = &rocks_run_ops;
    rocks->directory = heap_text(options->directory);
    rocks->read_only = options->read_only;
    rocks->options = rocks_options(options, cache);
    rocks->index_options = rocks_index_options(cache);
    rocksdb_cache_destroy(cache); /* the tables have references of their own */
    pthread_mutex_init(&rocks->backup_mutex, NULL);
    pthread_mutex_init(&rocks->settle_mutex, NULL);
    rocks->read_latest = rocksdb_readoptions_create();
    rocks->read_latest_cached = rocksdb_readoptions_create();
    rocksdb_readoptions_set_read_tier(rocks->read_latest_cached, READ_TIER_CACHE_ONLY);
    rocks->write_synced = rocksdb_writeoptions_create();
    rocks->write_unsynced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(rocks->write_synced, 1);
    rocks->batch = rocksdb_writebatch_create();
    readers_init(&rocks->handle_lock);
    pthread_mutex_init(&rocks->snapshots_mutex, NULL);
    rocks->tidy = tidy_open(compact, rocks);
    return rocks;
}

enum status rocksdb_backend(struct op *op, const struct store_options *options, struct backend **backend)
{
    struct rocks *rocks = rocks_new(options);
    enum status st;

    TRY(rocks_open_handle(op, rocks));
    *backend = &rocks->backend;
out:
    if (st != ST_OK)
        rocks_close(&rocks->backend);
    return st;
}
