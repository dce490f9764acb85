/* test/unit/store/gather_test.c - who is waited for, and for how long. */
#include "store/gather.h"
#include "test.h"

enum { SLOW_US = 300 };

TEST(a_group_is_held_back_for_those_of_the_last_one_and_those_behind_it)
{
    struct gather gather = { 0 };

    CHECK(!gather_holds(&gather, 1)); /* the first of all waits for nobody */
    gather_wrote(&gather, 8, 7, SLOW_US);
    CHECK(gather.limit_us == SLOW_US / GATHER_SHARE);
    CHECK(gather_holds(&gather, 7) && gather_holds(&gather, 14));
    CHECK(!gather_holds(&gather, 15) && !gather_holds(&gather, 16));
}

TEST(one_writer_alone_never_waits)
{
    struct gather gather = { 0 };

    for (int i = 0; i < 100; i++) {
        CHECK(!gather_holds(&gather, 1));
        gather_wrote(&gather, 1, 0, SLOW_US);
    }
}

TEST(a_quick_write_is_not_worth_a_wait_and_a_very_slow_one_is_no_measure)
{
    struct gather gather = { 0 };

    gather_wrote(&gather, 8, 8, 10 * GATHER_US_MAX);
    CHECK(gather.limit_us == GATHER_US_MAX);
    gather_wrote(&gather, 8, 8, GATHER_WRITE_US_MIN - 1);
    CHECK(!gather_holds(&gather, 8));
    gather_wrote(&gather, 8, 8, GATHER_WRITE_US_MIN);
    CHECK(gather_holds(&gather, 8));
}

/* How many of the next `groups` are held back, if nobody ever comes. */
static int held_in_vain(struct gather *gather, int groups)
{
    int held = 0;

    for (int i = 0; i < groups; i++) {
        gather_wrote(gather, 8, 4, SLOW_US);
        if (gather_holds(gather, 4)) {
            held++;
            gather_held(gather, false);
        }
    }
    return held;
}

TEST(waits_in_vain_become_rare_and_one_that_was_not_makes_them_frequent_again)
{
    struct gather gather = { 0 };

    CHECK(held_in_vain(&gather, 510) == 8); /* the first, and behind 1, 3, 7, ... others */
    CHECK(held_in_vain(&gather, 1024) == 4);
    while (!gather_holds(&gather, 4))
        ;
    gather_held(&gather, true);
    CHECK(gather_holds(&gather, 4));
    gather_held(&gather, true);
    CHECK(gather_holds(&gather, 4));
}
