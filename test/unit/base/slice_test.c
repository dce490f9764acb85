/* test/unit/base/slice_test.c - runs of bytes. */
#include "base/slice.h"
#include "test.h"

TEST(an_empty_slice_is_equal_to_an_absent_one_but_is_not_absent)
{
    struct slice absent = { NULL, 0 };

    CHECK(slice_of("").data != NULL);
    CHECK(slice_equal(slice_of(""), absent));
}

TEST(comparison_is_by_unsigned_bytes_and_a_prefix_comes_first)
{
    CHECK(slice_compare(slice_of("a"), slice_of("b")) < 0);
    CHECK(slice_compare(slice_of("a"), slice_of("\xff")) < 0);
    CHECK(slice_compare(slice_of("a"), slice_of("aa")) < 0);
    CHECK(slice_compare(slice_of("b"), slice_of("aa")) > 0);
    CHECK(slice_compare(slice_of(""), slice_of("")) == 0);
    CHECK(slice_compare(slice_make("a\0", 2), slice_of("a")) > 0);
}

TEST(case_is_ignored_in_ascii_only)
{
    CHECK(slice_is_nocase(slice_of("Content-TYPE"), "content-type"));
    CHECK(!slice_is_nocase(slice_of("[a"), "{a")); /* 32 apart, but no letters */
    CHECK(!slice_is_nocase(slice_of("@"), "`"));
    CHECK(!slice_is_nocase(slice_of("ab"), "abc"));
    CHECK(!slice_is_nocase(slice_of("\xc3\x89"), "\xc3\xa9"));
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

TEST(every_byte_at_every_place_of_every_size_is_compared_and_lowered_as_ascii_is)
{
    char a[20], b[20], lowered[20];

    for (size_t size = 1; size <= sizeof(a); size++)
        for (size_t at = 0; at < size; at++)
            for (int byte = 0; byte < 256; byte++) {
                memset(a, 'x', size);
                memset(b, 'X', size);
                a[at] = (char)byte;
                b[at] = (char)(byte ^ 0x20);
                CHECK(slice_equal_nocase(slice_make(a, size), slice_make(b, size)) ==
                      (small(a[at]) == small(b[at])));
                slice_lower(slice_make(a, size), lowered);
                CHECK(lowered[at] == small((char)byte) &&
                      lowered[size - 1 - at] == (at == size - 1 - at ? small((char)byte) : 'x'));
            }
}

TEST(trim_takes_blanks_and_tabs_from_both_ends)
{
    CHECK(slice_is(slice_trim(slice_of(" \ta b\t ")), "a b"));
    CHECK(slice_trim(slice_of(" \t ")).size == 0);
    CHECK(slice_trim(slice_of("")).size == 0);
}

TEST(prefixes_and_rests)
{
    CHECK(slice_starts_with(slice_of("abc"), "ab") && slice_starts_with(slice_of("abc"), ""));
    CHECK(!slice_starts_with(slice_of("ab"), "abc"));
    CHECK(slice_is(slice_after(slice_of("abc"), 1), "bc"));
    CHECK(slice_after(slice_of("abc"), 3).size == 0);
}

TEST(numbers_are_digits_and_nothing_else)
{
    static const char *const malformed[] = { "",   "-",   "+1",  " 1",  "1 ",
                                             "1x", "0x1", "1.0", "--1", "-9223372036854775809" };
    uint64_t number;
    int64_t signed_number;

    CHECK(slice_to_u64(slice_of("0"), &number) && number == 0);
    CHECK(slice_to_u64(slice_of("007"), &number) && number == 7);
    CHECK(slice_to_u64(slice_of("18446744073709551615"), &number) && number == UINT64_MAX);
    CHECK(!slice_to_u64(slice_of("18446744073709551616"), &number));
    CHECK(!slice_to_u64(slice_of("-1"), &number));
    CHECK(slice_to_i64(slice_of("-1"), &signed_number) && signed_number == -1);
    CHECK(slice_to_i64(slice_of("9223372036854775807"), &signed_number) && signed_number == INT64_MAX);
    CHECK(!slice_to_i64(slice_of("9223372036854775808"), &signed_number));
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        CHECK(!slice_to_u64(slice_of(malformed[i]), &number));
        CHECK(!slice_to_i64(slice_of(malformed[i]), &signed_number));
    }
}
