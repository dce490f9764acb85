/* test/unit/base/heap_test.c - memory of what outlives a request. */
#include <stdlib.h>

#include "base/heap.h"
#include "test.h"

TEST(memory_of_the_heap_is_zeroed)
{
    uint8_t *memory;

    for (int i = 0; i < 10; i++) { /* also where something lay before */
        memory = heap_allocate(1000);
        for (size_t at = 0; at < 1000; at++)
            CHECK(memory[at] == 0);
        memset(memory, 0xff, 1000);
        free(memory);
    }
}

TEST(memory_that_grows_keeps_what_is_in_it)
{
    char *memory = heap_grow(NULL, 4);

    memcpy(memory, "abc", 4);
    memory = heap_grow(memory, 100000);
    CHECK(strcmp(memory, "abc") == 0);
    free(memory);
}

TEST(a_list_of_the_heap_keeps_its_items_and_moves_them_seldom)
{
    uint32_t *list = NULL;
    size_t capacity = 0, moves = 0, before;

    for (uint32_t i = 0; i < 10000; i++) {
        before = capacity;
        heap_list_reserve(&list, &capacity, i + 1, sizeof(*list));
        REQUIRE(capacity > i);
        moves += capacity != before;
        list[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        CHECK(list[i] == i);
    CHECK(moves < 15);
    free(list);
}
