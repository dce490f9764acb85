/* test/unit/query/function/regex_test.c - regular expressions: what they match, what they cost. */
#include "call.h"
#include "query/function/regex.h"
#include "test.h"

static bool regex(const char *name, const char *args, const char *expected)
{
    return gives(&builtins_regex, name, args, expected);
}

TEST(a_match_may_begin_anywhere)
{
    CHECK(regex("REGEXMATCH", "['abcd', 'bc']", "true"));
    CHECK(regex("REGEXMATCH", "['abcd', 'ABC']", "false"));
    CHECK(regex("REGEXMATCH", "['abcd', '^bc']", "false"));
    CHECK(regex("REGEXMATCH", "['abcd', '']", "true"));
    CHECK(regex("REGEXMATCH", "['', 'a']", "false"));
    CHECK(regex("REGEXMATCH", "['03a', '[0-9]']", "true"));
    CHECK(regex("REGEXMATCH", "['salt3824908', 'salt{1}']", "true"));
}

TEST(flags_are_letters)
{
    CHECK(regex("REGEXMATCH", "['abcd', 'ABC', 'i']", "true"));
    CHECK(regex("REGEXMATCH", "['abcd', 'ab c', 'x']", "true"));
    CHECK(regex("REGEXMATCH", "['abcd', 'aB c', 'ix']", "true"));
    CHECK(regex("REGEXMATCH", "['a\\nb', '^b']", "false"));
    CHECK(regex("REGEXMATCH", "['a\\nb', '^b', 'm']", "true"));
    CHECK(regex("REGEXMATCH", "['a\\nb', 'a.b']", "false"));
    CHECK(regex("REGEXMATCH", "['a\\nb', 'a.b', 's']", "true"));
    CHECK(regex("REGEXMATCH", "['a', 'a', '']", "true"));
    CHECK(regex("REGEXMATCH", "['a', 'A', 'ii']", "true"));
    CHECK(regex("REGEXMATCH", "['a', 'a', 'g']", "undefined"));
    CHECK(regex("REGEXMATCH", "['a', 'a', 'I']", "undefined"));
}

TEST(what_is_no_pattern_or_no_string_gives_undefined)
{
    CHECK(regex("REGEXMATCH", "['abc', '(']", "undefined"));
    CHECK(regex("REGEXMATCH", "['abc', '[a']", "undefined"));
    CHECK(regex("REGEXMATCH", "['abc', '*a']", "undefined"));
    CHECK(regex("REGEXMATCH", "['abc', '\\\\C']", "undefined")); /* half a character */
    CHECK(regex("REGEXMATCH", "[1, 'a']", "undefined"));
    CHECK(regex("REGEXMATCH", "['abc', null]", "undefined"));
    CHECK(regex("REGEXMATCH", "['abc', 'a', 1]", "undefined"));
    CHECK(regex("REGEXMATCH", "['<undefined>', 'a']", "undefined"));
    CHECK(regex("REGEXEXTRACT", "['abc', '(']", "undefined"));
    CHECK(regex("REGEXEXTRACTALL", "['abc', '(']", "undefined"));
}

TEST(characters_are_those_of_unicode)
{
    CHECK(regex("REGEXMATCH", "['\xc3\xa9', '^.$']", "true"));
    CHECK(regex("REGEXMATCH", "['\xc3\xa9', '^\\\\w$']", "true"));
    CHECK(regex("REGEXMATCH", "['\xc3\x89', '\xc3\xa9', 'i']", "true"));
    CHECK(regex("REGEXEXTRACT", "['h\xc3\xa9llo', 'h.l']", "'h\xc3\xa9l'"));
}

TEST(an_extract_is_the_first_match_or_one_of_its_groups)
{
    CHECK(regex("REGEXEXTRACT", "['a12b345', '[0-9]+']", "'12'"));
    CHECK(regex("REGEXEXTRACT", "['a12b345', '([a-z])([0-9]+)', '', 2]", "'12'"));
    CHECK(regex("REGEXEXTRACT", "['A12', 'a', 'i', 0]", "'A'"));
    CHECK(regex("REGEXEXTRACT", "['abc', 'x']", "undefined"));
    CHECK(regex("REGEXEXTRACT", "['abc', '(a)|(b)', '', 2]", "undefined"));
    CHECK(regex("REGEXEXTRACT", "['abc', 'a', '', 1]", "undefined"));
    CHECK(regex("REGEXEXTRACT", "['abc', 'a', '', -1]", "undefined"));
    CHECK(regex("REGEXEXTRACT", "['abc', 'a', '', '0']", "undefined"));
}

TEST(all_matches_are_arrays_of_the_groups_asked_for)
{
    CHECK(regex("REGEXEXTRACTALL", "['a1b22', '[0-9]+']", "[['1'],['22']]"));
    CHECK(regex("REGEXEXTRACTALL", "['a1b22', '([a-z])([0-9]+)', '', [2, 1]]", "[['1','a'],['22','b']]"));
    CHECK(regex("REGEXEXTRACTALL", "['ab', '(a)|(b)', '', [1, 2]]", "[['a',''],['','b']]"));
    CHECK(regex("REGEXEXTRACTALL", "['baaac', 'a*']", "[[''],['aaa'],[''],['']]"));
    CHECK(regex("REGEXEXTRACTALL", "['\xc3\xa9\xc3\xa9', '']", "[[''],[''],['']]"));
    CHECK(regex("REGEXEXTRACTALL", "['abc', 'x']", "undefined"));
    CHECK(regex("REGEXEXTRACTALL", "['abc', 'a', '', 0]", "undefined"));
    CHECK(regex("REGEXEXTRACTALL", "['abc', 'a', '', [1]]", "undefined"));
}

TEST(some_of_the_matches_are_not_all_of_them)
{
    CHECK(regex("REGEXEXTRACTALL", "['baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', 'b|(a+)+$']",
                "undefined"));
    CHECK(regex("REGEXEXTRACTALL", "['baaa', 'b|(a+)+$']", "[['b'],['aaa']]"));
}

TEST(a_pattern_is_compiled_once_and_another_one_only_for_its_row)
{
    struct eval eval = test_eval();
    struct regex *first = regex_get(&eval, slice_of("a+"), slice_of("")), *other;
    size_t kept;

    REQUIRE(first);
    CHECK(regex_get(&eval, slice_of("a+"), slice_of("")) == first);
    other = regex_get(&eval, slice_of("A+"), slice_of("i"));
    CHECK(other && other != first);
    CHECK(regex_get(&eval, slice_of("a+"), slice_of("i")) != first);
    CHECK(regex_search(&eval, other, slice_of("aa"), 0) == REGEX_FOUND);
    CHECK(regex_get(&eval, slice_of("a+"), slice_of("")) == first);
    kept = test_op()->arena.used_bytes;
    for (int i = 0; i < 100; i++)
        CHECK(regex_search(&eval, first, slice_of("bbba"), 0) == REGEX_FOUND);
    CHECK(test_op()->arena.used_bytes - kept < 64 * 1024); /* once, for the first search */
}

TEST(patterns_that_change_leave_nothing_behind)
{
    struct eval eval = test_eval();
    struct arena kept;
    size_t used = 0;

    arena_init(&kept, OP_MEMORY_BYTES_MAX);
    eval.kept = &kept;
    for (int i = 0; i < 50; i++) {
        struct arena_mark row = arena_mark(&test_op()->arena);
        char pattern[16];

        snprintf(pattern, sizeof(pattern), "a%d", i);
        CHECK(regex_search(&eval, regex_get(&eval, slice_of(pattern), slice_of("")), slice_of("a7"), 0) ==
              (i == 7 ? REGEX_FOUND : REGEX_ABSENT));
        arena_rewind(&test_op()->arena, row);
        CHECK(i < 2 || kept.used_bytes == used);
        used = kept.used_bytes;
    }
    arena_free(&kept);
}

TEST(a_pattern_that_goes_back_for_ever_gives_up_in_a_moment)
{
    static const char *const patterns[] = { "^(a+)+$", "(a|aa)+$", "^(\\\\w+\\\\s?)*$", "(a*)*b",
                                            "(?:a?){30}a{30}$" };

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        int64_t start = test_cpu_ms();
        char args[128];

        snprintf(args, sizeof(args), "['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '%s']", patterns[i]);
        call(&builtins_regex, "REGEXMATCH", args);
        CHECK(test_cpu_ms() - start < 5000); /* with sanitizers; some 100 ms without */
    }
    CHECK(regex("REGEXMATCH", "['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '^(a+)+$']", "undefined"));
}

/* Each of these looks at the rest of the text again from every place in it. */
TEST(a_long_text_gives_up_before_it_is_looked_at_a_million_times)
{
    static const char *const patterns[] = { "[a-z]+\\d", "^.*?a++z", "(?:a++b|a++c)", "^(a*)\\1b" };
    struct slice text = repeated("a", 1 << 20);

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct eval eval = test_eval();
        struct regex *compiled = regex_get(&eval, slice_of(patterns[i]), slice_of(""));
        int64_t start = test_cpu_ms();

        REQUIRE(compiled);
        CHECK(regex_search(&eval, compiled, text, 0) == REGEX_GAVE_UP);
        CHECK(test_cpu_ms() - start < 10000);
        CHECK(eval.status == ST_OK);
    }
}

TEST(a_long_text_is_searched_when_once_is_enough)
{
    struct slice text = repeated("lorem ipsum 42 dolor ", 1 << 16);
    struct eval eval = test_eval();

    CHECK(regex_search(&eval, regex_get(&eval, slice_of("[a-z]+@[a-z]+"), slice_of("")), text, 0) ==
          REGEX_ABSENT);
    eval = test_eval();
    CHECK(regex_search(&eval, regex_get(&eval, slice_of("^[a-z0-9 ]+$"), slice_of("")), text, 0) ==
          REGEX_FOUND);
    eval = test_eval();
    CHECK(regex_search(&eval, regex_get(&eval, slice_of("\\d+-\\d+"), slice_of("")), text, 0) ==
          REGEX_ABSENT);
}

TEST(a_search_that_gave_up_asks_whether_there_is_time_for_more)
{
    struct eval eval = test_eval();
    struct regex *compiled = regex_get(&eval, slice_of("^(a+)+$"), slice_of(""));

    REQUIRE(compiled);
    eval.op->deadline_ms = -1;
    CHECK(regex_search(&eval, compiled, slice_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"), 0) ==
          REGEX_GAVE_UP);
    CHECK(eval.status == ST_TIMEOUT);
}

TEST(text_that_is_no_utf8_is_not_searched)
{
    struct eval eval = test_eval();
    struct regex *compiled = regex_get(&eval, slice_of("a"), slice_of(""));

    REQUIRE(compiled);
    CHECK(regex_search(&eval, compiled, slice_of("a\xc3"), 0) == REGEX_GAVE_UP);
    CHECK(!regex_get(&eval, slice_of("a\xc3"), slice_of("")));
}

TEST(no_memory_for_a_pattern_is_the_querys_failure)
{
    struct eval eval = test_eval();
    struct arena small;

    arena_init(&small, 256);
    eval.kept = &small;
    CHECK(!regex_get(&eval, slice_of("(a|b)+c"), slice_of("")));
    CHECK(eval.status == ST_QUERY_MEMORY);
    arena_free(&small);
}
