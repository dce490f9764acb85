/*
 * src/base/arena.h - memory that is given back all at once.
 * arena_reset() ends every pointer the arena gave out. Debug builds overwrite that
 * memory, so that a pointer kept too long fails at once and not next year.
 *
 * Threads. An arena is used by one thread at a time; it may wander between threads.
 */
#pragma once
#include <stddef.h>

#include "base/account.h"
#include "base/slice.h"

struct arena {
    struct arena_chunk *newest;
    size_t used_bytes, limit_bytes;
    struct claim
        *claim; /* that its chunks are counted in; NULL: in none. A chunk stays with the one it came from */
};

void arena_init(struct arena *arena, size_t limit_bytes);

/* For sizes we choose. Never NULL: what the machine has not is taken from the reserve (base/reserve.h). */
void *arena_alloc(struct arena *arena, size_t bytes);

/* The same for who must not end the program: NULL when the machine has no memory. */
void *arena_alloc_or_null(struct arena *arena, size_t bytes);

/* For sizes a client chooses. NULL past the limit, its own or the account's, or the machine's; answer ST_TOO_LARGE. */
void *arena_try_alloc(struct arena *arena, size_t bytes);

/* Makes the newest allocation larger where it lies, if it is the newest and there is room. */
bool arena_try_extend(struct arena *arena, const void *memory, size_t old_bytes, size_t new_bytes);

/*
 * Makes an allocation larger, and moves it if need be. One that has a chunk to itself, as large ones do, is moved without
 * a copy being left behind: pointers into it end, and so do marks that were set since it was made. NULL past the limit, and it is as it was.
 */
void *arena_try_regrow(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes);

/*
 * Room for `wanted` items in a list: `list` is the address of its pointer, which is NULL while `capacity` is 0. Grows to twice
 * what there was at least. False past the limit, and the list is as it was.
 *     if (!arena_list_reserve(&op->arena, &set->item, &set->capacity, set->count + 1, sizeof(*set->item))) ...
 */
bool arena_list_grow(struct arena *arena, void *list, size_t *capacity, size_t wanted, size_t item_bytes);
size_t arena_list_capacity(size_t capacity, size_t wanted);

static inline bool arena_list_reserve(struct arena *arena, void *list, size_t *capacity, size_t wanted,
                                      size_t item_bytes)
{
    return wanted <= *capacity || arena_list_grow(arena, list, capacity, wanted, item_bytes);
}

/* A copy that lives as long as the arena; arena_text() ends it with a NUL. */
struct slice arena_copy(struct arena *arena, struct slice bytes);
char *arena_text(struct arena *arena, struct slice bytes);

/*
 * Back to how it was: what was given out since the mark ends. Marks nest.
 *     struct arena_mark mark = arena_mark(&arena);  ...  arena_rewind(&arena, mark);
 */
struct arena_mark {
    struct arena_chunk *chunk;
    size_t chunk_used_bytes, used_bytes;
};

struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

/* Keeps one chunk for the next use. */
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);
