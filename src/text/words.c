/* src/text/words.c - where words begin and end. */
#include "text/letters.h"
#include "text/stem.h"
#include "text/stop_words.h"
#include "text/words.h"

void text_words_begin(struct text_words *words, enum text_language language, struct slice text)
{
    words->language = language;
    words->at = text.data;
    words->end = text.data + text.size;
    words->position = words->count = 0;
    words->size = 0;
}

/* Whether a sign between two characters is part of their word. */
static bool joins(enum letter_kind sign, enum letter_kind before, const char *behind, const char *end)
{
    enum letter_kind after;
    size_t size;

    if (behind >= end || (sign != LETTER_STOP && sign != LETTER_COMMA))
        return false;
    after = letter_kind(behind, end, &size);
    if (after != before)
        return false;
    return before == LETTER_DIGIT || (before == LETTER_PART && sign == LETTER_STOP);
}

/* The next word as it stands; empty at the end. */
static struct slice next_piece(struct text_words *words)
{
    const char *at = words->at, *end = words->end, *start = NULL;
    enum letter_kind before = LETTER_NONE;

    while (at < end) {
        size_t size;
        enum letter_kind kind = letter_kind(at, end, &size);

        if (kind == LETTER_WORD) {
            if (!start)
                start = at, at += size;
            break;
        }
        if (kind == LETTER_PART || kind == LETTER_DIGIT)
            start = start ? start : at;
        else if (start && !joins(kind, before, at + size, end))
            break;
        before = kind == LETTER_PART || kind == LETTER_DIGIT ? kind : before;
        at += size;
    }
    words->at = at;
    return start ? slice_make(start, (size_t)(at - start)) : slice_of("");
}

bool text_words_next(struct text_words *words)
{
    for (;;) {
        struct slice piece = next_piece(words);

        if (piece.size == 0)
            return false;
        words->size = letters_fold(piece, words->word, sizeof(words->word));
        if (words->size && !(text_language_stops(words->language) && stop_word_is(text_word(words))))
            break;
    }
    words->position = words->count++;
    return true;
}

struct slice text_word_stem(const struct text_words *words)
{
    return stem_of(words->language, text_word(words));
}

uint32_t text_length(enum text_language language, struct slice text)
{
    struct text_words words;

    text_words_begin(&words, language, text);
    while (text_words_next(&words))
        continue;
    return words.count;
}
