/* src/frame/word.c - what a token's number is as the text of a header, and back. */
#include <stdio.h>

#include "frame/word.h"

enum { WORDS_MAX = 8 };

/* By their numbers; NULL: the number has none. */
static const char *const words[][WORDS_MAX] = {
    [FORM_FLAG] = { "false", "true" },
    [FORM_DIRECTIVE] = { "Default", "Include", "Exclude" },
    [FORM_KEY_TYPE] = { NULL, "ResourceId", "EffectivePartitionKey", "EffectivePartitionKeyRange" },
    [FORM_PREFERS] = { "return=representation", "return=minimal" },
    [FORM_FORMAT] = { "JsonText", "CosmosBinary", "HybridRow" },
    [FORM_FORMATS] = { NULL, "JsonText", "CosmosBinary", "JsonText,CosmosBinary", "HybridRow",
                       "JsonText,HybridRow", "CosmosBinary,HybridRow", "JsonText,CosmosBinary,HybridRow" },
    [FORM_CONSISTENCY] = { "Strong", "BoundedStaleness", "Session", "Eventual", "ConsistentPrefix" },
    [FORM_NAME] = { NULL },
};

bool frame_form_is_text(enum frame_form form)
{
    return form == FORM_TEXT || form == FORM_MATCH || form == FORM_NAME;
}

static struct slice digits_of(uint64_t number, char room[WORD_BYTES_MAX])
{
    return slice_make(room, (size_t)snprintf(room, WORD_BYTES_MAX, "%llu", (unsigned long long)number));
}

struct slice frame_word(enum frame_form form, uint64_t number, char room[WORD_BYTES_MAX])
{
    switch (form) {
    case FORM_NUMBER:
        return digits_of(number, room);
    case FORM_PAGE_SIZE: /* -1 is the largest number: of 32 bits from Java, of 31 from .NET */
        return number >= INT32_MAX ? slice_of("-1") : digits_of(number, room);
    case FORM_FLAG:
        return slice_of(words[FORM_FLAG][number != 0]);
    default:
        return number < WORDS_MAX && words[form][number] ? slice_of(words[form][number])
                                                         : (struct slice){ 0 };
    }
}

static bool read_digits(struct slice word, uint32_t max, uint32_t *number)
{
    uint64_t read = 0;

    if (!slice_to_u64(word, &read) || read > max)
        return false;
    *number = (uint32_t)read;
    return true;
}

static bool find_word(enum frame_form form, struct slice word, uint32_t *number)
{
    for (uint32_t i = 0; i < WORDS_MAX; i++)
        if (words[form][i] && slice_is_nocase(word, words[form][i])) {
            *number = i;
            return true;
        }
    return false;
}

bool frame_word_number(enum frame_form form, struct slice word, uint32_t *number)
{
    switch (form) {
    case FORM_NUMBER:
        return read_digits(word, UINT32_MAX, number);
    case FORM_PAGE_SIZE:
        if (!slice_is(word, "-1"))
            return read_digits(word, INT32_MAX - 1, number);
        *number = UINT32_MAX;
        return true;
    default:
        return find_word(form, word, number);
    }
}
