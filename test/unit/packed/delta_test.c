/* test/unit/packed/delta_test.c - entries as they come, and sorted when they are asked for. */
#include <pthread.h>
#include <stdlib.h>

#include "packed/delta.h"
#include "packed/piece.h"
#include "packed/piece_stream.h"
#include "test.h"

enum { BUCKET = 5, PATH = 77 };

static void append(struct delta *delta, uint64_t lsn, const char *value, uint64_t number, bool present)
{
    struct delta_change change = { PATH, slice_of(value), number, present };

    delta_append(delta, delta_reach(delta, BUCKET, lsn), lsn, &change);
}

static bool is_sorted(const struct delta_path *path, const struct piece *piece)
{
    for (uint32_t i = 1; i < piece->count; i++) {
        const struct delta_entry *entry = delta_at(path, piece->index[i]);
        int order = piece_compare(delta_at(path, piece->index[i - 1]), delta_value(entry), entry->number);

        if (order > 0 || (order == 0 && piece->index[i - 1] >= piece->index[i]))
            return false;
    }
    return true;
}

TEST(pieces_are_few_sorted_and_have_every_entry_once)
{
    struct delta *delta = delta_new();
    struct piece *list[PIECES_MAX], *whole;
    struct delta_path *path;
    uint32_t entries = 0;
    size_t count;

    for (uint64_t lsn = 1; lsn < 300; lsn++) {
        uint32_t sum = 0;

        for (uint64_t i = test_random() % 40; i > 0; i--, entries++) {
            char value[40];

            snprintf(value, sizeof(value), "%.*s%llu", (int)(test_random() % 20), "a long common front....",
                     (unsigned long long)(test_random() % 50));
            append(delta, lsn, value, test_random() % 30, test_random() % 2);
        }
        path = delta_find(delta, BUCKET, PATH);
        if (!path)
            continue;
        count = piece_list(path, list);
        CHECK(count <= 10);
        for (size_t i = 0; i < count; i++) {
            CHECK(is_sorted(path, list[i]));
            sum += list[i]->count;
            piece_release(list[i]);
        }
        CHECK(sum == entries);
    }
    whole = piece_whole(delta_find(delta, BUCKET, PATH));
    CHECK(whole->count == entries && is_sorted(delta_find(delta, BUCKET, PATH), whole));
    piece_release(whole);
    delta_release(delta);
}

/* One item's value changes again and again. */
TEST(a_reader_in_a_hurry_gives_up_where_one_number_has_many_entries)
{
    enum { ENTRIES = 4000 };
    struct op *op = test_op();
    struct delta *delta = delta_new();
    struct value_range all = { 0 };
    struct bounds bounds = { 0, UINT64_MAX, false };
    struct piece_stream stream;
    struct delta_path *path;
    int64_t count;

    for (uint64_t lsn = 1; lsn <= ENTRIES; lsn++)
        append(delta, lsn, "a", 1, lsn % 2);
    path = delta_find(delta, BUCKET, PATH);
    piece_stream_open(&stream, path, piece_whole(path), &all, bounds, ENTRIES);
    op->may_block = false;
    op->steps_left = 100;
    CHECK(piece_count(op, path, stream.piece, &all, ENTRIES, &count) == ST_OK && count == 0);
    CHECK(piece_count(op, path, stream.piece, &all, ENTRIES - 1, &count) == ST_WOULD_BLOCK);
    op->steps_left = 100;
    CHECK(stream.stream.ops->fill(op, &stream.stream) == ST_WOULD_BLOCK);
    op->may_block = true;
    stream.stream.ops->close(&stream.stream);
    delta_release(delta);
}

TEST(a_reader_in_a_hurry_sorts_what_is_little_and_leaves_what_is_much_to_others)
{
    struct op *op = test_op();
    struct delta *delta = delta_new();
    struct piece *list[PIECES_MAX];
    struct delta_path *path;
    size_t count;

    for (uint64_t number = 1; number <= 300; number++)
        append(delta, 1, "a", number, true);
    path = delta_find(delta, BUCKET, PATH);
    op->may_block = false;
    op->steps_left = 100;
    CHECK(piece_list_soon(op, path, list, &count) == ST_OK && count == 1 && list[0]->count == 300);
    piece_release(list[0]);
    for (uint64_t number = 301; number <= 2000; number++)
        append(delta, 2, "a", number, true);
    CHECK(piece_list_soon(op, path, list, &count) == ST_WOULD_BLOCK);
    CHECK(op->steps_left == 0);
    CHECK(piece_list(path, list) == 1 && list[0]->count == 2000);
    piece_release(list[0]);
    CHECK(piece_list_soon(op, path, list, &count) == ST_OK && count == 1 &&
          list[0]->count == 2000); /* nothing is left to sort */
    piece_release(list[0]);
    append(delta, 3, "b", 1, true);
    op->steps_left = 1;
    pthread_mutex_lock(&delta_in_order(path)->sorting); /* somebody else's */
    CHECK(piece_list_soon(op, path, list, &count) == ST_WOULD_BLOCK);
    pthread_mutex_unlock(&delta_in_order(path)->sorting);
    CHECK(piece_list_soon(op, path, list, &count) == ST_OK && count == 2);
    piece_release(list[0]);
    piece_release(list[1]);
    delta_release(delta);
    op->may_block = true;
}

/* Few different bytes, so that many values are alike for long; of all lengths, zero bytes at their ends too. */
static struct slice draw_value(char bytes[64])
{
    const char few[] = { 0, 0, 0, 1, -1 };
    size_t size = test_random() % 64;

    for (size_t i = 0; i < size; i++)
        bytes[i] = few[test_random() % sizeof(few)];
    if (test_random() % 2)
        memset(bytes, 0, size - size % 9);
    return slice_make(bytes, size);
}

TEST(values_are_sorted_as_bytes_however_long_they_are_alike)
{
    struct delta *delta = delta_new();
    struct piece *whole;

    for (int i = 0; i < 3000; i++) {
        char bytes[64];
        struct delta_change change = { PATH, draw_value(bytes), test_random() % 5, test_random() % 2 };

        delta_append(delta, delta_reach(delta, BUCKET, 1), 1, &change);
    }
    whole = piece_whole(delta_find(delta, BUCKET, PATH));
    CHECK(whole->count == 3000 && is_sorted(delta_find(delta, BUCKET, PATH), whole));
    piece_release(whole);
    delta_release(delta);
}

static int64_t count_at(struct delta *delta, uint64_t lsn)
{
    const struct value_range all = { .from = slice_of("") };
    struct delta_path *path = delta_find(delta, BUCKET, PATH);
    struct piece *whole = piece_whole(path);
    int64_t count = 0;

    CHECK(piece_count(test_op(), path, whole, &all, lsn, &count) == ST_OK);
    piece_release(whole);
    return count;
}

TEST(what_is_forgotten_is_seen_by_nobody_and_its_lsn_may_come_again)
{
    struct delta *delta = delta_new();

    append(delta, 1, "a", 1, true);
    append(delta, 2, "b", 1, true);
    append(delta, 3, "c", 1, true);
    CHECK(count_at(delta, 2) == 2 && count_at(delta, 3) == 3);
    delta_forget(delta, BUCKET, 1);
    CHECK(count_at(delta, 3) == 1);
    append(delta, 2, "d", 1, true);
    CHECK(count_at(delta, 1) == 1 && count_at(delta, 2) == 2);
    CHECK(delta_buckets(delta)->lsn == 2);
    delta_drop(delta, BUCKET);
    CHECK(count_at(delta, 9) == 0 && delta_buckets(delta)->dropped);
    delta_release(delta);
}

/* One by one, without any of the piece's sums. */
static int64_t count_slowly(const struct delta_path *path, struct slice from, struct slice to, uint64_t lsn)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < atomic_load(&path->count); i++) {
        const struct delta_entry *entry = delta_at(path, i);
        uint64_t mark = atomic_load(&entry->mark);

        if (delta_is_visible(mark, lsn) && slice_compare(delta_value(entry), from) >= 0 &&
            slice_compare(delta_value(entry), to) < 0)
            count += mark & 1 ? 1 : -1;
    }
    return count;
}

static void check_counts(struct delta *delta, uint64_t lsn)
{
    struct delta_path *path = delta_find(delta, BUCKET, PATH);
    struct piece *whole = piece_whole(path);

    for (int i = 0; i < 50; i++) {
        char low[8], high[8];
        struct value_range range;
        int64_t count;

        snprintf(low, sizeof(low), "%03d", (int)(test_random() % 500));
        snprintf(high, sizeof(high), "%03d", (int)(test_random() % 500));
        range = (struct value_range){ slice_of(low), slice_of(high) };
        CHECK(piece_count(test_op(), path, whole, &range, lsn, &count) == ST_OK);
        CHECK(count == count_slowly(path, range.from, range.to, lsn));
    }
    piece_release(whole);
}

TEST(a_piece_counts_any_part_of_itself_for_any_reader_also_after_some_was_forgotten)
{
    struct delta *delta = delta_new();

    for (uint64_t lsn = 1; lsn <= 2000; lsn++) {
        char value[8];

        snprintf(value, sizeof(value), "%03d", (int)(test_random() % 500));
        append(delta, lsn, value, lsn, test_random() % 3 > 0);
    }
    check_counts(delta, 2000);
    check_counts(delta, 700);
    delta_forget(delta, BUCKET, 1500);
    check_counts(delta, 2000);
    append(delta, 1501, "250", 1, true);
    check_counts(delta, 1501);
    delta_release(delta);
}

TEST(what_lies_behind_a_place_is_found_from_there_as_from_the_beginning)
{
    struct delta *delta = delta_new();
    struct delta_path *path;
    struct piece *whole;

    for (uint64_t lsn = 1; lsn <= 300; lsn++) {
        char value[8];

        snprintf(value, sizeof(value), "%03d", (int)(test_random() % 100));
        append(delta, lsn, value, lsn, true);
    }
    path = delta_find(delta, BUCKET, PATH);
    whole = piece_whole(path);
    for (int i = 0; i < 2000; i++) {
        char value[8];
        uint32_t low = (uint32_t)(test_random() % (whole->count + 1)), place;

        snprintf(value, sizeof(value), "%03d", (int)(test_random() % 102) - 1);
        place = piece_find(path, whole, slice_of(value), 0);
        CHECK(piece_find_behind(path, whole, low, slice_of(value), 0) == (place > low ? place : low));
    }
    piece_release(whole);
    delta_release(delta);
}

TEST(many_paths_and_buckets_are_found)
{
    struct delta *delta = delta_new();

    for (uint64_t i = 0; i < 3000; i++) {
        struct delta_change change = { i % 100, slice_of("v"), i + 1, true };

        delta_append(delta, delta_reach(delta, i / 10, 1), 1, &change);
    }
    for (uint64_t i = 0; i < 3000; i++)
        CHECK(delta_find(delta, i / 10, i % 100) != NULL);
    CHECK(delta_find(delta, 0, 50) == NULL);
    for (uint64_t i = 0; i < 300; i++) {
        size_t count = 0;

        for (struct delta_path *path = delta_next_path(delta, i, NULL); path;
             path = delta_next_path(delta, i, path))
            count += path->bucket == i;
        CHECK(count == 10);
    }
    CHECK(delta_entries(delta) == 3000 && delta_bytes(delta) > 3000 * sizeof(struct delta_entry));
    delta_release(delta);
}

enum { NAMES = 20000, ROUNDS_OF_NAMES = 40 };

struct naming {
    struct delta *delta;
    _Atomic uint64_t named;
    atomic_int missing;
};

static void *find_names(void *context)
{
    struct naming *naming = context;
    uint64_t named = 0;

    while (named < NAMES && naming->missing == 0) {
        named = atomic_load(&naming->named);
        for (uint64_t i = 0; named > 0 && i < ROUNDS_OF_NAMES; i++) {
            uint64_t name = named - 1 - (i * i) % named;
            struct delta_path *path = delta_find(naming->delta, BUCKET, name);

            if (!path || path->path != name || atomic_load(&path->count) == 0)
                atomic_fetch_add(&naming->missing, 1);
        }
    }
    return NULL;
}

TEST(paths_are_found_while_others_come)
{
    struct naming naming = { .delta = delta_new() };
    struct delta_bucket *bucket = delta_reach(naming.delta, BUCKET, 1);
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        REQUIRE(pthread_create(&thread[i], NULL, find_names, &naming) == 0);
    for (uint64_t name = 0; name < NAMES; name++) {
        struct delta_change change = { name, slice_of("v"), 1, true };

        delta_append(naming.delta, bucket, 1, &change);
        atomic_store(&naming.named, name + 1);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK(naming.missing == 0);
    delta_release(naming.delta);
}
