/* test/unit/advise/spread_test.c - estimates against exact counts. */
#include "advise/spread.h"
#include "test.h"

static uint64_t hash_of(uint64_t value)
{
    value = (value + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

TEST(different_values_are_counted_to_a_few_percent)
{
    for (uint64_t wanted = 10; wanted <= 100000; wanted *= 10) {
        struct spread spread = { 0 };
        double share;

        for (uint64_t i = 0; i < 2 * wanted; i++)
            spread_add(&spread, hash_of(i % wanted));
        share = (double)spread_distinct(&spread) / (double)wanted;
        CHECK(share > 0.75 && share < 1.25);
    }
}

TEST(the_commonest_value_is_never_told_too_often_and_at_most_a_thirtieth_too_seldom)
{
    for (uint64_t common = 0; common < 1000; common += 125) {
        struct spread spread = { 0 };
        uint64_t told;

        for (uint64_t i = 0; i < 1000; i++)
            spread_add(&spread, i * 7 % 1000 < common ? 1 : hash_of(i));
        told = spread_commonest(&spread);
        CHECK(told <= (common ? common : 1));
        CHECK(told + 1000 / SPREAD_HEAVY >= common);
    }
}

TEST(two_sketches_joined_are_one_of_all_values)
{
    struct spread left = { 0 }, right = { 0 }, all = { 0 };

    for (uint64_t i = 0; i < 5000; i++) {
        spread_add(i % 2 ? &left : &right, hash_of(i));
        spread_add(&all, hash_of(i));
    }
    spread_join(&left, &right);
    CHECK(left.count == all.count);
    CHECK(spread_distinct(&left) == spread_distinct(&all));
}
