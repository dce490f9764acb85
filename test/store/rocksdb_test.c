/* test/store/rocksdb_test.c - what is RocksDB's own: the directory, its lock, the disk, reading only. */
#ifdef ORRERY_ROCKSDB
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "store/backend.h"
#include "store/folder.h"

/* A store in the test's directory, with its bucket; NULL when it cannot be opened. */
static struct store *open_store(struct fixture *f, bool read_only)
{
    struct store_options options = { .kind = STORE_ROCKSDB,
                                     .directory = f->directory,
                                     .sync = true,
                                     .cache_bytes = 8 << 20,
                                     .read_only = read_only };
    struct store *store = NULL;

    f->op = test_op();
    snprintf(f->directory, sizeof(f->directory), "%s/data", test_directory());
    if (store_open(f->op, &options, &store) != ST_OK)
        return NULL;
    CHECK(store_bucket(f->op, store, TEST_BUCKET, &f->bucket) == ST_OK);
    f->store = store;
    return store;
}

/* Names and sizes of all files, as one text. */
static struct slice listing(struct fixture *f)
{
    struct dirent **entries = NULL;
    int count = scandir(f->directory, &entries, NULL, alphasort);
    struct buf text;

    buf_init(&text, &f->op->arena);
    for (int i = 0; i < count; i++) {
        char path[800];
        struct stat info;

        snprintf(path, sizeof(path), "%s/%s", f->directory, entries[i]->d_name);
        if (stat(path, &info) == 0)
            buf_printf(&text, "%s %lld\n", entries[i]->d_name, (long long)info.st_size);
        free(entries[i]);
    }
    free(entries);
    return buf_as_slice(&text);
}

TEST(a_second_store_in_one_directory_is_refused_with_a_clear_message)
{
    struct fixture first = { 0 }, second = { 0 };

    REQUIRE(open_store(&first, false));
    CHECK(!open_store(&second, false));
    CHECK(strstr(second.op->error, "is in use by another process"));
    store_close(first.store);
    CHECK(open_store(&second, false));
    store_close(second.store);
}

TEST(reading_only_reads_and_changes_nothing_on_disk)
{
    struct fixture f = { 0 };
    struct slice before;

    REQUIRE(open_store(&f, false));
    CHECK(put(&f, 1, "one", NULL) == ST_OK);
    store_close(f.store);
    before = listing(&f);
    REQUIRE(open_store(&f, true));
    CHECK(slice_is(get(&f, 1), "one") && bucket_lsn(f.bucket) == 1);
    CHECK(!store_is_writable(f.store));
    CHECK(put(&f, 1, "two", NULL) == ST_UNAVAILABLE);
    CHECK(store_drop(f.op, f.store, TEST_BUCKET) == ST_UNAVAILABLE);
    CHECK(slice_is(get(&f, 1), "one"));
    store_close(f.store);
    CHECK(slice_equal(listing(&f), before));
}

TEST(reading_only_does_not_make_a_missing_directory)
{
    struct fixture f = { 0 };

    CHECK(!open_store(&f, true));
    CHECK(strstr(f.op->error, "There is no data directory"));
    CHECK(access(f.directory, F_OK) != 0);
}

enum { BACKUP_WRITERS = 4, BACKUP_WRITES = 150 };

struct backup_writer {
    struct fixture *f;
    uint64_t first;
    _Atomic uint64_t *done; /* of all writers */
};

/* Two rows in each batch, so that half of one would show. */
static void *write_pairs(void *of)
{
    struct backup_writer *writer = of;
    struct fixture f = *writer->f;
    struct op op;

    op_init(&op, env_system(), SIZE_MAX);
    f.op = &op;
    for (uint64_t i = 0; i < BACKUP_WRITES; i++) {
        struct commit_stamp stamp;
        struct batch *batch;

        op_begin(&op, INT64_MAX / 2);
        op.may_block = true;
        batch = batch_putting(&f, writer->first + 2 * i, "left");
        batch_put(batch, key_of(&f, writer->first + 2 * i + 1), slice_of("right"));
        CHECK(store_commit(&op, f.bucket, batch, &stamp) == ST_OK);
        atomic_fetch_add(writer->done, 1);
    }
    op_free(&op);
    return NULL;
}

/* Writers that were acknowledged before the copy began, then the copy while they go on. */
static void back_up_under_writers(struct fixture *f, const char *copy, uint64_t before)
{
    struct backup_writer writer[BACKUP_WRITERS];
    pthread_t thread[BACKUP_WRITERS];
    _Atomic uint64_t done = 0;

    for (size_t i = 0; i < BACKUP_WRITERS; i++) {
        writer[i] = (struct backup_writer){ f, 1 + 10000 * (i + 1), &done };
        CHECK(pthread_create(&thread[i], NULL, write_pairs, &writer[i]) == 0);
    }
    while (atomic_load(&done) < before)
        sched_yield();
    CHECK(store_backup(f->op, f->store, copy) == ST_OK);
    for (size_t i = 0; i < BACKUP_WRITERS; i++)
        pthread_join(thread[i], NULL);
}

/* Each writer's pairs are there from its first to some last one, and none is half. */
static uint64_t count_pairs(struct fixture *f)
{
    uint64_t pairs = 0;

    for (uint64_t writer = 1; writer <= BACKUP_WRITERS; writer++) {
        uint64_t first = 1 + 10000 * writer;
        bool ended = false;

        for (uint64_t i = 0; i < BACKUP_WRITES; i++) {
            bool left = get(f, first + 2 * i).data, right = get(f, first + 2 * i + 1).data;

            CHECK(left == right && !(ended && left));
            ended |= !left;
            pairs += left;
        }
    }
    return pairs;
}

/* Promise 13. */
TEST(a_copy_under_writers_has_what_was_acknowledged_before_it_and_no_half_batch)
{
    enum { BEFORE = 40 };
    struct fixture f = { .threads = true }, copied = { 0 };
    struct store_options options = {
        .kind = STORE_ROCKSDB, .sync = true, .cache_bytes = 8 << 20, .threads = true
    };
    char copy[600];
    uint64_t pairs;

    f.op = test_op();
    f.op->may_block = true;
    snprintf(f.directory, sizeof(f.directory), "%s/data", test_directory());
    snprintf(copy, sizeof(copy), "%s/copy", test_directory());
    options.directory = f.directory;
    REQUIRE(store_open(f.op, &options, &f.store) == ST_OK);
    CHECK(store_bucket(f.op, f.store, TEST_BUCKET, &f.bucket) == ST_OK);
    back_up_under_writers(&f, copy, BEFORE);
    store_close(f.store);

    copied.op = f.op;
    options.directory = copy;
    REQUIRE(store_open(f.op, &options, &copied.store) == ST_OK);
    CHECK(store_bucket(f.op, copied.store, TEST_BUCKET, &copied.bucket) == ST_OK);
    pairs = count_pairs(&copied);
    CHECK(pairs >= BEFORE && pairs == bucket_lsn(copied.bucket)); /* its LSN and its rows agree */
    CHECK(put(&copied, 1, "goes on", NULL) == ST_OK && bucket_lsn(copied.bucket) == pairs + 1);
    store_close(copied.store);
}

/* What a copy on another disk needs beside the store. */
static bool is_beside(const struct fixture *f)
{
    char path[600];

    snprintf(path, sizeof(path), "%s.copy", f->directory);
    return access(path, F_OK) == 0;
}

TEST(a_copy_on_another_disk_has_all_of_it_and_leaves_nothing_behind)
{
    char memory[] = "/dev/shm/orrery-test-XXXXXX", copy[100], cut_off[600];
    struct fixture f = { 0 }, copied = { 0 };

    REQUIRE(open_store(&f, false) && mkdtemp(memory));
    f.op->may_block = true;
    snprintf(copy, sizeof(copy), "%s/store", memory);
    for (uint64_t i = 1; i <= 100; i++)
        CHECK(put(&f, i, "row", NULL) == ST_OK);
    CHECK(store_backup(f.op, f.store, copy) == ST_OK && !is_beside(&f));
    CHECK(store_backup(f.op, f.store, copy) == ST_UNAVAILABLE && !is_beside(&f));
    store_close(f.store);

    copied.op = f.op;
    REQUIRE(store_open(f.op,
                       &(struct store_options){
                           .kind = STORE_ROCKSDB, .directory = copy, .cache_bytes = 8 << 20, .sync = true },
                       &copied.store) == ST_OK);
    CHECK(store_bucket(f.op, copied.store, TEST_BUCKET, &copied.bucket) == ST_OK);
    CHECK(bucket_lsn(copied.bucket) == 100 && slice_is(get(&copied, 100), "row"));
    store_close(copied.store);
    folder_remove(copy);
    rmdir(memory);

    snprintf(cut_off, sizeof(cut_off), "%s.copy", f.directory);
    CHECK(mkdir(cut_off, 0700) == 0);
    REQUIRE(open_store(&f, false));
    CHECK(!is_beside(&f));
    store_close(f.store);
}

TEST(a_copy_into_what_is_there_is_refused_and_the_store_goes_on)
{
    struct fixture f = { 0 };

    REQUIRE(open_store(&f, false));
    f.op->may_block = true;
    CHECK(put(&f, 1, "one", NULL) == ST_OK);
    CHECK(store_backup(f.op, f.store, test_directory()) == ST_UNAVAILABLE);
    CHECK(put(&f, 2, "two", NULL) == ST_OK && slice_is(get(&f, 1), "one"));
    f.op->may_block = false;
    CHECK(store_backup(f.op, f.store, test_directory()) == ST_WOULD_BLOCK);
    f.op->may_block = true;
    store_close(f.store);
}

static uint64_t disk_bytes(struct fixture *f)
{
    struct store_stats stats;

    store_stats(f->store, &stats);
    return stats.disk_bytes;
}

/* Rows that no compression makes smaller. */
static void write_rows(struct fixture *f, size_t rows, size_t row_bytes)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;

    for (size_t i = 0; i < rows; i++) {
        uint64_t *bytes = arena_alloc(&f->op->arena, row_bytes);

        for (size_t k = 0; k < row_bytes / sizeof(*bytes); k++)
            bytes[k] = env_random_u64(f->op->env);
        batch_put(batch, key_of(f, i), slice_make(bytes, row_bytes));
    }
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
}

/* The same in files: closing writes what was in memory. */
static void fill(struct fixture *f, size_t rows, size_t row_bytes)
{
    write_rows(f, rows, row_bytes);
    store_close(f->store);
}

TEST(what_is_written_is_in_buffers_and_what_is_read_from_files_in_the_cache)
{
    enum { ROWS = 100, ROW_BYTES = 10 * 1024 };
    struct store_stats fresh, later;
    struct fixture f = { 0 };

    REQUIRE(open_store(&f, false));
    fill(&f, ROWS, ROW_BYTES);
    REQUIRE(open_store(&f, false));
    store_stats(f.store, &fresh);
    CHECK(get(&f, 1).size == ROW_BYTES);
    write_rows(&f, ROWS, ROW_BYTES);
    store_stats(f.store, &later);
    CHECK(later.block_cache_bytes >= fresh.block_cache_bytes + ROW_BYTES);
    CHECK(later.write_buffer_bytes >= fresh.write_buffer_bytes + (uint64_t)ROWS * ROW_BYTES);
    store_close(f.store);
}

TEST(the_space_of_a_dropped_bucket_is_given_back_though_nothing_else_is_written)
{
    enum { ROWS = 200, ROW_BYTES = 100 * 1024, PATIENCE_US = 60 * 1000 * 1000 };
    int64_t began_us = env_monotonic_us(env_system());
    struct fixture f = { 0 };
    uint64_t full;

    REQUIRE(open_store(&f, false));
    fill(&f, ROWS, ROW_BYTES);
    REQUIRE(open_store(&f, false));
    full = disk_bytes(&f);
    CHECK(full >= ROWS * ROW_BYTES);
    CHECK(store_drop(f.op, f.store, TEST_BUCKET) == ST_OK);
    while (disk_bytes(&f) > full / 2 && env_monotonic_us(env_system()) - began_us < PATIENCE_US)
        sched_yield();
    CHECK(disk_bytes(&f) <= full / 2); /* RocksDB itself has some MB set apart */
    store_close(f.store);
}

TEST(what_was_written_again_and_again_is_brought_together_when_nobody_writes)
{
    enum { TIMES = 6, ROWS = 40, ROW_BYTES = 100 * 1024, PATIENCE_US = 60 * 1000 * 1000 };
    int64_t began_us = env_monotonic_us(env_system());
    struct fixture f = { 0 };
    uint64_t full;

    for (int i = 0; i < TIMES; i++) {
        REQUIRE(open_store(&f, false));
        fill(&f, ROWS, ROW_BYTES);
    }
    REQUIRE(open_store(&f, false));
    f.op->may_block = true;
    full = disk_bytes(&f);
    CHECK(full >= TIMES * ROWS * ROW_BYTES);
    while (disk_bytes(&f) > full / 2 && env_monotonic_us(env_system()) - began_us < PATIENCE_US)
        CHECK(store_upkeep(f.op, f.store) == ST_OK);
    CHECK(disk_bytes(&f) <= full / 2);
    store_close(f.store);
}

/* Bytes that this process has read from files, whether they were in the system's memory or not. */
static uint64_t bytes_read(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    unsigned long long bytes = 0;

    CHECK(file && fscanf(file, "rchar: %llu", &bytes) == 1);
    if (file)
        fclose(file);
    return bytes;
}

/* The filter of half a million keys is larger than a shard of the cache, and would never stay there in one piece. */
TEST(a_look_for_a_key_reads_a_piece_of_a_large_filter_and_not_all_of_it)
{
    enum { ROWS = 500 * 1000, ROW_BYTES = 8, LOOKS = 200, MB = 1 << 20, PATIENCE_US = 60 * 1000 * 1000 };
    int64_t began_us = env_monotonic_us(env_system());
    struct fixture f = { 0 };
    uint64_t before;

    for (int i = 0; i < 2; i++) {
        REQUIRE(open_store(&f, false));
        fill(&f, ROWS, ROW_BYTES);
    }
    REQUIRE(open_store(&f, false));
    f.op->may_block = true;
    before = disk_bytes(&f);
    while (disk_bytes(&f) > before * 3 / 4 && env_monotonic_us(env_system()) - began_us < PATIENCE_US)
        CHECK(store_upkeep(f.op, f.store) == ST_OK); /* filters of new files are held all the time */
    CHECK(disk_bytes(&f) <= before * 3 / 4);

    before = bytes_read();
    for (uint64_t i = 0; i < LOOKS; i++)
        CHECK(get(&f, i * 7919 % ROWS).size == ROW_BYTES);
    CHECK(bytes_read() - before < 20 * MB);
    store_close(f.store);
}

/* Which waits for no compaction: it is told to stop. */
TEST(a_store_closes_while_the_space_of_a_dropped_bucket_is_being_given_back)
{
    struct fixture f = { 0 };

    REQUIRE(open_store(&f, false));
    fill(&f, 100, 100 * 1024);
    REQUIRE(open_store(&f, false));
    CHECK(store_drop(f.op, f.store, TEST_BUCKET) == ST_OK);
    store_close(f.store);
    REQUIRE(open_store(&f, false));
    CHECK(!get(&f, 1).data);
    store_close(f.store);
}

/* More rows than one block holds, so that opening the bucket, which reads the head's block, leaves some cold. */
TEST(what_only_the_disk_has_would_block_a_loop_thread)
{
    enum { ROWS = 2000 };
    struct fixture f = { 0 };
    struct snapshot *taken = NULL;
    struct batch *batch;
    struct commit_stamp stamp;
    struct slice key, value;
    struct rows rows;

    REQUIRE(open_store(&f, false));
    batch = batch_new(f.op, TEST_BUCKET);
    for (uint64_t i = 0; i < ROWS; i++)
        batch_put(batch, key_of(&f, i), slice_of("some bytes that fill blocks"));
    CHECK(store_commit(f.op, f.bucket, batch, &stamp) == ST_OK);
    store_close(f.store);

    REQUIRE(open_store(&f, false));
    key = key_of(&f, ROWS / 2);
    REQUIRE(store_snapshot(f.op, f.bucket, &taken) == ST_OK);
    f.op->may_block = false;
    CHECK(store_get_many(f.op, taken, &key, 1, &value) == ST_WOULD_BLOCK);
    CHECK(store_scan(f.op, taken, range_of(&f, 0, ROWS, false), (struct scan_limit){ ROWS, SIZE_MAX },
                     &rows) == ST_WOULD_BLOCK);
    f.op->may_block = true;
    CHECK(store_get_many(f.op, taken, &key, 1, &value) == ST_OK && value.data);
    f.op->may_block = false;
    CHECK(store_get_many(f.op, taken, &key, 1, &value) == ST_OK && value.data); /* now it is cached */
    f.op->may_block = true;
    store_release(taken);
    store_close(f.store);
}

/* Even keys are there. Some of the blocks that would tell are in memory, most are not. */
TEST(a_loop_thread_that_asks_for_several_keys_is_told_the_truth_or_to_wait)
{
    enum { ROWS = 20000, PAIRS = 20000 };
    struct fixture f = { 0 };
    struct snapshot *taken = NULL;
    struct batch *batch;
    struct commit_stamp stamp;
    int told = 0;

    REQUIRE(open_store(&f, false));
    batch = batch_new(f.op, TEST_BUCKET);
    for (uint64_t i = 0; i < ROWS; i += 2)
        batch_put(batch, key_of(&f, i), slice_of("some bytes that fill blocks"));
    CHECK(store_commit(f.op, f.bucket, batch, &stamp) == ST_OK);
    store_close(f.store);
    REQUIRE(open_store(&f, false));
    REQUIRE(store_snapshot(f.op, f.bucket, &taken) == ST_OK);
    for (int i = 0; i < PAIRS; i++) {
        uint64_t number[2] = { env_random_u64(f.op->env) % ROWS, env_random_u64(f.op->env) % ROWS };
        struct slice keys[2] = { key_of(&f, number[0]), key_of(&f, number[1]) }, values[2];

        f.op->may_block = i % 1000 == 0;
        if (store_get_many(f.op, taken, keys, 2, values) != ST_OK)
            continue;
        told++;
        for (int k = 0; k < 2; k++)
            CHECK(number[k] % 2 ? !values[k].data : slice_is(values[k], "some bytes that fill blocks"));
    }
    CHECK(told > PAIRS / 10);
    f.op->may_block = true;
    store_release(taken);
    store_close(f.store);
}

static uint64_t cached_bytes(struct fixture *f)
{
    struct store_stats stats = { 0 };

    store_stats(f->store, &stats);
    return stats.cache_bytes;
}

TEST(what_a_loop_thread_could_not_read_counts_as_asked_for_once)
{
    enum { ITEMS = 2000, TRIES = 5 };
    struct fixture f = { 0 };
    struct snapshot *taken = NULL;
    struct commit_stamp stamp;
    struct slice key, value;
    struct batch *batch;

    REQUIRE(open_store(&f, false));
    batch = batch_new(f.op, TEST_BUCKET);
    for (uint64_t i = 0; i < ITEMS; i++) {
        size_t size;
        uint8_t *record = stampable(&f, &size);

        batch_put_stamped(batch, key_of(&f, i), record, size);
    }
    CHECK(store_commit(f.op, f.bucket, batch, &stamp) == ST_OK);
    store_close(f.store);
    REQUIRE(open_store(&f, false));
    REQUIRE(store_snapshot(f.op, f.bucket, &taken) == ST_OK);
    key = key_of(&f, ITEMS / 2);
    f.op->may_block = false;
    for (int i = 0; i < TRIES; i++)
        CHECK(store_get_items(f.op, taken, &key, 1, &value) == ST_WOULD_BLOCK);
    f.op->may_block = true;
    CHECK(store_get_items(f.op, taken, &key, 1, &value) == ST_OK && value.data);
    CHECK(cached_bytes(&f) == 0);
    CHECK(store_get_items(f.op, taken, &key, 1, &value) == ST_OK && value.data);
    CHECK(cached_bytes(&f) > 0);
    store_release(taken);
    store_close(f.store);
}

/* Even keys below ROWS are there, less those that a later file deletes. */
enum { SCANNED_ROWS = 20000, DELETED_EACH = 10 };

static bool is_there(uint64_t number)
{
    return number % 2 == 0 && number % DELETED_EACH != 0;
}

static void fill_in_two_files(struct fixture *f)
{
    struct commit_stamp stamp;
    struct batch *batch;

    REQUIRE(open_store(f, false));
    batch = batch_new(f->op, TEST_BUCKET);
    for (uint64_t i = 0; i < SCANNED_ROWS; i += 2)
        batch_put(batch, key_of(f, i), slice_of("some bytes that fill blocks"));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    store_close(f->store);
    REQUIRE(open_store(f, false));
    batch = batch_new(f->op, TEST_BUCKET);
    for (uint64_t i = 0; i < SCANNED_ROWS; i += DELETED_EACH)
        batch_delete(batch, key_of(f, i));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    store_close(f->store);
}

/* The rows are all of the range's, in its order, up to the limit; and whether there are more. */
static bool is_truth(struct fixture *f, uint64_t from, uint64_t to, bool reverse, size_t limit,
                     const struct rows *rows)
{
    size_t found = 0;

    for (uint64_t i = 0; i < to - from; i++) {
        uint64_t number = reverse ? to - 1 - i : from + i;

        if (!is_there(number))
            continue;
        if (found == limit)
            return rows->count == limit && rows->more;
        if (found == rows->count || !slice_equal(rows->row[found].key, key_of(f, number)))
            return false;
        found++;
    }
    return found == rows->count && !rows->more;
}

TEST(a_loop_thread_that_scans_is_told_the_truth_or_to_wait)
{
    enum { SCANS = 20000 };
    struct fixture f = { 0 };
    struct snapshot *taken = NULL;
    int told = 0, waits = 0;

    fill_in_two_files(&f);
    REQUIRE(open_store(&f, false));
    REQUIRE(store_snapshot(f.op, f.bucket, &taken) == ST_OK);
    for (int i = 0; i < SCANS; i++) {
        uint64_t from = env_random_u64(f.op->env) % SCANNED_ROWS, count = env_random_u64(f.op->env) % 300;
        uint64_t to = from + count < SCANNED_ROWS ? from + count : SCANNED_ROWS;
        size_t limit = 1 + env_random_u64(f.op->env) % 100;
        struct arena_mark mark = arena_mark(&f.op->arena);
        struct rows rows = { 0 };
        bool reverse = i % 2;
        enum status st;

        f.op->may_block = i % 1000 == 0;
        st = store_scan(f.op, taken, range_of(&f, from, to, reverse), (struct scan_limit){ limit, SIZE_MAX },
                        &rows);
        CHECK(st == ST_OK || st == ST_WOULD_BLOCK);
        told += st == ST_OK;
        waits += st == ST_WOULD_BLOCK;
        if (st == ST_OK)
            CHECK(is_truth(&f, from, to, reverse, limit, &rows));
        arena_rewind(&f.op->arena, mark);
    }
    CHECK(told > SCANS / 20 && waits > SCANS / 20);
    f.op->may_block = true;
    store_release(taken);
    store_close(f.store);
}

TEST(a_loop_thread_that_asks_for_the_latest_is_told_the_truth_or_to_wait)
{
    enum { TIMES = 20000 };
    struct fixture f = { 0 };
    int told = 0, waits = 0;

    fill_in_two_files(&f);
    REQUIRE(open_store(&f, false));
    for (int i = 0; i < TIMES; i++) {
        uint64_t number = env_random_u64(f.op->env) % SCANNED_ROWS;
        struct arena_mark mark = arena_mark(&f.op->arena);
        struct slice value;
        enum status st;

        f.op->may_block = i % 1000 == 0;
        st = store_get_latest(f.op, f.bucket, key_of(&f, number), &value);
        CHECK(st == ST_OK || st == ST_WOULD_BLOCK);
        told += st == ST_OK;
        waits += st == ST_WOULD_BLOCK;
        if (st == ST_OK)
            CHECK(is_there(number) ? slice_is(value, "some bytes that fill blocks") : !value.data);
        arena_rewind(&f.op->arena, mark);
    }
    CHECK(told > TIMES / 20 && waits > TIMES / 20);
    f.op->may_block = true;
    store_close(f.store);
}

static struct slice run_key(char key[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        key[i] = (char)(number >> (56 - 8 * i));
    return slice_make(key, 8);
}

static enum status open_backend(struct fixture *f, struct backend **backend)
{
    struct store_options options = { .directory = f->directory, .cache_bytes = 8 << 20 };

    f->op = test_op();
    snprintf(f->directory, sizeof(f->directory), "%s/data", test_directory());
    return rocksdb_backend(f->op, &options, backend);
}

/* Even keys, in a run of their own. */
static void write_run(struct op *op, struct backend *backend, uint64_t from, uint64_t to)
{
    struct run_space *runs = backend->runs;
    struct run_writer *writer = NULL;
    char key[8];

    REQUIRE(runs->ops->begin(op, runs, &writer) == ST_OK);
    for (uint64_t i = from; i < to; i += 2)
        CHECK(runs->ops->add(op, runs, writer, run_key(key, i), slice_of("some bytes that fill blocks")) ==
              ST_OK);
    CHECK(runs->ops->finish(op, runs, writer) == ST_OK);
}

/* Whoever reads runs has asked before whether he may wait: a cursor need not know, but must not tell that there is nothing. */
TEST(a_cursor_of_runs_tells_the_truth_or_to_wait)
{
    enum { ROWS = 20000, MOVES = 20000 };
    struct backend *backend = NULL;
    struct run_cursor *cursor = NULL;
    struct run_space *runs;
    struct run_row row = { 0 };
    struct fixture f = { 0 };
    bool placed = false;
    uint64_t at = 0;

    REQUIRE(open_backend(&f, &backend) == ST_OK);
    write_run(f.op, backend, 0, ROWS / 2);
    write_run(f.op, backend, ROWS / 2, ROWS);
    backend->ops->close(backend);
    REQUIRE(open_backend(&f, &backend) == ST_OK);
    runs = backend->runs;
    REQUIRE(runs->ops->open(f.op, runs, false, &cursor) == ST_OK);
    for (int i = 0; i < MOVES; i++) {
        enum run_move move = placed ? (enum run_move)(env_random_u64(f.op->env) % 4) : RUN_AT_OR_AFTER;
        uint64_t number = env_random_u64(f.op->env) % (ROWS + 2), expected;
        bool exists;
        char key[8];

        f.op->may_block = i % 1000 == 0;
        if (move == RUN_AT_OR_AFTER) {
            expected = number + number % 2;
            exists = expected < ROWS;
        } else if (move == RUN_BEFORE) {
            exists = number > 0;
            expected = exists ? (number - 1) & ~1ull : 0;
            expected = expected >= ROWS ? ROWS - 2 : expected;
        } else {
            exists = move == RUN_NEXT ? at + 2 < ROWS : at > 0;
            expected = move == RUN_NEXT ? at + 2 : at - 2;
        }
        placed = false;
        if (runs->ops->read(f.op, runs, cursor, move, run_key(key, number), &row) != ST_OK)
            continue;
        CHECK((row.key.data != NULL) == exists);
        if (!row.key.data)
            continue;
        CHECK(slice_equal(row.key, run_key(key, expected)));
        CHECK(slice_is(row.value, "some bytes that fill blocks"));
        placed = true;
        at = expected;
    }
    f.op->may_block = true;
    runs->ops->close(runs, cursor);
    free(row.memory);
    backend->ops->close(backend);
}

/* RocksDB cannot lock a directory, so it cannot be opened for writing while this is there. */
static void block_lock(struct fixture *f, bool block)
{
    char path[600];

    snprintf(path, sizeof(path), "%s/LOCK", f->directory);
    if (block)
        CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    else
        CHECK(rmdir(path) == 0);
}

CONTRACT(reads_go_on_when_it_can_be_opened_for_reading_only)
{
    struct commit_stamp stamp;

    if (!f->durable || !f->faulty)
        return;
    CHECK(put(f, 1, "one", NULL) == ST_OK);
    block_lock(f, true);
    faulty_fail(&f->controls, FAULTY_WRITE, 1);
    CHECK(put(f, 1, "two", NULL) == ST_AMBIGUOUS);
    CHECK(slice_is(get(f, 1), "one"));
    env_advance_ms(f->op->env, 200);
    CHECK(put(f, 1, "two", NULL) == ST_UNAVAILABLE);
    CHECK(slice_is(get(f, 1), "one"));
    block_lock(f, false);
    env_advance_ms(f->op->env, 200);
    CHECK(put(f, 1, "three", &stamp) == ST_OK && stamp.lsn == 2);
    CHECK(slice_is(get(f, 1), "three"));
}
#else
#include "store/store.h"
#include "test.h"

TEST(a_build_without_rocksdb_says_so)
{
    struct store_options options = { .kind = STORE_ROCKSDB, .directory = "unused" };
    struct store *store = NULL;

    CHECK(store_open(test_op(), &options, &store) == ST_NOT_BUILT && !store);
    CHECK(strstr(test_op()->error, "no RocksDB"));
}
#endif
