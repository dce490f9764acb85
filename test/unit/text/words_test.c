/* test/unit/text/words_test.c - where words begin and end, and what becomes of them. */
#include "test.h"
#include "text/words.h"

/* The stems of a text, joined by a bar. */
static const char *stems(enum text_language language, const char *text)
{
    struct text_words words;
    struct buf out;

    buf_init(&out, &test_op()->arena);
    text_words_begin(&words, language, slice_of(text));
    while (text_words_next(&words)) {
        buf_text(&out, words.position ? "|" : "");
        buf_slice(&out, text_word_stem(&words));
    }
    buf_byte(&out, '\0');
    return out.data;
}

static bool are(enum text_language language, const char *text, const char *expected)
{
    const char *found = stems(language, text);

    if (strcmp(found, expected) != 0)
        printf("    %s: %s\n", text, found);
    return strcmp(found, expected) == 0;
}

TEST(the_worked_examples_have_these_words)
{
    CHECK(are(TEXT_ENGLISH, "The quick brown fox", "quick|brown|fox"));
    CHECK(are(TEXT_ENGLISH, "A quick dog and a quick cat", "quick|dog|quick|cat"));
    CHECK(are(TEXT_ENGLISH, "Lazy dogs sleep; foxes run quickly", "lazi|dog|sleep|fox|run|quick"));
    CHECK(are(TEXT_ENGLISH, "Running shoes for the lazy runner", "run|shoe|lazi|runner"));
    CHECK(are(TEXT_ENGLISH, "Brown bears, brown foxes, brown dogs", "brown|bear|brown|fox|brown|dog"));
}

TEST(signs_between_letters_or_digits_are_part_of_a_word)
{
    CHECK(are(TEXT_ENGLISH, "1,977 and 3.5, x86 end.", "1,977|3.5|x86|end"));
    CHECK(are(TEXT_ENGLISH, "state-of-the-art 7,a", "state|art|7"));
    CHECK(are(TEXT_ENGLISH, "O'Brien O\u2019Brien", "o'brien|o'brien"));
    CHECK(are(TEXT_ENGLISH, "don't don\u2019t 'quoted'", "quot"));
}

TEST(one_digit_is_a_word_and_a_stop_word_is_none)
{
    CHECK(are(TEXT_ENGLISH, "the 7 of a", "7"));
    CHECK(are(TEXT_GERMAN, "the 7 of a", "the|7|of|a"));
}

TEST(words_of_every_language_lose_their_endings)
{
    CHECK(are(TEXT_GERMAN, "H\u00c4USER", "haus"));
    CHECK(are(TEXT_SPANISH, "canciones", "cancion"));
    CHECK(are(TEXT_FRENCH, "chevaux", "cheval"));
    CHECK(are(TEXT_ITALIAN, "ragazzi", "ragazz"));
    CHECK(are(TEXT_PORTUGUESE, "meninas", "menin"));
}

TEST(letters_of_any_script_make_words)
{
    CHECK(are(TEXT_ENGLISH, "\u041c\u043e\u0441\u043a\u0432\u0430!", "\u043c\u043e\u0441\u043a\u0432\u0430"));
    CHECK(are(TEXT_ENGLISH, "\u6771\u4eac", "\u6771|\u4eac"));
    CHECK(are(TEXT_ENGLISH, "e\u0301te", "\u00e9te")); /* composed, so that both spellings are one word */
    CHECK(are(TEXT_ENGLISH, "\U0001f600fox\U0001f600", "fox"));
}

TEST(a_word_that_is_too_long_is_cut_between_characters)
{
    char text[600];
    struct text_words words;

    memset(text, 'q', sizeof(text));
    text_words_begin(&words, TEXT_ENGLISH, slice_make(text, sizeof(text)));
    CHECK(text_words_next(&words) && words.size == TEXT_WORD_BYTES_MAX && !text_words_next(&words));
    for (size_t i = 0; i < sizeof(text); i += 2)
        memcpy(text + i, "\u044f", 2);
    text_words_begin(&words, TEXT_ENGLISH, slice_make(text, sizeof(text)));
    CHECK(text_words_next(&words) && words.size == TEXT_WORD_BYTES_MAX - 1 && !text_words_next(&words));
}

TEST(no_bytes_do_harm)
{
    for (int round = 0; round < 2000; round++) {
        struct text_words words;
        char text[64];
        size_t size = test_random() % sizeof(text);

        for (size_t i = 0; i < size; i++)
            text[i] = (char)(test_random() % 3 ? test_random() : 'a' + test_random() % 26);
        text_words_begin(&words, (enum text_language)(test_random() % TEXT_LANGUAGE_COUNT),
                         slice_make(text, size));
        while (text_words_next(&words))
            CHECK(words.size && words.size <= TEXT_WORD_BYTES_MAX && text_word_stem(&words).size <= 512);
    }
}

TEST(languages_are_named_by_letters_or_numbers)
{
    enum text_language language = TEXT_ENGLISH;

    CHECK(text_language_named(slice_of("pt-PT"), &language) && language == TEXT_PORTUGUESE);
    CHECK(text_language_named(slice_of("1033"), &language) && language == TEXT_ENGLISH);
    CHECK(text_language_named(slice_of("1031"), &language) && language == TEXT_GERMAN);
    CHECK(!text_language_named(slice_of("EN-us"), &language) &&
          !text_language_named(slice_of(""), &language));
}
