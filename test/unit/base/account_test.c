/* test/unit/base/account_test.c - limits of all, of a kind, and what is kept for those who need little. */
#include <pthread.h>

#include "base/account.h"
#include "test.h"

enum { MB = 1024 * 1024 };

TEST(a_kind_has_its_part_of_the_account_and_no_more)
{
    struct account account;
    struct claim bodies = { .account = &account, .holder = HOLDER_BODIES };

    account_init(&account, 100 * MB);
    CHECK(claim_more(&bodies, 25 * MB));
    CHECK(!claim_more(&bodies, CLAIM_SMALL_BYTES + 1) && bodies.refused);
    CHECK(atomic_load(&account.held_bytes[HOLDER_BODIES]) == 25 * MB); /* what was refused took nothing */
    CHECK(atomic_load(&account.refused[HOLDER_BODIES]) == 1);
    claim_less(&bodies, 25 * MB);
    CHECK(atomic_load(&account.used_bytes) == 0);
}

TEST(the_fixed_part_of_the_store_leaves_less_to_all_others)
{
    struct account account;
    struct claim store = { .account = &account, .holder = HOLDER_STORE };
    struct claim bodies = { .account = &account, .holder = HOLDER_BODIES };

    account_init(&account, 100 * MB);
    claim_anyway(&store, 60 * MB);
    CHECK(account_share(&account, HOLDER_BODIES) <= 10 * MB);
    CHECK(claim_more(&bodies, 9 * MB) && !claim_more(&bodies, 2 * MB));
}

TEST(who_needs_little_finds_room_when_who_needs_much_does_not)
{
    struct account account;
    struct claim writes = { .account = &account, .holder = HOLDER_OPERATIONS };
    struct claim queries = { .account = &account, .holder = HOLDER_QUERIES };
    struct claim small = { .account = &account, .holder = HOLDER_OPERATIONS };
    size_t granted = 0;

    account_init(&account, 80 * MB);
    while (claim_more(&writes, MB))
        ;
    while (claim_more(&queries, MB))
        ;
    CHECK(atomic_load(&account.used_bytes) == 60 * MB); /* a quarter of so little is kept */
    for (int i = 0; i < 80; i++) { /* each is another small one, and they end at the limit */
        small = (struct claim){ .account = &account, .holder = HOLDER_OPERATIONS };
        granted += claim_more(&small, CLAIM_SMALL_BYTES);
    }
    CHECK(granted == 20 && atomic_load(&account.used_bytes) == 80 * MB);
    CHECK(!claim_more(&writes, MB));
}

/* Its first chunks, and room for the keys of a block: half a megabyte, whatever it asks. */
TEST(what_a_small_query_takes_is_little)
{
    struct account account;
    struct claim writes = { .account = &account, .holder = HOLDER_OPERATIONS };
    struct claim query = { .account = &account, .holder = HOLDER_QUERIES };

    account_init(&account, 800 * (size_t)MB);
    while (claim_more(&writes, 2 * MB))
        ;
    while (claim_more(&query, 2 * MB))
        ;
    CHECK(atomic_load(&account.used_bytes) == 700 * (size_t)MB); /* an eighth is kept */
    query = (struct claim){ .account = &account, .holder = HOLDER_QUERIES };
    claim_anyway(&query, 496 * 1024);
    CHECK(claim_more(&query, 256 * 1024));
}

TEST(what_is_kept_can_be_asked_for_and_whether_there_is_room)
{
    struct account account;
    struct claim large = { .account = &account, .holder = HOLDER_OPERATIONS };
    struct claim nobody = { .account = NULL };

    account_init(&account, 800 * (size_t)MB);
    CHECK(account_kept(&account) == 100 * (size_t)MB);
    CHECK(claim_may_have(&large, 400 * (size_t)MB) &&
          !claim_may_have(&large, 500 * (size_t)MB)); /* 60 % are 480 */
    CHECK(large.bytes == 0 && !large.refused && atomic_load(&account.used_bytes) == 0);
    CHECK(claim_may_have(&nobody, 500 * (size_t)MB));
    account_init(&account, 0);
    CHECK(account_kept(&account) == SIZE_MAX && claim_may_have(&large, 500 * (size_t)MB));
}

TEST(what_is_taken_already_is_counted_whatever_the_limit)
{
    struct account account;
    struct claim claim = { .account = &account, .holder = HOLDER_OPERATIONS };

    account_init(&account, MB);
    claim_anyway(&claim, 2 * MB);
    CHECK(atomic_load(&account.used_bytes) == 2 * MB && !claim.refused && !claim_more(&claim, 1));
    claim_less(&claim, 2 * MB);
}

TEST(without_a_limit_everything_is_granted_and_counted)
{
    struct account account;
    struct claim claim = { .account = &account, .holder = HOLDER_QUERIES }, alone = { 0 };

    account_init(&account, 0);
    CHECK(claim_more(&claim, 1000 * (size_t)MB) && claim_more(&alone, 1000 * (size_t)MB));
    CHECK(atomic_load(&account.held_bytes[HOLDER_QUERIES]) == 1000 * (size_t)MB);
}

TEST(a_claim_that_moves_is_counted_once)
{
    struct account account;
    struct claim claim = { .account = &account, .holder = HOLDER_OPERATIONS };

    account_init(&account, 10 * MB);
    CHECK(claim_more(&claim, MB));
    claim_move(&claim, HOLDER_ANSWERS);
    CHECK(atomic_load(&account.held_bytes[HOLDER_OPERATIONS]) == 0);
    CHECK(atomic_load(&account.held_bytes[HOLDER_ANSWERS]) == MB);
    CHECK(atomic_load(&account.used_bytes) == MB);
    claim_less(&claim, MB);
    CHECK(atomic_load(&account.held_bytes[HOLDER_ANSWERS]) == 0);
}

static void *take_and_give(void *argument)
{
    struct account *account = argument;
    struct claim claim = { .account = account, .holder = HOLDER_OPERATIONS };

    for (int i = 0; i < 20000; i++) {
        if (claim_more(&claim, MB))
            CHECK(atomic_load(&account->used_bytes) > 0);
        if (i % 3)
            claim_less(&claim, claim.bytes);
    }
    claim_less(&claim, claim.bytes);
    return NULL;
}

TEST(many_threads_give_back_exactly_what_they_took)
{
    struct account account;
    pthread_t thread[4];

    account_init(&account, 8 * MB);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, take_and_give, &account);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK(atomic_load(&account.used_bytes) == 0 && atomic_load(&account.held_bytes[HOLDER_OPERATIONS]) == 0);
}

TEST(who_has_done_its_work_gets_what_its_answer_needs)
{
    struct account account;
    struct claim claim = { .account = &account, .holder = HOLDER_OPERATIONS };

    account_init(&account, MB);
    CHECK(!claim_more(&claim, 2 * MB));
    claim.is_owed = true;
    CHECK(claim_more(&claim, 2 * MB) && atomic_load(&account.used_bytes) == 2 * MB);
}
