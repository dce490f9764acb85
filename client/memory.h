/*
 * client/memory.h - the library's ways to allocate: lists that grow, lists of a known size, copies of texts.
 * Nothing here aborts, and nothing is changed when there is no memory: the caller answers ORRERY_ENOMEM.
 *
 * Ownership. What takes an arena lies in it, and past the arena's limit there is none. All else is malloc's, and the
 *     caller frees it.
 */
#pragma once
#include "base/allocator.h"
#include "base/arena.h"

/*
 * Room for `needed` elements in a list that grows. `list` is the address of the pointer to its elements, which may
 * move; NULL and a capacity of 0 are an empty list. False: no memory. In an arena the older list stays where it was.
 * A list that grows by one element at a time has a capacity that is a power of two.
 */
bool memory_grow(void *list, size_t *capacity, size_t needed, size_t element_bytes);
bool memory_grow_in(struct arena *arena, void *list, size_t *capacity, size_t needed, size_t element_bytes);

/*
 * Whether a struct of a caller's, which begins with its own size, says one that can be true. Where it does not, none of it
 * is looked at: the caller is told (ORRERY_EINVAL).
 */
bool struct_is_sized(const void *given);

/* A list of `count` elements, which are not set. NULL: no memory. An empty list is not NULL. */
void *memory_list(struct arena *arena, size_t count, size_t element_bytes);

/* A copy, ended by a NUL; NULL: no memory. */
char *memory_text(struct slice text);
char *memory_text_in(struct arena *arena, struct slice text);
