/*
 * tools/bench/commit.c - what durable commits cost, beside RocksDB by itself writing the same documents.
 *     bench-commit [documents] [threads] [directory] [entries]
 * grouped   RocksDB, one thread, groups of 16 documents with one sync: what the disk allows
 * single    RocksDB, all threads, each document written and synced by itself
 * store     store_commit() from all threads: id key, 1 KB record, change, head, expectation
 * With `entries`, RocksDB writes so many index keys beside each document, and the store is left out.
 */
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef ORRERY_ROCKSDB
int main(void)
{
    fputs("bench-commit: this build has no RocksDB\n", stderr);
    return 1;
}
#else
#include <rocksdb/c.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "store/store.h"

enum { VALUE_BYTES = 1024, GROUP_DOCUMENTS = 16, BUCKET = 1 << BUCKET_BITS, THREADS_MAX = 256 };
enum { ENTRY_VALUE_BYTES = 12 };

struct run {
    size_t documents, entries;
    atomic_size_t next;
    const char *directory;
    rocksdb_t *db;
    struct bucket *bucket;
    atomic_size_t conflicts;
};

static void die(const char *why)
{
    fprintf(stderr, "bench-commit: %s\n", why);
    exit(1);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void remove_directory(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static double seconds_since(int64_t start_us)
{
    return (double)(env_monotonic_us(env_system()) - start_us) / 1e6;
}

/* Half of it compresses, as documents do. */
static void fill(uint8_t *value, size_t number)
{
    uint64_t x = number;

    memset(value, 'a', VALUE_BYTES);
    for (size_t at = 64; at + 8 <= VALUE_BYTES / 2; at += 8) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        memcpy(value + at, &x, 8);
    }
}

/* ---- RocksDB by itself ---- */

static rocksdb_options_t *raw_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();

    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_max_background_jobs(options, 2);
    return options;
}

/* As one key an entry would look: bucket, kind, path, value, number. */
static void raw_put_entry(rocksdb_writebatch_t *batch, size_t path, size_t number)
{
    uint64_t hash = (path + 1) * 0x9e3779b97f4a7c15u, value = number * hash,
             big_endian = __builtin_bswap64(number);
    char key[6 + 1 + sizeof(hash) + ENTRY_VALUE_BYTES + sizeof(number)] = { 0, 0, 0, 0, 16, 0, 'X' };

    memcpy(key + 7, &hash, sizeof(hash));
    memcpy(key + 7 + sizeof(hash), &value, sizeof(value));
    memcpy(key + sizeof(key) - sizeof(number), &big_endian, sizeof(number));
    rocksdb_writebatch_put(batch, key, sizeof(key), "", 0);
}

static void raw_put(rocksdb_writebatch_t *batch, struct op *op, const struct run *run, size_t number)
{
    struct slice key = key_document(&op->arena, BUCKET, number);
    uint8_t value[VALUE_BYTES];

    fill(value, number);
    rocksdb_writebatch_put(batch, key.data, key.size, (const char *)value, sizeof(value));
    for (size_t path = 0; path < run->entries; path++)
        raw_put_entry(batch, path, number);
}

static void raw_write(struct run *run, size_t documents_each)
{
    rocksdb_writeoptions_t *synced = rocksdb_writeoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *message = NULL;
    struct op op;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    rocksdb_writeoptions_set_sync(synced, 1);
    for (;;) {
        size_t first = atomic_fetch_add(&run->next, documents_each);

        if (first >= run->documents)
            break;
        for (size_t i = 0; i < documents_each; i++)
            raw_put(batch, &op, run, first + i);
        rocksdb_write(run->db, synced, batch, &message);
        if (message)
            die(message);
        rocksdb_writebatch_clear(batch);
        op_begin(&op, OP_TIMEOUT_MS);
    }
    op_free(&op);
    rocksdb_writebatch_destroy(batch);
    rocksdb_writeoptions_destroy(synced);
}

static void *raw_grouped(void *argument)
{
    raw_write(argument, GROUP_DOCUMENTS);
    return NULL;
}

static void *raw_single(void *argument)
{
    raw_write(argument, 1);
    return NULL;
}

/* ---- the store ---- */

static struct batch *make_batch(struct op *op, struct bucket *bucket)
{
    uint64_t number = bucket_next_counter(bucket), scope = number * 0x9e3779b97f4a7c15u | 1;
    struct batch *batch = batch_new(op, bucket_id(bucket));
    uint8_t *value = arena_alloc(&op->arena, VALUE_BYTES);
    size_t change_bytes;
    uint8_t *change = change_encode(
        op, &(struct change){ .kind = CHANGE_CREATE, .number = number, .old_record = slice_of("") },
        &change_bytes);
    struct slice id = slice_make(&scope, sizeof(scope));

    fill(value, number);
    value[0] = RECORD_FORMAT;
    batch_expect(batch, scope, bucket_lsn(bucket));
    batch_put_stamped(batch, key_document(&op->arena, bucket_id(bucket), number), value, VALUE_BYTES);
    batch_put(batch, key_id(&op->arena, bucket_id(bucket), slice_make(&scope, 4), id), id);
    batch_log(batch, change, change_bytes);
    batch_uses_counter(batch, number);
    return batch;
}

static void *store_write(void *argument)
{
    struct run *run = argument;
    struct commit_stamp stamp;
    struct op op;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    while (atomic_fetch_add(&run->next, 1) < run->documents) {
        enum status st = store_commit(&op, run->bucket, make_batch(&op, run->bucket), &stamp);

        if (st == ST_WRITE_CONFLICT)
            atomic_fetch_add(&run->conflicts, 1);
        else if (st != ST_OK)
            die(op.error);
        op_begin(&op, OP_TIMEOUT_MS);
    }
    op_free(&op);
    return NULL;
}

/* ---- runs ---- */

static double documents_per_second(struct run *run, size_t threads, void *(*body)(void *))
{
    pthread_t thread[THREADS_MAX];
    int64_t start = env_monotonic_us(env_system());

    atomic_store(&run->next, 0);
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, body, run) != 0)
            die("cannot start a thread");
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return (double)run->documents / seconds_since(start);
}

static double run_raw(struct run *run, size_t threads, void *(*body)(void *))
{
    rocksdb_options_t *options = raw_options();
    char *message = NULL;
    double rate;

    run->db = rocksdb_open(options, run->directory, &message);
    if (message)
        die(message);
    rate = documents_per_second(run, threads, body);
    rocksdb_close(run->db);
    rocksdb_options_destroy(options);
    remove_directory(run->directory);
    return rate;
}

static double run_store(struct run *run, size_t threads, struct store_stats *stats)
{
    struct store_options options = { .kind = STORE_ROCKSDB,
                                     .directory = run->directory,
                                     .sync = true,
                                     .cache_bytes = (size_t)64 << 20,
                                     .threads = true };
    struct store *store;
    struct op op;
    double rate;

    op_init(&op, env_system(), OP_MEMORY_BYTES_MAX);
    if (store_open(&op, &options, &store) != ST_OK || store_bucket(&op, store, BUCKET, &run->bucket) != ST_OK)
        die(op.error);
    rate = documents_per_second(run, threads, store_write);
    store_stats(store, stats);
    store_close(store);
    op_free(&op);
    remove_directory(run->directory);
    return rate;
}

static void print_store(struct run *run, size_t threads, double grouped, double single)
{
    struct store_stats stats;
    double store = run_store(run, threads, &stats);

    printf("store    %8.0f documents/s, %zu threads; %.2f of grouped, %.2f of single\n", store, threads,
           store / grouped, store / single);
    printf("         %llu syncs, %.1f documents a sync, %zu conflicts, %.0f bytes a document\n",
           (unsigned long long)stats.syncs, (double)stats.commits / (double)stats.syncs,
           (size_t)run->conflicts, (double)stats.bytes_written / (double)stats.commits);
}

int main(int argc, char **argv)
{
    struct run run = { .documents = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000 };
    size_t threads = argc > 2 ? strtoull(argv[2], NULL, 10) : 16;
    double grouped, single;
    char directory[4096];

    if (threads < 1 || threads > THREADS_MAX)
        die("between 1 and 256 threads");
    snprintf(directory, sizeof(directory), "%s/bench-commit-%d", argc > 3 ? argv[3] : ".", (int)getpid());
    run.directory = directory;
    run.entries = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    grouped = run_raw(&run, 1, raw_grouped);
    printf("grouped  %8.0f documents/s\n", grouped);
    single = run_raw(&run, threads, raw_single);
    printf("single   %8.0f documents/s, %zu threads\n", single, threads);
    if (argc <= 4)
        print_store(&run, threads, grouped, single);
    return 0;
}
#endif
