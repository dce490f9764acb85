/*
 * src/base/heap.h - memory of what outlives a request.
 * It is never NULL: what the machine has not is taken from the reserve (base/reserve.h), and who has none left ends the
 * program. The client library must not end its user's program, so nothing that it is made of calls this.
 *
 * Ownership. Whoever asked for it gives it back by free().
 */
#pragma once
#include "base/arena.h"

void *heap_allocate(size_t bytes); /* zeroed */

/* For what is filled at once, and is large or wanted often: its bytes are anything. */
void *heap_allocate_unset(size_t bytes);

/* Moves what there is, if need be; what is new is anything. NULL is welcome. */
void *heap_grow(void *memory, size_t bytes);

/* A copy of a text. */
char *heap_text(const char *text);

/* Room for `wanted` items in a list, as arena_list_reserve() makes it. */
void heap_list_grow(void *list, size_t *capacity, size_t wanted, size_t item_bytes);

static inline void heap_list_reserve(void *list, size_t *capacity, size_t wanted, size_t item_bytes)
{
    if (wanted > *capacity)
        heap_list_grow(list, capacity, wanted, item_bytes);
}
