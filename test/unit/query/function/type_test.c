/* test/unit/query/function/type_test.c - IS_...: what kind of value something is. */
#include "call.h"
#include "test.h"

static bool is(const char *name, const char *args, const char *expected)
{
    return gives(&builtins_type, name, args, expected);
}

/* Of undefined, null, true, 1, 1.5, "a", [], {}, in that order. */
static bool kinds_are(const char *name, const char *answers)
{
    static const char *const values[] = { "['<undefined>']", "[null]", "[true]", "[1]",
                                          "[1.5]",           "['a']",  "[[]]",   "[{}]" };
    bool same = true;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        same &= is(name, values[i], answers[i] == 'y' ? "true" : "false");
    return same;
}

TEST(a_test_of_kind_answers_for_every_kind_and_for_undefined)
{
    CHECK(kinds_are("IS_ARRAY", "------y-"));
    CHECK(kinds_are("IS_BOOL", "--y-----"));
    CHECK(kinds_are("IS_DATETIME", "--------"));
    CHECK(kinds_are("IS_DEFINED", "-yyyyyyy"));
    CHECK(kinds_are("IS_FINITE_NUMBER", "---yy---"));
    CHECK(kinds_are("IS_INTEGER", "---y----"));
    CHECK(kinds_are("IS_NULL", "-y------"));
    CHECK(kinds_are("IS_NUMBER", "---yy---"));
    CHECK(kinds_are("IS_OBJECT", "-------y"));
    CHECK(kinds_are("IS_PRIMITIVE", "-yyyyy--"));
    CHECK(kinds_are("IS_STRING", "-----y--"));
}

TEST(an_integer_is_within_64_bits)
{
    CHECK(is("IS_INTEGER", "[-9223372036854775808]", "true"));
    CHECK(is("IS_INTEGER", "[9223372036854775807]", "true"));
    CHECK(is("IS_INTEGER", "[18446744073709551615]", "false"));
    CHECK(is("IS_INTEGER", "[3.0]", "true"));
}

TEST(nan_and_infinity_are_numbers_but_not_finite)
{
    CHECK(is("IS_NUMBER", "['<NaN>']", "true"));
    CHECK(is("IS_NUMBER", "['<Infinity>']", "true"));
    CHECK(is("IS_FINITE_NUMBER", "['<NaN>']", "false"));
    CHECK(is("IS_FINITE_NUMBER", "['<Infinity>']", "false"));
    CHECK(is("IS_INTEGER", "['<Infinity>']", "false"));
}

TEST(a_date_needs_seconds_when_it_has_a_time)
{
    CHECK(is("IS_DATETIME", "['2024-12-12']", "true"));
    CHECK(is("IS_DATETIME", "['2024-12-12T20:21:25.123Z']", "true"));
    CHECK(is("IS_DATETIME", "['2024-12-12T20Z']", "false"));
    CHECK(is("IS_DATETIME", "['2024-12-12 20:21:25.']", "false"));
}

TEST(what_stands_in_order_by_rank_alone_has_no_code)
{
    for (size_t i = 0; i < builtins_text.count; i++)
        CHECK(!(builtins_text.row[i].flags & (SCORES | FUSES)) == (builtins_text.row[i].code != NULL));
    CHECK(builtins_text.count == 7);
}
