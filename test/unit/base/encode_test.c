/* test/unit/base/encode_test.c - round trips, and everything malformed is refused. */
#include "base/encode.h"
#include "test.h"

static struct slice text_of(void (*encode)(struct buf *, struct slice), struct slice bytes)
{
    struct buf out;

    buf_init(&out, &test_op()->arena);
    encode(&out, bytes);
    return buf_as_slice(&out);
}

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)test_random();
}

TEST(base64_equals_the_vectors_of_rfc_4648)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
        { "\xfb\xff", "+/8=" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(slice_is(text_of(base64_encode, slice_of(rows[i][0])), rows[i][1]));
}

TEST(base64_and_hex_give_back_the_bytes_at_every_size)
{
    uint8_t bytes[70], back[70];
    size_t size;

    fill(bytes, sizeof(bytes));
    for (size_t count = 0; count <= sizeof(bytes); count++) {
        struct slice wanted = slice_make(bytes, count);

        CHECK(base64_decode(text_of(base64_encode, wanted), back, count, &size));
        CHECK(slice_equal(slice_make(back, size), wanted));
        CHECK(hex_decode(text_of(hex_encode_upper, wanted), back, count, &size));
        CHECK(slice_equal(slice_make(back, size), wanted));
    }
}

static bool base64_takes(const char *text)
{
    uint8_t bytes[64];
    size_t size;

    return base64_decode(slice_of(text), bytes, sizeof(bytes), &size);
}

TEST(base64_refuses_what_is_malformed)
{
    static const char *const rows[] = {
        "Z",    "Zg",     "Zg=",  "Zm8",  "Zg==Zg==", "Z===", "====", "=",    "Zg=a",       "Zm9v=",
        "Zm 9", "Zm9v\n", "Zm9_", "Zm9-", "Zm=v",     "=m9v", "Zh==", "Zm9=", "Zm9vYg==\n", "Z\xc3\xa9g",
    };

    CHECK(base64_takes("Zg==") && base64_takes("Zm8="));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(!base64_takes(rows[i]));
}

TEST(decoders_refuse_what_does_not_fit_and_write_nothing_behind_it)
{
    uint8_t bytes[4] = { 0, 0, 0, 0x77 };
    size_t size;

    CHECK(!base64_decode(slice_of("Zm9vYg=="), bytes, 3, &size));
    CHECK(base64_decode(slice_of("Zm9v"), bytes, 3, &size) && size == 3);
    CHECK(!hex_decode(slice_of("00112233"), bytes, 3, &size));
    CHECK(hex_decode(slice_of("001122"), bytes, 3, &size) && size == 3);
    CHECK(bytes[3] == 0x77);
}

TEST(hex_is_written_in_upper_case_and_read_in_any)
{
    uint8_t bytes[4];
    size_t size;

    CHECK(slice_is(text_of(hex_encode_upper, slice_of("\x01\xab\xff")), "01ABFF"));
    CHECK(hex_decode(slice_of("aBfF"), bytes, sizeof(bytes), &size) && size == 2);
    CHECK(bytes[0] == 0xab && bytes[1] == 0xff);
    CHECK(!hex_decode(slice_of("abc"), bytes, sizeof(bytes), &size));
    CHECK(!hex_decode(slice_of("0g"), bytes, sizeof(bytes), &size));
    CHECK(!hex_decode(slice_of("0x"), bytes, sizeof(bytes), &size));
}

static bool percent_gives(const char *text, struct slice wanted)
{
    struct slice got;

    return percent_decode(&test_op()->arena, slice_of(text), &got) && slice_equal(got, wanted);
}

TEST(percent_decoding_keeps_plus_signs_and_takes_any_byte)
{
    CHECK(percent_gives("", slice_of("")));
    CHECK(percent_gives("plain", slice_of("plain")));
    CHECK(percent_gives("a+b%20c%2Bd", slice_of("a+b c+d")));
    CHECK(percent_gives("%00%ff%C3%a9", slice_make("\0\xff\xc3\xa9", 4)));
    CHECK(percent_gives("%2525", slice_of("%25")));
}

TEST(a_percent_sign_without_two_hex_digits_is_malformed)
{
    static const char *const rows[] = { "%", "a%", "%2", "%2x", "%x2", "%%20", "%-1", "%+1", "ab%0" };
    struct slice got;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(!percent_decode(&test_op()->arena, slice_of(rows[i]), &got));
    CHECK(
        !percent_decode(&test_op()->arena, slice_make("%41", 2), &got)); /* what lies behind it is not ours */
}

TEST(percent_encoding_leaves_unreserved_characters_and_round_trips)
{
    char all[256];
    struct slice encoded, decoded;

    CHECK(slice_is(text_of(percent_encode, slice_of("AZaz09-._~ /?#%+\xff")),
                   "AZaz09-._~%20%2F%3F%23%25%2B%FF"));
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    encoded = text_of(percent_encode, slice_make(all, sizeof(all)));
    REQUIRE(percent_decode(&test_op()->arena, encoded, &decoded));
    CHECK(slice_equal(decoded, slice_make(all, sizeof(all))));
}

TEST(an_encoder_past_the_arenas_limit_fails_the_buffer_and_writes_nothing)
{
    struct arena small;
    struct slice decoded;
    struct buf out;

    arena_init(&small, 16);
    buf_init(&out, &small);
    base64_encode(&out, slice_of("longer than the arena may grow to"));
    hex_encode_upper(&out, slice_of("x"));
    percent_encode(&out, slice_of("x"));
    CHECK(out.failed && out.size == 0);
    CHECK(!percent_decode(&small, slice_of("%41 longer than sixteen bytes"), &decoded));
    arena_free(&small);
}

static int64_t parsed(const char *date)
{
    int64_t ms;

    return http_date_parse(slice_of(date), &ms) ? ms : -1;
}

TEST(http_dates_are_read_in_any_case)
{
    CHECK(parsed("Thu, 01 Jan 1970 00:00:00 GMT") == 0);
    CHECK(parsed("Thu, 27 Apr 2017 00:51:12 GMT") == 1493254272000);
    CHECK(parsed("thu, 27 apr 2017 00:51:12 gmt") == 1493254272000);
    CHECK(parsed("THU, 27 APR 2017 00:51:12 GMT") == 1493254272000);
    CHECK(parsed("Thu, 27 Apr 2017 00:51:12 UTC") == 1493254272000); /* as Go writes it */
    CHECK(parsed("Mon, 27 Apr 2017 00:51:12 GMT") == 1493254272000); /* nobody checks the weekday */
    CHECK(parsed("Thu, 29 Feb 2024 23:59:59 GMT") == 1709251199000);
    CHECK(parsed("Tue, 29 Feb 2000 00:00:00 GMT") == 951782400000);
    CHECK(parsed("Sat, 31 Dec 2016 23:59:60 GMT") == 1483228800000); /* a leap second is the next one */
}

TEST(http_dates_out_of_range_or_shape_are_refused)
{
    static const char *const rows[] = {
        "",
        "Thu, 27 Apr 2017 00:51:12",
        "Thu, 27 Apr 2017 00:51:12 CET",
        "Thu, 27 Apr 2017 00:51:12 GMT ",
        " Thu, 27 Apr 2017 00:51:12 GMT",
        "Thu 27 Apr 2017 00:51:12 GMT  ",
        "Thu, 27-Apr-2017 00:51:12 GMT",
        "Thu, 7 Apr 2017 00:51:12 GMT",
        "Thu, 00 Apr 2017 00:51:12 GMT",
        "Thu, 31 Apr 2017 00:51:12 GMT",
        "Thu, 29 Feb 2017 00:51:12 GMT",
        "Thu, 29 Feb 1900 00:51:12 GMT",
        "Thu, 27 Foo 2017 00:51:12 GMT",
        "Foo, 27 Apr 2017 00:51:12 GMT",
        "Thu, 27 Apr 2017 24:00:00 GMT",
        "Thu, 27 Apr 2017 00:60:00 GMT",
        "Thu, 27 Apr 2017 00:00:61 GMT",
        "Thu, 27 Apr 2017 -1:00:00 GMT",
        "Thu, 27 Apr 2017 00:51:1x GMT",
        "Thu, 27 Apr 0000 00:51:12 GMT",
        "Thu, 27 Apr  017 00:51:12 GMT",
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(parsed(rows[i]) == -1);
}

TEST(http_dates_are_written_with_the_right_weekday)
{
    char date[HTTP_DATE_SIZE + 1];

    http_date_format(0, date);
    CHECK(strcmp(date, "Thu, 01 Jan 1970 00:00:00 GMT") == 0);
    http_date_format(1493254272999, date);
    CHECK(strcmp(date, "Thu, 27 Apr 2017 00:51:12 GMT") == 0);
    http_date_format(1709164800000, date);
    CHECK(strcmp(date, "Thu, 29 Feb 2024 00:00:00 GMT") == 0);
    http_date_format(253402300799000, date);
    CHECK(strcmp(date, "Fri, 31 Dec 9999 23:59:59 GMT") == 0);
}

TEST(every_day_of_four_centuries_round_trips_and_follows_the_day_before)
{
    char date[HTTP_DATE_SIZE + 1];
    const int64_t day_ms = 24 * 3600 * 1000;

    for (int64_t day = 0; day < 146097; day++) {
        int64_t ms = day * day_ms + (int64_t)(test_random() % 86400) * 1000;

        http_date_format(ms, date);
        if (parsed(date) != ms) {
            CHECK(parsed(date) == ms);
            return;
        }
    }
}

static bool is_quoted(const char *text, size_t size, const char *expected)
{
    char room[200];
    size_t written = quoted_write(room, sizeof(room), slice_make(text, size));

    return written == strlen(expected) && memcmp(room, expected, written) == 0;
}

TEST(a_json_string_has_its_escapes_and_no_byte_that_is_no_utf8)
{
    CHECK(is_quoted("a\"b\\c", 5, "a\\\"b\\\\c"));
    CHECK(is_quoted("\x01\n\x7f", 3, "\\u0001\\u000a\x7f"));
    CHECK(is_quoted("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    CHECK(is_quoted("a\xc3", 2, "a\xef\xbf\xbd")); /* cut */
    CHECK(is_quoted("\xc0\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd"));
    CHECK(is_quoted("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
    CHECK(is_quoted("\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
    CHECK(is_quoted("\xff", 1, "\xef\xbf\xbd"));
}

TEST(a_json_string_ends_where_there_is_no_room)
{
    char room[13];

    CHECK(quoted_write(room, sizeof(room), slice_of("\x01\x01\x01")) == 12);
    CHECK(quoted_write(room, 5, slice_of("a")) == 0);
}
