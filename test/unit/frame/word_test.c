/* test/unit/frame/word_test.c - the words that stand for a token's numbers. */
#include "frame/word.h"
#include "test.h"

static const enum frame_form forms[] = { FORM_NUMBER,    FORM_FLAG,     FORM_PAGE_SIZE,
                                         FORM_DIRECTIVE, FORM_KEY_TYPE, FORM_PREFERS,
                                         FORM_FORMAT,    FORM_FORMATS,  FORM_CONSISTENCY };

TEST(a_number_s_word_says_that_number_again)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        for (uint32_t number = 0; number < 300; number++) {
            char room[WORD_BYTES_MAX];
            struct slice word = frame_word(forms[i], number, room);
            uint32_t again = 999;

            if (!word.data)
                continue;
            CHECK(frame_word_number(forms[i], word, &again));
            CHECK(again == (forms[i] == FORM_FLAG ? number != 0 : number));
        }
}

TEST(a_page_of_any_size_is_minus_one)
{
    char room[WORD_BYTES_MAX];
    uint32_t number = 0;

    CHECK(frame_word_number(FORM_PAGE_SIZE, slice_of("-1"), &number) && number == UINT32_MAX);
    CHECK(slice_is(frame_word(FORM_PAGE_SIZE, UINT32_MAX, room), "-1"));
    CHECK(slice_is(frame_word(FORM_PAGE_SIZE, INT32_MAX, room), "-1"));
}

TEST(words_have_no_case)
{
    uint32_t number = 0;

    CHECK(frame_word_number(FORM_FLAG, slice_of("True"), &number) && number == 1);
    CHECK(frame_word_number(FORM_CONSISTENCY, slice_of("boundedstaleness"), &number) && number == 1);
}

TEST(what_no_number_stands_for_is_refused)
{
    uint32_t number = 0;

    CHECK(!frame_word_number(FORM_FLAG, slice_of("perhaps"), &number));
    CHECK(!frame_word_number(FORM_NUMBER, slice_of("4294967296"), &number));
    CHECK(!frame_word_number(FORM_PAGE_SIZE, slice_of("-2"), &number));
    CHECK(!frame_word_number(FORM_PAGE_SIZE, slice_of("2147483647"), &number)); /* which would say: all */
    CHECK(!frame_word_number(FORM_KEY_TYPE, slice_of(""), &number));
    CHECK(!frame_word(FORM_FORMAT, UINT64_MAX, (char[WORD_BYTES_MAX]){ 0 }).data);
}
