/* test/unit/json/compare_test.c - equality, order and hash. */
#include "json/json.h"
#include "random_value.h"
#include "test.h"

static struct json parsed(const char *text)
{
    struct json value = json_undefined;

    if (json_parse(test_op(), slice_of(text), &value) != ST_OK)
        return json_undefined;
    return value;
}

static bool same_hash(struct json a, struct json b)
{
    struct hash128 h = json_hash(a), g = json_hash(b);

    return h.h1 == g.h1 && h.h2 == g.h2;
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

TEST(scalars_are_in_order_by_order)
{
    static const char *const rising[] = {
        "", /* undefined */
        "null",
        "false",
        "true",
        "-1.7976931348623157e308",
        "-9223372036854777856",
        "-9223372036854775808",
        "-9223372036854775807",
        "-9007199254740993",
        "-9007199254740992",
        "-1.5",
        "-1",
        "-0.5",
        "0",
        "5e-324",
        "0.5",
        "1",
        "1.5",
        "2",
        "4503599627370495.5",
        "4503599627370496",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "1e300",
        "\"\"",
        "\"\\u0000\"",
        "\"\\n\"",
        "\"a\"",
        "\"a\\\"\"",
        "\"aa\"",
        "\"b\"",
        "\"\xc3\xa9\"",
        "\"\xf0\x9f\x98\x80\"",
        "[]",
        "{}",
    };
    int count = sizeof(rising) / sizeof(rising[0]);

    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            struct json a = parsed(rising[i]), b = parsed(rising[j]);

            CHECK(sign(json_compare(a, b)) == sign(i - j));
            CHECK(json_equal(a, b) == (i == j));
        }
}

TEST(equality_looks_through_order_of_members_and_form_of_numbers)
{
    CHECK(json_equal(parsed("{\"a\":1,\"b\":[{\"c\":2,\"d\":3}]}"),
                     parsed("{\"b\":[{\"d\":3.0,\"c\":2}],\"a\":1e0}")));
    CHECK(!json_equal(parsed("{\"a\":1,\"b\":2}"), parsed("{\"a\":1,\"c\":2}")));
    CHECK(!json_equal(parsed("{\"a\":1,\"b\":2}"), parsed("{\"b\":1,\"a\":2}")));
    CHECK(!json_equal(parsed("{\"a\":1}"), parsed("{\"a\":1,\"b\":2}")));
    CHECK(!json_equal(parsed("[1,2]"), parsed("[2,1]")));
    CHECK(!json_equal(parsed("[1,2]"), parsed("[1,2,3]")));
    CHECK(!json_equal(parsed("[]"), parsed("{}")));
    CHECK(!json_equal(parsed("[null]"), parsed("[[]]")));
    CHECK(json_equal(json_undefined, json_undefined));
    CHECK(!json_equal(json_undefined, parsed("null")));
}

static struct json numbered(unsigned first, unsigned last, unsigned step)
{
    struct json_builder b;

    json_builder_init(&b, &test_op()->arena);
    json_begin_object(&b);
    for (unsigned i = first; i != last; i += step) {
        char name[20];

        snprintf(name, sizeof(name), "n%u", i);
        json_add_name(&b, slice_of(name));
        json_add_int(&b, i);
    }
    json_end(&b);
    return json_built(&b);
}

TEST(a_large_object_turned_around_is_equal_and_soon_known_to_be)
{
    int64_t start_ms = test_cpu_ms();

    CHECK(json_equal(numbered(1, 100001, 1), numbered(100000, 0, -1u)));
    CHECK(!json_equal(numbered(1, 100001, 1), numbered(100001, 1, -1u)));
    CHECK(test_cpu_ms() - start_ms < 10000); /* looking each one up would take minutes */
}

TEST(equal_values_have_equal_hashes_and_compare_as_equal)
{
    for (int i = 0; i < 2000; i++) {
        struct json value = random_value(test_op(), 4), other = shuffled(test_op(), value);

        CHECK(json_equal(value, other));
        CHECK(json_equal(other, value));
        CHECK(same_hash(value, other));
        CHECK(json_compare(value, other) == 0);
    }
}

TEST(values_that_differ_differ_in_hash)
{
    for (int i = 0; i < 2000; i++) {
        struct json a = random_value(test_op(), 2), b = random_value(test_op(), 2);

        CHECK(json_equal(a, b) == same_hash(a, b));
        CHECK(json_equal(a, b) == (json_compare(a, b) == 0));
    }
    CHECK(!same_hash(parsed("[1,2]"), parsed("[2,1]")));
    CHECK(!same_hash(parsed("{\"a\":1,\"b\":2}"), parsed("{\"a\":2,\"b\":1}")));
    CHECK(!same_hash(parsed("[]"), parsed("{}")));
    CHECK(!same_hash(parsed("[[],1]"), parsed("[[1]]")));
}

TEST(the_order_is_total)
{
    struct json values[60];

    for (int i = 0; i < 60; i++)
        values[i] = random_value(test_op(), i % 3);
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++) {
            int order = sign(json_compare(values[i], values[j]));

            CHECK(order == -sign(json_compare(values[j], values[i])));
            for (int k = 0; k < 60; k++)
                if (order <= 0 && json_compare(values[j], values[k]) <= 0)
                    CHECK(json_compare(values[i], values[k]) <= 0);
        }
}
