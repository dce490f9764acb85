/*
 * src/query/function/regex.h - regular expressions: compiled once for a query, bounded in time and memory.
 * The one file that calls PCRE2. Patterns are Perl's, over characters of Unicode.
 *     regex = regex_get(eval, pattern, flags);           NULL: there is no such expression
 *     if (regex && regex_search(eval, regex, text, 0) == REGEX_FOUND)
 *         regex_group(regex, 0, text, &whole);
 *
 * Ownership. An expression lives until the row ends; what regex_group() gives points into the text.
 *
 * Promises
 * 1. A pattern that is the same in every row is compiled once.
 * 2. A search does at most so much work, and gives up rather than go on: some 100 ms, and more only in
 *    proportion to the text. How much that is depends on pattern and text alone, not on the machine.
 * 3. Patterns that differ from row to row leave nothing behind.
 */
#pragma once
#include "query/eval/eval.h"

struct regex;

enum regex_answer {
    REGEX_ABSENT,
    REGEX_FOUND,
    REGEX_GAVE_UP, /* nobody knows */
};

/* Flags are any of i (ignore case), m (lines), s (. matches a newline), x (blanks and comments in the pattern). */
struct regex *regex_get(struct eval *eval, struct slice pattern, struct slice flags);

/* The first match that begins at byte `from` or later; only `from` 0 checks that the text is UTF-8. */
enum regex_answer regex_search(struct eval *eval, struct regex *regex, struct slice text, size_t from);

/* Of the last search, which found something. Group 0 is the whole; false when the group took no part. */
bool regex_group(const struct regex *regex, size_t group, struct slice text, struct slice *found);
size_t regex_group_count(const struct regex *regex); /* the whole included */

/*
 * The text with its first match, or with every one, replaced: $1 and ${1} stand for groups, $$ for a dollar. False
 * when the replacement is none, or a search gave up; what ran out is recorded.
 */
bool regex_replace(struct eval *eval, struct regex *regex, struct slice text, struct slice replacement,
                   bool all, struct slice *result);
