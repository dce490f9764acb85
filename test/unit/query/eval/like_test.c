/* test/unit/query/eval/like_test.c - LIKE patterns against text. */
#include "call.h"
#include "query/eval/like.h"
#include "test.h"

static bool like(const char *text, const char *pattern)
{
    struct eval eval = test_eval();

    return like_match(&eval, slice_of(text), slice_of(pattern), slice_of(""));
}

static bool like_escape(const char *text, const char *pattern, const char *escape)
{
    struct eval eval = test_eval();

    return like_match(&eval, slice_of(text), slice_of(pattern), slice_of(escape));
}

TEST(a_pattern_without_wildcards_is_the_whole_text)
{
    CHECK(like("abc", "abc"));
    CHECK(!like("abc", "ABC"));
    CHECK(!like("abc", "ab"));
    CHECK(!like("ab", "abc"));
    CHECK(like("", ""));
    CHECK(!like("a", ""));
    CHECK(!like("", "a"));
    CHECK(like("a]b", "a]b"));
}

TEST(a_percent_is_any_run_even_an_empty_one)
{
    CHECK(like("", "%"));
    CHECK(like("abc", "%"));
    CHECK(like("abc", "%%"));
    CHECK(like("abc", "a%"));
    CHECK(like("abc", "%c"));
    CHECK(like("abc", "%b%"));
    CHECK(like("abc", "a%c"));
    CHECK(like("abc", "abc%"));
    CHECK(like("abc", "%abc"));
    CHECK(!like("abc", "b%"));
    CHECK(!like("abc", "%b"));
    CHECK(!like("abc", "%d%"));
    CHECK(!like("aba", "ab%ba")); /* the two may not share the b */
    CHECK(like("aab", "%ab"));
    CHECK(like("abcabd", "%ab%d"));
    CHECK(!like("ab", "%ab%b"));
}

TEST(an_underscore_is_one_character)
{
    CHECK(like("abc", "a_c"));
    CHECK(!like("ac", "a_c"));
    CHECK(!like("abbc", "a_c"));
    CHECK(like("abc", "___"));
    CHECK(!like("abc", "____"));
    CHECK(like("abc", "_%_"));
    CHECK(!like("a", "_%_"));
    CHECK(like("a\xc3\xa9\x62", "a_b"));
    CHECK(like("\xf0\x9f\x98\x80", "_"));
    CHECK(like("xxabyy", "%_b_%"));
    CHECK(like("ab\xc3\xa9", "%b_"));
    CHECK(!like("\xc3\xa9", "__"));
}

TEST(brackets_hold_a_set_or_a_range)
{
    CHECK(like("b", "[abc]"));
    CHECK(!like("d", "[abc]"));
    CHECK(like("c", "[a-f]"));
    CHECK(!like("g", "[a-f]"));
    CHECK(like("-", "[a-]") && like("a", "[a-]") && like("-", "[-a]"));
    CHECK(like("5", "[a-c0-9]"));
    CHECK(!like("c", "[^abc]"));
    CHECK(like("d", "[^abc]"));
    CHECK(!like("c", "[^a-f]"));
    CHECK(like("^", "[a^]"));
    CHECK(!like("b", "[c-a]"));
    CHECK(!like("", "[^a]"));
    CHECK(like("\xc3\xa9", "[\xc3\xa0-\xc3\xbf]"));
    CHECK(!like("\xc3\xa9", "[ab]"));
    CHECK(like("SOuPS", "%SO[t-z]PS%"));
    CHECK(!like("SOaPS", "%SO[^abc]PS%"));
}

TEST(brackets_make_a_wildcard_stand_for_itself)
{
    CHECK(like("20-30%", "20-30[%]"));
    CHECK(!like("20-30x", "20-30[%]"));
    CHECK(like("_n", "[_]n"));
    CHECK(!like("an", "[_]n"));
    CHECK(like("[", "[[]"));
    CHECK(like("]", "]"));
}

TEST(a_set_that_is_empty_or_open_is_taken_at_its_word)
{
    CHECK(!like("", "[]"));
    CHECK(!like("a", "[]"));
    CHECK(like("a", "[^]"));
    CHECK(like("[ab", "[ab"));
    CHECK(like("x[", "%["));
    CHECK(!like("a", "[ab"));
}

TEST(an_escape_makes_the_next_character_stand_for_itself)
{
    CHECK(like_escape("20%", "%20^%%", "^"));
    CHECK(like_escape("buy 20% more", "%20^%%", "^"));
    CHECK(!like_escape("20 more", "%20^%%", "^"));
    CHECK(like_escape("a_b", "a!_b", "!"));
    CHECK(!like_escape("axb", "a!_b", "!"));
    CHECK(like_escape("a!b", "a!!b", "!"));
    CHECK(like_escape("ab", "!a!b", "!"));
    CHECK(like_escape("[a]", "![a]", "!"));
    CHECK(like_escape("]", "[!]]", "!"));
    CHECK(like_escape("%", "%%", "%"));
    CHECK(!like_escape("a", "%%", "%"));
    CHECK(like_escape("_x", "\xc3\xa9__", "\xc3\xa9"));
    CHECK(!like_escape("xx", "\xc3\xa9__", "\xc3\xa9"));
    CHECK(like_escape("\xc3\xa8", "\xc3\xa8", "\xc3\xa9"));
}

TEST(a_pattern_that_ends_with_its_escape_matches_nothing)
{
    CHECK(!like_escape("a", "a!", "!"));
    CHECK(!like_escape("a!", "a!", "!"));
    CHECK(!like_escape("abc", "%!", "!"));
    CHECK(!like_escape("abc", "a%b!", "!"));
}

TEST(many_percents_cost_no_more_than_one_pass)
{
    struct slice text = repeated("a", 1 << 20), pattern = repeated("%a", 1 << 12);
    int64_t start = test_cpu_ms();
    struct eval eval = test_eval();
    struct buf ending;

    buf_init(&ending, &test_op()->arena);
    buf_slice(&ending, pattern);
    buf_text(&ending, "%b");
    CHECK(like_match(&eval, text, pattern, slice_of("")));
    CHECK(!like_match(&eval, text, buf_as_slice(&ending), slice_of("")));
    CHECK(!like("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b%"));
    CHECK(test_cpu_ms() - start < 5000);
}

TEST(a_hopeless_search_ends_with_the_operation)
{
    struct slice text = repeated("a", 1 << 20);
    struct eval eval = test_eval();
    struct buf pattern;

    buf_init(&pattern, &test_op()->arena);
    buf_text(&pattern, "%_");
    buf_slice(&pattern, repeated("a", 1 << 16));
    buf_text(&pattern, "b%");
    eval.op->deadline_ms = -1;
    CHECK(!like_match(&eval, text, buf_as_slice(&pattern), slice_of("")));
    CHECK(eval.status == ST_TIMEOUT);
}
