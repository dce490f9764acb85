/* test/unit/store/cache_test.c - a value in the cache is the latest one. */
#include <pthread.h>
#include <stdatomic.h>

#include "store/cache.h"
#include "test.h"

static void put(struct cache *cache, const char *key, const char *value)
{
    cache_fill(cache, slice_of(key), slice_of(value), cache_ticket(cache, slice_of(key)));
}

static bool has(struct cache *cache, const char *key, const char *value)
{
    struct slice found;

    return cache_find(cache, test_op(), slice_of(key), &found) && slice_is(found, value);
}

TEST(what_was_filled_is_found_until_it_changes)
{
    struct cache *cache = cache_open(1 << 20);

    put(cache, "a", "1");
    CHECK(has(cache, "a", "1"));
    CHECK(!has(cache, "b", "1"));
    cache_begin_change(cache, slice_of("a"));
    CHECK(!has(cache, "a", "1"));
    cache_end_change(cache, slice_of("a"));
    CHECK(!has(cache, "a", "1"));
    put(cache, "a", "2");
    CHECK(has(cache, "a", "2"));
    cache_pause(cache);
    cache_resume(cache);
    CHECK(!has(cache, "a", "2"));
    cache_close(cache);
}

TEST(what_is_found_and_what_is_not_is_counted)
{
    struct cache *cache = cache_open(1 << 20);
    struct cache_stats stats;

    put(cache, "a", "1");
    CHECK(has(cache, "a", "1") && has(cache, "a", "1") && !has(cache, "b", "1"));
    cache_stats(cache, &stats);
    CHECK(stats.hits == 2 && stats.misses == 1 && stats.bytes > 2);
    cache_close(cache);
}

TEST(of_many_keys_those_that_are_here_are_found)
{
    enum { MANY = 100 };
    struct cache *cache = cache_open(1 << 20);
    struct slice key[MANY], value[MANY];
    char name[MANY][8];
    bool right = true;

    for (int i = 0; i < MANY; i++) {
        snprintf(name[i], sizeof(name[i]), "%d", i);
        key[i] = slice_of(name[i]);
        if (i % 3)
            put(cache, name[i], name[i]);
    }
    cache_find_many(cache, test_op(), key, MANY, value);
    for (int i = 0; i < MANY; i++)
        right = right && (i % 3 ? slice_equal(value[i], key[i]) : !value[i].data);
    CHECK(right);
    cache_close(cache);
}

TEST(documents_of_half_a_kilobyte_fill_a_cache)
{
    enum { BYTES = 1 << 20, VALUE = 500 };
    struct cache *cache = cache_open(BYTES);
    struct cache_stats stats;
    char name[16], value[VALUE + 1];

    memset(value, 'v', VALUE);
    value[VALUE] = '\0';
    for (int i = 0; i < 4 * BYTES / VALUE; i++) {
        snprintf(name, sizeof(name), "%d", i);
        put(cache, name, value);
    }
    cache_stats(cache, &stats);
    CHECK(stats.bytes > BYTES * 0.9 && stats.bytes <= BYTES);
    cache_close(cache);
}

TEST(a_ticket_from_before_or_during_a_change_is_void)
{
    struct cache *cache = cache_open(1 << 20);
    uint64_t before = cache_ticket(cache, slice_of("a")), during;

    cache_begin_change(cache, slice_of("a"));
    during = cache_ticket(cache, slice_of("a"));
    cache_fill(cache, slice_of("a"), slice_of("old"), before);
    cache_fill(cache, slice_of("a"), slice_of("old"), during);
    CHECK(!has(cache, "a", "old"));
    cache_end_change(cache, slice_of("a"));
    cache_fill(cache, slice_of("a"), slice_of("old"), before);
    cache_fill(cache, slice_of("a"), slice_of("old"), during);
    CHECK(!has(cache, "a", "old"));
    before = cache_ticket(cache, slice_of("a"));
    cache_pause(cache);
    cache_resume(cache);
    cache_fill(cache, slice_of("a"), slice_of("old"), before);
    CHECK(!has(cache, "a", "old"));
    cache_close(cache);
}

static void put_if_wanted(struct cache *cache, const char *key, const char *value)
{
    cache_fill_if_wanted(cache, slice_of(key), slice_of(value), cache_ticket(cache, slice_of(key)));
}

TEST(what_many_ask_for_is_kept_when_it_was_asked_for_before)
{
    struct cache *cache = cache_open(1); /* one set */
    char other[] = "00";

    put_if_wanted(cache, "a", "1");
    CHECK(!has(cache, "a", "1"));
    put_if_wanted(cache, "a", "1");
    CHECK(has(cache, "a", "1"));
    put_if_wanted(cache, "b", "1");
    for (int i = 0; i < 40;
         i++) { /* others are asked for once each, and push nothing out but what was asked for once */
        other[0] = (char)('A' + i / 10);
        other[1] = (char)('0' + i % 10);
        put_if_wanted(cache, other, "1");
    }
    CHECK(has(cache, "a", "1"));
    put_if_wanted(cache, "b", "1");
    CHECK(!has(cache, "b", "1"));
    cache_begin_change(cache, slice_of("b"));
    put_if_wanted(cache, "b", "1");
    cache_end_change(cache, slice_of("b"));
    CHECK(!has(cache, "b", "1")); /* wanted or not, a change is under way */
    cache_close(cache);
}

TEST(nothing_is_found_or_kept_while_it_is_paused)
{
    struct cache *cache = cache_open(1 << 20);
    uint64_t before, during;

    put(cache, "a", "1");
    before = cache_ticket(cache, slice_of("b"));
    cache_pause(cache);
    during = cache_ticket(cache, slice_of("b"));
    put(cache, "c", "1");
    cache_pause(cache); /* a second try at reopening */
    CHECK(!has(cache, "a", "1") && !has(cache, "c", "1"));
    cache_resume(cache);
    cache_fill(cache, slice_of("b"), slice_of("old"), before);
    cache_fill(cache, slice_of("b"), slice_of("old"), during);
    CHECK(!has(cache, "b", "old"));
    put(cache, "b", "2");
    CHECK(has(cache, "b", "2"));
    cache_close(cache);
}

TEST(an_empty_value_is_found_and_is_not_absent)
{
    struct cache *cache = cache_open(1 << 20);
    struct slice found = { 0 };

    put(cache, "a", "");
    CHECK(cache_find(cache, test_op(), slice_of("a"), &found) && found.data && found.size == 0);
    cache_close(cache);
}

/* One set of 16 KB: the newest stay, and what would fill half of it by itself is not taken. */
TEST(the_oldest_make_room)
{
    struct cache *cache = cache_open(0);
    char large[9000];

    memset(large, 'x', sizeof(large));
    cache_fill(cache, slice_of("large"), slice_make(large, sizeof(large)),
               cache_ticket(cache, slice_of("large")));
    CHECK(!has(cache, "large", ""));
    for (char i = 'a'; i <= 'z'; i++) {
        cache_fill(cache, slice_make(&i, 1), slice_make(large, 4000), cache_ticket(cache, slice_make(&i, 1)));
        put(cache, "small", "1");
    }
    struct slice found;
    CHECK(!cache_find(cache, test_op(), slice_of("a"), &found));
    CHECK(cache_find(cache, test_op(), slice_of("z"), &found) && found.size == 4000);
    cache_close(cache);
}

/* The writer's number is published before a change ends; readers who fill and find must never see it go back. */
struct race {
    struct cache *cache;
    atomic_int stored; /* stands for the store */
    atomic_bool over, went_back;
};

static void *read_for_ever(void *context)
{
    struct race *race = context;
    struct op op;

    op_init(&op, env_system(), 1 << 20);
    while (!atomic_load(&race->over)) {
        int seen_before = atomic_load(&race->stored), now;
        struct slice found;
        uint64_t ticket = cache_ticket(race->cache, slice_of("k"));

        op_begin(&op, 1000);
        if (cache_find(race->cache, &op, slice_of("k"), &found)) {
            memcpy(&now, found.data, sizeof(now));
        } else {
            now = atomic_load(&race->stored);
            cache_fill(race->cache, slice_of("k"), slice_make(&now, sizeof(now)), ticket);
        }
        if (now < seen_before)
            atomic_store(&race->went_back, true);
    }
    op_free(&op);
    return NULL;
}

TEST(readers_never_see_a_value_older_than_one_already_written)
{
    struct race race = { .cache = cache_open(1 << 20) };
    pthread_t reader[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&reader[i], NULL, read_for_ever, &race);
    for (int number = 1; number <= 20000; number++) {
        cache_begin_change(race.cache, slice_of("k"));
        atomic_store(&race.stored, number);
        cache_end_change(race.cache, slice_of("k"));
    }
    atomic_store(&race.over, true);
    for (int i = 0; i < 3; i++)
        pthread_join(reader[i], NULL);
    CHECK(!atomic_load(&race.went_back));
    cache_close(race.cache);
}
