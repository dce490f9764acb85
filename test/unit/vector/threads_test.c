/* test/unit/vector/threads_test.c - columns that are searched while others write, compact and build. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "test.h"
#include "vector/columns.h"

enum { DIMENSIONS = 8, NUMBERS = 900, GRAPH_FROM = 300, SEARCHES = 400, WRITES = 1500, WANTED = 5 };

static const struct vector_key key = { .path = { "/v", 2 },
                                       .dimensions = DIMENSIONS,
                                       .function = VECTOR_EUCLIDEAN,
                                       .graph_from = GRAPH_FROM,
                                       .build_list = 25 };

/* Always the same of an item, so that whoever finds it knows its place. */
static void vector_of(uint64_t number, double *x)
{
    for (size_t i = 0; i < DIMENSIONS; i++)
        x[i] = sin((double)(number * 31 + i * i * 7));
}

static void write_one(struct vector_column *column, uint64_t i)
{
    uint64_t number = 1 + i * 7919 % NUMBERS;
    double x[DIMENSIONS];

    vector_of(number, x);
    vector_column_lock_to_write(column);
    if (i % 3 == 0)
        vector_column_remove(column, number);
    else
        CHECK(vector_column_add(column, number, x));
    vector_column_note(column, vector_column_lsn(column) + 1, number);
    vector_column_reach(column, vector_column_lsn(column) + 1);
    if (i % 500 == 499)
        vector_column_compact(column);
    vector_column_unlock(column);
}

/* NULL: there is none. Nobody makes one here. */
static struct vector_column *find_column(struct vector_shelf *shelf)
{
    struct vector_column *column;

    if (vector_shelf_find(shelf, &key, NULL, &column) != VECTOR_NEW)
        return column;
    vector_shelf_give_up(column);
    return NULL;
}

/* Whenever it is done with, the builder is woken. */
static void *write_many(void *context)
{
    for (uint64_t i = 0; i < WRITES; i++) {
        struct vector_column *column = find_column(context);

        write_one(column, i);
        vector_column_done(column);
    }
    return NULL;
}

static void search_once(struct vector_column *column, uint64_t number, bool walks)
{
    struct vector_candidate found[WANTED];
    static const struct vector_span everything = { 0, UINT64_MAX };
    int8_t code[64];
    double x[DIMENSIONS];
    struct vector_search search = { .code = code,
                                    .function = VECTOR_EUCLIDEAN,
                                    .span = &everything,
                                    .span_count = 1,
                                    .found = found,
                                    .wanted = WANTED };

    vector_of(number, x);
    CHECK(vector_encode(x, DIMENSIONS, code, &search.measure));
    vector_column_lock(column);
    search.marks = calloc(1, vector_column_mark_bytes(column));
    if (!walks || !vector_column_walk(column, &search, 30))
        vector_column_scan(column, &search);
    for (size_t i = 0; i < search.count; i++) {
        CHECK(found[i].number >= 1 && found[i].number <= NUMBERS);
        CHECK(i == 0 || found[i].score <= found[i - 1].score);
    }
    vector_column_unlock(column);
    free(search.marks);
}

static void *search_many(void *context)
{
    for (uint64_t i = 0; i < SEARCHES; i++) {
        struct vector_column *column = find_column(context);

        if (column)
            search_once(column, 1 + i % NUMBERS, i % 2);
        vector_column_done(column);
    }
    return NULL;
}

static struct vector_column *make_column(struct vector_shelf *shelf)
{
    struct vector_column *column;
    double x[DIMENSIONS];

    CHECK(vector_shelf_find(shelf, &key, NULL, &column) == VECTOR_NEW);
    for (uint64_t number = 1; number <= GRAPH_FROM + 50; number++) {
        vector_of(number, x);
        CHECK(vector_column_add(column, number, x));
    }
    vector_shelf_publish(column);
    return column;
}

TEST(columns_are_searched_and_graphs_built_while_others_write)
{
    struct vector_shelf *shelf = vector_shelf_new();
    struct vector_column *column = make_column(shelf);
    pthread_t writer, searcher[2];

    CHECK(pthread_create(&writer, NULL, write_many, shelf) == 0);
    for (size_t i = 0; i < 2; i++)
        CHECK(pthread_create(&searcher[i], NULL, search_many, shelf) == 0);
    pthread_join(writer, NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_join(searcher[i], NULL);
    vector_column_lock(column);
    CHECK(vector_column_lsn(column) == WRITES);
    vector_column_unlock(column);
    vector_column_done(column);
    vector_shelf_release(shelf); /* the builder may be at work on it */
}

TEST(columns_are_let_go_while_others_search_them)
{
    struct vector_shelf *shelf = vector_shelf_new();
    pthread_t searcher[2];

    vector_column_done(make_column(shelf));
    for (size_t i = 0; i < 2; i++)
        CHECK(pthread_create(&searcher[i], NULL, search_many, shelf) == 0);
    for (int i = 0; i < 200; i++)
        vector_columns_let_go(NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_join(searcher[i], NULL);
    vector_shelf_release(shelf);
}
