/* test/unit/json/binary_write_test.c - values to binary JSON: what is read back is the same value. */
#include <math.h>

#include "binary_vectors.h"
#include "json/binary_read.h"
#include "json/binary_write.h"
#include "random_value.h"
#include "test.h"

static struct vector vectors[VECTOR_COUNT];

static struct json parsed(const char *text)
{
    struct json value = json_undefined;

    CHECK(json_parse(test_op(), slice_of(text), &value) == ST_OK);
    return value;
}

static struct slice written(struct json value)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    json_print_binary(&out, value);
    CHECK(!out.failed);
    return buf_as_slice(&out);
}

static bool comes_back(struct json value)
{
    struct slice bytes = written(value);
    struct json again;

    return bytes.size <= binary_bytes_max(json_size(value)) &&
           json_parse_binary(test_op(), bytes, &again) == ST_OK &&
           slice_equal(json_bytes(value), json_bytes(again));
}

TEST(a_random_value_comes_back)
{
    for (int i = 0; i < 20000; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);

        CHECK(comes_back(random_value(test_op(), 5)));
        arena_rewind(&test_op()->arena, mark);
    }
}

TEST(the_value_of_every_vector_comes_back)
{
    REQUIRE(vectors_load(test_op(), vectors));
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        struct arena_mark mark = arena_mark(&test_op()->arena);
        struct json value;

        if (vectors[i].text.size && json_parse(test_op(), vectors[i].text, &value) == ST_OK)
            CHECK(comes_back(value));
        arena_rewind(&test_op()->arena, mark);
    }
}

TEST(numbers_at_the_edges_of_their_widths_come_back)
{
    static const int64_t edges[] = { 0,     31,        32,        127,        128,       255,       256,
                                     -1,    -128,      -129,      INT16_MAX,  32768,     INT16_MIN, -32769,
                                     65536, INT32_MAX, INT32_MIN, 2147483648, INT64_MAX, INT64_MIN };

    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        struct json_builder b;

        json_builder_init(&b, &test_op()->arena);
        json_add_int(&b, edges[i]);
        CHECK(comes_back(json_built(&b)));
    }
}

TEST(strings_and_containers_at_the_edges_of_their_widths_come_back)
{
    static const size_t sizes[] = { 0,   1,   2,     62,    63,    64,    100,   150,   160,   170,
                                    255, 256, 43000, 43690, 43700, 65535, 65536, 70000, 100000 };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *text = arena_alloc(&test_op()->arena, sizes[i] + 1);
        struct json_builder b;

        memset(text, 'x', sizes[i]);
        json_builder_init(&b, &test_op()->arena);
        json_begin_object(&b);
        json_add_name(&b, slice_make(text, sizes[i]));
        json_begin_array(&b);
        json_add_string(&b, slice_make(text, sizes[i]));
        json_add_int(&b, -1);
        json_end(&b);
        json_add_name(&b, slice_of("other"));
        json_begin_array(&b);
        for (size_t n = 0; n < sizes[i]; n++)
            json_add_int(&b, -1);
        json_end(&b);
        json_end(&b);
        CHECK(comes_back(json_built(&b)));
    }
}

static bool is(struct slice found, const char *bytes, size_t size)
{
    return slice_equal(found, slice_make(bytes, size));
}

#define IS(value, literal) is(written(parsed(value)), literal, sizeof(literal) - 1)

TEST(the_bytes_are_those_that_the_format_has)
{
    CHECK(IS("null", "\x80\xd0"));
    CHECK(IS("31", "\x80\x1f"));
    CHECK(IS("32", "\x80\xc8\x20"));
    CHECK(IS("-1", "\x80\xc9\xff\xff"));
    CHECK(IS("1.5", "\x80\xcc\x00\x00\x00\x00\x00\x00\xf8\x3f"));
    CHECK(IS("\"id\"", "\x80\x82id"));
    CHECK(IS("[]", "\x80\xe0"));
    CHECK(IS("[true]", "\x80\xe1\xd2"));
    CHECK(IS("{\"id\":\"a\",\"pk\":false}", "\x80\xea\x07\x2c\x81"
                                            "a\x82pk\xd1"));
}

TEST(a_name_that_came_before_is_a_reference_where_that_is_shorter)
{
    CHECK(IS("[{\"abc\":1},{\"abc\":2},{\"x\":3},{\"x\":4}]",
             "\x80\xe2\x12\xe9\x83"
             "abc\x01\xe9\xc3\x04\x02\xe9\x81x\x03\xe9\x81x\x04"));
    CHECK(written(parsed("[{\"a long name of a member\":1},{\"a long name of a member\":2}]")).size < 40);
}

/* None is missed, nor taken for another. */
TEST(every_name_that_the_format_knows_is_one_byte)
{
    for (uint8_t marker = 0x20; marker < 0x40; marker++) {
        uint8_t bytes[] = { 0x80, 0xe9, marker, 0xd0 };
        struct slice whole = slice_make(bytes, sizeof(bytes));
        struct json value;

        REQUIRE(json_parse_binary(test_op(), whole, &value) == ST_OK);
        CHECK(slice_equal(written(value), whole));
    }
}

TEST(parts_make_the_value_that_they_say)
{
    struct binary_frame whole, list;
    struct binary_writer writer;
    struct json value;
    size_t text;
    struct buf out;

    buf_init(&out, &test_op()->arena);
    buf_text(&out, "before");
    binary_begin(&writer, &out);
    whole = binary_open_object(&writer, 100000);
    binary_name(&writer, "_rid");
    text = binary_begin_text(&writer);
    buf_text(&out, "made");
    binary_end_text(&writer, text);
    binary_name(&writer, "rows");
    list = binary_open_array(&writer, 200);
    binary_value(&writer, parsed("{\"some\":1,\"more\":2}"));
    binary_value(&writer, parsed("{\"some\":3,\"more\":-4}"));
    binary_close(&writer, list);
    binary_members(&writer, parsed("{\"last\":\"id\"}"));
    binary_name(&writer, "n");
    binary_int(&writer, 300);
    binary_known(&writer, KNOWN_TS);
    binary_known(&writer, KNOWN_ATTACHMENTS_LINK);
    binary_close(&writer, whole);
    REQUIRE(json_parse_binary(test_op(), slice_after(buf_as_slice(&out), 6), &value) == ST_OK);
    CHECK(json_equal(value,
                     parsed("{\"_rid\":\"made\",\"rows\":[{\"some\":1,\"more\":2},{\"some\":3,\"more\":-4}],"
                            "\"last\":\"id\",\"n\":300,\"_ts\":\"attachments/\"}")));
}

TEST(a_buffer_that_fails_is_left_alone)
{
    struct json value = random_value(test_op(), 5);

    for (size_t limit = 0; limit < 4000; limit += 16) {
        struct binary_writer writer;
        struct binary_frame frame;
        struct arena arena;
        struct buf out;

        arena_init(&arena, limit);
        buf_init(&out, &arena);
        binary_begin(&writer, &out);
        frame = binary_open_object(&writer, 100000);
        binary_name(&writer, "name");
        binary_value(&writer, value);
        binary_end_text(&writer, binary_begin_text(&writer));
        binary_close(&writer, frame);
        arena_free(&arena);
    }
}

TEST(numbers_that_json_lacks_are_written_as_strings_of_their_names_in_both_forms)
{
    static const char text[] = "[\"NaN\",\"Infinity\",\"-Infinity\",1.5]";
    struct json_builder made;
    struct json again;
    struct buf out;

    json_builder_init(&made, &test_op()->arena);
    json_begin_array(&made);
    json_add_not_finite(&made, -NAN);
    json_add_not_finite(&made, INFINITY);
    json_add_not_finite(&made, -INFINITY);
    json_add_double(&made, 1.5);
    json_end(&made);
    buf_init(&out, &test_op()->arena);
    json_print(&out, json_built(&made));
    CHECK(slice_is(buf_as_slice(&out), text));
    REQUIRE(json_parse_binary(test_op(), written(json_built(&made)), &again) == ST_OK);
    CHECK(slice_equal(json_bytes(again), json_bytes(parsed(text))));
}
