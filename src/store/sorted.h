/*
 * src/store/sorted.h - keys in byte order: a skip list that its users put inside their own nodes.
 * batch.c keeps a transaction's writes in one, memory.c all its rows. A key's height follows
 * from its hash, so that the same keys always make the same list.
 *
 * Ownership. The user allocates the node and, for `after`, room for sorted_height(key) links.
 * Threads. No locks of its own.
 */
#pragma once
#include "base/slice.h"

enum { SORTED_HEIGHT_MAX = 12 };

struct sorted_node {
    struct slice key;
    struct sorted_node *before; /* the next smaller one */
    struct sorted_node **after; /* the next larger one on each level; [0] knows all */
};

/* All zero is an empty list. */
struct sorted {
    struct sorted_node *first[SORTED_HEIGHT_MAX], *last;
    size_t height; /* levels that have, or had, nodes */
};

/* Where a key is, or would be; good until the list changes. */
struct sorted_place {
    struct sorted_node *before;
    struct sorted_node **links[SORTED_HEIGHT_MAX]; /* those that point to the first node at or after it */
};

size_t sorted_height(struct slice key);

/* The key must not be there yet. */
void sorted_insert(struct sorted *sorted, struct sorted_node *node);

/* The same in two steps, for those who look whether it is there: the node with the key, or NULL, and its place. */
struct sorted_node *sorted_look(const struct sorted *sorted, struct slice key, struct sorted_place *place);
void sorted_insert_at(struct sorted *sorted, struct sorted_node *node, size_t height,
                      struct sorted_place *place);

void sorted_remove(struct sorted *sorted, struct sorted_node *node);

/* The first at or after the key, the last before it, the one with it; NULL when there is none. */
struct sorted_node *sorted_at_or_after(const struct sorted *sorted, struct slice key);
struct sorted_node *sorted_before(const struct sorted *sorted, struct slice key);
struct sorted_node *sorted_find(const struct sorted *sorted, struct slice key);
