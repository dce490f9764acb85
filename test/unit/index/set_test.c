/* test/unit/index/set_test.c - cursors and counts: what is not in the contract suite (test/store/index_test.c). */
#include "index/set.h"
#include "keys/keys.h"
#include "test.h"

enum { BUCKET = 7 << BUCKET_BITS };

static struct store *opened(struct bucket **bucket)
{
    struct store_options options = { .kind = STORE_MEMORY };
    struct store *store = NULL;

    CHECK(store_open(test_op(), &options, &store) == ST_OK);
    CHECK(store_bucket(test_op(), store, BUCKET, bucket) == ST_OK);
    return store;
}

static void add_numbers(struct bucket *bucket, struct slice term, uint64_t count)
{
    struct batch *batch = batch_new(test_op(), BUCKET);
    struct commit_stamp stamp;

    for (uint64_t i = 1; i <= count; i++)
        batch_index_add(batch, key_index(&test_op()->arena, BUCKET, term, i));
    CHECK(store_commit(test_op(), bucket, batch, &stamp) == ST_OK);
}

TEST(the_end_of_a_prefix_is_above_all_that_begin_with_it)
{
    static const struct {
        struct slice prefix, end;
    } rows[] = {
        { { "abc", 3 }, { "abd", 3 } },
        { { "a\xff\xff", 3 }, { "b", 1 } },
        { { "\xff\xff", 2 }, { "\xff\xff\xff", 3 } },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(slice_equal(index_prefix_end(&test_op()->arena, rows[i].prefix), rows[i].end));
}

TEST(a_term_with_more_numbers_than_a_block_comes_in_several)
{
    enum { NUMBERS = 20000 };
    struct slice term = slice_of("pathpath\4");
    struct index_walk walk = { term, index_prefix_end(&test_op()->arena, term), 100, NUMBERS - 100, false };
    struct index_cursor *cursor = NULL;
    struct bucket *bucket;
    struct store *store = opened(&bucket);
    struct index_block block;
    struct view view = { 0 };
    uint64_t next = 100;
    size_t blocks = 0;

    add_numbers(bucket, term, NUMBERS);
    CHECK(view_open(test_op(), bucket, NULL, &view) == ST_OK);
    REQUIRE(index_cursor_open(test_op(), &view, &walk, &cursor) == ST_OK);
    for (;; blocks++) {
        REQUIRE(index_cursor_next(test_op(), cursor, &block) == ST_OK);
        if (!block.count)
            break;
        for (size_t i = 0; i < block.count; i++)
            CHECK(block.number[i] == next++);
    }
    CHECK(next == NUMBERS - 99 && blocks > 1);
    index_cursor_close(cursor);
    view_close(&view);
    store_close(store);
}

TEST(a_walk_without_terms_is_empty)
{
    struct slice from = slice_of("pathpath\6"), to = slice_of("pathpath\4");
    struct index_walk walk = { from, to, 0, UINT64_MAX, true };
    struct index_cursor *cursor = NULL;
    struct bucket *bucket;
    struct store *store = opened(&bucket);
    struct index_block block;
    struct view view = { 0 };
    uint64_t count = 1;

    add_numbers(bucket, slice_of("pathpath\5"), 3);
    CHECK(view_open(test_op(), bucket, NULL, &view) == ST_OK);
    REQUIRE(index_cursor_open(test_op(), &view, &walk, &cursor) == ST_OK);
    CHECK(index_cursor_next(test_op(), cursor, &block) == ST_OK && block.count == 0);
    CHECK(index_count(test_op(), &view, from, to, &count) == ST_OK && count == 0);
    index_cursor_close(cursor);
    view_close(&view);
    store_close(store);
}

TEST(a_guess_looks_at_a_few_hundred_entries_and_counts_the_transactions_own)
{
    struct slice term = slice_of("pathpath\4"), end = index_prefix_end(&test_op()->arena, term);
    struct bucket *bucket;
    struct store *store = opened(&bucket);
    struct batch *batch = batch_new(test_op(), BUCKET);
    struct view view = { 0 };
    uint64_t count = 0;

    add_numbers(bucket, term, 100);
    batch_index_add(batch, key_index(&test_op()->arena, BUCKET, term, 500));
    batch_index_remove(batch, key_index(&test_op()->arena, BUCKET, term, 7));
    batch_index_remove(batch, key_index(&test_op()->arena, BUCKET, term, 8));
    CHECK(view_open(test_op(), bucket, batch, &view) == ST_OK);
    CHECK(index_estimate(test_op(), &view, term, end, &count) == ST_OK && count == 99);
    view_close(&view);
    add_numbers(bucket, slice_of("pathpath\6"), 5000);
    CHECK(view_open(test_op(), bucket, NULL, &view) == ST_OK);
    test_op()->work = (struct work){ 0 };
    CHECK(index_estimate(test_op(), &view, slice_of("pathpath\6"), slice_of("pathpath\7"), &count) == ST_OK);
    CHECK(count >= 300 && test_op()->work.entries_read < 1000);
    view_close(&view);
    store_close(store);
}
