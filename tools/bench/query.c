/*
 * tools/bench/query.c - what queries cost by scan, beside the scan alone.
 *     bench-query [items] [directory]
 * Items are of about 200 bytes. Without a directory the store is in memory. One thread does everything:
 * items a second are items a second on one core.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "catalog/catalog.h"
#include "catalog/definition.h"
#include "partition/key.h"
#include "partition/scan.h"
#include "query/query.h"
#include "store/store.h"

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
    "SELECT * FROM c WHERE c.score > 990 AND c.city = \"Oslo\"",
    "SELECT VALUE c.id FROM c WHERE c.address.zip = \"x\"",
    "SELECT VALUE c.id FROM c WHERE CONTAINS(c.name, \"name 99999\", true)",
    "SELECT c.city, COUNT(1) AS n, AVG(c.score) AS mean FROM c GROUP BY c.city",
    "SELECT DISTINCT VALUE c.city FROM c",
    "SELECT TOP 10 * FROM c ORDER BY c.score DESC",
    "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags WHERE t = \"red\"",
    "SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = \"red\")",
};

static void check(struct bench *bench, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "bench-query: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

static int64_t now_us(void)
{
    return env_monotonic_us(env_system());
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

struct items {
    struct query_source base;
    struct partition_scan scan;
    struct record record;
};

static enum status next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct items *items = (struct items *)source;
    enum status st = partition_scan_next(op, &items->scan, &items->record, found);

    row->number = items->record.number;
    row->counter = number_counter(items->record.number);
    row->body = items->record.document;
    return st;
}

static enum status seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    partition_scan_seek(&((struct items *)source)->scan, after);
    return ST_OK;
}

/* The last column is the time of the scan alone as a part of this one's: what evaluation leaves of it. */
static void report(struct bench *bench, const char *what, int64_t us, size_t rows)
{
    if (!bench->scan_us)
        bench->scan_us = us;
    printf("%10.0f items/s %7.3f us each %7zu rows %5.2f  %s\n", 1e6 * (double)bench->items / (double)us,
           (double)us / (double)bench->items, rows, (double)bench->scan_us / (double)us, what);
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

/* Once to warm caches, once to measure. */
static void run_scan(struct bench *bench)
{
    time_scan(bench);
    report(bench, "the scan alone", time_scan(bench), bench->items);
}

static void run_query(struct bench *bench, const char *text)
{
    struct items items = { .base = { next, seek, NULL } };
    struct query_limits limits = { .rows = 1000, .bytes = PAGE_BYTES_MAX };
    struct query_options options = { 0 };
    struct partition_scope all = { 0 };
    struct query_page page;
    struct query *query;
    int64_t began;

    next_op(bench);
    began = now_us();
    check(bench, query_compile(&bench->op, slice_of(text), json_undefined, &options, &query), text);
    check(bench, partition_scan_open(&bench->op, bench->container, &all, &items.scan), "scan");
    check(bench, query_run(&bench->op, query, &items.base, slice_of(""), &limits, &page), text);
    report(bench, text, now_us() - began, page.count);
    query_page_free(&page);
    partition_scan_close(&items.scan);
}

int main(int count, char **argument)
{
    struct bench bench = { .items = count > 1 ? strtoul(argument[1], NULL, 10) : 100000 };

    open_all(&bench, count > 2 ? argument[2] : NULL);
    for (size_t i = 0; i < bench.items; i++)
        create_item(&bench, i);
    run_scan(&bench);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
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
