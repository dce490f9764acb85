/* test/unit/query/function/math_test.c - functions of numbers, called directly. */
#include <math.h>

#include "call.h"
#include "test.h"

static bool math(const char *name, const char *args, const char *expected)
{
    return gives(&builtins_math, name, args, expected);
}

TEST(anything_but_numbers_gives_undefined)
{
    static const char *const wrong[] = { "null", "true", "'1'", "[1]", "{'a':1}", "'<undefined>'" };

    for (size_t i = 0; i < builtins_math.count; i++) {
        const struct builtin *row = &builtins_math.row[i];

        for (size_t w = 0; row->args_max > 0 && w < sizeof(wrong) / sizeof(wrong[0]); w++) {
            char args[64];

            snprintf(args, sizeof(args), row->args_min == 1 ? "[%s]" : "[%s,1]", wrong[w]);
            CHECK(math(row->name, args, "undefined"));
            snprintf(args, sizeof(args), "[1,%s]", wrong[w]);
            if (row->args_max == 2)
                CHECK(math(row->name, args, "undefined"));
        }
    }
}

TEST(functions_of_one_number_are_those_of_the_math_library)
{
    CHECK(math("ACOS", "[-1]", "3.141592653589793"));
    CHECK(math("ASIN", "[-1]", "-1.5707963267948966"));
    CHECK(math("ATAN", "[-45.01]", "-1.5485826962062663"));
    CHECK(math("COS", "[14.78]", "-0.5994654261946543"));
    CHECK(math("COT", "[124.1332]", "-0.040311998371148884"));
    CHECK(math("EXP", "[10]", "22026.465794806718"));
    CHECK(math("SIN", "[45.175643]", "0.929607286611012"));
    CHECK(math("SQRT", "[17]", "4.123105625617661"));
    CHECK(math("SQUARE", "[-3]", "9"));
    CHECK(math("TAN", "[124.1332]", "-24.80651023035602"));
    CHECK(math("TAN", "[1.5707963267948966]", "16331239353195370"));
    CHECK(math("LOG10", "[100]", "2"));
    CHECK(math("DEGREES", "[4.71238898038469]", "270"));
    CHECK(math("RADIANS", "[197.1099392]", "3.4402174274458375"));
    CHECK(math("PI", "[]", "3.141592653589793"));
}

TEST(the_first_argument_of_the_arctangent_is_y)
{
    CHECK(math("ATN2", "[35.175643, 129.44]", "0.265344532064832"));
    CHECK(math("ATN2", "[1, 0]", "1.5707963267948966"));
    CHECK(math("ATN2", "[0, -1]", "3.141592653589793"));
}

TEST(what_is_outside_the_domain_is_not_a_number_and_still_one)
{
    struct value root = call(&builtins_math, "SQRT", "[-1]");

    CHECK(root.kind == JSON_NUMBER && !root.is_int && isnan(root.number));
    CHECK(math("ACOS", "[2]", "'NaN'"));
    CHECK(math("LOG", "[0]", "'-Infinity'"));
    CHECK(math("SIGN", "['<NaN>']", "undefined"));
    CHECK(math("NUMBERBIN", "['<Infinity>', 2]", "undefined"));
    CHECK(math("FLOOR", "['<Infinity>']", "'Infinity'"));
    CHECK(math("POWER", "[10, 400]", "'Infinity'"));
}

TEST(integers_that_no_double_holds_stay_exact)
{
    static const char *const keep[] = { "CEILING", "FLOOR", "ROUND", "TRUNC", "ABS", "NUMBERBIN" };

    for (size_t i = 0; i < sizeof(keep) / sizeof(keep[0]); i++)
        CHECK(math(keep[i], "[9223372036854775807]", "9223372036854775807"));
    CHECK(math("ABS", "[-9223372036854775807]", "9223372036854775807"));
    CHECK(math("ABS", "[-9223372036854775808]", "-9223372036854775808"));
    CHECK(math("SIGN", "[-9223372036854775808]", "-1"));
    CHECK(math("NUMBERBIN", "[9007199254740993, 10]", "9007199254740990"));
}

TEST(halves_round_away_from_zero)
{
    CHECK(math("ROUND", "[2.5]", "3"));
    CHECK(math("ROUND", "[-2.5]", "-3"));
    CHECK(math("ROUND", "[0.5]", "1"));
    CHECK(math("ROUND", "[-0.5]", "-1"));
    CHECK(math("ROUND", "[-0.4]", "0"));
    CHECK(math("ROUND", "[0.49999999999999994]", "0"));
    CHECK(math("CEILING", "[-0.5]", "0"));
    CHECK(math("FLOOR", "[-145.12]", "-146"));
    CHECK(math("TRUNC", "[-2.78]", "-2"));
}

TEST(a_second_argument_of_round_is_how_many_digits_stay)
{
    CHECK(math("ROUND", "[2.345, 1]", "2.3"));
    CHECK(math("ROUND", "[-2.25, 1]", "-2.3"));
    CHECK(math("ROUND", "[5, 400]", "5"));
    CHECK(math("ROUND", "[0.1, 400]", "0.1"));
    CHECK(math("ROUND", "[1234.5, -2]", "1200"));
    CHECK(math("ROUND", "[-25, -1]", "-30"));
    CHECK(math("ROUND", "[2.5, 0.5]", "undefined"));
}

TEST(a_logarithm_may_have_a_base)
{
    CHECK(math("LOG", "[5]", "1.6094379124341003"));
    CHECK(math("LOG", "[2, 10]", "0.3010299956639812"));
    CHECK(math("LOG", "[8, 2]", "3"));
    CHECK(math("LOG", "[81, 3]", "4"));
}

TEST(a_bin_begins_at_a_multiple_of_its_size)
{
    CHECK(math("NUMBERBIN", "[37.752]", "37"));
    CHECK(math("NUMBERBIN", "[37.752, 10]", "30"));
    CHECK(math("NUMBERBIN", "[37.752, -100]", "100"));
    CHECK(math("NUMBERBIN", "[37.752, 0.1]", "37.7"));
    CHECK(math("NUMBERBIN", "[37.752, 0.01]", "37.75"));
    CHECK(math("NUMBERBIN", "[37.752, 0]", "undefined"));
    CHECK(math("NUMBERBIN", "[-7, 5]", "-10"));
    CHECK(math("NUMBERBIN", "[-10, 5]", "-10"));
    CHECK(math("NUMBERBIN", "[7, -5]", "10"));
    CHECK(math("NUMBERBIN", "[-9223372036854775808, -1]", "-9223372036854775808"));
    CHECK(math("NUMBERBIN", "[-9223372036854775808, 10]", "9223372036854775806"));
}

TEST(bins_of_integers_hold_their_numbers)
{
    for (int i = 0; i < 20000; i++) {
        int64_t number = (int64_t)test_random() >> (test_random() % 60);
        int64_t size = (int64_t)(test_random() % 1000) - 500;
        struct value bin;
        char args[64];

        if (size == 0)
            continue;
        snprintf(args, sizeof(args), "[%lld,%lld]", (long long)number, (long long)size);
        bin = call(&builtins_math, "NUMBERBIN", args);
        if (!bin.is_int)
            continue; /* past the last integer */
        CHECK(bin.integer % size == 0);
        CHECK(size > 0 ? bin.integer <= number && number - bin.integer < size
                       : bin.integer >= number && bin.integer - number < -size);
    }
}

TEST(integer_functions_take_nothing_but_integers)
{
    static const char *const names[] = { "INTADD",          "INTSUB",          "INTMUL",   "INTDIV",
                                         "INTMOD",          "INTBITAND",       "INTBITOR", "INTBITXOR",
                                         "INTBITLEFTSHIFT", "INTBITRIGHTSHIFT" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK(math(names[i], "[20, 0.1]", "undefined"));
        CHECK(math(names[i], "[0.1, 20]", "undefined"));
        CHECK(math(names[i], "[9223372036854775808, 1]", "undefined"));
    }
    CHECK(math("INTBITNOT", "[0.1]", "undefined"));
    CHECK(math("INTADD", "[1.0, 2.0]", "3"));
}

TEST(integer_division_cuts_toward_zero)
{
    CHECK(math("INTDIV", "[7, 2]", "3"));
    CHECK(math("INTDIV", "[-7, 2]", "-3"));
    CHECK(math("INTDIV", "[7, 0]", "undefined"));
    CHECK(math("INTMOD", "[12, -5]", "2"));
    CHECK(math("INTMOD", "[-12, -5]", "-2"));
    CHECK(math("INTMOD", "[12, 0]", "undefined"));
    CHECK(math("INTMOD", "[-9223372036854775808, -1]", "undefined"));
    CHECK(math("INTDIV", "[-9223372036854775808, -1]", "undefined"));
}

TEST(integer_functions_begin_anew_past_the_last_integer)
{
    CHECK(math("INTADD", "[9223372036854775806, 1]", "9223372036854775807"));
    CHECK(math("INTADD", "[9223372036854775807, 1]", "-9223372036854775808"));
    CHECK(math("INTSUB", "[-9223372036854775808, 1]", "9223372036854775807"));
    CHECK(math("INTMUL", "[4611686018427387904, 4]", "0"));
}

TEST(bit_functions_work_on_all_64_bits)
{
    CHECK(math("INTBITAND", "[15, 25]", "9"));
    CHECK(math("INTBITOR", "[56, 100]", "124"));
    CHECK(math("INTBITXOR", "[56, 100]", "92"));
    CHECK(math("INTBITNOT", "[65]", "-66"));
    CHECK(math("INTBITLEFTSHIFT", "[1, 40]", "1099511627776"));
    CHECK(math("INTBITLEFTSHIFT", "[1, 63]", "-9223372036854775808"));
    CHECK(math("INTBITLEFTSHIFT", "[1, 65]", "2"));
    CHECK(math("INTBITRIGHTSHIFT", "[-16, 2]", "-4"));
    CHECK(math("INTBITRIGHTSHIFT", "[1099511627776, 40]", "1"));
}

TEST(random_numbers_lie_between_0_and_1_and_differ)
{
    double least = 1, greatest = 0;

    for (int i = 0; i < 1000; i++) {
        double number = call(&builtins_math, "RAND", "[]").number;

        CHECK(number >= 0 && number < 1);
        least = fmin(least, number);
        greatest = fmax(greatest, number);
    }
    CHECK(least < 0.05 && greatest > 0.95);
}
