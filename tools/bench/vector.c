/*
 * tools/bench/vector.c - the nearest of many vectors: by scan of items, by codes, by a graph; and how many of the
 * scan's they find.
 *     bench-vector [vectors] [dimensions] [queries] [set] [directory]
 * Before that, what a vector adds to a create: over HTTP one costs 100 to 200 us (aim: 0.7 of the creates without).
 * Vectors are of unit length, in a hundred clusters ("clustered"), or made of 24 latent dimensions each ("spread").
 * Without a set, or with "all", there are all sets. Without a directory the store is in memory. A query is compiled and
 * run as a request's is, but for HTTP; one thread does everything, and queries a second are those of its CPU. Recall is
 * that of the first queries; there are RATE_QUERIES at least, each asked once, since what was read before is in caches.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "catalog/catalog.h"
#include "catalog/definition.h"
#include "partition/key.h"
#include "query/query.h"
#include "source/items.h"
#include "store/store.h"
#include "vector/columns.h"

enum { CLUSTERS = 100, LATENT = 24, DIMENSIONS_MAX = 4096, ROWS = 10, RATE_QUERIES = 2000 };

/* What is measured: vectors of a kind under a type of index. */
struct set {
    const char *name, *type;
    bool spread;
};

static const struct set sets[] = {
    { "clustered", "quantizedFlat", false },
    { "clustered-graph", "diskANN", false },
    { "spread", "diskANN", true },
};

struct bench {
    struct op op;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct database *database;
    struct container *container;
    size_t vectors, dimensions, queries;
    bool spread;
    uint64_t random;
    double *center;          /* of clusters, or what latent dimensions mean */
    char (*truth)[ROWS][24]; /* of the first `queries` */
    uint64_t codes, items;   /* that queries have read */
};

static void check(struct bench *bench, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "bench-vector: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void next_op(struct bench *bench)
{
    op_begin(&bench->op, 600 * 1000);
    bench->op.may_block = true;
}

/* ---- vectors ---- */

static double uniform(struct bench *bench)
{
    bench->random = bench->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(bench->random >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct bench *bench)
{
    double a = uniform(bench), b = uniform(bench);

    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

static void make_vector(struct bench *bench, double *x)
{
    double weight[LATENT], square = 0;
    size_t cluster = (size_t)(uniform(bench) * CLUSTERS);

    for (size_t k = 0; k < LATENT; k++)
        weight[k] = normal(bench);
    for (size_t i = 0; i < bench->dimensions; i++) {
        x[i] = normal(bench) * (bench->spread ? 0.5 : 0.4);
        for (size_t k = 0; bench->spread && k < LATENT; k++)
            x[i] += weight[k] * bench->center[k * bench->dimensions + i];
        if (!bench->spread)
            x[i] += bench->center[cluster * bench->dimensions + i];
        square += x[i] * x[i];
    }
    for (size_t i = 0; i < bench->dimensions; i++)
        x[i] /= sqrt(square);
}

static void print_vector(struct buf *text, const double *x, size_t dimensions)
{
    buf_byte(text, '[');
    for (size_t i = 0; i < dimensions; i++)
        buf_printf(text, "%s%.6f", i ? "," : "", x[i]);
    buf_byte(text, ']');
}

/* ---- items ---- */

static void open_all(struct bench *bench, const char *directory)
{
    struct store_options options = { .kind = directory ? STORE_ROCKSDB : STORE_MEMORY,
                                     .directory = directory,
                                     .cache_bytes = directory ? 512 << 20 : 0,
                                     .threads = true,
                                     .entries = ENTRIES_PACKED };

    op_init(&bench->op, env_system(), OP_MEMORY_BYTES_MAX);
    next_op(bench);
    check(bench, store_open(&bench->op, &options, &bench->store), "store_open");
    check(bench, catalog_open(&bench->op, bench->store, &bench->catalog), "catalog_open");
    bench->locks = locks_open();
    check(bench, catalog_create_database(&bench->op, bench->catalog, slice_of("db"), &bench->database),
          "database");
}

static void close_all(struct bench *bench)
{
    next_op(bench);
    database_release(bench->database);
    catalog_close(bench->catalog);
    locks_close(bench->locks);
    store_close(bench->store);
    op_free(&bench->op);
}

static void make_container(struct bench *bench, const char *name, const char *type)
{
    struct json body, definition;
    struct buf text;

    next_op(bench);
    buf_init(&text, &bench->op.arena);
    buf_printf(
        &text,
        "{\"id\":\"%s\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2},"
        "\"vectorEmbeddingPolicy\":{\"vectorEmbeddings\":[{\"path\":\"/v\",\"dataType\":\"float32\","
        "\"dimensions\":%zu,\"distanceFunction\":\"cosine\"}]},\"indexingPolicy\":{\"includedPaths\":"
        "[{\"path\":\"/n/?\"}],\"excludedPaths\":[{\"path\":\"/*\"}],\"vectorIndexes\":[{\"path\":\"/v\","
        "\"type\":\"%s\"}]}}",
        name, bench->dimensions, type);
    check(bench, json_parse(&bench->op, buf_as_slice(&text), &body), "definition");
    check(bench, container_define(&bench->op, body, (struct define_options){ 0 }, &definition), "define");
    check(bench,
          catalog_create_container(&bench->op, bench->catalog, bench->database, definition, 1,
                                   &bench->container),
          "container");
}

/* With a vector, or without one; in the op's arena. */
static struct slice print_item(struct bench *bench, size_t i, bool has_vector)
{
    static double x[DIMENSIONS_MAX];
    struct buf text;

    buf_init(&text, &bench->op.arena);
    buf_printf(&text, "{\"id\":\"%zu\",\"pk\":\"p%zu\",\"n\":%zu", i, i % 1000, i * 7919 % 1000);
    if (has_vector) {
        make_vector(bench, x);
        buf_text(&text, ",\"v\":");
        print_vector(&text, x, bench->dimensions);
    }
    buf_byte(&text, '}');
    return buf_as_slice(&text);
}

static void create_of(struct bench *bench, struct slice text)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct placed_key key;
    struct record record;
    struct json item;

    check(bench, json_parse(&bench->op, text, &item), "item");
    partition_key_extract(bench->container, item, &key.values);
    partition_key_place(bench->container, &key);
    check(bench,
          partition_begin(&bench->op, bench->locks, bench->container, &key, json_string(json_get(item, "id")),
                          &txn),
          "begin");
    check(bench, partition_create(&bench->op, txn, item, &record), "create");
    check(bench, partition_commit(&bench->op, &txn, &stamp), "commit");
}

static void create_item(struct bench *bench, size_t i)
{
    next_op(bench);
    create_of(bench, print_item(bench, i, true));
}

/* CPU of a create from its text on, without HTTP, which costs the same for both. */
static double create_us(struct bench *bench, const char *name, bool has_vector)
{
    size_t count = bench->vectors < 5000 ? bench->vectors : 5000;
    double s = 0;

    make_container(bench, name, "diskANN");
    for (size_t i = 0; i < count; i++) {
        struct slice text;

        next_op(bench);
        text = print_item(bench, i, has_vector);
        s -= cpu_s();
        create_of(bench, text);
        s += cpu_s();
    }
    container_release(bench->container);
    return 1e6 * s / (double)count;
}

static void bench_creates(struct bench *bench)
{
    double with = create_us(bench, "with", true), without = create_us(bench, "without", false);

    printf("creates, without HTTP: %.1f us of CPU with a vector, %.1f us without\n", with, without);
}

/* ---- queries ---- */

static size_t ask(struct bench *bench, size_t query_number, const char *text, enum query_way way, double *s)
{
    struct query_limits limits = { .rows = 1000, .bytes = PAGE_BYTES_MAX };
    struct json definition = bench->container->definition, parameters;
    struct query_options options = { .vectors = json_get(definition, "vectorEmbeddingPolicy"),
                                     .indexing = json_get(definition, "indexingPolicy"),
                                     .way = way };
    struct partition_scope all = { 0 };
    struct item_source *items = NULL;
    struct query_page page;
    struct query *query;
    struct buf given;
    static double x[DIMENSIONS_MAX];
    size_t hits = 0;

    next_op(bench);
    bench->random = 77 + query_number;
    make_vector(bench, x);
    buf_init(&given, &bench->op.arena);
    buf_text(&given, "[{\"name\":\"@v\",\"value\":");
    print_vector(&given, x, bench->dimensions);
    buf_text(&given, "}]");
    *s -= cpu_s();
    check(bench, json_parse(&bench->op, buf_as_slice(&given), &parameters), "parameters");
    check(bench, query_compile(&bench->op, slice_of(text), parameters, &options, &query), text);
    check(bench, item_source_open(&bench->op, bench->container, &all, &items), "source");
    check(bench, query_run(&bench->op, query, item_source_rows(items), slice_of(""), &limits, &page), text);
    item_source_close(items);
    *s += cpu_s();
    bench->codes += bench->op.work.codes_read;
    bench->items += bench->op.work.documents_scanned;
    for (size_t i = 0; query_number < bench->queries && i < page.count && i < ROWS; i++) {
        char *row = bench->truth[query_number][i];

        if (way == QUERY_BY_SCAN)
            snprintf(row, sizeof(bench->truth[0][0]), "%.*s", SLICE_ARGS(page.row[i]));
        for (size_t k = 0; k < page.count; k++)
            hits += slice_is(page.row[k], row);
    }
    query_page_free(&page);
    return hits;
}

/* Recall is that of the queries whose truth is known; the rate, that of them all. */
static void measure(struct bench *bench, const char *what, const char *text, size_t known, size_t queries)
{
    double s = 0;
    size_t hits = 0;

    bench->codes = bench->items = 0;
    for (size_t i = 0; i < queries; i++) {
        size_t its = ask(bench, i, text, QUERY_BY_COST, &s);

        hits += i < known ? its : 0;
    }
    printf("  %-24s %6.0f queries/s of CPU %8.3f ms, recall@10 %.4f, codes %7.0f, items %6.0f\n", what,
           (double)queries / s, 1e3 * s / (double)queries, (double)hits / (double)(known * ROWS),
           (double)bench->codes / (double)queries, (double)bench->items / (double)queries);
    fflush(stdout);
}

/* By scan of items; gives the CPU of a query. */
static double find_truth(struct bench *bench, const char *text, size_t queries)
{
    double s = 0;

    for (size_t i = 0; i < queries; i++)
        ask(bench, i, text, QUERY_BY_SCAN, &s);
    return s / (double)queries;
}

/* Until it is built and measured; where there are too few vectors for one, that is at once. */
static void wait_for_graph(void)
{
    struct vector_columns_stats stats;
    time_t began = time(NULL);

    do {
        usleep(100000);
        vector_columns_stats(&stats);
    } while (stats.building);
    printf("  built in %lld s; codes and graphs so far %.1f MB, %llu graphs, recall as measured %llu%%\n",
           (long long)(time(NULL) - began), 1e-6 * (double)stats.bytes, (unsigned long long)stats.graphs,
           (unsigned long long)stats.recall_percent);
}

static void fill(struct bench *bench, const struct set *set)
{
    double began = cpu_s();

    make_container(bench, set->name, set->type);
    bench->spread = set->spread;
    bench->random = 1;
    for (size_t i = 0; i < CLUSTERS * bench->dimensions; i++)
        bench->center[i] = normal(bench);
    for (size_t i = 0; i < bench->vectors; i++)
        create_item(bench, i);
    printf("%s, %s: %zu x %zu (written in %.1f s)\n", set->name, set->type, bench->vectors, bench->dimensions,
           cpu_s() - began);
}

static void bench_filter(struct bench *bench, const char *what, const char *text)
{
    size_t few = bench->queries < 20 ? bench->queries : 20;

    find_truth(bench, text, few);
    measure(bench, what, text, few, RATE_QUERIES / 10);
}

static void bench_set(struct bench *bench, const struct set *set)
{
    static const char *const text = "SELECT TOP 10 VALUE c.id FROM c ORDER BY VectorDistance(c.v, @v)";
    double s = 0;

    fill(bench, set);
    printf("  scan of items: %.3f ms\n", 1e3 * find_truth(bench, text, bench->queries));
    ask(bench, 0, text, QUERY_BY_COST, &s);
    printf("  the first query, which makes the codes: %.0f ms\n", 1e3 * s);
    measure(bench, "codes", text, bench->queries, bench->queries);
    if (slice_is(slice_of(set->type), "diskANN"))
        wait_for_graph();
    measure(bench, set->type, text, bench->queries, RATE_QUERIES);
    bench_filter(bench, "half pass a filter",
                 "SELECT TOP 10 VALUE c.id FROM c WHERE c.n < 500 ORDER BY VectorDistance(c.v, @v)");
    bench_filter(bench, "one in a hundred passes",
                 "SELECT TOP 10 VALUE c.id FROM c WHERE c.n < 10 ORDER BY VectorDistance(c.v, @v)");
    container_release(bench->container);
}

int main(int count, char **argument)
{
    struct bench bench = { .vectors = count > 1 ? strtoul(argument[1], NULL, 10) : 100000,
                           .dimensions = count > 2 ? strtoul(argument[2], NULL, 10) : 128,
                           .queries = count > 3 ? strtoul(argument[3], NULL, 10) : 200 };
    const char *set = count > 4 ? argument[4] : "all";

    if (bench.dimensions == 0 || bench.dimensions > DIMENSIONS_MAX)
        return 1;
    bench.center = calloc(CLUSTERS * bench.dimensions, sizeof(*bench.center));
    bench.truth = calloc(bench.queries, sizeof(*bench.truth));
    if (!bench.center || !bench.truth)
        return 1;
    open_all(&bench, count > 5 ? argument[5] : NULL);
    bench_creates(&bench);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (slice_is(slice_of(set), "all") || slice_is(slice_of(set), sets[i].name))
            bench_set(&bench, &sets[i]);
    close_all(&bench);
    free(bench.center);
    free(bench.truth);
    return 0;
}
