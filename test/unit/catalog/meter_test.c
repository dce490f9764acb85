/* test/unit/catalog/meter_test.c - buckets of request units: what they hold, what they owe, whose they are. */
#include <pthread.h>

#include "catalog/meter.h"
#include "test.h"

enum { SECOND_US = 1000 * 1000, NOW_US = 1000 * SECOND_US };

static const struct meter_place only = { .index = 0, .range = 0, .count = 1 };

static struct meter *meter_with(uint64_t units)
{
    struct meter *meter = meter_new();

    meter_set_units(meter, units, NOW_US);
    return meter;
}

TEST(a_bucket_begins_with_a_second_worth_of_units)
{
    struct meter *meter = meter_with(400);

    CHECK(meter_wait_us(meter, &only, NOW_US) == 0);
    meter_spend(meter, &only, 399, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US) == 0);
    meter_spend(meter, &only, 2, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US) == 2500); /* one unit is owed, of 400 a second */
    CHECK(meter_wait_us(meter, &only, NOW_US + 2499) > 0);
    CHECK(meter_wait_us(meter, &only, NOW_US + 2500) == 0);
    meter_release(meter);
}

TEST(what_is_not_used_for_longer_than_a_second_is_lost)
{
    struct meter *meter = meter_with(400);

    meter_spend(meter, &only, 400, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US + 60 * SECOND_US) == 0);
    meter_spend(meter, &only, 401, NOW_US + 60 * SECOND_US);
    CHECK(meter_wait_us(meter, &only, NOW_US + 60 * SECOND_US) == 2500);
    meter_release(meter);
}

TEST(one_request_may_take_more_than_there_is_and_the_next_waits_for_all_of_it)
{
    struct meter *meter = meter_with(1000);

    meter_spend(meter, &only, 11000, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US) == 10 * SECOND_US);
    meter_release(meter);
}

TEST(ranges_have_equal_parts_of_the_throughput_and_buckets_of_their_own)
{
    struct meter_place first = { 0, 0, 4 }, last = { 3, 3, 4 };
    struct meter *meter = meter_with(4000);

    meter_spend(meter, &first, 2000, NOW_US);
    CHECK(meter_wait_us(meter, &first, NOW_US) == SECOND_US);
    CHECK(meter_wait_us(meter, &last, NOW_US) == 0);
    meter_spend(meter, &last, 1500, NOW_US);
    CHECK(meter_wait_us(meter, &last, NOW_US) == SECOND_US / 2);
    meter_release(meter);
}

TEST(more_throughput_shortens_what_is_owed_at_once)
{
    struct meter *meter = meter_with(400);

    meter_spend(meter, &only, 4400, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US) == 10 * SECOND_US);
    meter_set_units(meter, 4000, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US) == SECOND_US);
    meter_set_units(meter, 400, NOW_US);
    CHECK(meter_wait_us(meter, &only, NOW_US) == 10 * SECOND_US);
    meter_release(meter);
}

TEST(a_range_that_takes_the_place_of_another_owes_nothing)
{
    struct meter_place child = { 0, 7, 1 };
    struct meter *meter = meter_with(400);

    meter_spend(meter, &only, 4400, NOW_US);
    CHECK(meter_wait_us(meter, &child, NOW_US) == 0);
    meter_spend(meter, &child, 401, NOW_US);
    CHECK(meter_wait_us(meter, &child, NOW_US) == 2500);
    meter_release(meter);
}

TEST(more_ranges_than_before_find_their_buckets_and_the_first_keep_theirs)
{
    struct meter_place many = { 99, 99, 100 };
    struct meter *meter = meter_with(40000);

    meter_spend(meter, &only, 80000, NOW_US);
    CHECK(meter_wait_us(meter, &many, NOW_US) == 0);
    meter_spend(meter, &many, 401, NOW_US);
    CHECK(meter_wait_us(meter, &many, NOW_US) == 2500);
    CHECK(meter_wait_us(meter, &only, NOW_US) == SECOND_US);
    meter_release(meter);
}

TEST(those_who_are_refused_are_told_to_come_back_one_after_the_other)
{
    struct meter *meter = meter_with(400);

    for (int i = 0; i < 101; i++)
        meter_spend(meter, &only, 4, NOW_US);
    CHECK(meter_turn_us(meter, &only, NOW_US) == 10000);
    CHECK(meter_turn_us(meter, &only, NOW_US) == 20000);
    CHECK(meter_turn_us(meter, &only, NOW_US + 5000) == 25000);
    meter_set_units(meter, 4000, NOW_US + 5000);
    CHECK(meter_turn_us(meter, &only, NOW_US + 5000) == 500);
    for (int i = 0; i < 10000; i++)
        CHECK(meter_turn_us(meter, &only, NOW_US + 5000) <= 5 * SECOND_US);
    meter_release(meter);
}

enum { SPENDERS = 4, SPENT_EACH = 10000 };

static void *spend_much(void *meter)
{
    for (int i = 0; i < SPENT_EACH; i++)
        meter_spend(meter, &only, 1, NOW_US);
    return NULL;
}

TEST(nothing_that_threads_spend_at_a_time_is_lost)
{
    struct meter *meter = meter_with(1000);
    pthread_t threads[SPENDERS];

    CHECK(meter_wait_us(meter, &only, NOW_US) == 0);
    for (int i = 0; i < SPENDERS; i++)
        pthread_create(&threads[i], NULL, spend_much, meter);
    for (int i = 0; i < SPENDERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(meter_wait_us(meter, &only, NOW_US) == (SPENDERS * SPENT_EACH / 1000 - 1) * SECOND_US);
    meter_release(meter);
}

TEST(an_offer_that_has_gone_while_a_request_was_under_way_is_no_reason_to_wait)
{
    struct meter *meter = meter_with(400);

    meter_spend(meter, &only, 4000, NOW_US);
    meter_set_units(meter, 0, NOW_US);
    meter_spend(meter, &only, 10, NOW_US);
    CHECK(meter_turn_us(meter, &only, NOW_US) <= 9 * SECOND_US);
    meter_release(meter);
}
