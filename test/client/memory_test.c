/* test/client/memory_test.c - lists that grow, lists of a known size, copies of texts. */
#include <stdlib.h>

#include "failing_alloc.h"
#include "memory.h"
#include "test.h"

enum { ARENA_BYTES = 1 << 20 };

TEST(a_list_that_grows_by_one_keeps_its_elements_and_has_powers_of_two)
{
    struct arena arena;
    uint32_t *owned = NULL, *held = NULL;
    size_t owned_room = 0, held_room = 0;

    arena_init(&arena, ARENA_BYTES);
    for (uint32_t i = 0; i < 1000; i++) {
        REQUIRE(memory_grow(&owned, &owned_room, i + 1, sizeof(*owned)));
        REQUIRE(memory_grow_in(&arena, &held, &held_room, i + 1, sizeof(*held)));
        CHECK(owned_room > i && (owned_room & (owned_room - 1)) == 0 && held_room == owned_room);
        owned[i] = held[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        CHECK(owned[i] == i && held[i] == i);
    free(owned);
    arena_free(&arena);
}

TEST(a_list_that_needs_more_than_twice_its_room_gets_just_that)
{
    char *bytes = NULL;
    size_t room = 0;

    CHECK(memory_grow(&bytes, &room, 5000, 1) && room == 5000);
    CHECK(memory_grow(&bytes, &room, 5000, 1) && room == 5000);
    CHECK(memory_grow(&bytes, &room, 5001, 1) && room == 10000);
    free(bytes);
}

/* One allocation fails: by malloc, then in the arena. */
TEST(a_list_that_cannot_grow_stays_as_it_was)
{
    struct arena arena;
    int *list = NULL, *before;
    size_t room = 0;

    arena_init(&arena, ARENA_BYTES);
    REQUIRE(memory_grow(&list, &room, 1, sizeof(*list)));
    before = list;
    list[0] = 7;
    failing_alloc_at(1);
    CHECK(!memory_grow(&list, &room, 17, sizeof(*list)) && list == before && room == 16 && list[0] == 7);
    failing_alloc_at(1);
    CHECK(!memory_grow_in(&arena, &list, &room, 17, sizeof(*list)) && list == before && room == 16);
    failing_alloc_at(0);
    free(list);
    arena_free(&arena);
}

TEST(a_size_beyond_all_addresses_is_no_memory)
{
    struct arena arena;
    uint64_t *list = NULL;
    size_t room = 0;

    arena_init(&arena, SIZE_MAX);
    CHECK(!memory_grow(&list, &room, SIZE_MAX / 4, sizeof(*list)) && !list && room == 0);
    CHECK(!memory_grow_in(&arena, &list, &room, SIZE_MAX / 4, sizeof(*list)) && !list && room == 0);
    CHECK(!memory_list(&arena, SIZE_MAX / 4, sizeof(*list)));
    arena_free(&arena);
}

TEST(an_empty_list_is_there_and_an_arena_past_its_limit_has_none)
{
    struct arena arena;

    arena_init(&arena, 64);
    CHECK(memory_list(&arena, 0, 8));
    CHECK(!memory_list(&arena, 9, 8));
    arena_free(&arena);
}

TEST(a_copy_of_a_text_is_ended_by_a_nul)
{
    struct arena arena;
    char *owned = memory_text(slice_make("abc", 2)), *held;

    arena_init(&arena, ARENA_BYTES);
    held = memory_text_in(&arena, slice_make(NULL, 0));
    CHECK(owned && strcmp(owned, "ab") == 0);
    CHECK(held && strcmp(held, "") == 0);
    free(owned);
    arena_free(&arena);
}
