/* test/unit/vector/column_test.c - columns against a list that is looked through, and graphs against columns. */
#include <math.h>
#include <stdlib.h>

#include "test.h"
#include "vector/columns.h"

enum { DIMENSIONS = 20, ITEMS = 6000, WANTED = 10 };

static uint64_t state = 3;

static uint64_t draw_whole(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

static double draw(void)
{
    return (double)(draw_whole() % 2000001) / 1000000 - 1;
}

/* Near one of forty places. */
static void draw_vector(double *x)
{
    uint64_t place = draw_whole() % 40;

    for (size_t i = 0; i < DIMENSIONS; i++)
        x[i] = sin((double)(place * 31 + i * 7)) + 0.3 * draw();
}

static struct vector_column *column_of(enum vector_function function, bool wants_graph)
{
    struct vector_key key = { .path = slice_of("/v"),
                              .dimensions = DIMENSIONS,
                              .function = function,
                              .graph_from = wants_graph ? 20000 : 0,
                              .build_list = 100 };

    return vector_column_new(&key, NULL);
}

static struct vector_span everything = { 0, UINT64_MAX };

struct asked {
    int8_t code[64];
    struct vector_candidate found[256];
    struct vector_search search;
};

static void ask_for(struct asked *asked, const double *x, enum vector_function function, bool by_most)
{
    asked->search = (struct vector_search){ .code = asked->code,
                                            .function = function,
                                            .by_most = by_most,
                                            .span = &everything,
                                            .span_count = 1,
                                            .found = asked->found,
                                            .wanted = WANTED };
    CHECK(vector_encode(x, DIMENSIONS, asked->code, &asked->search.measure));
}

static bool has(const struct vector_search *search, uint64_t number)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->found[i].number == number)
            return true;
    return false;
}

TEST(what_was_removed_or_is_doubtful_or_outside_is_no_candidate)
{
    struct vector_column *column = column_of(VECTOR_EUCLIDEAN, false);
    uint64_t doubtful[] = { 70 }, among[] = { 10, 20, 500 };
    struct vector_span spans[] = { { 5, 15 }, { 60, 100 } };
    double x[DIMENSIONS] = { 0 };
    struct asked asked;

    for (uint64_t number = 10; number <= 100;
         number += 10) { /* then backwards, so that not all lie in order */
        x[0] = (double)number;
        CHECK(vector_column_add(column, number, x));
    }
    x[0] = 1;
    CHECK(vector_column_add(column, 5, x));
    x[0] = 0;
    ask_for(&asked, x, VECTOR_EUCLIDEAN, false);
    vector_column_scan(column, &asked.search);
    CHECK(asked.search.count == WANTED && asked.search.found[0].number == 5 &&
          asked.search.found[1].number == 10);
    vector_column_remove(column, 10);
    vector_column_remove(column, 10);
    vector_column_scan(column, &asked.search);
    CHECK(!has(&asked.search, 10) && vector_column_count(column) == 10);
    asked.search.doubtful = doubtful;
    asked.search.doubtful_count = 1;
    asked.search.span = spans;
    asked.search.span_count = 2;
    vector_column_scan(column, &asked.search);
    CHECK(asked.search.count == 4 && has(&asked.search, 5) && has(&asked.search, 60) &&
          has(&asked.search, 80) && has(&asked.search, 90));
    asked.search.span = &everything;
    asked.search.span_count = 1;
    asked.search.among = among;
    asked.search.among_count = 3;
    vector_column_scan(column, &asked.search);
    CHECK(asked.search.count == 1 && asked.search.found[0].number == 20);
    vector_column_free(column);
}

TEST(a_vector_without_a_code_is_named_until_it_is_gone)
{
    struct vector_column *column = column_of(VECTOR_COSINE, false);
    double x[DIMENSIONS] = { 1e200 };
    const uint64_t *odd;
    size_t count;

    CHECK(vector_column_add(column, 7, x) && vector_column_add(column, 3, x));
    CHECK(vector_column_odd(column, &odd, &count) && count == 2 && odd[0] == 3 && odd[1] == 7);
    vector_column_remove(column, 3);
    CHECK(vector_column_odd(column, &odd, &count) && count == 1 && odd[0] == 7);
    x[0] = 1;
    CHECK(vector_column_add(column, 7, x));
    CHECK(vector_column_odd(column, &odd, &count) && count == 0 && vector_column_count(column) == 1);
    vector_column_spoil(column);
    CHECK(!vector_column_odd(column, &odd, &count));
    vector_column_free(column);
}

TEST(changes_are_remembered_from_some_commit_on)
{
    struct vector_column *column = column_of(VECTOR_COSINE, false);
    const struct vector_change *change;
    size_t count;

    vector_column_reach(column, 10);
    CHECK(vector_column_since(column, 10, &change, &count) && count == 0);
    CHECK(!vector_column_since(column, 9, &change, &count));
    vector_column_note(column, 11, 1);
    vector_column_note(column, 12, 2);
    vector_column_reach(column, 13);
    CHECK(vector_column_lsn(column) == 13);
    CHECK(vector_column_since(column, 11, &change, &count) && count == 1 && change[0].number == 2);
    CHECK(vector_column_since(column, 10, &change, &count) && count == 2);
    for (uint64_t lsn = 14; lsn < 14 + 40000; lsn++)
        vector_column_note(column, lsn, lsn);
    vector_column_reach(column, 14 + 40000);
    CHECK(!vector_column_since(column, 10, &change, &count));
    CHECK(vector_column_since(column, 14 + 39990, &change, &count) && count == 9);
    vector_column_free(column);
}

TEST(compacting_changes_no_answer)
{
    struct vector_column *column = column_of(VECTOR_DOT_PRODUCT, false);
    static struct vector_candidate before[WANTED];
    double x[DIMENSIONS];
    struct asked asked;

    for (uint64_t i = 0; i < ITEMS; i++) {
        draw_vector(x);
        CHECK(vector_column_add(column, 1 + i * 2654435761u % 65536, x));
    }
    for (uint64_t i = 0; i < ITEMS; i += 2)
        vector_column_remove(column, 1 + i * 2654435761u % 65536);
    CHECK(vector_column_wants_compacting(column));
    draw_vector(x);
    ask_for(&asked, x, VECTOR_DOT_PRODUCT, true);
    vector_column_scan(column, &asked.search);
    memcpy(before, asked.found, sizeof(before));
    vector_column_compact(column);
    CHECK(!vector_column_wants_compacting(column));
    vector_column_scan(column, &asked.search);
    for (size_t i = 0; i < WANTED; i++)
        CHECK(asked.found[i].number == before[i].number && asked.found[i].score == before[i].score);
    vector_column_free(column);
}

TEST(a_graph_finds_what_a_scan_finds)
{
    struct vector_column *column = column_of(VECTOR_COSINE, true);
    struct vector_column_stats stats;
    struct asked scan, walk;
    size_t found = 0;
    double x[DIMENSIONS];
    uint8_t *marks;

    for (uint64_t i = 1; i <= 20500; i++) {
        draw_vector(x);
        CHECK(vector_column_add(column, i, x));
    }
    ask_for(&walk, x, VECTOR_COSINE, false);
    CHECK(!vector_column_walk(column, &walk.search, 50)); /* there is no graph yet */
    while (vector_column_build(column, draw_whole()))
        ;
    vector_column_stats(column, &stats);
    CHECK(stats.graph == 20500 && stats.recall_percent >= 98);
    for (uint64_t i = 1; i <= 20500; i += 3)
        vector_column_remove(column, i);
    for (uint64_t i = 30001; i <= 30100; i++) { /* not in the graph */
        draw_vector(x);
        CHECK(vector_column_add(column, i, x));
    }
    marks = calloc(1, vector_column_mark_bytes(column));
    for (int i = 0; i < 100; i++) {
        draw_vector(x);
        ask_for(&scan, x, VECTOR_COSINE, false);
        ask_for(&walk, x, VECTOR_COSINE, false);
        walk.search.marks = marks;
        vector_column_scan(column, &scan.search);
        CHECK(vector_column_walk(column, &walk.search, 50));
        for (size_t k = 0; k < WANTED; k++)
            found += has(&walk.search, scan.found[k].number);
    }
    CHECK(found >= 970);
    free(marks);
    vector_column_free(column);
}

/* Where neighbours say little of one another: a walk has it hardest there. */
static void draw_anywhere(double *x)
{
    for (size_t i = 0; i < DIMENSIONS; i++)
        x[i] = draw();
}

/* In percent, of queries that the column does not have. */
static double recall_of(const struct vector_column *column, int queries)
{
    uint8_t *marks = calloc(1, vector_column_mark_bytes(column));
    struct asked scan, walk;
    double x[DIMENSIONS], found = 0;

    for (int i = 0; i < queries; i++) {
        draw_anywhere(x);
        ask_for(&scan, x, VECTOR_COSINE, false);
        ask_for(&walk, x, VECTOR_COSINE, false);
        walk.search.marks = marks;
        vector_column_scan(column, &scan.search);
        CHECK(vector_column_walk(column, &walk.search, VECTOR_LIST_MIN));
        for (size_t k = 0; k < WANTED; k++)
            found += has(&walk.search, scan.found[k].number);
    }
    free(marks);
    return 100 * found / (queries * WANTED);
}

/* One column for all of it, since a graph takes long to build under sanitizers. */
TEST(recall_as_it_is_measured_is_that_of_new_queries_and_no_graph_is_walked_before)
{
    struct vector_column *column = column_of(VECTOR_COSINE, true);
    struct vector_column_stats stats = { 0 };
    struct asked walk;
    double x[DIMENSIONS], recall;

    for (uint64_t i = 1; i <= 20500; i++) {
        draw_anywhere(x);
        CHECK(vector_column_add(column, i, x));
    }
    for (; stats.graph < 20500; vector_column_stats(column, &stats))
        CHECK(vector_column_build(column, draw_whole()));
    ask_for(&walk, x, VECTOR_COSINE, false);
    CHECK(!stats.is_walked && !vector_column_walk(column, &walk.search, VECTOR_LIST_MIN));

    while (vector_column_build(column, draw_whole()))
        ;
    vector_column_stats(column, &stats);
    recall = recall_of(column, 300);
    CHECK(stats.is_walked && recall >= 97.5);
    CHECK((double)stats.recall_percent <= recall + 1);

    for (uint64_t i = 1; i <= 1000; i++)
        vector_column_remove(column, i);
    CHECK(!vector_column_build(column, draw_whole()));
    for (uint64_t i = 1001; i <= 2500; i++) /* with these a tenth is gone: it is measured again */
        vector_column_remove(column, i);
    CHECK(vector_column_build(column, draw_whole()));
    vector_column_free(column);
}

TEST(a_column_that_is_used_stays)
{
    struct vector_shelf *shelf = vector_shelf_new(), *same = vector_shelf_take(shelf);
    struct vector_key key = { .path = slice_of("/v"), .dimensions = DIMENSIONS }, other = key;
    struct vector_column *column, *again;
    struct account account;

    account_init(&account, 0);
    other.dimensions = 7;
    CHECK(vector_shelf_find(shelf, &key, &account, &column) == VECTOR_NEW);
    CHECK(vector_shelf_find(same, &key, &account, &again) == VECTOR_BUSY && !again);
    vector_shelf_publish(column);
    CHECK(vector_shelf_find(same, &key, &account, &again) == VECTOR_READY && again == column);
    vector_column_done(again);
    CHECK(!vector_columns_let_go(&account)); /* somebody uses it */
    vector_column_done(column);
    CHECK(vector_columns_let_go(&account));
    CHECK(vector_shelf_find(shelf, &key, &account, &column) == VECTOR_NEW);
    vector_shelf_give_up(column);
    CHECK(vector_shelf_find(shelf, &other, &account, &column) == VECTOR_NEW);
    vector_shelf_publish(column);
    vector_column_drop(column);
    CHECK(vector_shelf_find(shelf, &other, &account, &again) == VECTOR_NEW);
    vector_shelf_give_up(again);
    vector_column_done(column);
    vector_shelf_release(same);
    vector_shelf_release(shelf);
}
