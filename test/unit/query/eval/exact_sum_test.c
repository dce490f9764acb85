/* test/unit/query/eval/exact_sum_test.c - sums that do not depend on the order of what they add. */
#include <math.h>

#include "query/eval/exact_sum.h"
#include "test.h"

static struct value sum_of(const struct value *number, size_t count)
{
    struct exact_sum sum = { 0 };

    for (size_t i = 0; i < count; i++)
        CHECK(exact_sum_add(&sum, &test_op()->arena, number[i], 1));
    return exact_sum_result(&sum);
}

static bool same(struct value a, struct value b)
{
    return a.is_int == b.is_int && (a.is_int ? a.integer == b.integer : a.number == b.number);
}

TEST(a_sum_is_the_nearest_double_of_the_exact_one)
{
    struct value tenth = value_double(0.1), big[] = { value_double(1e300), value_double(-1.5),
                                                      value_double(-1e300), value_double(2.25) };
    struct exact_sum sum = { 0 };

    CHECK(exact_sum_add(&sum, &test_op()->arena, tenth, 10));
    CHECK(same(exact_sum_result(&sum), value_int(1))); /* ten times the double nearest to 0.1, rounded once */
    CHECK(same(sum_of(big, 4), value_double(0.75)));
    CHECK(same(sum_of(NULL, 0), value_int(0)));
}

/* Added up the least first, parts lose nothing; the largest is the sum as it is told. */
TEST(parts_of_a_sum_are_all_of_it)
{
    struct value number[] = { value_double(1e16), value_double(0.1), value_double(-3e-20),
                              value_int(INT64_MAX) };
    double part[EXACT_SUM_PARTS_MAX];
    struct exact_sum sum = { 0 }, again = { 0 };
    size_t count;

    CHECK(exact_sum_parts(&sum, part) == 0);
    for (size_t i = 0; i < 4; i++)
        CHECK(exact_sum_add(&sum, &test_op()->arena, number[i], 1));
    count = exact_sum_parts(&sum, part);
    CHECK(count > 2 && part[0] == exact_sum_result(&sum).number);
    for (size_t i = 0; i < count; i++)
        CHECK(exact_sum_add(&again, &test_op()->arena, value_double(part[i]), 1));
    for (size_t i = 0; i < 4; i++) {
        number[i] = number[i].is_int ? value_int(-number[i].integer) : value_double(-number[i].number);
        CHECK(exact_sum_add(&again, &test_op()->arena, number[i], 1));
    }
    CHECK(same(exact_sum_result(&again), value_int(0)));
}

TEST(integers_stay_exact_as_long_as_the_sum_is_one)
{
    struct value turn[] = { value_int(INT64_MAX), value_int(INT64_MAX), value_int(-INT64_MAX),
                            value_double(0.5), value_double(0.5) };

    CHECK(same(sum_of(turn, 3), value_int(INT64_MAX)));
    CHECK(same(sum_of(turn, 2), value_double(0x1p64)));
    CHECK(same(sum_of(turn + 2, 3), value_int(-INT64_MAX + 1)));
}

TEST(what_is_not_finite_decides)
{
    struct value number[] = { value_double(INFINITY), value_int(1), value_double(-INFINITY) };

    CHECK(sum_of(number, 2).number == INFINITY);
    CHECK(sum_of(number + 1, 2).number == -INFINITY);
    CHECK(isnan(sum_of(number, 3).number));
}

TEST(the_least_and_the_greatest_doubles_have_their_place)
{
    struct value least[] = { value_double(0x1p-1074), value_double(0x1p-1074), value_double(0x1p-1073) };
    struct value greatest[] = { value_double(0x1.fffffffffffffp1023), value_double(0x1.fffffffffffffp1023),
                                value_double(-0x1.fffffffffffffp1023) };

    CHECK(same(sum_of(least, 3), value_double(0x1p-1072)));
    CHECK(same(sum_of(greatest, 3), greatest[0]));
    CHECK(sum_of(greatest, 2).number == INFINITY);
}

static double random_double(void)
{
    return ldexp((double)(int64_t)test_random(), (int)(test_random() % 200) - 160);
}

TEST(the_order_does_not_matter)
{
    enum { COUNT = 50 };
    struct value number[COUNT];

    for (int round = 0; round < 200; round++) {
        struct value first;

        for (int i = 0; i < COUNT; i++)
            number[i] = test_random() % 3 ? value_double(random_double()) : value_int((int64_t)test_random());
        first = sum_of(number, COUNT);
        for (int i = COUNT - 1; i > 0; i--) {
            int k = (int)(test_random() % (uint64_t)(i + 1));
            struct value swap = number[i];

            number[i] = number[k];
            number[k] = swap;
        }
        CHECK(same(sum_of(number, COUNT), first));
    }
}

TEST(so_many_times_is_as_often_as_that)
{
    for (int round = 0; round < 100; round++) {
        struct exact_sum once = { 0 }, often = { 0 };
        struct value number = value_double(random_double());
        uint64_t times = test_random() % 50;

        CHECK(exact_sum_add(&once, &test_op()->arena, number, times));
        for (uint64_t i = 0; i < times; i++)
            CHECK(exact_sum_add(&often, &test_op()->arena, number, 1));
        CHECK(same(exact_sum_result(&once), exact_sum_result(&often)));
    }
}
