/*
 * src/base/arena.h - memory that is given back all at once.
 * arena_reset() ends every pointer the arena gave out. Debug builds overwrite that
 * memory, so that a pointer kept too long fails at once and not next year.
 *
 * Threads. An arena is used by one thread at a time; it may wander between threads.
 */
#pragma once
#include <stddef.h>

#include "base/slice.h"

struct arena {
    struct arena_chunk *newest;
    size_t used_bytes, limit_bytes;
};

void arena_init(struct arena *arena, size_t limit_bytes);

/* For sizes we choose. Never NULL: a machine out of memory is no request's error. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* For sizes a client chooses. NULL past the limit; answer ST_TOO_LARGE. */
void *arena_try_alloc(struct arena *arena, size_t bytes);

/* Makes the newest allocation larger where it lies, if it is the newest and there is room. */
bool arena_try_extend(struct arena *arena, const void *memory, size_t old_bytes, size_t new_bytes);

/* A copy that lives as long as the arena; arena_text() ends it with a NUL. */
struct slice arena_copy(struct arena *arena, struct slice bytes);
char *arena_text(struct arena *arena, struct slice bytes);

/* Keeps one chunk for the next use. */
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);
