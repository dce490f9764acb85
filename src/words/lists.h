/*
 * src/words/lists.h - which lists there are in memory: a container's stand on its shelf.
 *     word_shelf_find(shelf, key)          the list that was put there last, which the caller uses until word_list_done()
 *     word_shelf_put(shelf, key, list)     from now on others find it; the caller still uses it
 * Lists can be made again from the index at any time. So when memory is short, those that were not used for longest are
 * let go (word_lists_let_go()). The list of all lists is the process's, as its memory is.
 *
 * Threads. Any.
 *
 * Promises
 * 1. A list that somebody uses stays.                         lists_test.c
 * 2. A shelf that is released leaves nothing behind.          lists_test.c
 */
#pragma once
#include "words/list.h"

struct word_shelf;

struct word_shelf *word_shelf_new(void);
struct word_shelf *word_shelf_take(struct word_shelf *shelf);
void word_shelf_release(struct word_shelf *shelf); /* NULL is welcome */

struct word_list *word_shelf_find(struct word_shelf *shelf, struct slice key); /* NULL: there is none */

/* In place of one that is older. Where the one that is there is not, the list stays the caller's own. */
void word_shelf_put(struct word_shelf *shelf, struct slice key, struct word_list *list);

void word_list_done(struct word_list *list); /* NULL is welcome */

/* Lets go of the list of that account that was not used for longest, and that nobody uses. False: there is none. */
bool word_lists_let_go(const struct account *account);

struct word_lists_stats {
    uint64_t lists, texts, bytes;
};

void word_lists_stats(struct word_lists_stats *stats);
