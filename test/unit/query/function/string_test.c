/* test/unit/query/function/string_test.c - the string functions, called directly. */
#include <ctype.h>
#include <stdlib.h>

#include "call.h"
#include "query/eval/chars.h"
#include "test.h"

static const struct builtin *find(const struct builtin_family *family, const char *name)
{
    for (size_t i = 0; i < family->count; i++)
        if (strcmp(family->row[i].name, name) == 0)
            return &family->row[i];
    return NULL;
}

/* Of either family: strings, or conversions to and from them. */
static bool text(const char *name, const char *args, const char *expected)
{
    return gives(find(&builtins_string, name) ? &builtins_string : &builtins_convert, name, args, expected);
}

/* For arguments that are too long to write down. */
static struct value run(struct eval *eval, const char *name, const struct value *arg, int count)
{
    return find(&builtins_string, name)->code(eval, arg, count);
}

TEST(a_part_is_found_wherever_it_stands)
{
    CHECK(text("CONTAINS", "['AdventureWorks', 'Works']", "true"));
    CHECK(text("CONTAINS", "['AdventureWorks', 'works']", "false"));
    CHECK(text("CONTAINS", "['AdventureWorks', 'works', true]", "true"));
    CHECK(text("CONTAINS", "['AdventureWorks', 'works', false]", "false"));
    CHECK(text("CONTAINS", "['abc', 'abcd']", "false"));
    CHECK(text("STARTSWITH", "['abc', 'ab']", "true"));
    CHECK(text("STARTSWITH", "['abc', 'bc']", "false"));
    CHECK(text("STARTSWITH", "['abc', 'AB', true]", "true"));
    CHECK(text("STARTSWITH", "['ab', 'ABC', true]", "false"));
    CHECK(text("ENDSWITH", "['abc', 'bc']", "true"));
    CHECK(text("ENDSWITH", "['abc', 'ab']", "false"));
    CHECK(text("ENDSWITH", "['abc', 'BC', true]", "true"));
    CHECK(text("ENDSWITH", "['bc', 'ABC', true]", "false"));
    CHECK(text("STRINGEQUALS", "['abc', 'abc']", "true"));
    CHECK(text("STRINGEQUALS", "['abc', 'ABC']", "false"));
    CHECK(text("STRINGEQUALS", "['abc', 'ABC', true]", "true"));
    CHECK(text("STRINGEQUALS", "['abcd', 'ABC', true]", "false"));
}

TEST(the_empty_string_is_everywhere)
{
    static const char *const names[] = { "CONTAINS", "STARTSWITH", "ENDSWITH" };

    for (int i = 0; i < 3; i++) {
        CHECK(text(names[i], "['abc', '']", "true"));
        CHECK(text(names[i], "['', '', true]", "true"));
        CHECK(text(names[i], "['', 'a']", "false"));
    }
    CHECK(text("INDEX_OF", "['abc', '']", "0"));
    CHECK(text("STRINGEQUALS", "['', '']", "true"));
}

TEST(a_wrong_type_or_an_undefined_argument_gives_undefined)
{
    static const struct {
        const char *name, *arguments;
    } calls[] = {
        { "CONTAINS", "[1, 'a']" },
        { "CONTAINS", "['a', null]" },
        { "CONTAINS", "['a', '<undefined>']" },
        { "CONTAINS", "['a', 'a', 1]" },
        { "STARTSWITH", "['a', 'a', null]" },
        { "CONTAINS_ALL_CS", "[1, 'a']" },
        { "CONCAT", "['a', 1]" },
        { "CONCAT", "['a', '<undefined>']" },
        { "INDEX_OF", "['a', 1]" },
        { "INDEX_OF", "['a', 'a', '0']" },
        { "INDEX_OF", "['a', 'a', 0.5]" },
        { "LASTINDEXOF", "['a', 'a', 0.5]" },
        { "LEFT", "['a', '1']" },
        { "LEFT", "['a', 0.5]" },
        { "RIGHT", "[1, 1]" },
        { "RIGHT", "['a', 0.5]" },
        { "LENGTH", "[1]" },
        { "LENGTH", "[null]" },
        { "LENGTH", "[[1]]" },
        { "LOWER", "[1]" },
        { "UPPER", "[null]" },
        { "REVERSE", "[true]" },
        { "TRIM", "[1]" },
        { "TRIM", "['a', 1]" },
        { "LTRIM", "[{}]" },
        { "RTRIM", "[null, 'a']" },
        { "REPLACE", "['a', 'a', 1]" },
        { "REPLACE", "['a', 1, 'a']" },
        { "REPLICATE", "[1, 1]" },
        { "REPLICATE", "['a', '1']" },
        { "SUBSTRING", "[1, 0, 1]" },
        { "SUBSTRING", "['a', '0', 1]" },
        { "SUBSTRING", "['a', 0, 0.5]" },
        { "SUBSTRINGAFTER", "['a', 1]" },
        { "LASTSUBSTRINGBEFORE", "[1, 'a']" },
        { "STRINGJOIN", "['a', ',']" },
        { "STRINGJOIN", "[['a'], 1]" },
        { "STRINGSPLIT", "[['a'], ',']" },
        { "STRINGSPLIT", "['a', 1]" },
        { "STRINGTOARRAY", "[[]]" },
        { "STRINGTOBOOLEAN", "[true]" },
        { "STRINGTONULL", "[null]" },
        { "STRINGTONUMBER", "[1]" },
        { "STRINGTOOBJECT", "[{}]" },
        { "TOSTRING", "['<undefined>']" },
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (!text(calls[i].name, calls[i].arguments, "undefined"))
            test_failed(__FILE__, __LINE__, calls[i].name);
}

TEST(many_parts_are_joined_by_logic_of_three_values)
{
    CHECK(text("CONTAINS_ANY_CS", "['Have a nice day!', 'have', 'nice']", "true"));
    CHECK(text("CONTAINS_ANY_CS", "['Have a nice day!', 'HAVE', 'NICE']", "false"));
    CHECK(text("CONTAINS_ANY_CS", "['Have a nice day!', '<undefined>', 'nice']", "true"));
    CHECK(text("CONTAINS_ANY_CS", "['Have a nice day!', '<undefined>', 'had']", "undefined"));
    CHECK(text("CONTAINS_ANY_CI", "['Have a nice day!', 'HAVE', 'NICE']", "true"));
    CHECK(text("CONTAINS_ALL_CS", "['Have a nice day!', 'Have', 'nice']", "true"));
    CHECK(text("CONTAINS_ALL_CS", "['Have a nice day!', 'have', 'nice']", "false"));
    CHECK(text("CONTAINS_ALL_CS", "['Have a nice day!', '<undefined>', 'had']", "false"));
    CHECK(text("CONTAINS_ALL_CS", "['Have a nice day!', '<undefined>', 'nice']", "undefined"));
    CHECK(text("CONTAINS_ALL_CI", "['Have a nice day!', 'have', 'DAY!']", "true"));
    CHECK(text("CONTAINS_ALL_CI", "['Have a nice day!', 5, 'nice']", "undefined"));
}

TEST(case_is_ignored_beyond_ascii)
{
    CHECK(text("CONTAINS", "['STRA\xc3\x89TEGIE', '\xc3\xa9t', true]", "true"));
    CHECK(text("STARTSWITH", "['\xc3\x89t\xc3\xa9', '\xc3\xa9T\xc3\x89', true]", "true"));
    CHECK(text("ENDSWITH", "['xx\xce\xa3', 'X\xcf\x83', true]", "true"));      /* sigma */
    CHECK(text("STRINGEQUALS", "['\xc8\xba', '\xe2\xb1\xa5', true]", "true")); /* two bytes, and three */
    CHECK(text("CONTAINS", "['a\xc8\xba', '\xe2\xb1\xa5', true]", "true"));
    CHECK(text("LOWER", "['\xc3\x89T\xc3\x89 1']", "'\xc3\xa9t\xc3\xa9 1'"));
    CHECK(text("UPPER", "['stra\xc3\x9f\x65 \xc3\xa9']", "'STRA\xc3\x9f\x45 \xc3\x89'"));
    CHECK(text("LOWER", "['ABCXYZ@[`{09']", "'abcxyz@[`{09'"));
    CHECK(text("UPPER", "['abcxyz@[`{09']", "'ABCXYZ@[`{09'"));
}

TEST(every_ascii_character_has_the_case_that_c_gives_it)
{
    char all[127] = { 0 };
    struct value arg = value_string(slice_make(all, sizeof(all))), upper, lower;
    struct eval eval = test_eval();

    for (int i = 0; i < 127; i++)
        all[i] = (char)(i + 1);
    upper = run(&eval, "UPPER", &arg, 1);
    lower = run(&eval, "LOWER", &arg, 1);
    for (int i = 0; i < 127; i++) {
        CHECK(upper.string.data[i] == toupper(all[i]));
        CHECK(lower.string.data[i] == tolower(all[i]));
    }
}

TEST(a_letter_without_a_case_of_its_own_keeps_the_one_it_has)
{
    CHECK(text("STRINGEQUALS", "['\xe2\x84\xaa', 'k', true]", "false")); /* the Kelvin sign has none */
    CHECK(text("LOWER", "['\xe2\x84\xa6']", "'\xe2\x84\xa6'"));          /* nor that of ohm */
    CHECK(text("LOWER", "['\xe1\xba\x9e']", "'\xe1\xba\x9e'"));          /* nor sharp s */
    CHECK(text("LOWER", "['\xc4\xb0']", "'\xc4\xb0'"));                  /* nor the Turkish letters */
    CHECK(text("UPPER", "['\xc4\xb1']", "'\xc4\xb1'"));
    CHECK(text("UPPER", "['\xcf\x82']", "'\xcf\x82'"));            /* nor final sigma */
    CHECK(text("STARTSWITH", "['\xc5\xbf', 's', true]", "false")); /* the long s */
    CHECK(text("CONTAINS", "['\xe2\x84\xaa\xc3\xa9', 'k\xc3\xa9', true]", "false"));
}

TEST(positions_count_characters)
{
    CHECK(text("LENGTH", "['h\xc3\xa9llo']", "5"));
    CHECK(text("LENGTH", "['\xf0\x9f\x98\x80']", "1"));
    CHECK(text("INDEX_OF", "['h\xc3\xa9llo', 'l']", "2"));
    CHECK(text("INDEX_OF", "['h\xc3\xa9llo', 'l', 3]", "3"));
    CHECK(text("LASTINDEXOF", "['h\xc3\xa9llo', 'l']", "3"));
    CHECK(text("LEFT", "['h\xc3\xa9llo', 2]", "'h\xc3\xa9'"));
    CHECK(text("RIGHT", "['hell\xc3\xb6', 2]", "'l\xc3\xb6'"));
    CHECK(text("SUBSTRING", "['h\xc3\xa9llo', 1, 2]", "'\xc3\xa9l'"));
    CHECK(text("REVERSE", "['h\xc3\xa9\xf0\x9f\x98\x80']", "'\xf0\x9f\x98\x80\xc3\xa9h'"));
}

TEST(a_search_begins_where_it_is_told)
{
    CHECK(text("INDEX_OF", "['AdventureWorks', 'Works', 5]", "9"));
    CHECK(text("INDEX_OF", "['AdventureWorks', 'Adventure', 5]", "-1"));
    CHECK(text("INDEX_OF", "['abc', 'a', -2]", "-1"));
    CHECK(text("INDEX_OF", "['abc', 'b', 4294967297]", "1")); /* of which 32 bits count */
    CHECK(text("INDEX_OF", "['abc', '', 3]", "3"));
    CHECK(text("INDEX_OF", "['abc', '', 4]", "-1"));
    CHECK(text("INDEX_OF", "['abc', 'c', 9223372036854775807]", "-1"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc']", "5"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', 6]", "0"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', 7]", "5"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', 1]", "-1"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', -1]", "-1"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', 8]", "5"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', 9]", "-1"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'abc', '<undefined>']", "5"));
    CHECK(text("LASTINDEXOF", "['abcdeabc', 'fg']", "-1"));
    CHECK(text("LASTINDEXOF", "['abc', '']", "2"));
    CHECK(text("LASTINDEXOF", "['abc', '', 1]", "1"));
    CHECK(text("LASTINDEXOF", "['', '']", "0"));
}

TEST(what_lies_outside_the_text_is_empty)
{
    CHECK(text("SUBSTRING", "['AdventureWorks', 9, 5]", "'Works'"));
    CHECK(text("SUBSTRING", "['AdventureWorks', 9, 500]", "'Works'"));
    CHECK(text("SUBSTRING", "['abc', 0, -1]", "''"));
    CHECK(text("SUBSTRING", "['abc', -1, 2]", "''"));
    CHECK(text("SUBSTRING", "['abc', 3, 1]", "''"));
    CHECK(text("SUBSTRING", "['abc', 9223372036854775807, 9223372036854775807]", "''"));
    CHECK(text("LEFT", "['abc', 0]", "''"));
    CHECK(text("LEFT", "['abc', -1]", "''"));
    CHECK(text("LEFT", "['abc', 9]", "'abc'"));
    CHECK(text("RIGHT", "['abc', 0]", "''"));
    CHECK(text("RIGHT", "['abc', -9223372036854775808]", "''"));
    CHECK(text("RIGHT", "['abc', 9]", "'abc'"));
}

TEST(a_part_before_or_after_another)
{
    CHECK(text("SUBSTRINGBEFORE", "['a/b/c', '/']", "'a'"));
    CHECK(text("SUBSTRINGAFTER", "['a/b/c', '/']", "'b/c'"));
    CHECK(text("LASTSUBSTRINGBEFORE", "['a/b/c', '/']", "'a/b'"));
    CHECK(text("LASTSUBSTRINGAFTER", "['a/b/c', '/']", "'c'"));
    CHECK(text("SUBSTRINGBEFORE", "['abc', '/']", "undefined"));
    CHECK(text("SUBSTRINGAFTER", "['abc', '/']", "undefined"));
    CHECK(text("LASTSUBSTRINGBEFORE", "['abc', '/']", "undefined"));
    CHECK(text("LASTSUBSTRINGAFTER", "['abc', '/']", "undefined"));
}

TEST(a_trim_takes_characters_and_not_words)
{
    CHECK(text("TRIM", "['  \\t a b\\n ']", "'a b'"));
    CHECK(text("LTRIM", "['  a  ']", "'a  '"));
    CHECK(text("RTRIM", "['  a  ']", "'  a'"));
    CHECK(text("TRIM", "['-_-AdventureWorks-_-', '-_']", "'AdventureWorks'"));
    CHECK(text("TRIM", "['-- AdventureWorks --', '-']", "' AdventureWorks '"));
    CHECK(text("LTRIM", "['AdventureWorks', 'Adventure']", "'Works'"));
    CHECK(text("RTRIM", "['AdventureWorks', 'Works']", "'Adventure'"));
    CHECK(text("RTRIM", "['AdventureWorks', '']", "'AdventureWorks'"));
    CHECK(text("TRIM", "['   ']", "''"));
    CHECK(text("TRIM", "['\xc2\xa0\xe3\x80\x80 a\xe2\x80\xa8']", "'a'"));
    CHECK(text("TRIM", "['\xc3\xa9\xc3\xa8x\xc3\xa9', '\xc3\xa9']", "'\xc3\xa8x'"));
}

TEST(replacing_changes_every_one_and_looks_at_no_replacement)
{
    CHECK(text("REPLACE", "['aXbXc', 'X', '--']", "'a--b--c'"));
    CHECK(text("REPLACE", "['aaa', 'aa', 'a']", "'aa'"));
    CHECK(text("REPLACE", "['abc', 'b', '']", "'ac'"));
    CHECK(text("REPLACE", "['abc', 'x', 'y']", "'abc'"));
    CHECK(text("REPLACE", "['abc', '', 'y']", "undefined"));
}

TEST(replicating_ends_at_a_hundred_thousand_characters)
{
    struct eval eval = test_eval();
    struct value most, args[2] = { value_string(slice_of("\xc3\xa9")), value_int(100000) };

    CHECK(text("REPLICATE", "['ab', 3]", "'ababab'"));
    CHECK(text("REPLICATE", "['ab', 2.9]", "undefined"));
    CHECK(text("REPLICATE", "['ab', 0]", "''"));
    CHECK(text("REPLICATE", "['', 9999999]", "''"));
    CHECK(text("REPLICATE", "['', 1e300]", "undefined"));
    CHECK(text("REPLICATE", "['ab', -1]", "undefined"));
    CHECK(text("REPLICATE", "['ab', 50001]", "undefined"));
    CHECK(text("REPLICATE", "['ab', 1e300]", "undefined"));
    CHECK(text("REPLICATE", "['', '<Infinity>']", "undefined"));
    most = run(&eval, "REPLICATE", args, 2);
    CHECK(most.kind == JSON_STRING && most.string.size == 200000);
}

TEST(numbers_become_the_text_that_json_has_for_them)
{
    CHECK(text("TOSTRING", "['<NaN>']", "'NaN'"));
    CHECK(text("TOSTRING", "['<Infinity>']", "'Infinity'"));
    CHECK(text("TOSTRING", "[125]", "'125'"));
    CHECK(text("TOSTRING", "[1.0000]", "'1'"));
    CHECK(text("TOSTRING", "[0.1234]", "'0.1234'"));
    CHECK(text("TOSTRING", "[9223372036854775807]", "'9223372036854775807'"));
    CHECK(text("TOSTRING", "[false]", "'false'"));
    CHECK(text("TOSTRING", "[null]", "'null'"));
    CHECK(text("TOSTRING", "['a\\'b']", "'a\\'b'"));
    CHECK(text("TOSTRING", "[[1, 'a', {'b': null}]]", "'[1,\\'a\\',{\\'b\\':null}]'"));
}

TEST(a_string_is_read_as_json_of_the_kind_asked_for)
{
    CHECK(text("STRINGTONUMBER", "['  -1.5e3 ']", "-1500"));
    CHECK(text("STRINGTONUMBER", "['NaN']", "undefined"));
    CHECK(text("STRINGTONUMBER", "['1e999']", "undefined"));
    CHECK(text("STRINGTONUMBER", "['0x10']", "undefined"));
    CHECK(text("STRINGTONUMBER", "['']", "undefined"));
    CHECK(text("STRINGTONUMBER", "['true']", "undefined"));
    CHECK(text("STRINGTOBOOLEAN", "['  false  ']", "false"));
    CHECK(text("STRINGTOBOOLEAN", "['True']", "undefined"));
    CHECK(text("STRINGTONULL", "[' null']", "null"));
    CHECK(text("STRINGTONULL", "['NULL']", "undefined"));
    CHECK(text("STRINGTOARRAY", "['[1, [2]]']", "[1,[2]]"));
    CHECK(text("STRINGTOARRAY", "['{}']", "undefined"));
    CHECK(text("STRINGTOARRAY", "['[a]']", "undefined"));
    CHECK(text("STRINGTOOBJECT", "['{\\'a\\': 1}']", "{'a':1}"));
    CHECK(text("STRINGTOOBJECT", "['[]']", "undefined"));
}

TEST(text_that_is_no_json_leaves_no_error_behind)
{
    struct op *op = test_op();

    op->error = "the one before";
    CHECK(text("STRINGTONUMBER", "['Hello']", "undefined"));
    CHECK(strcmp(op->error, "the one before") == 0);
}

TEST(split_and_join_undo_each_other)
{
    CHECK(text("STRINGSPLIT", "['a,b,,c', ',']", "['a','b','','c']"));
    CHECK(text("STRINGSPLIT", "['xenmoun mountain bike', 'moun']", "['xen',' ','tain bike']"));
    CHECK(text("STRINGSPLIT", "['abc', '']", "['abc']"));
    CHECK(text("STRINGSPLIT", "['', '']", "['']"));
    CHECK(text("STRINGSPLIT", "['', ',']", "['']"));
    CHECK(text("STRINGJOIN", "[['a', 'b', '', 'c'], ',']", "'a,b,,c'"));
    CHECK(text("STRINGJOIN", "[[], ',']", "''"));
    CHECK(text("STRINGJOIN", "[['', ''], ',']", "','"));
    CHECK(text("STRINGJOIN", "[['a', 1], ',']", "undefined"));
}

TEST(a_long_part_is_looked_for_in_linear_time)
{
    struct slice hay = repeated("a", 1 << 20), part = repeated("a", 1 << 19);
    char *last = arena_text(&test_op()->arena, part), *first = arena_text(&test_op()->arena, part);
    int64_t start = test_cpu_ms();
    struct eval eval = test_eval();

    last[part.size - 1] = 'b';
    first[0] = 'b';
    CHECK(chars_find(hay, slice_of(last)) == CHARS_NONE);
    CHECK(chars_find_last(&eval, hay, slice_of(first)) == CHARS_NONE);
    CHECK(chars_find_last(&eval, hay, part) == hay.size - part.size);
    CHECK(!chars_contains_nocase(&eval, hay, slice_of(last)));
    CHECK(test_cpu_ms() - start < 10000);
}

TEST(a_trim_of_a_long_set_ends_with_the_operation)
{
    struct eval eval = test_eval();
    struct value args[] = { value_string(repeated("\xc3\xa9", 1 << 20)),
                            value_string(repeated("\xc3\xa8", 1 << 20)) };

    memcpy((char *)args[1].string.data + args[1].string.size - 2, "\xc3\xa9", 2); /* found at the very end */
    eval.op->deadline_ms = -1;
    CHECK(run(&eval, "TRIM", args, 2).kind == JSON_STRING);
    CHECK(eval.status == ST_TIMEOUT);
}

TEST(a_result_past_the_memory_is_the_querys_failure)
{
    struct value hay = value_string(repeated("a", 1 << 16));
    struct value args[] = { hay, value_string(slice_of("a")), hay };
    struct eval eval = test_eval();

    CHECK(run(&eval, "REPLACE", args, 3).kind == JSON_UNDEFINED);
    CHECK(eval.status == ST_QUERY_MEMORY);
}

/* In memory of its own, so that the sanitizer sees a byte too many. */
static void try_bytes(const char *bytes)
{
    struct slice odd = slice_make(strdup(bytes), strlen(bytes));
    struct value arg[] = { value_string(odd), value_string(odd), value_bool(true) };
    struct eval eval = test_eval();

    CHECK(run(&eval, "STRINGEQUALS", arg, 3).kind == JSON_TRUE);
    CHECK(run(&eval, "ENDSWITH", arg, 3).kind == JSON_TRUE);
    CHECK(run(&eval, "CONTAINS", arg, 3).kind == JSON_TRUE);
    CHECK(run(&eval, "LOWER", arg, 1).kind == JSON_STRING);
    CHECK(run(&eval, "REVERSE", arg, 1).string.size == odd.size);
    CHECK(run(&eval, "TRIM", arg, 2).string.size == 0);
    free((char *)odd.data);
}

TEST(bytes_that_are_no_utf8_are_never_read_past_their_end)
{
    static const char *const odd[] = { "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\x80\x80", "\xff", "a\xf0" };

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        try_bytes(odd[i]);
}
