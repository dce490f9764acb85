/* test/unit/catalog/past_test.c - how far dropped containers got: noted, forgotten, stored and read again. */
#include "catalog/past.h"
#include "rig.h"

TEST(a_name_begins_above_the_furthest_of_its_containers)
{
    struct past past = { 0 };

    past_note(&past, 1, 20);
    past_note(&past, 2, 5);
    past_note(&past, 1, 10);
    CHECK(past.count == 2);
    CHECK(past_lsn(&past, 1) == 20);
    CHECK(past_lsn(&past, 2) == 5);
    CHECK(past_lsn(&past, 3) == 0);
}

TEST(of_names_that_are_forgotten_the_largest_lsn_stays)
{
    struct past past = { 0 };

    past_note(&past, 1, 1000);
    for (uint64_t name = 2; name <= PAST_NAMES_MAX + 1; name++)
        past_note(&past, name, 7);
    CHECK(past.count == PAST_NAMES_MAX);
    CHECK(past_lsn(&past, 1) == 1000);
    CHECK(past_lsn(&past, 12345678) == 1000); /* it may have been forgotten, too */
    CHECK(past_lsn(&past, 2) == 7);
}

TEST(a_stored_past_is_read_as_it_was)
{
    struct op *op = test_op();
    struct past past = { .floor_lsn = 3 }, read;

    past_note(&past, UINT64_MAX, 1);
    past_note(&past, 8, UINT64_MAX);
    CHECK(past_decode(op, past_encode(op, &past), &read) == ST_OK);
    CHECK(read.floor_lsn == 3 && read.count == 2);
    CHECK(past_lsn(&read, UINT64_MAX) == 1 && past_lsn(&read, 8) == UINT64_MAX);
    CHECK(past_decode(op, (struct slice){ 0 }, &read) == ST_OK && read.count == 0);
}

TEST(a_damaged_past_is_corrupt)
{
    struct op *op = test_op();
    struct past past = { .floor_lsn = 3 };
    struct slice stored;

    past_note(&past, 1, 2);
    stored = past_encode(op, &past);
    for (size_t size = 0; size < stored.size; size++)
        CHECK(past_decode(op, slice_make(stored.data, size), &past) == ST_CORRUPT);
    for (size_t at = 0; at < stored.size; at++) {
        char *bytes = arena_alloc(&op->arena, stored.size);

        memcpy(bytes, stored.data, stored.size);
        bytes[at] ^= 1;
        CHECK(past_decode(op, slice_make(bytes, stored.size), &past) == ST_CORRUPT);
    }
}
