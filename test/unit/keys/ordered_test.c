/* test/unit/keys/ordered_test.c - the bytes of values sort as the values do, and give them back. */
#include <float.h>
#include <math.h>

#include "keys/ordered.h"
#include "test.h"

static struct json of_int(int64_t number)
{
    struct json_builder builder;

    json_builder_init(&builder, &test_op()->arena);
    json_add_int(&builder, number);
    return json_built(&builder);
}

static struct json of_double(double number)
{
    struct json_builder builder;

    json_builder_init(&builder, &test_op()->arena);
    json_add_double(&builder, number);
    return json_built(&builder);
}

static struct json of_string(struct slice text)
{
    struct json_builder builder;

    json_builder_init(&builder, &test_op()->arena);
    json_add_string(&builder, text);
    return json_built(&builder);
}

static struct json parse(const char *text)
{
    struct json value;

    return json_parse(test_op(), slice_of(text), &value) == ST_OK ? value : json_undefined;
}

static struct slice encode(struct json value)
{
    uint8_t *bytes = arena_alloc(&test_op()->arena, ORDERED_BYTES_MAX);

    return slice_make(bytes, ordered_encode(value, bytes));
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

static struct json near(double middle)
{
    return of_int((int64_t)middle + (int64_t)(test_random() % 64) - 32);
}

/* Any finite double, by its bits: all magnitudes are equally likely. */
static double random_double(void)
{
    uint64_t bits = test_random();
    double number;

    memcpy(&number, &bits, sizeof(number));
    return isfinite(number) ? number : 0.5;
}

static struct json random_number(void)
{
    switch (test_random() % 8) {
    case 0:
        return of_int((int64_t)(test_random() % 5) - 2);
    case 1:
        return near(test_random() % 2 ? 0x1p53 : -0x1p53);
    case 2:
        return of_int(INT64_MAX - (int64_t)(test_random() % 3000));
    case 3:
        return of_int(INT64_MIN + (int64_t)(test_random() % 3000));
    case 4:
        return of_int((int64_t)test_random() >> test_random() % 64);
    case 5: /* doubles among the largest int64s, and just past them */
        return of_double((test_random() % 2 ? 1 : -1) * (0x1p63 + (double)(test_random() % 9) * 1024 - 4096));
    case 6:
        return of_double((double)(int64_t)(test_random() % 9) / 2 - 2);
    default:
        return of_double(random_double());
    }
}

static const char *const characters[] = { "\x01",
                                          "\t",
                                          "a",
                                          "b",
                                          "~",
                                          "\x7f",
                                          "\xc2\x80",
                                          "\xdf\xbf",
                                          "\xe0\xa0\x80",
                                          "\xef\xbf\xbf",
                                          "\xf0\x90\x80\x80",
                                          "\xf4\x8f\xbf\xbf" };

/* Few different characters, the NUL among them, so that many pairs begin alike. */
static struct json random_string(void)
{
    size_t count = test_random() % 4 == 0 ? 60 + test_random() % 300 : test_random() % 4;
    bool alike = test_random() % 2;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    for (size_t i = 0; i < count; i++) {
        size_t pick = alike && i < 200 ? 2 : test_random() % 13;

        if (pick == 12)
            buf_byte(&text, '\0');
        else
            buf_text(&text, characters[pick]);
    }
    return of_string(buf_as_slice(&text));
}

static struct json random_scalar(void)
{
    static const char *const constants[] = { "null", "false", "true" };

    switch (test_random() % 5) {
    case 0:
        return test_random() % 4 ? parse(constants[test_random() % 3]) : json_undefined;
    case 1:
    case 2:
        return random_number();
    default:
        return random_string();
    }
}

static bool order_agrees(struct json a, struct json b)
{
    struct slice bytes_a = encode(a), bytes_b = encode(b);

    if (ordered_is_hashed(bytes_a) || ordered_is_hashed(bytes_b))
        return true;
    return sign(slice_compare(bytes_a, bytes_b)) == sign(json_compare(a, b));
}

TEST(random_pairs_sort_by_their_bytes_as_by_their_values)
{
    for (int i = 0; i < 200000; i++) {
        CHECK(order_agrees(random_scalar(), random_scalar()));
        CHECK(order_agrees(random_number(), random_number()));
        if (i % 1000 == 0)
            arena_reset(&test_op()->arena);
    }
}

/* Each below the next. */
static struct json ladder_step(size_t i)
{
    switch (i) {
    case 0:
        return json_undefined;
    case 1:
        return parse("null");
    case 2:
        return parse("false");
    case 3:
        return parse("true");
    case 4:
        return of_double(-DBL_MAX);
    case 5:
        return of_double(-0x1p63 - 2048);
    case 6:
        return of_int(INT64_MIN);
    case 7:
        return of_int(INT64_MIN + 1);
    case 8:
        return of_int(INT64_MIN + 1023);
    case 9:
        return of_int(INT64_MIN + 1024);
    case 10:
        return of_int(-9007199254740993);
    case 11:
        return of_int(-9007199254740992);
    case 12:
        return of_double(-1.5);
    case 13:
        return of_int(-1);
    case 14:
        return of_double(-DBL_TRUE_MIN);
    case 15:
        return of_int(0);
    case 16:
        return of_double(DBL_TRUE_MIN);
    case 17:
        return of_double(DBL_MIN);
    case 18:
        return of_double(0.1);
    case 19:
        return of_int(1);
    case 20:
        return of_int(9007199254740992);
    case 21:
        return of_int(9007199254740993);
    case 22:
        return of_int(9007199254740994);
    case 23:
        return of_int(INT64_MAX - 1023);
    case 24:
        return of_int(INT64_MAX - 1022);
    case 25:
        return of_int(INT64_MAX);
    case 26:
        return of_double(0x1p63);
    case 27:
        return of_double(DBL_MAX);
    case 28:
        return of_string(slice_of(""));
    case 29:
        return of_string(slice_make("\0", 1));
    case 30:
        return of_string(slice_make("\0\0", 2));
    case 31:
        return of_string(slice_of("\x01"));
    case 32:
        return of_string(slice_of("a"));
    case 33:
        return of_string(slice_make("a\0", 2));
    case 34:
        return of_string(slice_of("aa"));
    case 35:
        return of_string(slice_of("\xf4\x8f\xbf\xbf"));
    case 36:
        return parse("[]");
    default:
        return parse("{}");
    }
}

TEST(the_order_of_kinds_and_of_the_hard_numbers_is_that_of_order_by)
{
    for (size_t i = 0; i < 38; i++)
        for (size_t j = 0; j < 38; j++)
            CHECK(sign(slice_compare(encode(ladder_step(i)), encode(ladder_step(j)))) == (i > j) - (i < j));
}

TEST(what_is_not_hashed_comes_back_the_same)
{
    for (int i = 0; i < 100000; i++) {
        struct json value = random_scalar();
        struct slice bytes = encode(value);
        struct json back = ordered_decode(test_op(), bytes);

        if (ordered_is_hashed(bytes) || !value.at)
            CHECK(!back.at);
        else
            CHECK(back.at && slice_equal(json_bytes(back), json_bytes(value)));
        if (i % 1000 == 0)
            arena_reset(&test_op()->arena);
    }
}

TEST(the_bytes_tell_where_they_end)
{
    for (int i = 0; i < 20000; i++) {
        struct slice bytes = encode(random_scalar());
        char room[ORDERED_BYTES_MAX + 8];

        memset(room, (int)test_random(), sizeof(room)); /* whatever follows does not matter */
        memcpy(room, bytes.data, bytes.size);
        CHECK(ordered_size(bytes) == bytes.size);
        CHECK(ordered_size(slice_make(room, sizeof(room))) == bytes.size);
        CHECK(ordered_size(slice_make(room, test_random() % bytes.size)) == 0);
        arena_reset(&test_op()->arena);
    }
}

static struct json string_of_size(size_t size, char last)
{
    char text[600];

    memset(text, 'x', sizeof(text));
    text[size - 1] = last;
    return of_string(slice_make(text, size));
}

TEST(a_string_of_256_bytes_is_whole_and_a_longer_one_is_hashed)
{
    CHECK(!ordered_is_hashed(encode(string_of_size(256, 'x'))));
    CHECK(ordered_is_hashed(encode(string_of_size(257, 'x'))));
    CHECK(encode(string_of_size(600, 'x')).size == ORDERED_BYTES_MAX);
    CHECK(slice_compare(encode(string_of_size(256, 'x')), encode(string_of_size(257, 'x'))) < 0);
    CHECK(slice_compare(encode(string_of_size(257, 'x')), encode(string_of_size(256, 'y'))) < 0);
    CHECK(!slice_equal(encode(string_of_size(600, 'x')), encode(string_of_size(600, 'y'))));
}

TEST(arrays_and_objects_are_hashed_and_equal_ones_equal)
{
    struct slice object = encode(parse("{\"a\":1,\"b\":[2]}"));

    CHECK(ordered_is_hashed(object) && ordered_is_hashed(encode(parse("[]"))));
    CHECK(slice_equal(object, encode(parse("{\"b\":[2.0],\"a\":1}"))));
    CHECK(!slice_equal(object, encode(parse("{\"b\":[3],\"a\":1}"))));
    CHECK(!ordered_decode(test_op(), object).at);
}

TEST(bytes_that_no_encoder_made_are_refused_and_harm_nothing)
{
    uint8_t bytes[64];

    CHECK(ordered_size(slice_of("")) == 0);
    CHECK(ordered_size(slice_make("\0", 1)) == 0 && ordered_size(slice_of("\x09")) == 0);
    CHECK(ordered_size(slice_of("\x05\1\1\1\1\1\1\1\1\2\1\1")) == 0);
    CHECK(!ordered_decode(test_op(), slice_make("\x05\xff\xf8\0\0\0\0\0\0\0", 10)).at);     /* not a number */
    CHECK(!ordered_decode(test_op(), slice_make("\x05\xff\xe0\0\0\0\0\0\0\1\0\1", 12)).at); /* no int64 */
    for (int i = 0; i < 20000; i++) {
        size_t size = test_random() % sizeof(bytes);

        for (size_t at = 0; at < size; at++)
            bytes[at] = (uint8_t)(test_random() % 8 ? test_random() : 0);
        if (size)
            bytes[0] %= 10;
        CHECK(ordered_size(slice_make(bytes, size)) <= size);
        (void)ordered_decode(test_op(), slice_make(bytes, size));
    }
}
