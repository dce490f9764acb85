/*
 * src/source/word_walk.h - lists of texts, made by walking entries of the index. For this folder alone: words.c says when.
 *     word_walk_items(&walk, list)               all items, with a text or without, where word_walk_has_items(index)
 *     word_walk_texts(&walk, list)               all texts of the path, with their lengths
 *     word_walk_keyword(&walk, keyword, list)    those that the keyword is in, unless it is fuzzy
 *     word_walk_fuzzy(&walk, fuzzy, count)       of each fuzzy keyword those that it is in
 * Lists are added to, and not closed.
 */
#pragma once
#include "source/item_index_private.h"

struct word_walk {
    struct op *op;
    struct item_index *index;
    const struct words_question *question;
    bool is_told; /* false from there on: entries do not tell, or there is no memory for what they do */
};

/* A fuzzy keyword, and the list of its texts. */
struct word_fuzzy {
    const struct text_keyword *keyword;
    struct word_list *list;
};

bool word_walk_has_items(const struct query_index *index);
enum status word_walk_items(struct word_walk *walk, struct word_list *list);
enum status word_walk_texts(struct word_walk *walk, struct word_list *list);
enum status word_walk_keyword(struct word_walk *walk, const struct text_keyword *keyword,
                              struct word_list *list);

bool word_walk_is_fuzzy(const struct text_search *search, const struct text_keyword *keyword);
enum status word_walk_fuzzy(struct word_walk *walk, const struct word_fuzzy *fuzzy, size_t count);
