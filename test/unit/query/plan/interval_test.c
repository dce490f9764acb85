/* test/unit/query/plan/interval_test.c - intervals met, turned round and printed; and who reads which condition. */
#include "query/plan/filter.h"
#include "query/query.h"
#include "test.h"

static bool prints(const struct interval *interval, const char *expected)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    interval_print(&text, interval);
    if (!slice_is(buf_as_slice(&text), expected))
        printf("%.*s\n", (int)text.size, text.data);
    return slice_is(buf_as_slice(&text), expected);
}

TEST(two_intervals_meet_in_their_tighter_bounds)
{
    struct interval above = interval_of_order(OPERATOR_GREATER_EQUAL, value_int(1));
    struct interval more = interval_of_order(OPERATOR_GREATER, value_int(1));
    struct interval below = interval_of_order(OPERATOR_LESS, value_int(5));
    struct interval both = interval_meet(&above, &below), empty;

    CHECK(prints(&both, "[1, 5)"));
    both = interval_meet(&above, &more);
    CHECK(prints(&both, "(1, number]"));
    CHECK(!interval_is_empty(&both) && !interval_is_point(&both));
    above = interval_of_order(OPERATOR_GREATER_EQUAL, value_int(7));
    empty = interval_meet(&above, &below);
    CHECK(interval_is_empty(&empty));
}

TEST(what_kinds_and_bounds_leave_is_empty_or_not)
{
    struct interval booleans = interval_of_kinds(JSON_FALSE, JSON_TRUE);
    struct interval strings = interval_of_kinds(JSON_STRING, JSON_STRING);
    struct interval above = interval_of_order(OPERATOR_GREATER, value_bool(false));
    struct interval one = interval_of_value(value_int(1)), both;

    both = interval_meet(&booleans, &above);
    CHECK(!interval_is_empty(&both) && interval_has(&both, value_bool(true)));
    CHECK(!interval_has(&both, value_bool(false)) && !interval_has(&both, value_int(1)));
    both = interval_meet(&strings, &one);
    CHECK(interval_is_empty(&both));
    above = interval_of_order(OPERATOR_GREATER, value_int(1));
    both = interval_meet(&above, &one);
    CHECK(interval_is_empty(&both));
}

TEST(a_value_and_its_complement_are_all_there_is)
{
    struct interval point = interval_of_value(value_string(slice_of("m"))), both[2];

    interval_complement(value_string(slice_of("m")), both);
    CHECK(interval_is_point(&point));
    CHECK(prints(&both[0], "[null, \"m\")"));
    CHECK(prints(&both[1], "(\"m\", object]"));
}

TEST(numbers_that_are_not_finite_are_stored_nowhere)
{
    struct interval infinite = interval_of_value(value_double(1 / 0.0)),
                    one = interval_of_value(value_int(1));

    CHECK(!interval_is_stored(&infinite));
    CHECK(interval_is_stored(&one));
}

static const struct filter *filter_of(const char *text)
{
    static const struct query_options options = { .planar = false };
    struct query *query;

    if (query_compile(test_op(), slice_of(text), json_undefined, &options, &query) != ST_OK)
        printf("%s: %s\n", text, test_op()->error);
    return filter_of_select(&test_op()->arena, query_select(query));
}

TEST(a_list_is_one_condition_of_many_points)
{
    const struct filter *filter = filter_of("SELECT * FROM c WHERE c.a IN (1, undefined, 'x')");

    CHECK(filter->kind == FILTER_VALUES);
    CHECK(filter->interval_count == 2);
    CHECK(!filter->loose);
}
