/*
 * tools/bench/packed.c - what the packed index costs by itself, over RocksDB.
 *     bench-packed [items] [directory] [delta MB]
 * An item has 25 entries: 13 of values that many share (2 to 1,000 of them), 12 of values of its own. Commits
 * have 16 items. Times are of this thread and of the whole process; lookups are medians.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef ORRERY_ROCKSDB
int main(void)
{
    fputs("bench-packed: this build has no RocksDB\n", stderr);
    return 1;
}
#else
#include "index/term.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "packed/packed.h"
#include "store/backend.h"

enum {
    BUCKET = 1 << BUCKET_BITS,
    SHARED = 13,
    OWN = 12,
    ENTRIES = SHARED + OWN,
    GROUP_ITEMS = 16,
    KEY_ROOM = 64,
    LOOKUPS = 2000,
};

/* So many values has each path of the first kind. */
static const uint32_t values_of[SHARED] = { 2, 5, 10, 10, 20, 50, 50, 100, 100, 200, 500, 1000, 1000 };

struct bench {
    struct op op;
    struct backend *backend;
    struct packed *packed;
    uint64_t items, lsn;
    uint64_t random;
    struct packed_pin *pin;
};

static void die(struct bench *bench, const char *what)
{
    fprintf(stderr, "bench-packed: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t now_us(void)
{
    return env_monotonic_us(env_system());
}

static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9u;
    return number ^ number >> 32;
}

static uint64_t draw(struct bench *bench, uint64_t below)
{
    return mix(++bench->random) % below;
}

/* ---- entries ---- */

/* Items are of 100,000 partition keys: 20 bits of hash, then a counter. */
static uint64_t number_of(uint64_t item)
{
    return (mix(mix(item) % 100000 + 7) & 0xfffff) << 40 | (item + 1);
}

static size_t put_string(uint8_t *to, uint64_t value, size_t digits)
{
    to[0] = 6;
    for (size_t i = 0; i < digits; i++)
        to[1 + i] = (uint8_t)("0123456789abcdef"[value >> (4 * (digits - 1 - i)) & 15] + 1);
    to[1 + digits] = 0;
    return digits + 2;
}

static size_t put_value(uint8_t *to, uint64_t item, size_t path)
{
    if (path < SHARED)
        return put_string(to, mix(item * ENTRIES + path) % values_of[path], 8);
    if (path % 2)
        return put_string(to, mix(item * ENTRIES + path), 16);
    to[0] = 5; /* a number: any eight bytes, and no more to it */
    put_be(to + 1, mix(item * ENTRIES + path) | (uint64_t)1 << 63, 8);
    to[9] = 0;
    return 10;
}

static struct slice put_key(uint8_t *to, size_t path)
{
    put_be(to, BUCKET, BUCKET_KEY_BYTES);
    to[BUCKET_KEY_BYTES] = KEY_INDEX;
    put_be(to + BUCKET_KEY_BYTES + 1, mix(path + 1000), 8);
    return slice_make(to, BUCKET_KEY_BYTES + 1 + 8);
}

static struct slice put_term_key(uint8_t *to, uint64_t item, size_t path)
{
    struct slice key = put_key(to, path);

    key.size += put_value(to + key.size, item, path);
    return key;
}

/* ---- writing ---- */

struct group {
    struct packed_entry entry[GROUP_ITEMS * ENTRIES];
    uint8_t key[GROUP_ITEMS * ENTRIES][KEY_ROOM];
};

static void fill_group(struct group *group, uint64_t first)
{
    for (size_t i = 0; i < GROUP_ITEMS * ENTRIES; i++) {
        uint64_t item = first + i / ENTRIES;
        struct slice key = put_term_key(group->key[i], item, i % ENTRIES);

        put_be(group->key[i] + key.size, number_of(item), 8);
        group->entry[i] = (struct packed_entry){ slice_make(key.data, key.size + 8), true };
    }
}

static void load(struct bench *bench)
{
    struct group *group = malloc(sizeof(*group));
    int64_t appended_us = 0, begin = now_us(), cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID), making_us = 0;

    for (uint64_t item = 0; item < bench->items; item += GROUP_ITEMS) {
        int64_t at = clock_us(CLOCK_THREAD_CPUTIME_ID), made;

        fill_group(group, item);
        made = clock_us(CLOCK_THREAD_CPUTIME_ID);
        making_us += made - at;
        if (packed_append(&bench->op, bench->packed, BUCKET, ++bench->lsn, group->entry,
                          GROUP_ITEMS * ENTRIES) != ST_OK)
            die(bench, "append");
        packed_committed(bench->packed);
        appended_us += clock_us(CLOCK_THREAD_CPUTIME_ID) - made;
    }
    printf("append            %8.3f us an item (%.0f ns an entry), this thread\n",
           (double)appended_us / (double)bench->items,
           1e3 * (double)appended_us / (double)bench->items / ENTRIES);
    if (packed_flush(&bench->op, bench->packed) != ST_OK)
        die(bench, "flush");
    printf("all threads       %8.3f us CPU an item, written out; %.0f items/s\n",
           (double)(clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu - making_us) / (double)bench->items,
           1e6 * (double)bench->items / (double)(now_us() - begin));
    free(group);
}

/* ---- reading ---- */

static struct slice end_of(uint8_t *to, struct slice prefix)
{
    memcpy(to, prefix.data, prefix.size);
    to[prefix.size - 1]++; /* a value ends with 00, and no path of ours with FF */
    return slice_make(to, prefix.size);
}

static uint64_t walk(struct bench *bench, struct slice from, bool reverse, uint64_t limit)
{
    uint8_t end[KEY_ROOM];
    struct packed_walk walk = { from, end_of(end, from), 0, UINT64_MAX, bench->lsn, reverse };
    struct packed_cursor *cursor;
    struct packed_block block;
    uint64_t found = 0;

    if (packed_cursor_open(&bench->op, bench->packed, bench->pin, &walk, &cursor) != ST_OK)
        die(bench, "open");
    do {
        if (packed_cursor_next(&bench->op, cursor, &block) != ST_OK)
            die(bench, "next");
        found += block.count;
    } while (block.count && found < limit);
    packed_cursor_end(cursor);
    return found;
}

static int by_time(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static void report_median(const char *what, double *time, size_t count)
{
    qsort(time, count, sizeof(*time), by_time);
    printf("%-17s %8.2f us median, %.2f us the slowest in a hundred\n", what, time[count / 2],
           time[count - count / 100 - 1]);
}

/* Of this thread's processor, whatever else the machine does; a read of the disk does not show. */
static double cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + (double)now.tv_nsec / 1e3;
}

static void look_up(struct bench *bench)
{
    static double time[LOOKUPS];
    uint8_t key[KEY_ROOM];

    for (size_t i = 0; i < LOOKUPS; i++) {
        struct slice from = put_term_key(key, draw(bench, bench->items), SHARED + draw(bench, OWN));
        double begin = cpu_us();

        if (walk(bench, from, false, UINT64_MAX) < 1)
            die(bench, "a value was not found");
        time[i] = cpu_us() - begin;
    }
    report_median("one value", time, LOOKUPS);
}

static void look_for_nothing(struct bench *bench)
{
    static double time[LOOKUPS];
    uint8_t key[KEY_ROOM];

    for (size_t i = 0; i < LOOKUPS; i++) {
        struct slice from = put_term_key(key, bench->items + i, SHARED + draw(bench, OWN));
        double begin = cpu_us();

        walk(bench, from, false, UINT64_MAX);
        time[i] = cpu_us() - begin;
    }
    report_median("a value that is not", time, LOOKUPS);
}

static void scan(struct bench *bench, const char *what, size_t path, bool whole, bool reverse)
{
    uint8_t key[KEY_ROOM];
    struct slice from = whole ? put_key(key, path) : put_term_key(key, 1, path);
    double begin;
    uint64_t found;

    walk(bench, from, reverse, UINT64_MAX);
    begin = cpu_us();
    found = walk(bench, from, reverse, UINT64_MAX);
    printf("%-17s %8.1f million entries/s of %llu\n", what, (double)found / (cpu_us() - begin),
           (unsigned long long)found);
}

static void count(struct bench *bench, const char *what, size_t path, bool whole)
{
    uint8_t key[KEY_ROOM], end[KEY_ROOM];
    struct slice from = whole ? put_key(key, path) : put_term_key(key, 1, path);
    static double time[LOOKUPS];
    uint64_t counted = 0;

    for (size_t i = 0; i < LOOKUPS; i++) {
        double begin = cpu_us();

        if (packed_count(&bench->op, bench->packed, bench->pin, from, end_of(end, from), bench->lsn,
                         &counted) != ST_OK)
            die(bench, "count");
        time[i] = cpu_us() - begin;
    }
    report_median(what, time, LOOKUPS);
}

static void read_all(struct bench *bench, const char *when)
{
    bench->pin = packed_pin(bench->packed);
    printf("-- %s\n", when);
    look_up(bench);
    look_for_nothing(bench);
    scan(bench, "a term, half", 0, false, false);
    scan(bench, "a term, a tenth", 2, false, false);
    scan(bench, "a term backwards", 2, false, true);
    scan(bench, "own values", SHARED, true, false);
    scan(bench, "backwards", SHARED, true, true);
    count(bench, "count of a term", 2, false);
    count(bench, "count of a path", SHARED, true);
    packed_unpin(bench->packed, bench->pin);
}

/* ---- life ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void open_packed(struct bench *bench, const char *directory, size_t delta_mb)
{
    const struct store_options store = { .directory = directory,
                                         .sync = true,
                                         .cache_bytes = (size_t)1 << 30 };
    const struct packed_options options = {
        .delta_bytes = delta_mb << 20, .filter_bytes = (size_t)1 << 30, .merge_runs = 4, .threads = true
    };

    if (rocksdb_backend(&bench->op, &store, &bench->backend) != ST_OK)
        die(bench, "rocksdb");
    if (packed_open(&bench->op, bench->backend->runs, &options, &bench->packed) != ST_OK)
        die(bench, "packed");
}

static void close_packed(struct bench *bench)
{
    packed_close(bench->packed);
    bench->backend->ops->close(bench->backend);
}

int main(int argc, char **argv)
{
    const char *directory = argc > 2 ? argv[2] : "bench-packed.data";
    size_t delta_mb = argc > 3 ? strtoul(argv[3], NULL, 10) : 64;
    static struct bench bench;
    int64_t begin;

    bench.items = (argc > 1 ? strtoul(argv[1], NULL, 10) : 200000) / GROUP_ITEMS * GROUP_ITEMS;
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    op_init(&bench.op, env_system(), SIZE_MAX / 2);
    op_begin(&bench.op, INT64_MAX / 2);
    open_packed(&bench, directory, delta_mb);
    load(&bench);
    read_all(&bench, "written out");
    close_packed(&bench);
    begin = now_us();
    open_packed(&bench, directory, delta_mb);
    printf("opened in         %8.2f ms; on disk %.1f bytes an item\n", (double)(now_us() - begin) / 1e3,
           (double)bench.backend->ops->disk_bytes(bench.backend) / (double)bench.items);
    read_all(&bench, "opened again");
    close_packed(&bench);
    op_free(&bench.op);
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
#endif
