/*
 * tools/bench/query.c - what queries cost by scan, beside the scan alone.
 *     bench-query [items] [directory] [query...]
 * Items are of about 200 bytes. Without a directory, or with an empty one, the store is in memory. One thread does
 * everything, and its CPU time counts, the least of some runs: items a second are items a second on one core. Queries that
 * are given are asked in place of those here, for a profile of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "catalog/catalog.h"
#include "catalog/definition.h"
#include "partition/key.h"
#include "partition/scan.h"
#include "query/query.h"
#include "source/items.h"
#include "store/store.h"

enum { RUNS = 5 };

struct bench {
    struct op op;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct database *database;
    struct container *container;
    size_t items;
    int64_t scan_us;
};

static const char *const queries[] = {
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT * FROM c WHERE c.score = 31",
    "SELECT * FROM c WHERE c.score > 990",
    "SELECT * FROM c WHERE c.score > 990 AND c.city = \"Oslo\"",
    "SELECT * FROM c WHERE c._ts > 99999999999",
    "SELECT VALUE c.id FROM c WHERE c.address.zip = \"x\"",
    "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.name, \"The name 9999\")",
    "SELECT VALUE c.id FROM c WHERE CONTAINS(c.name, \"name 99999\", true)",
    "SELECT TOP 20000 c.id, c.name, c.score FROM c WHERE c.active",
    "SELECT c.city, COUNT(1) AS n, AVG(c.score) AS mean FROM c GROUP BY c.city",
    "SELECT c.city, c.active, SUM(c.price) AS total FROM c GROUP BY c.city, c.active",
    "SELECT DISTINCT VALUE c.city FROM c",
    "SELECT DISTINCT c.city, c.active FROM c",
    "SELECT TOP 10 * FROM c ORDER BY c.score DESC",
    "SELECT VALUE c.id FROM c ORDER BY c.name",
    "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags WHERE t = \"red\"",
    "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = \"red\")",
    "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, \"t7\")",
};

static void check(struct bench *bench, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "bench-query: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

/* Of this thread: others may use the machine at the same time. */
static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static void next_op(struct bench *bench)
{
    op_begin(&bench->op, 600 * 1000);
    bench->op.may_block = true;
}

static void open_all(struct bench *bench, const char *directory)
{
    struct store_options options = { .kind = directory ? STORE_ROCKSDB : STORE_MEMORY,
                                     .directory = directory,
                                     .cache_bytes = directory ? 512 << 20 : 0,
                                     .entries = directory ? ENTRIES_NONE : ENTRIES_PLAIN };
    struct json body, definition;
    const char *text =
        "{\"id\":\"c\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}}";

    op_init(&bench->op, env_system(), OP_MEMORY_BYTES_MAX);
    next_op(bench);
    check(bench, store_open(&bench->op, &options, &bench->store), "store_open");
    check(bench, catalog_open(&bench->op, bench->store, &bench->catalog), "catalog_open");
    bench->locks = locks_open();
    check(bench, catalog_create_database(&bench->op, bench->catalog, slice_of("db"), &bench->database),
          "database");
    check(bench, json_parse(&bench->op, slice_of(text), &body), "definition");
    check(bench, container_define(&bench->op, body, (struct define_options){ 0 }, &definition), "define");
    check(bench,
          catalog_create_container(&bench->op, bench->catalog, bench->database, definition, 1,
                                   &bench->container),
          "container");
}

/* About 200 bytes, twenty cities, scores below 1000, a key for each hundred items. */
static struct json make_item(struct bench *bench, size_t i)
{
    static const char *const cities[] = {
        "Oslo", "Paris", "Lagos", "Lima", "Quito", "Bern", "Cairo", "Hanoi"
    };
    struct json item;
    struct buf text;

    buf_init(&text, &bench->op.arena);
    buf_printf(
        &text,
        "{\"id\":\"%zu\",\"pk\":\"p%zu\",\"name\":\"The name %zu of a thing\",\"score\":%zu,\"city\":\"%s\","
        "\"active\":%s,\"price\":%zu.25,\"tags\":[\"red\",\"blue\",\"t%zu\"],\"address\":{\"street\":\"Long "
        "street %zu\",\"zip\":\"%zu\"}}",
        i, i / 100, i, i * 7919 % 1000, cities[i * 31 % 8], i % 3 ? "true" : "false", i % 500, i % 50, i % 90,
        i);
    check(bench, json_parse(&bench->op, buf_as_slice(&text), &item), "item");
    return item;
}

static void create_item(struct bench *bench, size_t i)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct placed_key key;
    struct record record;
    struct json item;

    next_op(bench);
    item = make_item(bench, i);
    partition_key_extract(bench->container, item, &key.values);
    partition_key_place(bench->container, &key);
    check(bench,
          partition_begin(&bench->op, bench->locks, bench->container, &key, json_string(json_get(item, "id")),
                          &txn),
          "begin");
    check(bench, partition_create(&bench->op, txn, item, &record), "create");
    check(bench, partition_commit(&bench->op, &txn, &stamp), "commit");
}

/* The last column is the time of the scan alone as a part of this one's: what evaluation leaves of it. */
static void report(struct bench *bench, const char *what, int64_t us, size_t rows)
{
    if (!bench->scan_us)
        bench->scan_us = us;
    printf("%10.0f items/s %7.3f us each %7zu rows %5.2f  %s\n", 1e6 * (double)bench->items / (double)us,
           (double)us / (double)bench->items, rows, (double)bench->scan_us / (double)us, what);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t time_scan(struct bench *bench)
{
    struct partition_scope all = { 0 };
    struct partition_scan scan;
    struct record record;
    bool found = true;
    int64_t began;

    next_op(bench);
    began = now_us();
    check(bench, partition_scan_open(&bench->op, bench->container, &all, &scan), "scan");
    while (found)
        check(bench, partition_scan_next(&bench->op, &scan, &record, &found), "next");
    partition_scan_close(&scan);
    return now_us() - began;
}

static void run_scan(struct bench *bench)
{
    int64_t us = INT64_MAX;

    for (int i = 0; i < RUNS; i++)
        us = least(us, time_scan(bench));
    report(bench, "the scan alone", us, bench->items);
}

/* One page of it, which is all of the answer, or as much as a page holds. */
static int64_t time_query(struct bench *bench, const char *text, size_t *rows)
{
    struct query_limits limits = { .rows = 1000, .bytes = PAGE_BYTES_MAX };
    struct query_options options = { .way = QUERY_BY_SCAN };
    struct partition_scope all = { 0 };
    struct item_source *items = NULL;
    struct query_page page;
    struct query *query;
    int64_t began;

    next_op(bench);
    began = now_us();
    check(bench, query_compile(&bench->op, slice_of(text), json_undefined, &options, &query), text);
    check(bench, item_source_open(&bench->op, bench->container, &all, &items), "scan");
    check(bench, query_run(&bench->op, query, item_source_rows(items), slice_of(""), &limits, &page), text);
    began = now_us() - began;
    *rows = page.count;
    query_page_free(&page);
    item_source_close(items);
    return began;
}

static void run_query(struct bench *bench, const char *text)
{
    int64_t us = INT64_MAX;
    size_t rows = 0;

    for (int i = 0; i < RUNS; i++)
        us = least(us, time_query(bench, text, &rows));
    report(bench, text, us, rows);
}

int main(int count, char **argument)
{
    struct bench bench = { .items = count > 1 ? strtoul(argument[1], NULL, 10) : 100000 };

    open_all(&bench, count > 2 && *argument[2] ? argument[2] : NULL);
    for (size_t i = 0; i < bench.items; i++)
        create_item(&bench, i);
    run_scan(&bench);
    for (int i = 3; i < count; i++)
        run_query(&bench, argument[i]);
    for (size_t i = 0; count <= 3 && i < sizeof(queries) / sizeof(queries[0]); i++)
        run_query(&bench, queries[i]);
    next_op(&bench);
    container_release(bench.container);
    database_release(bench.database);
    catalog_close(bench.catalog);
    locks_close(bench.locks);
    store_close(bench.store);
    op_free(&bench.op);
    return 0;
}
