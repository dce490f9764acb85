/*
 * src/store/rocksdb_open.c - how RocksDB is asked to work, and how a directory is opened: for writing, for reading,
 * damaged.
 */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "store/folder.h"
#include "store/rocksdb_private.h"

/* ---- options ---- */

/*
 * How many files of write buffers there may be before they are merged with what is below. Each costs every reader a
 * look into its filter; each merge writes up to 256 MB.
 */
enum { NEW_FILES_BUSY = 8, NEW_FILES_AT_REST = 2 };

/*
 * A whole filter is megabytes large. One that finds no room in the cache, or in the shard of the cache that is its own, would be
 * read for each look into its file: a wall that a container of some million items runs into. So filters and indexes are
 * in pieces, and a look reads one of each at most. Files of before are whole until they are merged. RocksDB before 9.4 reads a
 * piece of an index also where it was told to use the cache only: the one thing of the disk that a loop thread may meet.
 */
enum { PIECE_BYTES = 32 * 1024 };

static void set_pieces(rocksdb_block_based_table_options_t *table, bool filters)
{
    rocksdb_block_based_options_set_index_type(table,
                                               rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_metadata_block_size(table, PIECE_BYTES);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    if (!filters)
        return;
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_partition_filters(table, 1);
}

static void set_table_options(rocksdb_options_t *options, rocksdb_cache_t *cache, bool filters)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();

    rocksdb_block_based_options_set_block_size(table, 4096);
    rocksdb_block_based_options_set_format_version(table, 5);
    set_pieces(table, filters);
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
 * Keys of one bucket and kind, which their first seven bytes tell, often come in order: the write buffer remembers
 * where the last one went. It does so for each value of the eighth byte, too, which has the first bits of the EPK in keys of items
 * and of ids: the next one is then not far from there. With the ninth it would remember more places than it finds again.
 * This has no function of its own in the C API. Without it writes are slower, and nothing else.
 */
static rocksdb_options_t *with_insert_hints(rocksdb_options_t *options)
{
    rocksdb_options_t *hinted = rocksdb_options_create();
    char *message = NULL;

    rocksdb_get_options_from_string(
        options, "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.8", hinted, &message);
    rocksdb_options_destroy(message ? hinted : options);
    if (!message)
        return hinted;
    rocksdb_free(message);
    return options;
}

rocksdb_options_t *rocks_options(const struct store_options *given, rocksdb_cache_t *cache)
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

/* Runs come as whole files and are never rewritten. The packed index has filters of its own, so these have none. */
rocksdb_options_t *rocks_index_options(rocksdb_cache_t *cache)
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
    assert(count == 1 || count == FAMILIES);
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

enum status rocks_open_for_reading(struct op *op, struct rocks *rocks)
{
    const rocksdb_options_t *const options[FAMILIES] = { rocks->options, rocks->index_options };
    int families = has_index_family(rocks) ? FAMILIES : 1;
    rocksdb_column_family_handle_t *family[FAMILIES];
    char *message = NULL;

    assert(!rocks->db); /* RocksDB does not open a directory twice */
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

    assert(!rocks->db);
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
 * What comes before the damage can be read, what comes after it cannot. A copy of the log is set aside
 * for anyone who wants to recover more from it, and the operator is told.
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

enum status rocks_open_for_writing(struct op *op, struct rocks *rocks)
{
    char *message = NULL;

    open_with_log_in_memory(rocks, &message);
    if (message && rocks_says(message, "Corruption"))
        open_what_is_sound(rocks, &message);
    return message ? open_failed(op, rocks, message) : ST_OK;
}

enum status rocks_open_handle(struct op *op, struct rocks *rocks)
{
    if (!rocks->read_only) {
        folder_clear(rocks->directory, ROCKS_BUILDING);
        rocks_clear_backup(rocks);
        return rocks_open_for_writing(op, rocks);
    }
    if (access(rocks->directory, R_OK) != 0) /* RocksDB would make it */
        return op_fail(op, ST_NOT_FOUND, "There is no data directory %s.", rocks->directory);
    return rocks_open_for_reading(op, rocks);
}

enum status rocks_rest(struct op *op, struct backend *backend, bool rests)
{
    struct rocks *rocks = rocks_of(backend);
    const char *name = "level0_file_num_compaction_trigger";
    char number[16], *message = NULL;
    const char *value = number;
    enum status st;

    if (atomic_load(&rocks->rests) == rests)
        return ST_OK;
    TRY(rocks_enter(op, rocks));
    /* Also when it fails: it is tried again when that changes, not all the time. */
    atomic_store(&rocks->rests, rests);
    snprintf(number, sizeof(number), "%d", rests ? NEW_FILES_AT_REST : NEW_FILES_BUSY);
    rocksdb_set_options_cf(rocks->db, rocks->rows, 1, &name, &value, &message);
    rocks_leave(rocks);
    if (message)
        st = op_fail(op, ST_UNAVAILABLE, "%s", message);
    rocksdb_free(message);
out:
    return st;
}

void rocks_close_handle(struct rocks *rocks)
{
    if (!rocks->db)
        return;
    rocks_end_snapshots(rocks);
    rocks_end_cursors(rocks);
    assert(rocks->rows); /* take_families() sets it together with `db` */
    if (rocks->index)
        rocksdb_column_family_handle_destroy(rocks->index);
    rocks->index = NULL;
    rocksdb_column_family_handle_destroy(rocks->rows);
    rocksdb_close(rocks->db);
    rocks->db = NULL;
}
