/*
 * tools/bench/create.c - what a create costs, with and without unique keys and a time to live.
 *     bench-create [items] [directory]
 * Items are of about 200 bytes, a hundred in a logical partition. Without a directory the store is in memory. Nothing is synced, and one
 * thread does everything: microseconds are those of one core.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "catalog/definition.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "housekeeping/sweep.h"

struct bench {
    struct op op;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct database *database;
    size_t items;
};

static const struct {
    const char *name, *more;
} kinds[] = {
    { "plain", "" },
    { "defaultTtl", ",\"defaultTtl\":1000000" },
    { "one unique key", ",\"uniqueKeyPolicy\":{\"uniqueKeys\":[{\"paths\":[\"/name\"]}]}" },
    { "three unique keys",
      ",\"uniqueKeyPolicy\":{\"uniqueKeys\":[{\"paths\":[\"/name\"]},{\"paths\":[\"/n\"]},"
      "{\"paths\":[\"/city\",\"/address/zip\"]}]}" },
};

static void check(struct bench *bench, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "bench-create: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

static int64_t now_us(void)
{
    return env_monotonic_us(env_system());
}

static struct json parse(struct bench *bench, const struct buf *text)
{
    struct json value;

    check(bench, json_parse(&bench->op, buf_as_slice(text), &value), "json");
    return value;
}

static void open_all(struct bench *bench, const char *directory)
{
    struct store_options options = { .kind = directory ? STORE_ROCKSDB : STORE_MEMORY,
                                     .directory = directory,
                                     .cache_bytes = directory ? 512 << 20 : 0,
                                     .entries = directory ? ENTRIES_NONE : ENTRIES_PLAIN };

    op_init(&bench->op, env_system(), OP_MEMORY_BYTES_MAX);
    check(bench, store_open(&bench->op, &options, &bench->store), "store_open");
    check(bench, catalog_open(&bench->op, bench->store, &bench->catalog), "catalog_open");
    bench->locks = locks_open();
    check(bench, catalog_create_database(&bench->op, bench->catalog, slice_of("db"), &bench->database),
          "database");
}

static struct container *make_container(struct bench *bench, const char *name, const char *more)
{
    struct container *container;
    struct json definition;
    struct buf text;

    op_begin(&bench->op, OP_TIMEOUT_MS);
    buf_init(&text, &bench->op.arena);
    buf_printf(&text, "{\"id\":\"%s\",\"partitionKey\":{\"paths\":[\"/pk\"],\"version\":2}%s}", name, more);
    check(bench, container_define(&bench->op, parse(bench, &text), (struct define_options){ 0 }, &definition),
          "define");
    check(bench,
          catalog_create_container(&bench->op, bench->catalog, bench->database, definition, 1, &container),
          "container");
    return container;
}

static void create_item(struct bench *bench, const struct container *container, size_t i)
{
    struct op *op = &bench->op;
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct placed_key key;
    struct record item;
    struct json document;
    struct slice id;
    struct buf text;
    bool found;

    op_begin(op, OP_TIMEOUT_MS);
    buf_init(&text, &op->arena);
    buf_printf(
        &text,
        "{\"id\":\"%zu\",\"pk\":\"p%zu\",\"name\":\"The name %zu of a thing\",\"n\":%zu,\"city\":\"Oslo\","
        "\"tags\":[\"red\",\"blue\"],\"address\":{\"street\":\"Long street %zu\",\"zip\":\"%zu\"}}",
        i, i / 100, i, i, i % 90, i);
    document = parse(bench, &text);
    id = json_string(json_get(document, "id"));
    partition_key_extract(container, document, &key.values);
    partition_key_place(container, &key);
    check(bench, partition_begin(op, bench->locks, container, &key, id, &txn), "begin");
    check(bench, partition_find(op, txn, id, &item, &found), "find");
    check(bench, partition_create(op, txn, document, &item), "create");
    check(bench, partition_commit(op, &txn, &stamp), "commit");
}

/* In turns of a thousand, so that what the machine does meanwhile is everybody's. */
static void create_all(struct bench *bench)
{
    enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), TURN = 1000 };
    struct container *container[KINDS];
    int64_t spent_us[KINDS] = { 0 };

    for (size_t k = 0; k < KINDS; k++)
        container[k] = make_container(bench, kinds[k].name, kinds[k].more);
    for (size_t at = 0; at < bench->items; at += TURN) {
        for (size_t k = 0; k < KINDS; k++) {
            int64_t began_us = now_us();

            for (size_t i = at; i < at + TURN && i < bench->items; i++)
                create_item(bench, container[k], i);
            spent_us[k] += now_us() - began_us;
        }
    }
    for (size_t k = 0; k < KINDS; k++) {
        printf("%-20s %6.2f us a create\n", kinds[k].name, (double)spent_us[k] / (double)bench->items);
        container_release(container[k]);
    }
}

/* Items of a second, a moment later. */
static void sweep_all(struct bench *bench)
{
    struct container *container = make_container(bench, "short", ",\"defaultTtl\":1");
    struct sweep *sweep = sweep_open(bench->catalog);
    uint64_t removed = 0;
    int64_t began_us;

    for (size_t i = 0; i < bench->items; i++)
        create_item(bench, container, i);
    for (began_us = now_us(); now_us() - began_us < 1100000;)
        ;
    began_us = now_us();
    while (removed < bench->items) {
        op_begin(&bench->op, OP_TIMEOUT_MS);
        check(bench, sweep_expired(&bench->op, sweep, &removed), "sweep");
    }
    printf("%-20s %6.2f us an item\n", "removing expired",
           (double)(now_us() - began_us) / (double)bench->items);
    sweep_close(sweep);
    container_release(container);
}

int main(int argc, char **argv)
{
    struct bench bench = { .items = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000 };

    open_all(&bench, argc > 2 ? argv[2] : NULL);
    create_all(&bench);
    sweep_all(&bench);
    database_release(bench.database);
    catalog_close(bench.catalog);
    locks_close(bench.locks);
    store_close(bench.store);
    op_free(&bench.op);
    return 0;
}
