/*
 * src/base/allocator.h - memory of arenas and of the client library: malloc()'s, or that of a function which the program has
 * chosen. The server's own lists are heap.h's.
 *
 * Ownership. What allocator_get() and its kin gave is given back by allocator_free(), and by nothing else.
 * Threads. Any; the function that was chosen, too, is called by any.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Memory of another size: NULL for `memory` asks for new, 0 bytes give it back. NULL: there is none, and `memory` is as it was. */
typedef void *allocator_resizer(void *context, void *memory, size_t bytes);

/* Once, before any memory was asked for. False: it is too late. */
bool allocator_choose(allocator_resizer *resize, void *context);

void *allocator_get(size_t bytes);
void *allocator_zeroed(size_t count, size_t bytes);
void *allocator_resize(void *memory, size_t bytes); /* NULL is welcome */
void allocator_free(void *memory);                  /* NULL is welcome */
