/* test/unit/words/lists_test.c - who finds which list, and what is let go. */
#include <pthread.h>

#include "test.h"
#include "words/lists.h"

static struct word_list *list_of(struct account *account, uint64_t lsn, uint64_t number)
{
    struct word_list *list = word_list_new(account);

    CHECK(word_list_add(list, &(struct word_text){ number, 1, 3 }));
    word_list_close(list, 3);
    list->lsn = lsn;
    return list;
}

static void put(struct word_shelf *shelf, const char *key, struct word_list *list)
{
    word_shelf_put(shelf, slice_of(key), list);
    word_list_done(list);
}

TEST(a_list_is_found_by_its_key_until_a_newer_one_takes_its_place)
{
    struct word_shelf *shelf = word_shelf_new(), *same = word_shelf_take(shelf);
    struct word_list *old, *found;

    CHECK(!word_shelf_find(shelf, slice_of("fox")));
    put(shelf, "owl", list_of(NULL, 5, 1));
    put(shelf, "fox", list_of(NULL, 5, 2));
    put(shelf, "elk", list_of(NULL, 5, 3));
    old = word_shelf_find(same, slice_of("fox"));
    CHECK(old && word_list_find(old, 2) && !word_list_find(old, 1));
    put(shelf, "fox", list_of(NULL, 4, 7)); /* older than what is there */
    found = word_shelf_find(shelf, slice_of("fox"));
    CHECK(found == old);
    word_list_done(found);
    put(shelf, "fox", list_of(NULL, 6, 8));
    found = word_shelf_find(shelf, slice_of("fox"));
    CHECK(found != old && word_list_find(found, 8) &&
          word_list_find(old, 2)); /* whoever uses the old one has it */
    word_list_done(found);
    word_list_done(old);
    word_shelf_release(same);
    word_shelf_release(shelf);
}

TEST(the_list_that_was_not_used_for_longest_is_let_go)
{
    struct word_shelf *shelf = word_shelf_new();
    struct word_lists_stats before, stats;
    struct account account, other;
    struct word_list *used;

    account_init(&account, 0);
    account_init(&other, 0);
    word_lists_stats(&before);
    put(shelf, "a", list_of(&account, 1, 1));
    put(shelf, "b", list_of(&account, 1, 2));
    put(shelf, "c", list_of(&other, 1, 3));
    word_lists_stats(&stats);
    CHECK(stats.lists == before.lists + 3 && stats.texts == before.texts + 3 && stats.bytes > before.bytes);
    used = word_shelf_find(shelf, slice_of("a"));
    CHECK(word_lists_let_go(&account) && !word_shelf_find(shelf, slice_of("b")));
    CHECK(!word_lists_let_go(&account)); /* somebody uses it */
    word_list_done(used);
    CHECK(word_lists_let_go(&account) && !word_lists_let_go(&account));
    CHECK(atomic_load(&account.used_bytes) == 0 && atomic_load(&other.used_bytes) > 0);
    word_shelf_release(shelf);
    word_lists_stats(&stats);
    CHECK(stats.lists == before.lists && stats.texts == before.texts && stats.bytes == before.bytes);
    CHECK(atomic_load(&other.used_bytes) == 0);
}

TEST(a_list_that_gets_no_memory_says_so)
{
    struct word_list *list;
    struct account account;
    uint64_t added = 0;

    account_init(&account, 4 * 1024 * 1024);
    list = word_list_new(&account);
    while (added < 1000000 && word_list_add(list, &(struct word_text){ ++added, 1, 1 }))
        ;
    CHECK(added > 1000 && added < 1000000 && list->count == added - 1);
    word_list_done(list);
    CHECK(atomic_load(&account.used_bytes) == 0);
}

static void *use_and_replace(void *context)
{
    static const char *const keys[] = { "a", "b", "c" };

    for (uint64_t i = 0; i < 2000; i++) {
        const char *key = keys[i % 3];
        struct word_list *found = word_shelf_find(context, slice_of(key));

        CHECK(!found || (found->count == 1 && word_list_find(found, found->lsn)));
        word_list_done(found);
        if (i % 5 == 0)
            put(context, key, list_of(NULL, 1 + i, 1 + i));
        if (i % 7 == 0)
            word_lists_let_go(NULL);
    }
    return NULL;
}

TEST(many_threads_use_lists_while_others_replace_them)
{
    struct word_shelf *shelf = word_shelf_new();
    pthread_t thread[3];

    for (size_t i = 0; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, use_and_replace, shelf) == 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    word_shelf_release(shelf);
}
