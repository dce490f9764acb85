/*
 * src/text/match.h - what is looked for in texts, and how often it is there.
 * A keyword is a word, or several that must stand one behind the other. A fuzzy one is met by words that are so many
 * letters away, too. A keyword of stop words alone is met by nothing.
 *     text_search_begin(&search, language, &op->arena);
 *     text_search_add(&search, keyword, 0);                  for each keyword
 *     text_search_look(&search, text, &memory, &hits);       for each text
 *
 * Ownership. A search lies in the arena that it began with; hits in the memory they are asked for.
 * Threads. One at a time.
 */
#pragma once
#include "base/arena.h"
#include "text/near.h"
#include "text/words.h"

/* A word of a keyword. */
struct text_term {
    struct slice word, stem;
    uint32_t distance;
};

/* Terms [first, first + count). */
struct text_keyword {
    size_t first, count;
};

struct text_search {
    enum text_language language;
    struct arena *memory;
    struct text_term *term;
    size_t term_count, term_capacity;
    struct text_keyword *keyword;
    size_t keyword_count, keyword_capacity;
    bool wants_any;  /* no letter rules a word out */
    bool wants[128]; /* words that begin with these letters may be among the terms */
};

/* Where a term stands in a text, in order. */
struct text_places {
    uint32_t *position;
    size_t count, capacity;
    size_t next; /* where text_phrase_count() looks */
};

struct text_hits {
    uint32_t length;     /* of the text, in words */
    uint32_t *frequency; /* of each keyword */
};

void text_search_begin(struct text_search *search, enum text_language language, struct arena *memory);

/* False when memory ends. */
bool text_search_add(struct text_search *search, struct slice keyword, uint32_t distance);
bool text_search_look(const struct text_search *search, struct slice text, struct arena *memory,
                      struct text_hits *hits);

/* How often terms stand one behind the other: the first at p, the second at p + 1. */
uint32_t text_phrase_count(struct text_places *term, size_t count);
