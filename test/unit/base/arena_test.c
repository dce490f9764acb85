/* test/unit/base/arena_test.c - memory that is given back all at once. */
#include "base/arena.h"
#include "test.h"

TEST(every_allocation_is_aligned_and_none_overlap)
{
    struct arena arena;
    uint8_t *given[200];
    size_t size[200];

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < 200; i++) {
        size[i] = test_random() % 500;
        given[i] = arena_alloc(&arena, size[i]);
        CHECK((uintptr_t)given[i] % 16 == 0);
        memset(given[i], (int)i, size[i]);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t at = 0; at < size[i]; at++)
            CHECK(given[i][at] == (uint8_t)i);
    arena_free(&arena);
}

TEST(a_client_cannot_take_more_than_the_limit_and_we_can)
{
    struct arena arena;

    arena_init(&arena, 1000);
    CHECK(arena_try_alloc(&arena, 1001) == NULL);
    CHECK(arena_try_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(arena_try_alloc(&arena, 600) != NULL);
    CHECK(arena_try_alloc(&arena, 600) == NULL);
    CHECK(arena_alloc(&arena, 600) != NULL);
    CHECK(arena_try_alloc(&arena, 1) == NULL);
    arena_reset(&arena);
    CHECK(arena_try_alloc(&arena, 600) != NULL);
    arena_free(&arena);
}

TEST(an_allocation_larger_than_a_chunk_gets_one_of_its_own)
{
    struct arena arena;
    char *large;

    arena_init(&arena, 64 << 20);
    large = arena_try_alloc(&arena, 5 << 20);
    REQUIRE(large);
    memset(large, 1, 5 << 20);
    CHECK(arena.used_bytes == 5 << 20);
    arena_free(&arena);
}

TEST(reset_overwrites_what_was_given_out_and_reuses_it)
{
    struct arena arena;
    char *first, *again;

    arena_init(&arena, 1 << 20);
    first = arena_alloc(&arena, 64);
    memset(first, 'a', 64);
    arena_alloc(&arena, 100 * 1024); /* a second chunk, which reset gives back */
    arena_reset(&arena);
    CHECK(arena.used_bytes == 0);
    again = arena_alloc(&arena, 64);
    CHECK(again == first);
    CHECK((uint8_t)again[0] == 0xdb && (uint8_t)again[63] == 0xdb);
    arena_free(&arena);
}

TEST(only_the_newest_allocation_is_extended_and_only_within_the_limit)
{
    struct arena arena;
    char *older, *newest;

    arena_init(&arena, 4096);
    older = arena_alloc(&arena, 100);
    newest = arena_alloc(&arena, 100);
    CHECK(!arena_try_extend(&arena, older, 100, 200));
    CHECK(arena_try_extend(&arena, newest, 100, 2000));
    CHECK((char *)arena_alloc(&arena, 1) >= newest + 2000);
    CHECK(!arena_try_extend(&arena, newest, 2000, 2100));
    CHECK(!arena_try_extend(&arena, NULL, 0, 10));
    newest = arena_alloc(&arena, 16);
    CHECK(!arena_try_extend(&arena, newest, 16, 4096)); /* past the limit */
    arena_free(&arena);
}

TEST(a_copy_is_a_copy_and_text_ends_with_a_nul)
{
    char text[] = "abc";
    struct slice copy = arena_copy(&test_op()->arena, slice_of(text));
    char *ended = arena_text(&test_op()->arena, slice_make(text, 2));

    text[0] = 'x';
    CHECK(slice_is(copy, "abc"));
    CHECK(strcmp(ended, "ab") == 0);
    CHECK(arena_copy(&test_op()->arena, slice_make(NULL, 0)).data != NULL);
}

TEST(a_list_keeps_its_items_while_others_allocate)
{
    struct arena arena;
    uint64_t *list = NULL;
    size_t capacity = 0;

    arena_init(&arena, 1 << 20);
    for (uint64_t i = 0; i < 1000; i++) {
        REQUIRE(arena_list_reserve(&arena, &list, &capacity, i + 1, sizeof(*list)));
        REQUIRE(capacity > i);
        list[i] = i;
        if (test_random() % 3 == 0)
            memset(arena_alloc(&arena, 24), 0xff, 24);
    }
    for (uint64_t i = 0; i < 1000; i++)
        CHECK(list[i] == i);
    arena_free(&arena);
}

TEST(a_list_alone_grows_where_it_lies)
{
    struct arena arena;
    uint64_t *list = NULL, *first;
    size_t capacity = 0;

    arena_init(&arena, 1 << 20);
    REQUIRE(arena_list_reserve(&arena, &list, &capacity, 1, sizeof(*list)));
    first = list;
    REQUIRE(arena_list_reserve(&arena, &list, &capacity, 100, sizeof(*list)));
    CHECK(list == first && capacity >= 100);
    arena_free(&arena);
}

TEST(a_list_past_the_limit_is_refused_and_stays_as_it_was)
{
    struct arena arena;
    uint64_t *list = NULL, *before;
    size_t capacity = 0, capacity_before;

    arena_init(&arena, 1000);
    REQUIRE(arena_list_reserve(&arena, &list, &capacity, 50, sizeof(*list)));
    list[49] = 7;
    before = list;
    capacity_before = capacity;
    CHECK(!arena_list_reserve(&arena, &list, &capacity, 500, sizeof(*list)));
    CHECK(list == before && capacity == capacity_before && list[49] == 7);
    arena_free(&arena);
}

TEST(an_allocation_with_a_chunk_to_itself_grows_without_a_copy_being_left_behind)
{
    struct account account;
    struct claim claim = { .account = &account };
    struct arena arena;
    size_t size = 2 << 20;
    uint8_t *large, *moved;

    account_init(&account, 0);
    arena_init(&arena, 64 << 20);
    arena.claim = &claim;
    large = arena_try_alloc(&arena, size);
    REQUIRE(large);
    for (size_t i = 0; i < size; i += 4096)
        large[i] = (uint8_t)(i >> 12);
    for (int step = 0; step < 4; step++) {
        CHECK(arena_try_alloc(&arena, 100)); /* so that it is the newest no more */
        moved = arena_try_regrow(&arena, large, size, 2 * size);
        REQUIRE(moved);
        large = moved;
        size *= 2;
    }
    for (size_t i = 0; i < 2 << 20; i += 4096)
        CHECK(large[i] == (uint8_t)(i >> 12));
    CHECK(claim.bytes < size + (2 << 20));
    CHECK(!arena_try_regrow(&arena, large, size, 65 << 20)); /* past the limit, and it is as it was */
    CHECK(large[4096] == 1);
    arena_free(&arena);
    CHECK(claim.bytes == 0 && atomic_load(&account.used_bytes) == 0);
}

TEST(an_allocation_that_shares_its_chunk_grows_into_another)
{
    struct arena arena;
    char *first, *grown;

    arena_init(&arena, 1 << 20);
    first = arena_try_alloc(&arena, 100);
    REQUIRE(first && arena_try_alloc(&arena, 100));
    memset(first, 'a', 100);
    grown = arena_try_regrow(&arena, first, 100, 50000);
    REQUIRE(grown && grown != first);
    CHECK(memcmp(first, grown, 100) == 0);
    arena_free(&arena);
}

TEST(what_is_not_refused_takes_no_more_than_it_needs_where_others_get_nothing)
{
    enum { FULL = 64 * 1024 * 1024 };
    struct account account;
    struct claim large = { .account = &account, .holder = HOLDER_STORE };
    struct claim claim = { .account = &account, .holder = HOLDER_OPERATIONS };
    struct arena arena;
    size_t before;

    account_init(&account, FULL);
    arena_init(&arena, SIZE_MAX);
    arena.claim = &claim;
    for (int i = 0; i < 20; i++) /* its chunks are of 1 MB by now */
        CHECK(arena_alloc(&arena, 100 * 1024));
    before = claim.bytes;
    while (claim.bytes == before)
        CHECK(arena_alloc(&arena, 1024));
    CHECK(claim.bytes - before == 1024 * 1024);
    claim_anyway(&large, FULL - account.used_bytes);
    before = claim.bytes;
    while (claim.bytes == before)
        CHECK(arena_alloc(&arena, 1024));
    CHECK(claim.bytes - before < 32 * 1024);
    arena_free(&arena);
    CHECK(claim.bytes == 0);
    claim_less(&large, large.bytes);
}

TEST(what_the_account_refuses_is_refused_to_clients_and_not_to_us)
{
    struct account account;
    struct claim claim = { .account = &account, .holder = HOLDER_OPERATIONS };
    struct arena arena;

    account_init(&account, 4 << 20);
    arena_init(&arena, SIZE_MAX);
    arena.claim = &claim;
    CHECK(arena_try_alloc(&arena, 1 << 20) && !arena_try_alloc(&arena, 3 << 20) && claim.refused);
    CHECK(arena_alloc(&arena, 3 << 20) && claim.bytes >= 4 << 20);
    arena_free(&arena);
    CHECK(atomic_load(&account.used_bytes) == 0);
}
