/* test/unit/base/crowd_test.c - a count that is spread over threads is right when it is gathered, and one is told to be the last. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/crowd.h"
#include "base/thread.h"
#include "test.h"

enum { THREADS = 4, TURNS = 3000, ROUNDS = 100 };

TEST(the_last_of_an_exact_crowd_is_told)
{
    struct crowd crowd;

    crowd_init(&crowd);
    crowd_more(&crowd);
    CHECK(crowd_count(&crowd) == 2);
    CHECK(!crowd_more_while_spread(&crowd));
    CHECK(!crowd_less(&crowd));
    CHECK(crowd_less(&crowd));
}

TEST(while_a_crowd_is_spread_nobody_is_the_last)
{
    struct crowd crowd;

    crowd_init(&crowd);
    crowd_more(&crowd);
    crowd_spread(&crowd);
    crowd_spread(&crowd); /* welcome */
    CHECK(crowd_more_while_spread(&crowd));
    for (int i = 0; i < 2; i++)
        CHECK(!crowd_less(&crowd));
    crowd_gather(&crowd);
    crowd_gather(&crowd); /* welcome */
    CHECK(crowd_count(&crowd) == 1);
    CHECK(crowd_less(&crowd));
}

static void *take_off(void *context)
{
    struct crowd *crowd = context;

    CHECK(!crowd_less(crowd)); /* what another thread has added */
    return NULL;
}

TEST(a_thread_takes_off_what_another_has_added)
{
    struct crowd crowd;
    pthread_t thread;

    crowd_init(&crowd);
    crowd_spread(&crowd);
    for (int i = 0; i < 5; i++)
        crowd_more(&crowd);
    for (int i = 0; i < 3; i++) {
        REQUIRE(pthread_create(&thread, NULL, take_off, &crowd) == 0);
        pthread_join(thread, NULL);
    }
    crowd_gather(&crowd);
    CHECK(crowd_count(&crowd) == 3);
}

TEST(one_thread_may_add_for_years_what_another_takes_off)
{
    struct crowd crowd;

    crowd_init(&crowd);
    crowd_spread(&crowd);
    atomic_store(&crowd.part[thread_number() % CROWD_PARTS].word,
                 INT_MAX - 1); /* as after a thousand million */
    atomic_store(&crowd.part[(thread_number() + 1) % CROWD_PARTS].word, -(INT_MAX - 1));
    for (int i = 0; i < 3; i++)
        crowd_more(&crowd);
    crowd_gather(&crowd);
    CHECK(crowd_count(&crowd) == 4);
}

struct world {
    struct crowd crowd;
    atomic_uint last, torn; /* how many were told so, and how many had one after that */
};

static void *come_and_go(void *context)
{
    struct world *world = context;

    for (int i = 0; i < TURNS; i++) {
        crowd_more(&world->crowd);
        if (atomic_load(&world->last))
            atomic_fetch_add(&world->torn, 1);
        if (crowd_less(&world->crowd))
            atomic_fetch_add(&world->last, 1);
    }
    if (crowd_less(&world->crowd)) /* the thread's own, from before it began */
        atomic_fetch_add(&world->last, 1);
    return NULL;
}

TEST(one_is_the_last_however_often_the_crowd_is_gathered_and_spread_meanwhile)
{
    for (int round = 0; round < 10; round++) {
        struct world world = { 0 };
        pthread_t thread[THREADS];

        crowd_init(&world.crowd);
        for (int i = 0; i < THREADS; i++)
            crowd_more(&world.crowd);
        for (int i = 0; i < THREADS; i++)
            REQUIRE(pthread_create(&thread[i], NULL, come_and_go, &world) == 0);
        for (int i = 0; i < ROUNDS; i++) {
            crowd_spread(&world.crowd);
            crowd_gather(&world.crowd);
            CHECK(crowd_count(&world.crowd) >= 1);
        }
        if (crowd_less(&world.crowd))
            atomic_fetch_add(&world.last, 1);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        CHECK(atomic_load(&world.last) == 1);
        CHECK(atomic_load(&world.torn) == 0);
    }
}

static void *leave(void *context)
{
    struct crowd *crowd = context;

    if (crowd_less(crowd))
        free(crowd);
    return NULL;
}

/* The sanitizers see it when one who was not the last touches it afterwards. */
TEST(whoever_is_the_last_may_free_the_crowd)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct crowd *crowd = malloc(sizeof(*crowd));
        pthread_t thread[2];

        REQUIRE(crowd);
        crowd_init(crowd);
        crowd_spread(crowd);
        for (int i = 0; i < 2; i++) {
            crowd_more(crowd);
            REQUIRE(pthread_create(&thread[i], NULL, leave, crowd) == 0);
        }
        crowd_gather(crowd);
        leave(crowd);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
    }
}
