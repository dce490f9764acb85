/*
 * src/text/letters.h - characters of a text: what they are, and one form for words that differ in case alone.
 * No bytes do harm: what is no UTF-8 separates words.
 */
#pragma once
#include "base/slice.h"

enum letter_kind {
    LETTER_NONE,  /* parts words */
    LETTER_PART,  /* of a word */
    LETTER_DIGIT, /* likewise */
    LETTER_WORD,  /* a word by itself: languages that are written without blanks */
    LETTER_STOP,  /* . ' joins letters, and digits */
    LETTER_COMMA, /* joins digits */
};

/* The kind of the character at `at`, which is before `end`, and its size. */
enum letter_kind letter_kind(const char *at, const char *end, size_t *size);

/* The word in small letters, composed, into `out`; cut where it is longer than that. Gives its size. */
size_t letters_fold(struct slice word, char *out, size_t out_bytes);
