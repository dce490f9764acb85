/*
 * src/index/text_terms.h - the terms of a text: which words it has, how often and where. Full-text search is made of them.
 *     a word      path id 8, stem, 00, 255 - frequency (0: 255 or more), length 3, frequency, how many places follow, places
 *     the text    path id 8, 00, length 3
 *     a form      id of forms 8, the word as it was written, but folded, 00: only where that is not its stem
 * The length is that of the text, in words, big-endian. The other numbers are varints, each place as its difference from the
 * one before. A word that stands in very many places has the first of them only. Forms lead fuzzy keywords to their texts. So terms of a word sort by what its score
 * depends on: more hits first, and among equals shorter texts. No term is the beginning of another.
 */
#pragma once
#include "index/policy.h"
#include "index/sort.h"
#include "text/words.h"

enum { TEXT_PREFIX_BYTES_MAX = TERM_PATH_BYTES + TEXT_WORD_BYTES_MAX + 1, TEXT_PLACES_BYTES_MAX = 400 };

/* Every word of the text, and the text itself; forms where there is an id for them. Where memory ends, `terms` say so. */
void text_terms_add(struct op *op, struct terms *terms, const struct index_text *where, struct slice text);

/* What all terms of a stem, or of a form, begin with; an empty stem: of texts as a whole. Gives the size. */
size_t text_term_prefix(uint8_t out[TEXT_PREFIX_BYTES_MAX], path_id path, struct slice stem);

struct text_posting {
    uint32_t length, frequency;
    uint32_t place_count;
    const uint8_t *place, *end; /* for text_posting_places() */
};

/* What follows a prefix. False: it is damaged. */
bool text_posting_read(struct slice bytes, struct text_posting *posting);
bool text_length_read(struct slice bytes, uint32_t *length);

/* Into room for place_count of them. False: it is damaged. */
bool text_posting_places(const struct text_posting *posting, uint32_t *place);
