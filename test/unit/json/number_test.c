/* test/unit/json/number_test.c - numbers: text to number, number to text, which of the two types. */
#include <math.h>

#include "json/json.h"
#include "test.h"

static const struct {
    uint64_t bits;
    const char *text;
} doubles[] = {
#define ROW(bits, text) { bits, text },
#include "doubles.txt"
#undef ROW
};

static double from_bits(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static struct json parsed(const char *text)
{
    struct json value = json_undefined;

    if (json_parse(test_op(), slice_of(text), &value) != ST_OK)
        return json_undefined;
    return value;
}

static bool prints_as(struct json value, const char *text)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    json_print(&out, value);
    return slice_is(buf_as_slice(&out), text);
}

TEST(a_double_prints_as_javascript_prints_it)
{
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        struct buf out;

        buf_init(&out, &test_op()->arena);
        json_print_double(&out, from_bits(doubles[i].bits));
        if (!slice_is(buf_as_slice(&out), doubles[i].text))
            printf("%s was printed as %.*s\n", doubles[i].text, SLICE_ARGS(buf_as_slice(&out)));
        CHECK(slice_is(buf_as_slice(&out), doubles[i].text));
    }
}

TEST(what_javascript_printed_reads_back_as_the_same_double)
{
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        struct json value = parsed(doubles[i].text);

        REQUIRE(json_kind(value) == JSON_NUMBER);
        CHECK(json_double(value) == from_bits(doubles[i].bits));
    }
}

TEST(printing_and_parsing_any_double_gives_the_same_bytes)
{
    for (int i = 0; i < 20000; i++) {
        double number = from_bits(test_random());
        struct json_builder builder;
        struct json value, again;
        struct buf out;

        if (i % 2)
            number = (double)(int64_t)test_random() / (double)(test_random() % 1000000 + 1);
        if (!isfinite(number))
            continue;
        json_builder_init(&builder, &test_op()->arena);
        json_add_double(&builder, number);
        value = json_built(&builder);
        buf_init(&out, &test_op()->arena);
        json_print(&out, value);
        REQUIRE(json_parse(test_op(), buf_as_slice(&out), &again) == ST_OK);
        CHECK(slice_equal(json_bytes(value), json_bytes(again)));
    }
}

TEST(a_double_that_is_no_number_prints_as_null)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    json_print_double(&out, NAN);
    json_print_double(&out, INFINITY);
    CHECK(slice_is(buf_as_slice(&out), "nullnull"));
}

TEST(integers_take_the_shortest_form_that_holds_them)
{
    static const struct {
        const char *text;
        int64_t number;
        size_t size;
    } rows[] = {
        { "0", 0, 1 },
        { "31", 31, 1 },
        { "32", 32, 2 },
        { "-1", -1, 2 },
        { "127", 127, 2 },
        { "128", 128, 3 },
        { "-128", -128, 2 },
        { "-129", -129, 3 },
        { "32767", 32767, 3 },
        { "32768", 32768, 5 },
        { "-32769", -32769, 5 },
        { "2147483647", 2147483647, 5 },
        { "2147483648", 2147483648, 9 },
        { "-2147483649", -2147483649, 9 },
        { "9223372036854775807", INT64_MAX, 9 },
        { "-9223372036854775808", INT64_MIN, 9 },
        { "9007199254740993", 9007199254740993, 9 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json value = parsed(rows[i].text);

        REQUIRE(json_kind(value) == JSON_NUMBER && json_is_int(value));
        CHECK(json_int(value) == rows[i].number);
        CHECK(json_size(value) == rows[i].size);
        CHECK(prints_as(value, rows[i].text));
    }
}

TEST(a_fraction_or_an_exponent_that_makes_an_integer_is_stored_as_one)
{
    static const char *const same[][2] = {
        { "1.0", "1" },
        { "-0", "0" },
        { "-0.0", "0" },
        { "0e400", "0" },
        { "1e2", "100" },
        { "12e-1", "1.2" },
        { "1E+2", "100" },
        { "1e-400", "0" },
        { "-1e-400", "0" },
        { "100000e-5", "1" },
        { "1e18", "1000000000000000000" },
        { "123456.7e1", "1234567" },
    };

    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        struct json value = parsed(same[i][0]), other = parsed(same[i][1]);

        REQUIRE(json_kind(value) == JSON_NUMBER);
        CHECK(slice_equal(json_bytes(value), json_bytes(other)));
        CHECK(prints_as(value, same[i][1]));
    }
}

TEST(an_integer_past_int64_is_the_nearest_double)
{
    CHECK(!json_is_int(parsed("9223372036854775808")));
    CHECK(json_double(parsed("9223372036854775808")) == 0x1p63);
    CHECK(json_double(parsed("18446744073709551616")) == 0x1p64);
    CHECK(json_double(parsed("-9223372036854775809")) == -0x1p63);
    CHECK(prints_as(parsed("9223372036854775808"), "9223372036854776000"));
    CHECK(prints_as(parsed("123456789012345678901234567890"), "1.2345678901234568e+29"));
}

TEST(digits_past_those_a_double_holds_still_round_correctly)
{
    CHECK(json_double(parsed("0.1000000000000000055511151231257827021181583404541015625")) == 0.1);
    CHECK(json_double(parsed("9007199254740992.99999999999999999999")) == 9007199254740992.0);
    CHECK(json_double(parsed("9007199254740993.00000000000000000001")) == 9007199254740994.0);
    CHECK(json_double(parsed("2.2250738585072011e-308")) == 2.2250738585072011e-308);
}

TEST(a_number_of_any_length_is_read)
{
    struct json value;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "0.");
    for (int i = 0; i < 5000; i++)
        buf_byte(&text, '0');
    buf_text(&text, "1e5000");
    REQUIRE(json_parse(test_op(), buf_as_slice(&text), &value) == ST_OK);
    CHECK(prints_as(value, "0.1"));
}

TEST(a_number_too_large_for_a_double_is_refused)
{
    struct json value;

    CHECK(json_parse(test_op(), slice_of("1e400"), &value) == ST_BAD_REQUEST);
    CHECK(json_parse(test_op(), slice_of("-1e309"), &value) == ST_BAD_REQUEST);
    CHECK(json_parse(test_op(), slice_of("1e99999999999999999999"), &value) == ST_BAD_REQUEST);
    CHECK(json_parse(test_op(), slice_of("1.7976931348623157e308"), &value) == ST_OK);
}
