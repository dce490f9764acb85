/* test/unit/store/sorted_test.c - the skip list, against a plain array. */
#include <stdlib.h>

#include "store/sorted.h"
#include "test.h"

enum { KEYS = 300 };

/* A list of some of the keys "000" to "299", and which ones those are. */
struct list {
    struct sorted sorted;
    struct sorted_node *node[KEYS];
    char text[KEYS][12];
};

static struct list *list_new(void)
{
    struct list *list = arena_alloc(&test_op()->arena, sizeof(*list));

    *list = (struct list){ 0 };
    for (int i = 0; i < KEYS; i++)
        snprintf(list->text[i], sizeof(list->text[i]), "%03d", i);
    return list;
}

static void toggle(struct list *list, int i)
{
    struct slice key = slice_of(list->text[i]);
    struct sorted_node *node;

    if (list->node[i]) {
        sorted_remove(&list->sorted, list->node[i]);
        list->node[i] = NULL;
        return;
    }
    node = arena_alloc(&test_op()->arena, sizeof(*node));
    node->key = key;
    node->after = arena_alloc(&test_op()->arena, sorted_height(key) * sizeof(*node->after));
    sorted_insert(&list->sorted, node);
    list->node[i] = node;
}

static struct sorted_node *nearest(const struct list *list, int from, int step)
{
    for (int i = from; i >= 0 && i < KEYS; i += step)
        if (list->node[i])
            return list->node[i];
    return NULL;
}

static void check_list(const struct list *list)
{
    CHECK(list->sorted.first[0] == nearest(list, 0, 1));
    CHECK(list->sorted.last == nearest(list, KEYS - 1, -1));
    for (int i = 0; i < KEYS; i++) {
        struct slice key = slice_of(list->text[i]);

        CHECK(sorted_find(&list->sorted, key) == list->node[i]);
        CHECK(sorted_at_or_after(&list->sorted, key) == nearest(list, i, 1));
        CHECK(sorted_before(&list->sorted, key) == nearest(list, i - 1, -1));
        if (list->node[i]) {
            CHECK(list->node[i]->after[0] == nearest(list, i + 1, 1));
            CHECK(list->node[i]->before == nearest(list, i - 1, -1));
        }
    }
}

TEST(a_sorted_list_agrees_with_an_array_through_inserts_and_removals)
{
    struct list *list = list_new();

    check_list(list);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++)
            toggle(list, (int)(test_random() % KEYS));
        check_list(list);
    }
}

TEST(one_key_in_four_rises_a_level)
{
    size_t raised = 0;
    char text[24];

    for (int i = 0; i < 4000; i++) {
        snprintf(text, sizeof(text), "key %d", i);
        raised += sorted_height(slice_of(text)) > 1;
    }
    CHECK(raised > 800 && raised < 1200);
}

TEST(a_key_before_all_and_one_after_all_are_found_at_the_ends)
{
    struct list *list = list_new();

    toggle(list, 5);
    CHECK(sorted_at_or_after(&list->sorted, slice_of("")) == list->node[5]);
    CHECK(!sorted_before(&list->sorted, slice_of("")));
    CHECK(!sorted_at_or_after(&list->sorted, slice_of("999")));
    CHECK(sorted_before(&list->sorted, slice_of("999")) == list->node[5]);
}
