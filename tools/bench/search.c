/*
 * tools/bench/search.c - full text: how fast texts are indexed, and the best of them found.
 *     bench-search TEXTS FOLDER
 * Makes TEXTS random texts of 60 to 140 words, whose words are as unevenly frequent as those of a language, and writes
 * them to FOLDER/texts, a number and a text a line, and what is asked to FOLDER/queries, so that others can be asked the
 * same. Then indexes them in a store in FOLDER/store, without waiting for the disk, and asks. A query is compiled and run
 * as a request's is, but for HTTP; seconds are those of one thread's CPU, but for what the index does beside it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "catalog/catalog.h"
#include "catalog/definition.h"
#include "partition/key.h"
#include "query/query.h"
#include "source/items.h"
#include "store/entries.h"
#include "store/store.h"
#include "words/lists.h"

enum {
    VOCABULARY = 200000,
    WORDS_MIN = 60,
    WORDS_MAX = 140,
    QUERIES = 100,
    WORDS_ASKED_MAX = 4,
    WORD_BYTES_MAX = 24
};
enum { COMMON_FROM = 60, COMMON_TO = 250 }; /* words that are asked for: of many texts each, by rank */

struct bench {
    struct op op;
    struct store *store;
    struct catalog *catalog;
    struct locks *locks;
    struct database *database;
    struct container *container;
    size_t texts;
    uint64_t random;
    double *share; /* of words up to each rank */
    char asked[QUERIES][WORDS_ASKED_MAX][WORD_BYTES_MAX];
};

static void check(struct bench *bench, enum status st, const char *what)
{
    if (st == ST_OK)
        return;
    fprintf(stderr, "bench-search: %s: %s\n", what, bench->op.error ? bench->op.error : "failed");
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void next_op(struct bench *bench)
{
    op_begin(&bench->op, 600 * 1000);
    bench->op.may_block = true;
}

/* ---- texts ---- */

static double uniform(struct bench *bench)
{
    bench->random = bench->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(bench->random >> 11) + 0.5) / 9007199254740992.0;
}

static void make_shares(struct bench *bench)
{
    double sum = 0;

    for (size_t i = 0; i < VOCABULARY; i++)
        bench->share[i] = sum += 1.0 / (double)(i + 1);
    for (size_t i = 0; i < VOCABULARY; i++)
        bench->share[i] /= sum;
}

static size_t draw_rank(struct bench *bench)
{
    double wanted = uniform(bench);
    size_t low = 0, high = VOCABULARY - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (bench->share[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Syllables, and an end that no stemmer takes away. */
static void word_of(size_t rank, char word[WORD_BYTES_MAX])
{
    static const char consonants[] = "bdfgklmnprtvz", vowels[] = "aou";
    size_t at = 0, left = rank + 40;

    for (; left; left /= 39) {
        word[at++] = consonants[left % 39 / 3];
        word[at++] = vowels[left % 3];
    }
    word[at++] = 'k';
    word[at] = '\0';
}

static void make_text(struct bench *bench, struct buf *text)
{
    size_t words = WORDS_MIN + (size_t)(uniform(bench) * (WORDS_MAX - WORDS_MIN + 1));
    char word[WORD_BYTES_MAX];

    for (size_t i = 0; i < words; i++) {
        word_of(draw_rank(bench), word);
        buf_printf(text, "%s%s", i ? " " : "", word);
    }
}

static void choose_queries(struct bench *bench, const char *folder)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/queries", folder);
    file = fopen(path, "w");
    for (size_t i = 0; i < QUERIES; i++)
        for (size_t k = 0; k < WORDS_ASKED_MAX; k++) {
            word_of(COMMON_FROM + (size_t)(uniform(bench) * (COMMON_TO - COMMON_FROM)), bench->asked[i][k]);
            fprintf(file, "%s%s", bench->asked[i][k], k + 1 < WORDS_ASKED_MAX ? " " : "\n");
        }
    fclose(file);
}

/* ---- the store ---- */

static void open_all(struct bench *bench, const char *folder)
{
    static char directory[4096];
    struct store_options options = { .kind = STORE_ROCKSDB,
                                     .directory = directory,
                                     .cache_bytes = 512 << 20,
                                     .threads = true,
                                     .entries = ENTRIES_PACKED };

    snprintf(directory, sizeof(directory), "%s/store", folder);
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
    container_release(bench->container);
    database_release(bench->database);
    catalog_close(bench->catalog);
    locks_close(bench->locks);
    store_close(bench->store);
    op_free(&bench->op);
}

static void make_container(struct bench *bench)
{
    static const char text[] =
        "{\"id\":\"texts\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2},"
        "\"fullTextPolicy\":{\"defaultLanguage\":\"en-US\",\"fullTextPaths\":[{\"path\":\"/t\"}]},"
        "\"indexingPolicy\":{\"includedPaths\":[{\"path\":\"/n/?\"}],\"excludedPaths\":[{\"path\":\"/*\"}],"
        "\"fullTextIndexes\":[{\"path\":\"/t\"}]}}";
    struct json body, definition;

    next_op(bench);
    check(bench, json_parse(&bench->op, slice_of(text), &body), "definition");
    check(bench, container_define(&bench->op, body, (struct define_options){ 0 }, &definition), "define");
    check(bench,
          catalog_create_container(&bench->op, bench->catalog, bench->database, definition, 1,
                                   &bench->container),
          "container");
}

static void create_item(struct bench *bench, struct slice text, size_t i)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct placed_key key;
    struct record record;
    struct json item;
    struct buf body;

    buf_init(&body, &bench->op.arena);
    buf_printf(&body, "{\"id\":\"%zu\",\"pk\":\"p%zu\",\"n\":%zu,\"t\":\"%.*s\"}", i, i % 1000,
               i * 7919 % 1000, SLICE_ARGS(text));
    check(bench, json_parse(&bench->op, buf_as_slice(&body), &item), "item");
    partition_key_extract(bench->container, item, &key.values);
    partition_key_place(bench->container, &key);
    check(bench,
          partition_begin(&bench->op, bench->locks, bench->container, &key, json_string(json_get(item, "id")),
                          &txn),
          "begin");
    check(bench, partition_create(&bench->op, txn, item, &record), "create");
    check(bench, partition_commit(&bench->op, &txn, &stamp), "commit");
}

/* What making the texts takes is not counted. */
static void index_texts(struct bench *bench, const char *folder)
{
    double s = 0;
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/texts", folder);
    file = fopen(path, "w");
    for (size_t i = 0; i < bench->texts; i++) {
        struct buf text;

        next_op(bench);
        buf_init(&text, &bench->op.arena);
        make_text(bench, &text);
        fprintf(file, "%zu\t%.*s\n", i, SLICE_ARGS(buf_as_slice(&text)));
        s -= seconds(CLOCK_MONOTONIC);
        create_item(bench, buf_as_slice(&text), i);
        s += seconds(CLOCK_MONOTONIC);
    }
    fclose(file);
    printf("indexed_s %.3f\n", s);
    next_op(bench);
    check(bench, store_entries_flush(&bench->op, bench->store), "flush");
}

/* ---- queries ---- */

static void ask(struct bench *bench, const char *text, double *s)
{
    struct query_limits limits = { .rows = 1000, .bytes = PAGE_BYTES_MAX };
    struct json definition = bench->container->definition;
    struct query_options options = { .full_text = json_get(definition, "fullTextPolicy"),
                                     .indexing = json_get(definition, "indexingPolicy") };
    struct partition_scope all = { 0 };
    struct item_source *items = NULL;
    struct query_page page;
    struct query *query;

    next_op(bench);
    *s -= seconds(CLOCK_THREAD_CPUTIME_ID);
    check(bench, query_compile(&bench->op, slice_of(text), json_undefined, &options, &query), text);
    check(bench, item_source_open(&bench->op, bench->container, &all, &items), "source");
    check(bench, query_run(&bench->op, query, item_source_rows(items), slice_of(""), &limits, &page), text);
    item_source_close(items);
    *s += seconds(CLOCK_THREAD_CPUTIME_ID);
    if (page.count != 10)
        fprintf(stderr, "bench-search: %zu rows for %s\n", page.count, text);
    query_page_free(&page);
}

/* One, two or four words, or two as a phrase. */
static void print_query(char *text, size_t room, const struct bench *bench, size_t i, size_t words,
                        bool phrase, const char *filter)
{
    size_t size = (size_t)snprintf(
        text, room, "SELECT TOP 10 VALUE c.id FROM c %s ORDER BY RANK FullTextScore(c.t", filter);

    for (size_t k = 0; k < words; k++)
        size += (size_t)snprintf(text + size, room - size, "%s%s",
                                 k == 0   ? ", \""
                                 : phrase ? " "
                                          : "\", \"",
                                 bench->asked[i][k]);
    snprintf(text + size, room - size, "\")");
}

static void measure(struct bench *bench, const char *name, size_t words, bool phrase, const char *filter)
{
    double first = 0, again = 0;
    char text[512];

    for (size_t i = 0; i < QUERIES; i++) {
        print_query(text, sizeof(text), bench, i, words, phrase, filter);
        ask(bench, text, &first);
        for (int round = 0; round < 10; round++)
            ask(bench, text, &again);
    }
    printf("%s_first_ms %.4f\n%s_ms %.4f\n", name, 1e3 * first / QUERIES, name, 1e3 * again / QUERIES / 10);
    fflush(stdout);
}

int main(int count, char **argument)
{
    struct bench bench = { .texts = count > 1 ? strtoul(argument[1], NULL, 10) : 100000, .random = 1 };
    struct word_lists_stats stats;

    if (count < 3)
        return 1;
    bench.share = calloc(VOCABULARY, sizeof(*bench.share));
    if (!bench.share)
        return 1;
    make_shares(&bench);
    open_all(&bench, argument[2]);
    make_container(&bench);
    choose_queries(&bench, argument[2]);
    index_texts(&bench, argument[2]);
    measure(&bench, "two", 2, false, "");
    measure(&bench, "one", 1, false, "");
    measure(&bench, "four", 4, false, "");
    measure(&bench, "filtered", 2, false, "WHERE c.n < 100");
    word_lists_stats(&stats);
    printf("lists_mb %.1f\n", 1e-6 * (double)stats.bytes);
    close_all(&bench);
    free(bench.share);
    return 0;
}
