/* test/unit/text/match_test.c - keywords among the words of texts, against a search that skips nothing. */
#include "test.h"
#include "text/match.h"

static struct text_hits hits_of(enum text_language language, const char *text, const char *keyword,
                                uint32_t distance)
{
    struct op *op = test_op();
    struct text_search search;
    struct text_hits hits = { 0 };

    text_search_begin(&search, language, &op->arena);
    CHECK(text_search_add(&search, slice_of(keyword), distance));
    CHECK(text_search_look(&search, slice_of(text), &op->arena, &hits));
    return hits;
}

static uint32_t found(const char *text, const char *keyword)
{
    return hits_of(TEXT_ENGLISH, text, keyword, 0).frequency[0];
}

static bool is_near(const char *text, const char *keyword, uint32_t distance)
{
    return hits_of(TEXT_ENGLISH, text, keyword, distance).frequency[0] > 0;
}

TEST(a_phrase_is_counted_wherever_it_begins)
{
    CHECK(found("Brown bears, brown foxes, brown dogs", "brown") == 3);
    CHECK(found("Brown bears, brown foxes, brown dogs", "brown fox") == 1);
    CHECK(found("red red red", "red red") == 2);
    CHECK(found("brown the fox", "brown fox") == 1); /* what is left out parts nothing */
    CHECK(found("fox brown", "brown fox") == 0);
    CHECK(found("brown", "brown fox") == 0);
}

TEST(a_keyword_without_words_is_nowhere)
{
    CHECK(found("the and of", "the") == 0);
    CHECK(found("anything", "") == 0);
    CHECK(found("", "anything") == 0);
}

TEST(letters_put_in_left_out_or_changed_are_counted)
{
    CHECK(is_near("rod", "red", 1) && is_near("rad", "road", 1) && is_near("reed", "red", 1));
    CHECK(!is_near("rood", "red", 1) && is_near("rood", "red", 2) && !is_near("road map", "red", 1));
    CHECK(is_near("\u00e9t\u00e9", "ete", 2) && !is_near("\u00e9t\u00e9", "ete", 1));
    CHECK(is_near("quick rod house", "quick red", 1));
    CHECK(is_near("running", "runs", 1)); /* by its stem */
}

/* Endings and beginnings that stemmers have rules for, in every language. */
static const char *const pieces[] = {
    "y",     "ing",    "ed", "ational", "er",     "en",   "\u00e4", "ung",   "keit",   "ci\u00f3n",
    "os",    "amente", "ar", "aux",     "\u00e9", "ment", "are",    "zione", "ico",    "\u00e7\u00e3o",
    "mente", "s",      "ie", "\u00fc",  "\u00df", "a",    "qu",     "gen",   "commun", "arsen"
};

static void make_word(struct buf *out)
{
    for (size_t i = 1 + test_random() % 4; i; i--) {
        if (test_random() % 2)
            buf_byte(out, (char)('a' + test_random() % 26));
        buf_text(out, pieces[test_random() % (sizeof(pieces) / sizeof(pieces[0]))]);
    }
}

static void make_text(struct buf *out, size_t words)
{
    for (; words; words--) {
        if (test_random() % 3)
            make_word(out);
        else
            buf_text(out, pieces[test_random() % (sizeof(pieces) / sizeof(pieces[0]))]);
        buf_byte(out, ' ');
    }
}

struct naive {
    size_t count;
    struct slice stem[64];
};

static void read_naive(enum text_language language, struct slice text, struct naive *naive)
{
    struct text_words words;

    naive->count = 0;
    text_words_begin(&words, language, text);
    while (text_words_next(&words) && naive->count < 64)
        naive->stem[naive->count++] = arena_copy(&test_op()->arena, text_word_stem(&words));
}

static uint32_t naive_count(const struct naive *text, const struct naive *keyword)
{
    uint32_t count = 0;

    for (size_t i = 0; keyword->count && i + keyword->count <= text->count; i++) {
        size_t k = 0;

        while (k < keyword->count && slice_equal(text->stem[i + k], keyword->stem[k]))
            k++;
        count += k == keyword->count;
    }
    return count;
}

TEST(a_search_finds_what_a_naive_one_finds_in_every_language)
{
    struct op *op = test_op();

    for (int round = 0; round < 3000; round++) {
        enum text_language language = (enum text_language)(test_random() % TEXT_LANGUAGE_COUNT);
        struct naive text, keyword;
        struct buf out, looked;
        struct text_search search;
        struct text_hits hits;

        buf_init(&out, &op->arena);
        buf_init(&looked, &op->arena);
        make_text(&out, test_random() % 40);
        make_text(&looked, 1 + test_random() % 2);
        read_naive(language, buf_as_slice(&out), &text);
        read_naive(language, buf_as_slice(&looked), &keyword);
        text_search_begin(&search, language, &op->arena);
        REQUIRE(text_search_add(&search, buf_as_slice(&looked), 0));
        REQUIRE(text_search_look(&search, buf_as_slice(&out), &op->arena, &hits));
        CHECK(hits.length == text.count);
        CHECK(hits.frequency[0] == naive_count(&text, &keyword));
    }
}
