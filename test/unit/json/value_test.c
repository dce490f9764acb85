/* test/unit/json/value_test.c - reading, building, printing and checking values; random ones too. */
#include <stdlib.h>

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

static struct slice printed(struct json value)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    json_print(&out, value);
    return buf_as_slice(&out);
}

TEST(the_bytes_are_those_of_the_format)
{
    static const struct {
        const char *text, *bytes;
        size_t size;
    } rows[] = {
#define FORMAT(text, bytes) { text, bytes, sizeof(bytes) - 1 }
        FORMAT("null", "\x01"),
        FORMAT("false", "\x02"),
        FORMAT("true", "\x03"),
        FORMAT("-2", "\x04\xfe"),
        FORMAT("300", "\x05\x2c\x01"),
        FORMAT("70000", "\x06\x70\x11\x01\x00"),
        FORMAT("-5000000000", "\x07\x00\x0e\xfa\xd5\xfe\xff\xff\xff"),
        FORMAT("1.5", "\x08\x00\x00\x00\x00\x00\x00\xf8\x3f"),
        FORMAT("\"a\\\"\"", "\x0a\x02\x00\x00\x00"
                            "a\""),
        FORMAT("[]", "\x0b\x00\x00\x00\x00\x00\x00\x00\x00"),
        FORMAT("[1,\"ab\"]", "\x0b\x04\x00\x00\x00\x02\x00\x00\x00\x21\x42"
                             "ab"),
        FORMAT("{\"k\":31}", "\x0c\x03\x00\x00\x00\x01\x00\x00\x00\x41k\x3f"),
        FORMAT("\"\"", "\x40"),
        FORMAT("0", "\x20"),
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slice bytes = json_bytes(parsed(rows[i].text));

        CHECK(slice_equal(bytes, slice_make(rows[i].bytes, rows[i].size)));
    }
}

TEST(a_path_that_leads_nowhere_is_undefined)
{
    struct json value = parsed("{\"a\":[1,{\"b\":null}],\"\":2}");

    CHECK(json_kind(json_get(json_element(json_get(value, "a"), 1), "b")) == JSON_NULL);
    CHECK(json_int(json_get(value, "")) == 2);
    CHECK(json_kind(json_get(value, "c")) == JSON_UNDEFINED);
    CHECK(json_kind(json_get(json_get(value, "c"), "d")) == JSON_UNDEFINED);
    CHECK(json_kind(json_element(json_get(value, "a"), 2)) == JSON_UNDEFINED);
    CHECK(json_kind(json_element(value, 0)) == JSON_UNDEFINED);
    CHECK(json_kind(json_get(json_get(value, "a"), "0")) == JSON_UNDEFINED);
    CHECK(json_size(json_undefined) == 0);
}

TEST(undefined_prints_nothing_and_a_scalar_has_nothing_to_visit)
{
    struct json_iter iter = json_iter(parsed("\"a\"")), none = json_iter(json_undefined);

    CHECK(printed(json_undefined).size == 0);
    CHECK(!json_next(&iter));
    CHECK(!json_next(&none));
}

TEST(members_print_without_braces)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    CHECK(!json_print_members(&out, parsed("{}")));
    CHECK(out.size == 0);
    CHECK(json_print_members(&out, parsed("{\"a\":1,\"b\":[]}")));
    CHECK(slice_is(buf_as_slice(&out), "\"a\":1,\"b\":[]"));
}

TEST(a_string_prints_with_its_escapes)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    json_print_string(&out, slice_of("plain"));
    json_print_string(&out, slice_of("a\"b\\c/\n\x1f\xc3\xa9 and some more than a block of text"));
    json_print_string(&out, slice_make("", 0));
    CHECK(slice_is(buf_as_slice(&out),
                   "\"plain\"\"a\\\"b\\\\c/\\n\\u001f\xc3\xa9 and some more than a block of "
                   "text\"\"\""));
}

TEST(what_is_built_has_the_bytes_of_what_is_parsed)
{
    static const char text[] = "{\"id\":\"a\\n\",\"list\":[1,-1.5,null,true,false,{}],\"n\":9007199254740993,"
                               "\"copy\":[[]],\"whole\":3}";
    struct json_builder b;

    json_builder_init(&b, &test_op()->arena);
    json_begin_object(&b);
    json_add_name(&b, slice_of("id"));
    json_add_string(&b, slice_of("a\n"));
    json_add_name(&b, slice_of("list"));
    json_begin_array(&b);
    json_add_int(&b, 1);
    json_add_double(&b, -1.5);
    json_add_null(&b);
    json_add_bool(&b, true);
    json_add_bool(&b, false);
    json_begin_object(&b);
    json_end(&b);
    json_end(&b);
    json_add_name(&b, slice_of("n"));
    json_add_int(&b, 9007199254740993);
    json_add_name(&b, slice_of("copy"));
    json_add(&b, parsed("[[]]"));
    json_add_name(&b, slice_of("whole"));
    json_add_double(&b, 3.0);
    json_end(&b);
    CHECK(slice_equal(json_bytes(json_built(&b)), json_bytes(parsed(text))));
    CHECK(slice_is(printed(json_built(&b)), text));
}

TEST(an_object_less_a_member_has_the_others_in_their_order)
{
    struct json object = parsed("{\"b\":1,\"a\":[2],\"c\":{}}");
    struct arena *arena = &test_op()->arena;

    CHECK(slice_is(printed(json_without(arena, object, "a")), "{\"b\":1,\"c\":{}}"));
    CHECK(slice_is(printed(json_without(arena, object, "d")), "{\"b\":1,\"a\":[2],\"c\":{}}"));
    CHECK(slice_is(printed(json_without(arena, parsed("{}"), "a")), "{}"));
}

TEST(an_object_is_split_before_its_last_members)
{
    struct arena *arena = &test_op()->arena;
    struct json object = parsed("{\"a\":1,\"b\":[2],\"c\":{\"d\":3}}"), front, back;

    json_split(arena, object, 0, &front, &back);
    CHECK(json_equal(front, object) && json_kind(back) == JSON_UNDEFINED);
    json_split(arena, object, 1, &front, &back);
    CHECK(slice_is(printed(front), "{\"a\":1,\"b\":[2]}") && slice_is(printed(back), "{\"c\":{\"d\":3}}"));
    json_split(arena, object, 3, &front, &back);
    CHECK(slice_is(printed(front), "{}") && json_equal(back, object));
    json_split(arena, object, 4, &front, &back); /* more than there are */
    CHECK(slice_is(printed(front), "{}") && json_equal(back, object));
    json_split(arena, parsed("{}"), 1, &front, &back);
    CHECK(slice_is(printed(front), "{}") && json_kind(back) == JSON_UNDEFINED);
}

TEST(a_builder_past_its_limit_gives_undefined)
{
    for (size_t limit = 0; limit < 4096; limit += 64) {
        struct json_builder b;
        struct arena arena;
        struct json value;

        arena_init(&arena, limit);
        json_builder_init(&b, &arena);
        json_begin_array(&b);
        for (int i = 0; i < 30; i++) {
            json_begin_object(&b);
            json_add_name(&b, slice_of("name"));
            json_add_string(&b, slice_of("a value of some length"));
            json_end(&b);
        }
        json_end(&b);
        value = json_built(&b);
        CHECK(json_kind(value) == JSON_UNDEFINED || json_check(json_bytes(value)));
        CHECK((json_kind(value) == JSON_UNDEFINED) == (limit < json_size(value) + 1 || !value.at));
        arena_free(&arena);
    }
}

TEST(printing_past_the_limit_fails_the_buffer_and_nothing_else)
{
    struct json value = parsed("{\"a\":[1,2.5,\"x\\n\",null,true,false,{}],\"b\":\"a string of some length, "
                               "and then some more so that the buffer must grow\",\"c\":\"\\u0001\\u0002\"}");
    size_t whole = printed(value).size;

    for (size_t filled = 0; filled < 520; filled++) {
        struct arena arena;
        struct buf out;

        arena_init(&arena, 512);
        buf_init(&out, &arena);
        for (size_t i = 0; i < filled; i++)
            buf_byte(&out, 'x');
        json_print(&out, value);
        CHECK(out.failed || out.size == filled + whole);
        json_print_string(&out, slice_of("more"));
        CHECK(out.size <= 512);
        arena_free(&arena);
    }
}

TEST(parsing_what_was_printed_gives_the_same_bytes)
{
    for (int i = 0; i < 3000; i++) {
        struct json value = random_value(test_op(), 5), again;

        REQUIRE(json_check(json_bytes(value)));
        REQUIRE(json_parse(test_op(), printed(value), &again) == ST_OK);
        CHECK(slice_equal(json_bytes(value), json_bytes(again)));
    }
}

TEST(a_mutated_text_is_refused_or_gives_a_good_value)
{
    for (int i = 0; i < 20000; i++) {
        struct slice text = printed(random_value(test_op(), 4));
        char *copy = arena_text(&test_op()->arena, text);
        struct json value;

        for (uint64_t n = test_random() % 3 + 1; n; n--)
            copy[test_random() % (text.size + 1)] = (char)test_random();
        if (json_parse(test_op(), slice_make(copy, test_random() % (text.size + 1)), &value) == ST_OK)
            CHECK(json_check(json_bytes(value)));
        if (json_parse(test_op(), slice_make(copy, text.size), &value) == ST_OK)
            CHECK(json_check(json_bytes(value)));
        if (i % 100 == 0)
            op_begin(test_op(), 1000);
    }
}

/* Asks everything there is to ask; the sanitizer sees a read that goes astray. */
static void visit(struct json value)
{
    for (struct json_iter i = json_iter(value); json_next(&i);)
        visit(i.value);
    json_hash(value);
    CHECK(json_equal(value, value));
    CHECK(json_compare(value, value) == 0);
    CHECK(printed(value).size > 0);
}

TEST(corrupt_bytes_are_refused_or_harmless)
{
    int accepted = 0, refused = 0;

    for (int i = 0; i < 20000; i++) {
        struct slice bytes = json_bytes(random_value(test_op(), 3));
        char *copy = malloc(bytes.size);

        memcpy(copy, bytes.data, bytes.size);
        copy[test_random() % bytes.size] ^= (char)(1 << test_random() % 8);
        if (json_check(slice_make(copy, bytes.size))) {
            visit(json_from_bytes(slice_make(copy, bytes.size)));
            accepted++;
        } else {
            refused++;
        }
        free(copy);
        if (i % 100 == 0)
            op_begin(test_op(), 1000);
    }
    CHECK(accepted > 0 && refused > 0);
}

TEST(bytes_cut_short_or_with_more_behind_are_refused)
{
    for (int i = 0; i < 300; i++) {
        struct slice bytes = json_bytes(random_value(test_op(), 3));
        char *copy = malloc(bytes.size + 1);

        memcpy(copy, bytes.data, bytes.size);
        copy[bytes.size] = 1;
        CHECK(!json_check(slice_make(copy, bytes.size + 1)));
        free(copy);
        for (size_t size = 0; size < bytes.size; size++) {
            char *part = malloc(size ? size : 1);

            memcpy(part, bytes.data, size);
            CHECK(!json_check(slice_make(part, size)));
            free(part);
        }
    }
}

TEST(a_second_encoding_of_a_value_is_refused)
{
    static const struct slice rows[] = {
#define BYTES(bytes) { bytes, sizeof(bytes) - 1 }
        BYTES("\x00"),
        BYTES("\x0d"),
        BYTES("\x1f"),
        BYTES("\x80"),
        BYTES("\xff"),
        BYTES("\x04\x05"),             /* 5 as an i8 */
        BYTES("\x05\x7f\x00"),         /* 127 as an i16 */
        BYTES("\x06\x00\x10\x00\x00"), /* 4096 as an i32 */
        BYTES("\x07\x00\x00\x00\x00\x00\x00\x00\x00"),
        BYTES("\x08\x00\x00\x00\x00\x00\x00\xf0\x3f"), /* 1.0 */
        BYTES("\x08\x00\x00\x00\x00\x00\x00\xf0\x7f"), /* infinity */
        BYTES("\x08\x00\x00\x00\x00\x00\x00\xf8\x7f"), /* NaN */
        BYTES("\x08\x00\x00\x00\x00\x00\x00\x00\x80"), /* -0 */
        BYTES("\x09\x01\x00\x00\x00"
              "a"), /* short as long */
        BYTES("\x0a\x01\x00\x00\x00"
              "a"),                                            /* nothing to escape */
        BYTES("\x41\""),                                       /* something to escape */
        BYTES("\x41\x80"),                                     /* not UTF-8 */
        BYTES("\x0b\x01\x00\x00\x00\x02\x00\x00\x00\x20"),     /* one element, count 2 */
        BYTES("\x0b\x01\x00\x00\x00\x00\x00\x00\x00\x20"),     /* one element, count 0 */
        BYTES("\x0c\x02\x00\x00\x00\x01\x00\x00\x00\x20\x20"), /* a name that is a number */
        BYTES("\x0c\x01\x00\x00\x00\x01\x00\x00\x00\x40"),     /* a name without a value */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(!json_check(rows[i]));
}

TEST(bytes_deeper_than_the_limit_are_refused)
{
    char bytes[9 * 129];

    for (size_t i = 0; i < 129; i++) {
        uint32_t body = (uint32_t)(128 - i) * 9, count = i < 128;

        bytes[9 * i] = 0x0b;
        memcpy(bytes + 9 * i + 1, &body, 4);
        memcpy(bytes + 9 * i + 5, &count, 4);
    }
    CHECK(!json_check(slice_make(bytes, sizeof(bytes))));
    CHECK(json_check(slice_make(bytes + 9, sizeof(bytes) - 9)));
}
