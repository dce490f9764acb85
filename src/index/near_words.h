/*
 * src/index/near_words.h - which words of the texts at a path are near another word, by their entries.
 * Entries lie in the order of their words, so that whole beginnings that are too far away are passed over.
 */
#pragma once
#include "index/policy.h"
#include "store/view.h"
#include "text/match.h"

struct near_words {
    struct slice *prefix; /* what terms begin with: each has entries of texts that may have such a word */
    size_t count, capacity;
};

/*
 * Of a fuzzy term. All texts with a word that it is met by have an entry among these; with one of its stem they may have
 * other words of that stem. They lie in the op's arena.
 */
enum status near_words_find(struct op *op, const struct view *view, const struct index_text *text,
                            const struct text_term *term, struct near_words *near);
