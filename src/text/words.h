/*
 * src/text/words.h - the words of a text, one after the other, without those that say nothing.
 *     struct text_words words;
 *     text_words_begin(&words, language, text);
 *     while (text_words_next(&words)) ... words.position, text_word(&words), text_word_stem(&words)
 * Letters and digits together are a word. A point or an apostrophe between letters or between digits is part of it, and
 * so is a comma between digits: don't, 1,977. A hyphen parts words.
 *
 * Ownership. The text outlives it; a word is good until the next.
 */
#pragma once
#include "text/language.h"

/* Raised whenever the same text has other words or stems than before: indexes are then made anew. */
enum { TEXT_RULES = 1 };

/* What entries of texts tell; containers note it, beside what they were indexed by. */
enum text_entries {
    TEXT_ENTRIES_NONE,  /* an older program wrote the items */
    TEXT_ENTRIES_STEMS, /* by TEXT_RULES, but not words as they were written */
    TEXT_ENTRIES_FORMS, /* these, too */
};

/* Of a folded word; longer ones are cut, in texts and in what is looked for. */
enum { TEXT_WORD_BYTES_MAX = 255 };

struct text_words {
    enum text_language language;
    const char *at, *end;
    uint32_t position; /* of the word at hand among those that count, from 0 */
    uint32_t count;    /* how many there were so far */
    size_t size;
    char word[TEXT_WORD_BYTES_MAX];
};

void text_words_begin(struct text_words *words, enum text_language language, struct slice text);
bool text_words_next(struct text_words *words);

/* Folded. */
static inline struct slice text_word(const struct text_words *words)
{
    return slice_make(words->word, words->size);
}

/* Until the next stem of this thread: stem.h. */
struct slice text_word_stem(const struct text_words *words);

/* How many words count. */
uint32_t text_length(enum text_language language, struct slice text);
