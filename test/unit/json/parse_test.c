/* test/unit/json/parse_test.c - which texts are JSON, and what each prints as. */
#include <stdlib.h>

#include "json/json.h"
#include "test.h"

#define BYTES(text)            \
    {                          \
        text, sizeof(text) - 1 \
    }

struct row {
    struct slice text;
    const char *printed; /* NULL: refused */
};

static const struct row rows[] = {
    /* literals and white space */
    { BYTES("null"), "null" },
    { BYTES(" true "), "true" },
    { BYTES("\t\r\n false\n"), "false" },
    { BYTES(""), NULL },
    { BYTES(" "), NULL },
    { BYTES("nul"), NULL },
    { BYTES("nulll"), NULL },
    { BYTES("True"), NULL },
    { BYTES("truefalse"), NULL },
    { BYTES("NaN"), NULL },
    { BYTES("Infinity"), NULL },
    { BYTES("undefined"), NULL },
    { BYTES("\f1"), NULL },
    { BYTES("\v1"), NULL },
    { BYTES("\xc2\xa0"
            "1"),
      NULL },
    { BYTES("\xef\xbb\xbf{}"), NULL },
    { BYTES("1\0"), NULL },
    { BYTES("\0"), NULL },
    { BYTES("//\n1"), NULL },
    { BYTES("/**/1"), NULL },
    { BYTES("1 2"), NULL },
    { BYTES("1,"), NULL },
    { BYTES("'a'"), NULL },
    /* numbers */
    { BYTES("0"), "0" },
    { BYTES("-0"), "0" },
    { BYTES("1.5"), "1.5" },
    { BYTES("-1.5e3"), "-1500" },
    { BYTES("1E5"), "100000" },
    { BYTES("1e+5"), "100000" },
    { BYTES("1e05"), "100000" },
    { BYTES("[0,0.5]"), "[0,0.5]" },
    { BYTES("+1"), NULL },
    { BYTES("01"), NULL },
    { BYTES("-01"), NULL },
    { BYTES("00"), NULL },
    { BYTES("-"), NULL },
    { BYTES("--1"), NULL },
    { BYTES("1."), NULL },
    { BYTES(".5"), NULL },
    { BYTES("-.5"), NULL },
    { BYTES("1.e1"), NULL },
    { BYTES("1e"), NULL },
    { BYTES("1e+"), NULL },
    { BYTES("1e1.5"), NULL },
    { BYTES("0x10"), NULL },
    { BYTES("1_000"), NULL },
    { BYTES("1a"), NULL },
    { BYTES("-Infinity"), NULL },
    { BYTES("\xef\xbc\x91"), NULL },
    /* arrays */
    { BYTES("[]"), "[]" },
    { BYTES("[ ]"), "[]" },
    { BYTES("[1, \"a\" ,null,[ ],{}]"), "[1,\"a\",null,[],{}]" },
    { BYTES("["), NULL },
    { BYTES("]"), NULL },
    { BYTES("[1"), NULL },
    { BYTES("[1,"), NULL },
    { BYTES("[1,]"), NULL },
    { BYTES("[,1]"), NULL },
    { BYTES("[1,,2]"), NULL },
    { BYTES("[1 2]"), NULL },
    { BYTES("[1}"), NULL },
    { BYTES("[1]]"), NULL },
    { BYTES("[\"a\""), NULL },
    { BYTES("[1:2]"), NULL },
    /* objects */
    { BYTES("{}"), "{}" },
    { BYTES("{ \"a\" : 1 , \"b\":{\"c\":[]} }"), "{\"a\":1,\"b\":{\"c\":[]}}" },
    { BYTES("{\"\":0}"), "{\"\":0}" },
    { BYTES("{\"\\u0000\":0}"), "{\"\\u0000\":0}" },
    { BYTES("{"), NULL },
    { BYTES("}"), NULL },
    { BYTES("{\"a\"}"), NULL },
    { BYTES("{\"a\":}"), NULL },
    { BYTES("{\"a\":1,}"), NULL },
    { BYTES("{,\"a\":1}"), NULL },
    { BYTES("{\"a\":1 \"b\":2}"), NULL },
    { BYTES("{\"a\":1,,\"b\":2}"), NULL },
    { BYTES("{a:1}"), NULL },
    { BYTES("{'a':1}"), NULL },
    { BYTES("{1:1}"), NULL },
    { BYTES("{\"a\" 1}"), NULL },
    { BYTES("{\"a\"::1}"), NULL },
    { BYTES("{\"a\":1]"), NULL },
    { BYTES("{null:1}"), NULL },
    { BYTES("{\"a\":1"), NULL },
    { BYTES("{\"a"), NULL },
    /* strings */
    { BYTES("\"\""), "\"\"" },
    { BYTES("\"a\\/b/\""), "\"a/b/\"" },
    { BYTES("\"\\\"\\\\\\b\\f\\n\\r\\t\""), "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
    { BYTES("\"\\u0041\\u00e9\\u20AC\""), "\"A\xc3\xa9\xe2\x82\xac\"" },
    { BYTES("\"\\ud83d\\ude00\""), "\"\xf0\x9f\x98\x80\"" },
    { BYTES("\"\\uDBFF\\uDFFF\""), "\"\xf4\x8f\xbf\xbf\"" },
    { BYTES("\"\\u0000\\u001F\""), "\"\\u0000\\u001f\"" },
    { BYTES("\"\\u0022\\u005c\""), "\"\\\"\\\\\"" },
    { BYTES("\"\x7f\""), "\"\x7f\"" },
    { BYTES("\"\xe2\x80\xa8\xe2\x80\xa9\""), "\"\xe2\x80\xa8\xe2\x80\xa9\"" },
    { BYTES("\"\xef\xbb\xbf\""), "\"\xef\xbb\xbf\"" },
    { BYTES("\"\xef\xbf\xbf\""), "\"\xef\xbf\xbf\"" },
    { BYTES("\"a\tb\nc\rd\x01\x1f\""), "\"a\\tb\\nc\\rd\\u0001\\u001f\"" },
    { BYTES("\"a\0b\""), NULL },
    { BYTES("\""), NULL },
    { BYTES("\"a"), NULL },
    { BYTES("\"\\"), NULL },
    { BYTES("\"\\\""), NULL },
    { BYTES("\"\\x41\""), NULL },
    { BYTES("\"\\a\""), NULL },
    { BYTES("\"\\'\""), NULL },
    { BYTES("\"\\u\""), NULL },
    { BYTES("\"\\u12\""), NULL },
    { BYTES("\"\\u12g4\""), NULL },
    { BYTES("\"\\u+123\""), NULL },
    { BYTES("\"\\U0041\""), NULL },
    { BYTES("\"\\ud800\""), NULL },
    { BYTES("\"\\ud800x\""), NULL },
    { BYTES("\"\\udc00\""), NULL },
    { BYTES("\"\\ud800\\n\""), NULL },
    { BYTES("\"\\ud800\\u0041\""), NULL },
    { BYTES("\"\\ud800\\ud800\""), NULL },
    { BYTES("\"\\ude00\\ud83d\""), NULL },
    { BYTES("\"\\udc00\\udc00\""), NULL },
    { BYTES("\"\\ud83d\\u"), NULL },
    { BYTES("\\u0022a\\u0022"), NULL },
    /* UTF-8 */
    { BYTES("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\""),
      "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\"" },
    { BYTES("\"\x80\""), NULL },
    { BYTES("\"\xbf\""), NULL },
    { BYTES("\"\xc0\xaf\""), NULL },
    { BYTES("\"\xc1\xbf\""), NULL },
    { BYTES("\"\xe0\x9f\xbf\""), NULL },
    { BYTES("\"\xf0\x8f\xbf\xbf\""), NULL },
    { BYTES("\"\xed\xa0\x80\""), NULL },
    { BYTES("\"\xed\xbf\xbf\""), NULL },
    { BYTES("\"\xf4\x90\x80\x80\""), NULL },
    { BYTES("\"\xf5\x80\x80\x80\""), NULL },
    { BYTES("\"\xff\""), NULL },
    { BYTES("\"\xc3\""), NULL },
    { BYTES("\"\xe2\x82\""), NULL },
    { BYTES("\"\xf0\x9f\x98\""), NULL },
    { BYTES("\"\xc3\xc3\""), NULL },
    { BYTES("\xc3\xa9"), NULL },
    { BYTES("\"\xf0\x9f\x98"), NULL },
    { BYTES("\xff\xfe[\0]\0"), NULL },
    /* a name that repeats: the last value, in the first place */
    { BYTES("{\"a\":1,\"b\":2,\"a\":3}"), "{\"a\":3,\"b\":2}" },
    { BYTES("{\"a\":1,\"a\":{\"b\":1,\"b\":[2]},\"c\":0}"), "{\"a\":{\"b\":[2]},\"c\":0}" },
    { BYTES("{\"a\":1,\"\\u0061\":2}"), "{\"a\":2}" },
    { BYTES("{\"\":1,\"\":2,\"\":\"long enough to be longer than before\"}"),
      "{\"\":\"long enough to be longer than before\"}" },
    { BYTES("[{\"a\":[1,2,3],\"b\":1,\"a\":1},{\"a\":2}]"), "[{\"a\":1,\"b\":1},{\"a\":2}]" },
};

static enum status print_again(struct slice text, struct slice *printed)
{
    struct json value;
    struct buf out;
    enum status st;

    TRY(json_parse(test_op(), text, &value));
    buf_init(&out, &test_op()->arena);
    json_print(&out, value);
    *printed = buf_as_slice(&out);
    CHECK(json_check(json_bytes(value)));
out:
    return st;
}

static void check_row(const struct row *row, struct slice text)
{
    struct slice printed = { 0 };
    enum status st = print_again(text, &printed);
    bool good = row->printed ? st == ST_OK && slice_is(printed, row->printed) : st == ST_BAD_REQUEST;

    if (!good)
        printf("row %td: %.*s gave %.*s\n", row - rows, SLICE_ARGS(row->text), SLICE_ARGS(printed));
    CHECK(good);
}

/* At the very end of an allocation, so that a look past the text is seen by the sanitizer. */
TEST(exactly_the_texts_of_rfc_8259_are_accepted)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = malloc(rows[i].text.size + 1);

        memcpy(text + 1, rows[i].text.data, rows[i].text.size);
        check_row(&rows[i], slice_make(text + 1, rows[i].text.size));
        free(text);
    }
}

/* White space in front and behind moves the text against the blocks that strings are read in. */
TEST(white_space_around_a_text_changes_nothing)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t front = 0; front < 4; front++) {
            struct buf text;

            buf_init(&text, &test_op()->arena);
            buf_append(&text, " \n\t\r", front);
            buf_slice(&text, rows[i].text);
            buf_text(&text, "                                ");
            check_row(&rows[i], buf_as_slice(&text));
        }
    }
}

TEST(a_refusal_says_what_is_wrong_and_where)
{
    struct json value;

    CHECK(json_parse(test_op(), slice_of("[1, x]"), &value) == ST_BAD_REQUEST);
    CHECK(slice_is(slice_of(test_op()->error), "The request payload is invalid. Ensure to provide a valid "
                                               "request payload. Unexpected character at byte 4."));
    CHECK(json_parse(test_op(), slice_of("[1"), &value) == ST_BAD_REQUEST);
    CHECK(slice_is(slice_of(test_op()->error), "The request payload is invalid. Ensure to provide a valid "
                                               "request payload. Unexpected end at byte 2."));
    CHECK(json_parse(test_op(), slice_of("\"\\ud800\""), &value) == ST_BAD_REQUEST);
    CHECK(strstr(test_op()->error, "lone surrogate"));
}

/* A plain string of every size around the limits of its forms, alone and with one byte changed. */
TEST(strings_of_every_size_keep_their_bytes)
{
    for (size_t size = 0; size < 200; size++) {
        char text[512], content[256];
        struct json value;

        for (size_t i = 0; i < size; i++)
            content[i] = (char)('a' + i % 26);
        for (size_t odd = 0; odd <= size; odd++) {
            if (odd > 0)
                content[odd - 1] = '\x01';
            text[0] = '"';
            memcpy(text + 1, content, size);
            text[size + 1] = '"';
            REQUIRE(json_parse(test_op(), slice_make(text, size + 2), &value) == ST_OK);
            CHECK(slice_equal(json_string(value), slice_make(content, size)));
            CHECK(json_check(json_bytes(value)));
            CHECK(*value.at == (odd ? 0x0a : size < 64 ? 0x40 + size : 0x09));
            if (odd > 0)
                content[odd - 1] = 'z';
        }
    }
}

/* Each number here takes more bytes than text; the string must still find its room. */
TEST(a_long_string_behind_values_that_grew_has_room)
{
    struct slice printed;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_byte(&text, '[');
    for (int i = 0; i < 1000; i++)
        buf_text(&text, "1.5,[],");
    buf_byte(&text, '"');
    for (int i = 0; i < 100000; i++)
        buf_byte(&text, 'x');
    buf_text(&text, "\"]");
    REQUIRE(print_again(buf_as_slice(&text), &printed) == ST_OK);
    CHECK(slice_equal(printed, buf_as_slice(&text)));
}

static struct slice nested(int depth, char open, char close)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    for (int i = 0; i < depth; i++)
        buf_text(&text, open == '[' ? "[" : i + 1 < depth ? "{\"a\":" : "{");
    for (int i = 0; i < depth; i++)
        buf_byte(&text, close);
    return buf_as_slice(&text);
}

TEST(a_value_may_be_128_levels_deep_and_no_deeper)
{
    struct slice printed;

    CHECK(print_again(nested(128, '[', ']'), &printed) == ST_OK);
    CHECK(slice_equal(printed, nested(128, '[', ']')));
    CHECK(print_again(nested(128, '{', '}'), &printed) == ST_OK);
    CHECK(print_again(nested(129, '{', '}'), &printed) == ST_BAD_REQUEST);
    CHECK(print_again(nested(129, '[', ']'), &printed) == ST_BAD_REQUEST);
    CHECK(slice_is(slice_of(test_op()->error),
                   "The request payload is invalid. Ensure to provide a valid request payload."));
    CHECK(print_again(nested(1000000, '[', ']'), &printed) == ST_BAD_REQUEST);
}

/* Names 0 to count - 1, each `times` times, later ones with greater values. */
static struct slice many_names(unsigned count, unsigned times)
{
    struct buf text;

    buf_init(&text, &test_op()->arena);
    for (unsigned i = 0; i < count * times; i++)
        buf_printf(&text, "%c\"name%u\":%u", i ? ',' : '{', i % count, i);
    buf_byte(&text, '}');
    return buf_as_slice(&text);
}

TEST(names_that_repeat_among_many_are_found)
{
    for (unsigned count = 1; count < 300; count += 1 + count / 8) {
        struct json value;
        unsigned i = 0;

        REQUIRE(json_parse(test_op(), many_names(count, 3), &value) == ST_OK);
        CHECK(json_check(json_bytes(value)));
        CHECK(json_count(value) == count);
        for (struct json_iter member = json_iter(value); json_next(&member); i++) {
            char name[20];

            snprintf(name, sizeof(name), "name%u", i);
            CHECK(slice_is(member.name, name));
            CHECK(json_int(member.value) == 2 * count + i);
        }
        CHECK(i == count);
    }
}

/* Big objects inside big objects share one stack of names. */
TEST(names_of_an_inner_object_do_not_count_for_the_outer_one)
{
    struct json value, inner;
    struct buf text;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "{\"name7\":");
    buf_slice(&text, many_names(50, 2));
    for (unsigned i = 0; i < 40; i++) {
        buf_printf(&text, ",\"name%u\":", i);
        buf_slice(&text, many_names(20 + i, 2));
    }
    buf_byte(&text, '}');
    REQUIRE(json_parse(test_op(), buf_as_slice(&text), &value) == ST_OK);
    CHECK(json_check(json_bytes(value)));
    CHECK(json_count(value) == 40);
    inner = json_get(value, "name7");
    CHECK(json_count(inner) == 27);
    CHECK(json_int(json_get(inner, "name26")) == 53);
}

TEST(a_hundred_thousand_names_take_no_quadratic_time)
{
    struct slice text = many_names(100000, 2);
    int64_t start_ms = test_cpu_ms();
    struct json value;

    REQUIRE(json_parse(test_op(), text, &value) == ST_OK);
    CHECK(test_cpu_ms() - start_ms < 10000); /* some ms; comparing all would take a minute */
    CHECK(json_count(value) == 100000);
}

/* Every limit from nothing to enough: the answer is 413 or the value, whole. */
TEST(a_parse_past_its_memory_limit_is_too_large_and_nothing_else)
{
    static const char long_number[] =
        "[0.00000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000001]";
    struct buf text;
    int refused = 0;

    buf_init(&text, &test_op()->arena);
    buf_text(&text, "[");
    buf_slice(&text, many_names(60, 2));
    for (int i = 0; i < 50; i++)
        buf_text(&text, ",[[]],1.5,\"\x01\"");
    buf_printf(&text, ",%s]", long_number);
    for (size_t limit = 0;; limit += 16) {
        struct json value = json_undefined;
        enum status st;
        struct op op;

        op_init(&op, env_system(), limit);
        st = json_parse(&op, buf_as_slice(&text), &value);
        refused += st == ST_TOO_LARGE;
        CHECK(st == ST_OK ? json_check(json_bytes(value)) : st == ST_TOO_LARGE);
        op_free(&op);
        if (st != ST_TOO_LARGE)
            break;
    }
    CHECK(refused > 100);
}
