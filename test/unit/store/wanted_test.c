/* test/unit/store/wanted_test.c - keys that were asked for, by what came. */
#include "store/wanted.h"
#include "test.h"

enum { KEYS = 4096, TEXT = 12, SKIPPED = 2, COMPARED_EACH_MAX = 15 };

/* Each of half as many keys is asked for twice, at places that are far from each other. */
static struct slice *keys_new(void)
{
    struct arena *arena = &test_op()->arena;
    struct slice *keys = arena_alloc(arena, KEYS * sizeof(*keys));

    for (size_t i = 0; i < KEYS; i++) {
        char *text = arena_alloc(arena, TEXT);

        snprintf(text, TEXT, "xx%05zu", i * 911 % (KEYS / 2));
        keys[i] = slice_of(text);
    }
    return keys;
}

TEST(what_comes_is_given_to_all_who_asked_for_it)
{
    struct slice *keys = keys_new();
    struct wanted wanted;

    wanted_init(&wanted, &test_op()->arena, keys, KEYS, SKIPPED);
    for (size_t i = 0; i < KEYS; i++) {
        struct slice rest = slice_make(keys[i].data + SKIPPED, keys[i].size - SKIPPED);
        const struct wanted_key *end, *at = wanted_find(&wanted, rest, &end);
        bool found = false;

        CHECK(end - at == 2);
        for (; at < end; at++) {
            CHECK(slice_compare(keys[at->number], keys[i]) == 0);
            found |= at->number == i;
        }
        CHECK(found);
    }
}

TEST(what_nobody_asked_for_is_given_to_nobody)
{
    static const char *const others[] = { "", "00000", "00002", "1" };
    struct slice keys[] = { slice_of("xx00001"), slice_of("xx00003") };
    const struct wanted_key *end, *at;
    struct wanted wanted;

    wanted_init(&wanted, &test_op()->arena, keys, 2, SKIPPED);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        at = wanted_find(&wanted, slice_of(others[i]), &end);
        CHECK(at == end);
    }
    wanted_init(&wanted, &test_op()->arena, keys, 0, SKIPPED);
    at = wanted_find(&wanted, slice_of("00001"), &end);
    CHECK(at == end);
}

TEST(a_key_is_compared_with_a_few_others_however_many_were_asked_for)
{
    struct slice *keys = keys_new();
    const struct wanted_key *end;
    struct wanted wanted;

    wanted_init(&wanted, &test_op()->arena, keys, KEYS, SKIPPED);
    for (size_t i = 0; i < KEYS; i++)
        (void)wanted_find(&wanted, slice_make(keys[i].data + SKIPPED, keys[i].size - SKIPPED), &end);
    CHECK(wanted.compared <= KEYS * COMPARED_EACH_MAX);
}
