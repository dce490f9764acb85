/* test/unit/catalog/map_test.c - the map against a plain list. */
#include "catalog/map.h"
#include "test.h"

enum { KEYS = 400, STEPS = 20000 };

TEST(after_any_puts_and_removals_every_key_leads_to_its_last_value)
{
    static char names[KEYS][8];
    static int values[KEYS];
    int *expected[KEYS] = { NULL };
    struct map map = { 0 };
    size_t count = 0;

    for (int i = 0; i < KEYS; i++)
        snprintf(names[i], sizeof(names[i]), "k%d", i);
    for (int step = 0; step < STEPS; step++) {
        size_t which = test_random() % KEYS;
        struct slice key = slice_of(names[which]);

        if (test_random() % 2) {
            count += !expected[which];
            map_put(&map, key, expected[which] = &values[test_random() % KEYS]);
        } else {
            count -= expected[which] != NULL;
            map_remove(&map, key);
            expected[which] = NULL;
        }
        which = test_random() % KEYS;
        CHECK(map_find(&map, slice_of(names[which])) == expected[which] && map.count == count);
    }
    CHECK(map.capacity <= 8 * KEYS); /* removed entries do not make it grow for ever */
    map_free(&map);
}

TEST(an_empty_map_has_nothing_to_find_or_remove)
{
    struct map map = { 0 };

    CHECK(!map_find(&map, slice_of("a")));
    map_remove(&map, slice_of("a"));
    CHECK(map.count == 0);
    map_free(&map);
}

/* The container that a key lies in may be freed as soon as another has taken its place. */
TEST(a_replaced_entry_keeps_nothing_of_the_old_key)
{
    char old[] = "key", new[] = "key";
    struct map map = { 0 };
    int value = 1;

    map_put(&map, slice_of(old), &value);
    map_put(&map, slice_of(new), &value);
    memset(old, 'x', 3);
    CHECK(map.count == 1 && map_find(&map, slice_of("key")) == &value);
    map_remove(&map, slice_of(new));
    memset(new, 'x', 3);
    CHECK(!map_find(&map, slice_of("key")) && !map_find(&map, slice_of("xxx")));
    map_free(&map);
}
