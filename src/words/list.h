/*
 * src/words/list.h - the texts that a keyword stands in, each with its length and how often the keyword is there.
 *     word_list_new(account); word_list_add() in any order; word_list_close()     from there on nobody changes it
 *     word_list_find(list, number)
 * A list lies in layers: in the first are the few texts to which the keyword adds most, in the last all that are left.
 * Within a layer texts are in the order of their numbers. So the best are found in the first layers, and what is in the
 * later ones is looked up when it may matter: best.h.
 *
 * Ownership. A list's memory is on the account that it was made with.
 * Threads. One makes it. Whoever is given it then reads it.
 */
#pragma once
#include "base/account.h"
#include "base/slice.h"

struct word_text {
    uint64_t number; /* of its item */
    uint32_t frequency, length;
};

enum { WORD_LAYERS_MAX = 6 };

struct word_layer {
    size_t first, count;
    double most; /* that any of them adds, of a keyword of rarity 1 and texts of the list's average length */
};

struct word_list {
    struct word_text *text;
    size_t count, capacity;
    struct word_layer layer[WORD_LAYERS_MAX];
    size_t layer_count;
    double average; /* of words, by which the layers were made */
    double words;   /* of all of its texts */
    uint64_t lsn;   /* what it tells was committed up to here */
    struct claim claim;

    /* lists.c's own, guarded by its lock. */
    struct slice key;
    unsigned users;
    struct word_shelf *shelf; /* NULL: it stands on none */
    struct word_list *newer, *older;
};

/* Whoever makes it uses it: word_list_done() of lists.h ends that. */
struct word_list *word_list_new(struct account *account);
void word_list_free(struct word_list *list); /* lists.c's own; NULL is welcome */

/* False: there is no memory for it. */
bool word_list_add(struct word_list *list, const struct word_text *text);

/* `average`: about how many words a text has. */
void word_list_close(struct word_list *list, double average);

/* The text with that number; NULL: the keyword is not in it. */
const struct word_text *word_list_find(const struct word_list *list, uint64_t number);

/* Of its texts whose numbers are in [from, to): how many they are, and how many words they have together. */
size_t word_list_count(const struct word_list *list, uint64_t from, uint64_t to);
uint64_t word_list_words(const struct word_list *list, uint64_t from, uint64_t to);
