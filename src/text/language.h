/*
 * src/text/language.h - the languages of full text: what policies call them, how their words are brought to one form.
 * A policy names a language as en-US or by its number, 1033, in letters of that case.
 */
#pragma once
#include "base/slice.h"

enum text_language {
    TEXT_ENGLISH,
    TEXT_GERMAN,
    TEXT_SPANISH,
    TEXT_FRENCH,
    TEXT_ITALIAN,
    TEXT_PORTUGUESE,
    TEXT_LANGUAGE_COUNT,
};

/* False when it is no language. */
bool text_language_named(struct slice name, enum text_language *language);

/* Whether words that say nothing are left out of its texts. */
static inline bool text_language_stops(enum text_language language)
{
    return language == TEXT_ENGLISH;
}
