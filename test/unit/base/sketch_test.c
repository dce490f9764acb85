/* test/unit/base/sketch_test.c - sketches beside a model that counts every key. */
#include <stdlib.h>

#include "base/heap.h"
#include "base/sketch.h"
#include "test.h"

enum { KEYS = 500, SLOTS = 32, KEY_BYTES = 24 };

static const struct sketch_shape shape = { .slots = SLOTS, .key_bytes = KEY_BYTES };
static const struct hash_seed seed = { 7, 11 };

/* Every weight, by the key's number. */
struct model {
    uint64_t weight[KEYS], total;
};

/* Long keys differ behind what is kept of them. */
static struct slice key_of(size_t number, char text[64])
{
    int size = snprintf(text, 64, number % 2 ? "k%zu" : "a long key that begins as many do, %zu", number);

    return slice_make(text, (size_t)size);
}

static void add(struct sketch *sketch, struct model *model, size_t number, uint64_t weight)
{
    char text[64];

    sketch_add(sketch, key_of(number, text), weight);
    model->weight[number] += weight;
    model->total += weight;
}

/* Some keys come often, most seldom. */
static void add_many(struct sketch *sketch, struct model *model, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        size_t below = 1 + test_random() % KEYS;

        add(sketch, model, test_random() % (1 + test_random() % below), test_random() % 20);
    }
}

static const struct sketch_row *find(const struct sketch_row *row, size_t count, size_t number)
{
    char text[64];
    struct slice key = key_of(number, text);

    for (size_t i = 0; i < count; i++) {
        size_t kept = key.size < KEY_BYTES ? key.size : KEY_BYTES;

        if (row[i].size == key.size && slice_equal(row[i].key, slice_make(key.data, kept)))
            return &row[i];
    }
    return NULL;
}

/* What is promised of keys whose whole bytes are kept; the long ones are told apart only by their hashes. */
static void check_against(const struct sketch *sketch, const struct model *model)
{
    struct sketch_row row[SLOTS];
    size_t count = sketch_top(sketch, row, SLOTS);

    CHECK(sketch_total(sketch) == model->total);
    for (size_t i = 1; i < count; i++)
        CHECK(row[i - 1].count >= row[i].count);
    for (size_t number = 1; number < KEYS; number += 2) {
        const struct sketch_row *found = find(row, count, number);
        uint64_t weight = model->weight[number];

        if (!found) {
            CHECK(weight <= sketch_lightest(sketch));
            CHECK(weight <= model->total / SLOTS);
            continue;
        }
        CHECK(found->count >= weight);
        CHECK(found->count - found->error <= weight);
        CHECK(found->error <= model->total / SLOTS);
    }
}

TEST(a_key_weighs_what_its_slot_says_within_its_error)
{
    struct model model = { 0 };
    struct sketch *sketch = sketch_new(shape, seed);

    for (int i = 0; i < 50; i++) {
        add_many(sketch, &model, 400);
        check_against(sketch, &model);
    }
    free(sketch);
}

TEST(few_keys_are_counted_exactly)
{
    struct model model = { 0 };
    struct sketch *sketch = sketch_new(shape, seed);
    struct sketch_row row[SLOTS + 1];

    for (size_t i = 0; i < 1000; i++)
        add(sketch, &model, i % SLOTS, 3);
    CHECK(sketch_top(sketch, row, SLOTS + 1) == SLOTS);
    CHECK(sketch_distinct(sketch) >= SLOTS - 1 && sketch_distinct(sketch) <= SLOTS + 1);
    for (size_t i = 0; i < SLOTS; i++)
        CHECK(row[i].error == 0);
    check_against(sketch, &model);
    free(sketch);
}

TEST(joined_sketches_keep_the_promises_of_one)
{
    for (int i = 0; i < 20; i++) {
        struct model model = { 0 };
        struct sketch *one = sketch_new(shape, seed), *other = sketch_new(shape, seed);

        add_many(one, &model, test_random() % 2000);
        add_many(other, &model, test_random() % 2000);
        sketch_join(one, other);
        check_against(one, &model);
        add_many(one, &model, 500);
        check_against(one, &model);
        free(one);
        free(other);
    }
}

TEST(long_keys_that_begin_alike_are_different_keys)
{
    struct sketch *sketch = sketch_new(shape, seed);
    struct sketch_row row[SLOTS];
    char text[64];

    for (size_t number = 0; number < 20; number += 2)
        sketch_add(sketch, key_of(number, text), 1 + number);
    CHECK(sketch_top(sketch, row, SLOTS) == 10);
    CHECK(row[0].count == 19 && row[0].key.size == KEY_BYTES && row[0].size > KEY_BYTES);
    free(sketch);
}

TEST(the_heaviest_come_first_and_no_more_than_asked_for)
{
    struct model model = { 0 };
    struct sketch *sketch = sketch_new(shape, seed);
    struct sketch_row row[4];

    for (size_t number = 1; number < 20; number++)
        add(sketch, &model, number, number);
    CHECK(sketch_top(sketch, row, 4) == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(row[i].count == 19 - i);
    CHECK(sketch_top(sketch, row, 0) == 0);
    free(sketch);
}

TEST(one_slot_is_a_sketch_too)
{
    struct sketch *sketch = sketch_new((struct sketch_shape){ .slots = 1 }, seed);
    struct sketch_row row;

    sketch_add(sketch, slice_of("a"), 1);
    sketch_add(sketch, slice_of(""), 5);
    CHECK(sketch_top(sketch, &row, 1) == 1);
    CHECK(row.count == 6 && row.error == 1 && row.size == 0);
    free(sketch);
}

TEST(different_keys_are_counted_to_ten_percent)
{
    struct sketch *sketch = sketch_new(shape, seed);
    uint64_t added = 0;
    char text[64];

    for (uint64_t until = 10; until <= 100000; until *= 10) {
        for (; added < until; added++)
            sketch_add(sketch, slice_make(text, (size_t)snprintf(text, 64, "%ju", (uintmax_t)added)), 1);
        for (uint64_t again = 0; again < until; again += 7) /* which changes nothing */
            sketch_add(sketch, slice_make(text, (size_t)snprintf(text, 64, "%ju", (uintmax_t)again)), 1);
        CHECK(sketch_distinct(sketch) >= until * 9 / 10);
        CHECK(sketch_distinct(sketch) <= until * 11 / 10);
    }
    free(sketch);
}

TEST(different_keys_of_joined_sketches_are_counted_once)
{
    struct sketch *one = sketch_new(shape, seed), *other = sketch_new(shape, seed);
    char text[64];

    for (int i = 0; i < 6000; i++)
        sketch_add(i < 4000 ? one : other, slice_make(text, (size_t)snprintf(text, 64, "%d", i % 5000)), 1);
    sketch_join(one, other);
    CHECK(sketch_distinct(one) > 4500 && sketch_distinct(one) < 5500);
    free(one);
    free(other);
}

TEST(another_seed_makes_other_hashes)
{
    struct sketch *one = sketch_new(shape, seed), *other = sketch_new(shape, (struct hash_seed){ 8, 11 });
    struct buf first, second;

    sketch_add(one, slice_of("a"), 1);
    sketch_add(other, slice_of("a"), 1);
    buf_init(&first, &test_op()->arena);
    buf_init(&second, &test_op()->arena);
    sketch_write(one, &first);
    sketch_write(other, &second);
    CHECK(!slice_equal(buf_as_slice(&first), buf_as_slice(&second)));
    free(one);
    free(other);
}

TEST(what_was_written_is_read_again)
{
    struct model model = { 0 };
    struct sketch *one = sketch_new(shape, seed), *other = sketch_new(shape, seed);
    struct buf bytes;

    add_many(one, &model, 3000);
    buf_init(&bytes, &test_op()->arena);
    sketch_write(one, &bytes);
    add_many(other, &(struct model){ 0 }, 100); /* which is gone when it is read into */
    REQUIRE(sketch_read(other, buf_as_slice(&bytes)));
    check_against(other, &model);
    CHECK(sketch_distinct(other) == sketch_distinct(one));
    add_many(other, &model, 1000);
    check_against(other, &model);
    free(one);
    free(other);
}

TEST(other_bytes_are_refused_and_never_read_past_their_end)
{
    struct sketch *one = sketch_new(shape, seed), *other = sketch_new(shape, seed);
    struct sketch *narrow = sketch_new((struct sketch_shape){ .slots = SLOTS, .key_bytes = 8 }, seed);
    struct buf bytes;

    add_many(one, &(struct model){ 0 }, 100);
    buf_init(&bytes, &test_op()->arena);
    sketch_write(one, &bytes);
    CHECK(!sketch_read(narrow, buf_as_slice(&bytes)));
    for (size_t size = 0; size < bytes.size; size++) {
        char *cut = heap_allocate(size + 1); /* of that size, for the sanitizer */

        memcpy(cut, bytes.data, size);
        CHECK(!sketch_read(other, slice_make(cut, size)));
        CHECK(sketch_total(other) == 0 && sketch_distinct(other) == 0);
        free(cut);
    }
    for (size_t at = 0; at < bytes.size; at++) { /* a wrong byte may make other counts, and nothing worse */
        bytes.data[at] ^= 0x55;
        if (sketch_read(other, buf_as_slice(&bytes)))
            add_many(other, &(struct model){ 0 }, 50);
        bytes.data[at] ^= 0x55;
    }
    free(one);
    free(other);
    free(narrow);
}
