/*
 * src/query/eval/chars.h - strings as characters: lengths, positions, case, search.
 * A character is a Unicode code point. ASCII, which most strings are, is never decoded.
 * The one file that calls utf8proc.
 *
 * Case is ignored character by character, by the simple mappings of Unicode, and a character outside
 * ASCII never equals one inside it: so ASCII can be looked for in any text as bytes.
 *
 * Promises
 * 1. Time is linear in what is searched, whatever is searched for.
 * 2. Bytes that are no UTF-8 give some answer, and nothing is read past the end.
 */
#pragma once
#include "query/eval/eval.h"

#define CHARS_NONE SIZE_MAX /* no such place */

size_t chars_length(struct slice text); /* in characters */

/* Where a character begins, in bytes; the end of the text when there are fewer. */
size_t chars_offset(struct slice text, uint64_t character);

/* The character at `at`, which is before `end`, and a step behind it; or the one before `at`, and a step back. */
uint32_t chars_next(const char **at, const char *end);
uint32_t chars_previous(const char *start, const char **at);

bool chars_is_blank(uint32_t character); /* white space */

uint32_t chars_to_lower(uint32_t character);

/* The characters that LOWER, or UPPER, makes this one of: two at most. */
size_t chars_of_lower(uint32_t lower, uint32_t from[2]);
size_t chars_of_upper(uint32_t upper, uint32_t from[2]);

/* In capitals or in small letters; undefined with the failure recorded when there is no memory. */
struct value chars_upper(struct eval *eval, struct slice text);
struct value chars_lower(struct eval *eval, struct slice text);

/* What a buffer holds; undefined with the failure recorded when it ran out of memory. */
struct value chars_built(struct eval *eval, const struct buf *buf);

/* Where the first one is, or the last one, in bytes; CHARS_NONE when there is none. */
size_t chars_find(struct slice text, struct slice part);
size_t chars_find_last(struct eval *eval, struct slice text, struct slice part);

bool chars_starts(struct slice text, struct slice part);
bool chars_ends(struct slice text, struct slice part);

/* The same whatever the case. */
bool chars_contains_nocase(struct eval *eval, struct slice text, struct slice part);
bool chars_starts_nocase(struct slice text, struct slice part);
bool chars_ends_nocase(struct slice text, struct slice part);
bool chars_equal_nocase(struct slice a, struct slice b);
