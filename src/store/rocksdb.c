/*
 * src/store/rocksdb.c - the backend that keeps the bytes on disk, in RocksDB; nothing but it, rocksdb_runs.c and rocksdb_backup.c knows RocksDB.
 *
 * Reopening. RocksDB does not let one process open a directory twice, so the old handle is
 * closed first. Snapshots that are still held then end: reading through one afterwards
 * answers ST_UNAVAILABLE. It must not wait for them to be released, because those who
 * wait for the failed commit hold some. Calls under way are waited for.
 * If opening for writing fails (a full disk), it is opened for reading, so that reads go on.
 *
 * Runs of a keeper lie in a column family of their own, `index`, which was not there in older stores.
 */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "keys/keys.h"
#include "store/folder.h"
#include "store/rocksdb_body.h"
#include "store/rows.h"

enum { READ_TIER_ALL = 0, READ_TIER_CACHE_ONLY = 1 };

/* Of our own cache in front of RocksDB's, which takes an eighth of what the store may have. */
enum { CACHE_BYTES_MAX = 512 * 1024 * 1024 };

/* ---- errors ---- */

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Turns a message of RocksDB into a status, and frees it. What a reader must not see goes to the log. */
enum status rocks_failed(struct op *op, const char *what, char *message)
{
    enum status st;

    if (begins_with(message, "Result incomplete")) /* the disk would be needed */
        st = op_fail(op, ST_WOULD_BLOCK, "The data is not in memory.");
    else if (begins_with(message, "Corruption"))
        st = op_fail(op, ST_CORRUPT, "RocksDB, %s: %s", what, message);
    else
        st = op_fail(op, ST_UNAVAILABLE, "RocksDB, %s: %s", what, message);
    if (st != ST_WOULD_BLOCK)
        log_line(LOG_ERROR, "store: %s", op->error);
    rocksdb_free(message);
    return st;
}

/* ---- options ---- */

/*
 * How many files of write buffers there may be before they are merged with what is below. Each costs every reader a look
 * into its filter; each merge writes up to 256 MB.
 */
enum { NEW_FILES_BUSY = 8, NEW_FILES_AT_REST = 2 };

static void set_table_options(rocksdb_options_t *options, rocksdb_cache_t *cache, bool filters)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();

    rocksdb_block_based_options_set_block_size(table, 4096);
    rocksdb_block_based_options_set_format_version(table, 5);
    if (filters)
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table,
                                                                  1); /* so that the cache bounds them */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
}

/* A crash leaves at most three write buffers to replay, at 50 MB/s on a busy machine: that bounds the next start. */
static void set_memory_options(rocksdb_options_t *options)
{
    const size_t mb = 1024 * 1024;

    rocksdb_options_set_write_buffer_size(options, 32 * mb);
    rocksdb_options_set_max_write_buffer_number(options, 3);
    rocksdb_options_set_max_total_wal_size(options, 96 * mb);
    rocksdb_options_set_arena_block_size(options, mb / 4);           /* an idle server should be small */
    rocksdb_options_set_allow_concurrent_memtable_write(options, 0); /* there is one writer */
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options,
                                                         0.01); /* most keys that are read are older */
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
}

static void set_file_options(rocksdb_options_t *options)
{
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_level0_file_num_compaction_trigger(options, NEW_FILES_BUSY);
    rocksdb_options_set_max_bytes_for_level_base(options, (uint64_t)256 * 1024 * 1024);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_max_open_files(options, -1);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(options, 1);
    rocksdb_options_set_bytes_per_sync(options,
                                       1024 * 1024); /* background writes do not pile up before a sync */
}

static void set_log_options(rocksdb_options_t *options)
{
    const int fatal = 4;

    rocksdb_options_set_info_log_level(options, fatal);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
}

/*
 * Keys of one bucket and kind, which their first seven bytes tell, often come in order: the write buffer remembers where
 * the last one went. This has no function of its own in the C API. Without it writes are slower, and nothing else.
 */
static rocksdb_options_t *with_insert_hints(rocksdb_options_t *options)
{
    rocksdb_options_t *hinted = rocksdb_options_create();
    char *message = NULL;

    rocksdb_get_options_from_string(
        options, "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.7", hinted, &message);
    rocksdb_options_destroy(message ? hinted : options);
    if (!message)
        return hinted;
    rocksdb_free(message);
    return options;
}

static rocksdb_options_t *make_options(const struct store_options *given, rocksdb_cache_t *cache)
{
    rocksdb_options_t *options = rocksdb_options_create();

    rocksdb_options_set_create_if_missing(options, !given->read_only);
    rocksdb_options_set_create_missing_column_families(options, 1);
    set_table_options(options, cache, true);
    set_memory_options(options);
    set_file_options(options);
    set_log_options(options);
    /* A cut-off end is what a power cut leaves; damage before it is not passed over in silence. */
    rocksdb_options_set_wal_recovery_mode(options, rocksdb_tolerate_corrupted_tail_records_recovery);
    return with_insert_hints(options);
}

/* Runs come as whole files and are never rewritten. Whoever reads them has filters of his own. */
static rocksdb_options_t *make_index_options(rocksdb_cache_t *cache)
{
    rocksdb_options_t *options = rocksdb_options_create();

    set_table_options(options, cache, false);
    set_file_options(options);
    rocksdb_options_set_write_buffer_size(options, 1024 * 1024);
    return options;
}

/* ---- the handle ---- */

enum { FAMILIES = 2 };

static const char *const family_name[FAMILIES] = { "default", "index" };

static void take_families(struct rocks *rocks, rocksdb_column_family_handle_t *const *family, int count)
{
    if (!rocks->db)
        return;
    rocks->rows = family[0];
    rocks->index = count > 1 ? family[1] : NULL;
}

static bool has_index_family(const struct rocks *rocks)
{
    char *message = NULL;
    size_t count = 0;
    char **name = rocksdb_list_column_families(rocks->options, rocks->directory, &count, &message);
    bool found = false;

    for (size_t i = 0; !message && i < count; i++)
        found = found || strcmp(name[i], family_name[1]) == 0;
    if (message)
        rocksdb_free(message); /* opening says what is wrong */
    else
        rocksdb_list_column_families_destroy(name, count);
    return found;
}

static enum status open_failed(struct op *op, const struct rocks *rocks, char *message)
{
    if (!strstr(message, "lock "))
        return rocks_failed(op, "opening", message);
    rocksdb_free(message);
    return op_fail(op, ST_UNAVAILABLE, "The data directory %s is in use by another process.",
                   rocks->directory);
}

static enum status open_for_reading(struct op *op, struct rocks *rocks)
{
    const rocksdb_options_t *const options[FAMILIES] = { rocks->options, rocks->index_options };
    int families = has_index_family(rocks) ? FAMILIES : 1;
    rocksdb_column_family_handle_t *family[FAMILIES];
    char *message = NULL;

    rocksdb_options_set_db_log_dir(rocks->options, "/dev/null/none"); /* no log can be made there */
    rocks->db = rocksdb_open_for_read_only_column_families(rocks->options, rocks->directory, families,
                                                           family_name, options, family, 0, &message);
    take_families(rocks, family, families);
    return message ? open_failed(op, rocks, message) : ST_OK;
}

/*
 * RocksDB does not open for writing without a log of its own. Where it is built with assertions, as
 * Debian does, a failed write to that log ends the process, so a full disk would. Therefore the
 * log lies in memory, says next to nothing, and has no name any more once it is open.
 */
static void open_with_log_in_memory(struct rocks *rocks, char **message)
{
    const rocksdb_options_t *const options[FAMILIES] = { rocks->options, rocks->index_options };
    rocksdb_column_family_handle_t *family[FAMILIES];
    char log[64];
    bool is_in_memory;

    snprintf(log, sizeof(log), "/dev/shm/orrery-%d-XXXXXX", (int)getpid());
    is_in_memory = mkdtemp(log) != NULL;
    rocksdb_options_set_db_log_dir(rocks->options, is_in_memory ? log : "");
    atomic_store(&rocks->rests, false);
    rocks->db = rocksdb_open_column_families(rocks->options, rocks->directory, FAMILIES, family_name, options,
                                             family, message);
    take_families(rocks, family, FAMILIES);
    if (is_in_memory)
        folder_remove(log);
}

/*
 * The write-ahead log is damaged in its middle: a fault of the disk, since a power cut damages its end.
 * What comes before the damage can be had, what comes after it cannot; the log is set aside
 * for whoever wants to try, and the operator is told.
 */
static void open_what_is_sound(struct rocks *rocks, char **message)
{
    char aside[PATH_MAX];

    snprintf(aside, sizeof(aside), "%s/../damaged-log-%d", rocks->directory, (int)getpid());
    log_line(LOG_ERROR,
             "store: the write-ahead log is damaged (%s). What was written after the damage is lost; "
             "a copy of the log is kept in %s",
             *message, aside);
    if (!folder_copy(rocks->directory, aside, ".log"))
        log_line(LOG_ERROR, "store: not all of the log could be copied");
    rocksdb_free(*message);
    *message = NULL;
    rocksdb_options_set_wal_recovery_mode(rocks->options, rocksdb_point_in_time_recovery);
    open_with_log_in_memory(rocks, message);
    rocksdb_options_set_wal_recovery_mode(rocks->options, rocksdb_tolerate_corrupted_tail_records_recovery);
}

static enum status open_for_writing(struct op *op, struct rocks *rocks)
{
    char *message = NULL;

    open_with_log_in_memory(rocks, &message);
    if (message && begins_with(message, "Corruption"))
        open_what_is_sound(rocks, &message);
    return message ? open_failed(op, rocks, message) : ST_OK;
}

static enum status open_handle(struct op *op, struct rocks *rocks)
{
    if (!rocks->read_only) {
        folder_clear(rocks->directory, ROCKS_BUILDING);
        rocks_clear_backup(rocks);
        return open_for_writing(op, rocks);
    }
    if (access(rocks->directory, R_OK) != 0) /* RocksDB would make it */
        return op_fail(op, ST_NOT_FOUND, "There is no data directory %s.", rocks->directory);
    return open_for_reading(op, rocks);
}

/* Every call begins with this, and ends with rocks_leave(). A loop thread does not wait for a reopening. */
enum status rocks_enter(struct op *op, struct rocks *rocks)
{
    if (op->may_block)
        pthread_rwlock_rdlock(&rocks->handle_lock);
    else if (pthread_rwlock_tryrdlock(&rocks->handle_lock) != 0)
        return op_fail(op, ST_WOULD_BLOCK, "The store is being reopened.");
    if (rocks->db)
        return ST_OK;
    pthread_rwlock_unlock(&rocks->handle_lock);
    return op_fail(op, ST_UNAVAILABLE, "The store could not be reopened after a failure.");
}

void rocks_leave(struct rocks *rocks)
{
    pthread_rwlock_unlock(&rocks->handle_lock);
}

/* ---- snapshots ---- */

static enum status rocks_snapshot(struct op *op, struct backend *backend, struct backend_snapshot **snapshot)
{
    struct rocks *rocks = rocks_of(backend);
    struct backend_snapshot *taken;
    enum status st;

    TRY(rocks_enter(op, rocks));
    taken = malloc(sizeof(*taken));
    if (!taken)
        abort();
    taken->read = rocksdb_readoptions_create();
    pthread_mutex_lock(&rocks->snapshots_mutex);
    taken->handle = rocksdb_create_snapshot(rocks->db);
    taken->next = rocks->snapshots;
    taken->link = &rocks->snapshots;
    if (taken->next)
        taken->next->link = &taken->next;
    rocks->snapshots = taken;
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    rocksdb_readoptions_set_snapshot(taken->read, taken->handle);
    rocks_leave(rocks);
    *snapshot = taken;
out:
    return st;
}

/* A handle that is not NULL belongs to the open database: end_snapshots() sees to that. */
static void rocks_release(struct backend *backend, struct backend_snapshot *snapshot)
{
    struct rocks *rocks = rocks_of(backend);

    pthread_mutex_lock(&rocks->snapshots_mutex);
    if (snapshot->handle)
        rocksdb_release_snapshot(rocks->db, snapshot->handle);
    *snapshot->link = snapshot->next;
    if (snapshot->next)
        snapshot->next->link = snapshot->link;
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    rocksdb_readoptions_destroy(snapshot->read);
    free(snapshot);
}

/* Under the exclusive lock, before the handle is closed. */
static void end_snapshots(struct rocks *rocks)
{
    pthread_mutex_lock(&rocks->snapshots_mutex);
    for (struct backend_snapshot *snapshot = rocks->snapshots; snapshot; snapshot = snapshot->next) {
        if (snapshot->handle)
            rocksdb_release_snapshot(rocks->db, snapshot->handle);
        snapshot->handle = NULL;
    }
    pthread_mutex_unlock(&rocks->snapshots_mutex);
}

/* ---- reading ---- */

/* rocks_enter(), and the snapshot's read options made ready. */
static enum status enter_snapshot(struct op *op, struct rocks *rocks, struct backend_snapshot *snapshot)
{
    enum status st;

    TRY(rocks_enter(op, rocks));
    if (snapshot->handle) {
        rocksdb_readoptions_set_read_tier(snapshot->read,
                                          op->may_block ? READ_TIER_ALL : READ_TIER_CACHE_ONLY);
    } else {
        rocks_leave(rocks);
        st = op_fail(op, ST_UNAVAILABLE, "The store was reopened after a failure while this was being read.");
    }
out:
    return st;
}

/* Copies a value that RocksDB has found, or failed to find, and lets go of it. */
static enum status copy_value(struct op *op, rocksdb_pinnableslice_t *pinned, char *message,
                              struct slice *value)
{
    struct slice found;
    enum status st;

    *value = (struct slice){ 0 };
    if (message)
        return rocks_failed(op, "reading", message);
    if (!pinned)
        return ST_OK;
    found.data = rocksdb_pinnableslice_value(pinned, &found.size);
    st = row_copy_value(op, found, value);
    rocksdb_pinnableslice_destroy(pinned);
    return st;
}

static enum status get_one(struct op *op, struct rocks *rocks, const rocksdb_readoptions_t *options,
                           struct slice key, struct slice *value)
{
    rocksdb_pinnableslice_t *pinned;
    char *message = NULL;

    pinned = rocksdb_get_pinned(rocks->db, options, key.data, key.size, &message);
    return copy_value(op, pinned, message, value);
}

enum { GET_MAX = 64 };

/* All at once, so that each file's index and filter is asked for once. */
static enum status get_several(struct op *op, struct rocks *rocks, const rocksdb_readoptions_t *options,
                               const struct slice *keys, size_t count, struct slice *values)
{
    const char *data[GET_MAX] = { 0 };
    size_t size[GET_MAX] = { 0 };
    rocksdb_pinnableslice_t *pinned[GET_MAX];
    char *message[GET_MAX];
    enum status st = ST_OK;

    for (size_t i = 0; i < count; i++) {
        data[i] = keys[i].data;
        size[i] = keys[i].size;
    }
    rocksdb_batched_multi_get_cf(rocks->db, options, rocks->rows, count, data, size, pinned, message, false);
    for (size_t i = 0; i < count; i++) {
        enum status copied = copy_value(op, pinned[i], message[i], &values[i]);

        st = st == ST_OK ? copied : st;
    }
    return st;
}

/* What point reads ask for; other keys are not worth keeping. */
static bool is_cached(struct slice key)
{
    return key.size > BUCKET_KEY_BYTES && key.data[BUCKET_KEY_BYTES] == KEY_DOCUMENT;
}

static enum status get_latest(struct op *op, struct rocks *rocks, struct slice key, struct slice *value)
{
    const rocksdb_readoptions_t *options = op->may_block ? rocks->read_latest : rocks->read_latest_cached;
    uint64_t ticket;
    enum status st = ST_OK;

    if (is_cached(key) && cache_find(rocks->cache, op, key, value))
        goto out;
    ticket = cache_ticket(rocks->cache, key);
    TRY(rocks_enter(op, rocks));
    st = get_one(op, rocks, options, key, value);
    rocks_leave(rocks);
    if (st == ST_OK && value->data && is_cached(key))
        cache_fill(rocks->cache, key, *value, ticket);
out:
    return st;
}

static enum status get_from_snapshot(struct op *op, struct rocks *rocks, struct backend_snapshot *snapshot,
                                     const struct slice *keys, size_t count, struct slice *values)
{
    enum status st = enter_snapshot(op, rocks, snapshot);

    if (st != ST_OK)
        return st;
    if (count == 1)
        st = get_one(op, rocks, snapshot->read, keys[0], &values[0]);
    for (size_t i = 0; count > 1 && i < count && st == ST_OK; i += GET_MAX)
        st = get_several(op, rocks, snapshot->read, keys + i, count - i < GET_MAX ? count - i : GET_MAX,
                         values + i);
    rocks_leave(rocks);
    return st;
}

static enum status rocks_get_many(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                                  const struct slice *keys, size_t count, struct slice *values)
{
    struct rocks *rocks = rocks_of(backend);
    enum status st = ST_OK;

    if (snapshot)
        return get_from_snapshot(op, rocks, snapshot, keys, count, values);
    for (size_t i = 0; i < count && st == ST_OK; i++)
        st = get_latest(op, rocks, keys[i], &values[i]);
    return st;
}

static void seek_first(rocksdb_iterator_t *at, const struct range *range)
{
    if (range->reverse)
        rocksdb_iter_seek_to_last(at); /* below the upper bound */
    else
        rocksdb_iter_seek(at, range->from.data, range->from.size);
}

static struct slice iterator_key(const rocksdb_iterator_t *at)
{
    struct slice key;

    key.data = rocksdb_iter_key(at, &key.size);
    return key;
}

static struct slice iterator_value(const rocksdb_iterator_t *at)
{
    struct slice value;

    value.data = rocksdb_iter_value(at, &value.size);
    return value;
}

static enum status collect(rocksdb_iterator_t *at, const struct range *range, struct row_block *block)
{
    char *message = NULL;
    enum status st = ST_OK;

    for (seek_first(at, range); rocksdb_iter_valid(at);) {
        if (!row_block_takes(block, iterator_key(at), iterator_value(at)))
            goto out;
        TRY(row_block_copy(block, iterator_key(at), iterator_value(at)));
        if (range->reverse)
            rocksdb_iter_prev(at);
        else
            rocksdb_iter_next(at);
    }
    rocksdb_iter_get_error(at, &message);
    if (message)
        st = rocks_failed(block->op, "scanning", message);
out:
    return st;
}

static enum status rocks_scan(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                              struct range range, struct scan_limit limit, struct rows *rows)
{
    struct rocks *rocks = rocks_of(backend);
    rocksdb_iterator_t *at;
    struct row_block block;
    enum status st;

    row_block_init(&block, op, limit, rows);
    if (slice_compare(range.from, range.to) >= 0) /* an empty range; RocksDB wants its bounds in order */
        return ST_OK;
    TRY(enter_snapshot(op, rocks, snapshot));
    rocksdb_readoptions_set_iterate_lower_bound(snapshot->read, range.from.data, range.from.size);
    rocksdb_readoptions_set_iterate_upper_bound(snapshot->read, range.to.data, range.to.size);
    at = rocksdb_create_iterator(rocks->db, snapshot->read);
    st = collect(at, &range, &block);
    rocksdb_iter_destroy(at);
    rocks_leave(rocks);
out:
    return st;
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

static void announce(struct rocks *rocks, const struct mutation *mutations, size_t count,
                     void (*change)(struct cache *cache, struct slice key))
{
    for (size_t i = 0; i < count; i++)
        if (is_cached(mutations[i].key))
            change(rocks->cache, mutations[i].key);
}

static enum status rocks_write(struct op *op, struct backend *backend, const struct mutation *mutations,
                               size_t count, bool sync)
{
    struct rocks *rocks = rocks_of(backend);
    char *message = NULL;
    enum status st;

    TRY(rocks_enter(op, rocks));
    announce(rocks, mutations, count, cache_begin_change);
    fill_batch(rocks->batch, mutations, count);
    rocksdb_write(rocks->db, sync ? rocks->write_synced : rocks->write_unsynced, rocks->batch, &message);
    clear_batch(rocks);
    announce(rocks, mutations, count, cache_end_change);
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

    pthread_rwlock_rdlock(&rocks->handle_lock);
    if (rocks->db)
        rocksdb_compact_range(rocks->db, from.data, from.size, to.data, to.size);
    pthread_rwlock_unlock(&rocks->handle_lock);
}

/* Before the handle is closed: whoever closes it must not wait for a compaction, nor may those who wait for him. */
static void stop_compacting(struct rocks *rocks)
{
    pthread_rwlock_rdlock(&rocks->handle_lock);
    if (rocks->db)
        rocksdb_disable_manual_compaction(rocks->db); /* a new handle has it enabled again */
    pthread_rwlock_unlock(&rocks->handle_lock);
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

static void close_handle(struct rocks *rocks)
{
    if (!rocks->db)
        return;
    end_snapshots(rocks);
    rocks_end_cursors(rocks);
    if (rocks->index)
        rocksdb_column_family_handle_destroy(rocks->index);
    rocks->index = NULL;
    rocksdb_column_family_handle_destroy(rocks->rows);
    rocksdb_close(rocks->db);
    rocks->db = NULL;
}

static enum status rocks_reopen(struct op *op, struct backend *backend)
{
    struct rocks *rocks = rocks_of(backend);
    const char *why;
    enum status st;

    stop_compacting(rocks);
    pthread_rwlock_wrlock(&rocks->handle_lock);
    atomic_fetch_add(&rocks->reopens, 1);
    cache_clear(rocks->cache); /* the failed write may turn out either way */
    close_handle(rocks);
    st = open_for_writing(op, rocks);
    why = op->error;
    if (st != ST_OK && open_for_reading(op, rocks) == ST_OK)
        op->error = why; /* the first reason is the one that matters */
    pthread_rwlock_unlock(&rocks->handle_lock);
    return st;
}

static uint64_t rocks_disk_bytes(struct backend *backend)
{
    return folder_bytes(rocks_of(backend)->directory);
}

static enum status rocks_rest(struct op *op, struct backend *backend, bool rests)
{
    struct rocks *rocks = rocks_of(backend);
    const char *name = "level0_file_num_compaction_trigger";
    char number[16], *message = NULL;
    const char *value = number;
    enum status st;

    if (atomic_load(&rocks->rests) == rests)
        return ST_OK;
    TRY(rocks_enter(op, rocks));
    atomic_store(&rocks->rests,
                 rests); /* also when it fails: it is tried again when that changes, not all the time */
    snprintf(number, sizeof(number), "%d", rests ? NEW_FILES_AT_REST : NEW_FILES_BUSY);
    rocksdb_set_options_cf(rocks->db, rocks->rows, 1, &name, &value, &message);
    rocks_leave(rocks);
    if (message)
        st = op_fail(op, ST_UNAVAILABLE, "%s", message);
    rocksdb_free(message);
out:
    return st;
}

/* So that the next start has nothing to replay. What cannot be flushed is in the log all the same. */
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
    close_handle(rocks);
    rocksdb_writebatch_destroy(rocks->batch);
    cache_close(rocks->cache);
    rocksdb_readoptions_destroy(rocks->read_latest_cached);
    rocksdb_readoptions_destroy(rocks->read_latest);
    rocksdb_writeoptions_destroy(rocks->write_synced);
    rocksdb_writeoptions_destroy(rocks->write_unsynced);
    rocksdb_options_destroy(rocks->index_options);
    rocksdb_options_destroy(rocks->options);
    pthread_mutex_destroy(&rocks->backup_mutex);
    pthread_mutex_destroy(&rocks->settle_mutex);
    pthread_mutex_destroy(&rocks->snapshots_mutex);
    pthread_rwlock_destroy(&rocks->handle_lock);
    free(rocks->directory);
    free(rocks);
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
    .rest = rocks_rest,
    .backup = rocks_backup,
    .close = rocks_close,
    .runs = &rocks_run_ops,
};

static struct rocks *rocks_new(const struct store_options *options)
{
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(options->cache_bytes);
    struct rocks *rocks = calloc(1, sizeof(*rocks));

    if (!rocks)
        abort();
    rocks->backend.ops = &rocks_ops;
    rocks->directory = strdup(options->directory);
    rocks->read_only = options->read_only;
    rocks->options = make_options(options, cache);
    rocks->index_options = make_index_options(cache);
    rocksdb_cache_destroy(cache); /* the tables have references of their own */
    pthread_mutex_init(&rocks->backup_mutex, NULL);
    pthread_mutex_init(&rocks->settle_mutex, NULL);
    rocks->cache =
        cache_open(options->cache_bytes / 8 < CACHE_BYTES_MAX ? options->cache_bytes / 8 : CACHE_BYTES_MAX);
    rocks->read_latest = rocksdb_readoptions_create();
    rocks->read_latest_cached = rocksdb_readoptions_create();
    rocksdb_readoptions_set_read_tier(rocks->read_latest_cached, READ_TIER_CACHE_ONLY);
    rocks->write_synced = rocksdb_writeoptions_create();
    rocks->write_unsynced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(rocks->write_synced, 1);
    rocks->batch = rocksdb_writebatch_create();
    thread_rwlock_init(&rocks->handle_lock);
    pthread_mutex_init(&rocks->snapshots_mutex, NULL);
    rocks->tidy = tidy_open(compact, rocks);
    return rocks;
}

enum status rocksdb_backend(struct op *op, const struct store_options *options, struct backend **backend)
{
    struct rocks *rocks = rocks_new(options);
    enum status st;

    TRY(open_handle(op, rocks));
    *backend = &rocks->backend;
out:
    if (st != ST_OK)
        rocks_close(&rocks->backend);
    return st;
}
