/* src/text/letters.c - characters and their case. Of this folder, the only file that knows utf8proc. */
#include <utf8proc.h>

#include "text/letters.h"

enum {
    CHARACTERS_MAX = 1024
}; /* of a folded word: a character becomes eighteen at most, and words are cut */

static const enum letter_kind ascii[128] = {
    ['0' ... '9'] = LETTER_DIGIT, ['A' ... 'Z'] = LETTER_PART, ['a' ... 'z'] = LETTER_PART,
    ['_'] = LETTER_PART,          ['.'] = LETTER_STOP,         ['\''] = LETTER_STOP,
    [','] = LETTER_COMMA,
};

/* Kana, Han and what belongs to them. */
static bool is_ideographic(utf8proc_int32_t c)
{
    return (c >= 0x2e80 && c <= 0x2fdf) || (c >= 0x3005 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x9fff) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x3ffff);
}

static enum letter_kind kind_of(utf8proc_int32_t c)
{
    if (c == 0x2019) /* the apostrophe that word processors write */
        return LETTER_STOP;
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LO:
        return is_ideographic(c) ? LETTER_WORD : LETTER_PART;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return LETTER_PART;
    case UTF8PROC_CATEGORY_ND:
        return LETTER_DIGIT;
    default:
        return LETTER_NONE;
    }
}

enum letter_kind letter_kind(const char *at, const char *end, size_t *size)
{
    utf8proc_int32_t character;
    utf8proc_ssize_t read;

    *size = 1;
    if ((uint8_t)*at < 0x80)
        return ascii[(uint8_t)*at];
    read = utf8proc_iterate((const utf8proc_uint8_t *)at, end - at, &character);
    if (read <= 0)
        return LETTER_NONE;
    *size = (size_t)read;
    return kind_of(character);
}

/* As many bytes as hold whole characters. */
static size_t whole(const char *bytes, size_t size, size_t size_max)
{
    if (size <= size_max)
        return size;
    for (size = size_max; size && ((uint8_t)bytes[size] & 0xc0) == 0x80;)
        size--;
    return size;
}

static size_t fold_ascii(struct slice word, char *out)
{
    for (size_t i = 0; i < word.size; i++) {
        char c = word.data[i];

        if ((uint8_t)c >= 0x80)
            return 0;
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    return word.size;
}

/* One sign for both apostrophes, so that stop words are found. */
static void one_apostrophe(utf8proc_int32_t *character, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (character[i] == 0x2019)
            character[i] = '\'';
}

size_t letters_fold(struct slice word, char *out, size_t out_bytes)
{
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD;
    utf8proc_int32_t character[CHARACTERS_MAX + 1];
    utf8proc_ssize_t count, size;
    size_t folded;

    word.size = whole(word.data, word.size, out_bytes);
    folded = fold_ascii(word, out);
    if (folded || word.size == 0)
        return folded;
    count = utf8proc_decompose((const utf8proc_uint8_t *)word.data, (utf8proc_ssize_t)word.size, character,
                               CHARACTERS_MAX, options);
    if (count < 0 || count > CHARACTERS_MAX) { /* no UTF-8, or hardly a word: it stays as it is */
        memcpy(out, word.data, word.size);
        return word.size;
    }
    one_apostrophe(character, (size_t)count);
    size = utf8proc_reencode(character, count, options);
    folded = whole((const char *)character, size > 0 ? (size_t)size : 0, out_bytes);
    memcpy(out, character, folded);
    return folded;
}
