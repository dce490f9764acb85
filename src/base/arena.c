/* src/base/arena.c - a chain of chunks, each twice the last; the newest gives out memory. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/reserve.h"

enum { CHUNK_BYTES_FIRST = 16 * 1024, CHUNK_BYTES_MAX = 1024 * 1024, ALIGNMENT = 16, ITEMS_FIRST = 4 };

struct arena_chunk {
    struct arena_chunk *older;
    struct claim *claim;
    size_t used_bytes, size_bytes;
    _Alignas(ALIGNMENT) char memory[];
};

void arena_init(struct arena *arena, size_t limit_bytes)
{
    *arena = (struct arena){ .limit_bytes = limit_bytes };
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* `anyway`: the account does not refuse it. */
static bool take_from_account(const struct arena *arena, size_t bytes, bool anyway)
{
    if (!arena->claim)
        return true;
    if (!anyway)
        return claim_more(arena->claim, bytes);
    claim_anyway(arena->claim, bytes);
    return true;
}

static size_t no_less(size_t size, size_t bytes)
{
    return size < bytes ? bytes : size;
}

/*
 * As large as the arena has grown, unless there is no more memory than is needed. What is not refused takes no more than it
 * needs where all else would be.
 */
static size_t chunk_size(const struct arena *arena, size_t bytes, bool anyway)
{
    size_t size = arena->newest && !reserve_is_broken() ? 2 * arena->newest->size_bytes : CHUNK_BYTES_FIRST;

    if (size > CHUNK_BYTES_MAX)
        size = CHUNK_BYTES_MAX;
    if (anyway && size > CHUNK_BYTES_FIRST && arena->claim &&
        !claim_may_have(arena->claim, no_less(size, bytes)))
        size = CHUNK_BYTES_FIRST;
    return no_less(size, bytes);
}

/* Of two that cannot be refused one is an answer to what is done already. */
static bool may_spend(const struct arena *arena, bool anyway)
{
    return anyway || (arena->claim && arena->claim->is_owed);
}

/* What a client chooses gets no more while the reserve is needed by others. */
static void *get_memory(const struct arena *arena, size_t bytes, bool anyway)
{
    bool spends = may_spend(arena, anyway);
    void *memory;

    if (!spends && arena->claim && reserve_is_broken())
        return NULL;
    do
        memory = allocator_get(bytes);
    while (!memory && spends && reserve_spend());
    return memory;
}

/* The machine refuses what the account has granted: to the client it is the same. */
static void give_back_to_account(const struct arena *arena, size_t bytes)
{
    if (!arena->claim)
        return;
    claim_less(arena->claim, bytes);
    arena->claim->refused = true;
}

static bool add_chunk(struct arena *arena, size_t bytes, bool anyway)
{
    size_t size = chunk_size(arena, bytes, anyway);
    struct arena_chunk *chunk;

    if (!take_from_account(arena, size, anyway))
        return false;
    chunk = get_memory(arena, sizeof(*chunk) + size, anyway);
    if (!chunk) {
        give_back_to_account(arena, size);
        return false;
    }
    *chunk = (struct arena_chunk){ .older = arena->newest, .claim = arena->claim, .size_bytes = size };
    arena->newest = chunk;
    return true;
}

static void *alloc(struct arena *arena, size_t bytes, bool anyway)
{
    struct arena_chunk *chunk = arena->newest;
    void *memory;

    bytes = aligned(bytes);
    if (!chunk || chunk->size_bytes - chunk->used_bytes < bytes) {
        if (!add_chunk(arena, bytes, anyway))
            return NULL;
        chunk = arena->newest;
    }
    assert(chunk->size_bytes - chunk->used_bytes >= bytes);
    memory = chunk->memory + chunk->used_bytes;
    chunk->used_bytes += bytes;
    arena->used_bytes += bytes;
    return memory;
}

void *arena_alloc_or_null(struct arena *arena, size_t bytes)
{
    return alloc(arena, bytes, true);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    void *memory = arena_alloc_or_null(arena, bytes);

    if (!memory) {
        fputs("orrery: out of memory\n", stderr);
        abort();
    }
    return memory;
}

static void free_chunk(struct arena_chunk *chunk)
{
    if (chunk->claim)
        claim_less(chunk->claim, chunk->size_bytes);
    allocator_free(chunk);
}

void *arena_try_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > arena->limit_bytes || arena->used_bytes > arena->limit_bytes - bytes)
        return NULL;
    return alloc(arena, bytes, false);
}

bool arena_try_extend(struct arena *arena, const void *memory, size_t old_bytes, size_t new_bytes)
{
    struct arena_chunk *chunk = arena->newest;
    size_t start, more;

    assert(new_bytes >= old_bytes);
    if (!chunk || !memory)
        return false;
    old_bytes = aligned(old_bytes);
    new_bytes = aligned(new_bytes);
    more = new_bytes - old_bytes;
    if (chunk->used_bytes < old_bytes)
        return false;
    start = chunk->used_bytes - old_bytes;
    if (chunk->memory + start != (const char *)memory || chunk->size_bytes - start < new_bytes ||
        arena->used_bytes + more > arena->limit_bytes)
        return false;
    chunk->used_bytes += more;
    arena->used_bytes += more;
    return true;
}

/* Where the chunk hangs that has this memory and nothing else; NULL: there is none. */
static struct arena_chunk **chunk_of(struct arena *arena, const void *memory, size_t bytes)
{
    for (struct arena_chunk **at = &arena->newest; *at; at = &(*at)->older)
        if ((*at)->memory == memory)
            return (*at)->used_bytes == bytes ? at : NULL;
    return NULL;
}

/* The chunk is moved as a whole, which for large ones costs the system no copy. */
static void *regrow_chunk(struct arena *arena, struct arena_chunk **at, size_t new_bytes)
{
    struct arena_chunk *chunk = *at, *moved;
    size_t more = new_bytes - chunk->size_bytes;

    assert(new_bytes > chunk->size_bytes); /* otherwise it is larger where it lies */
    if (chunk->claim && !claim_more(chunk->claim, more))
        return NULL;
    moved = allocator_resize(chunk, sizeof(*chunk) + new_bytes);
    if (!moved) {
        give_back_to_account(arena, more);
        return NULL;
    }
    arena->used_bytes += new_bytes - moved->used_bytes;
    moved->size_bytes = moved->used_bytes = new_bytes;
    *at = moved;
    return moved->memory;
}

/* Like arena_try_extend(), of a chunk that need not be the newest. */
static void *extend_chunk(struct arena *arena, struct arena_chunk *chunk, size_t new_bytes)
{
    arena->used_bytes += new_bytes - chunk->used_bytes;
    chunk->used_bytes = new_bytes;
    return chunk->memory;
}

static void *regrow_by_copy(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes)
{
    void *moved = arena_try_alloc(arena, new_bytes);

    if (moved && old_bytes)
        memcpy(moved, memory, old_bytes);
    return moved;
}

void *arena_try_regrow(struct arena *arena, void *memory, size_t old_bytes, size_t new_bytes)
{
    size_t more = aligned(new_bytes) - aligned(old_bytes);
    struct arena_chunk **at;

    if (arena_try_extend(arena, memory, old_bytes, new_bytes))
        return memory;
    at = chunk_of(arena, memory, aligned(old_bytes));
    if (!at)
        return regrow_by_copy(arena, memory, old_bytes, new_bytes);
    if (more > arena->limit_bytes || arena->used_bytes > arena->limit_bytes - more)
        return NULL;
    new_bytes = aligned(new_bytes);
    return new_bytes <= (*at)->size_bytes ? extend_chunk(arena, *at, new_bytes)
                                          : regrow_chunk(arena, at, new_bytes);
}

size_t arena_list_capacity(size_t capacity, size_t wanted)
{
    size_t larger = capacity ? 2 * capacity : ITEMS_FIRST;

    assert(wanted > capacity);
    return larger < wanted ? wanted : larger;
}

bool arena_list_grow(struct arena *arena, void *list, size_t *capacity, size_t wanted, size_t item_bytes)
{
    size_t larger = arena_list_capacity(*capacity, wanted);
    void *items, *moved;

    memcpy(&items, list, sizeof(items)); /* a pointer to a type that is not known here */
    assert(items || *capacity == 0);
    if (!arena_try_extend(arena, items, *capacity * item_bytes, larger * item_bytes)) {
        moved = arena_try_alloc(arena, larger * item_bytes);
        if (!moved)
            return false;
        if (*capacity)
            memcpy(moved, items, *capacity * item_bytes);
        memcpy(list, &moved, sizeof(moved));
    }
    *capacity = larger;
    return true;
}

struct slice arena_copy(struct arena *arena, struct slice bytes)
{
    char *copy = arena_alloc(arena, bytes.size + 1);

    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    return slice_make(copy, bytes.size);
}

char *arena_text(struct arena *arena, struct slice bytes)
{
    return (char *)arena_copy(arena, bytes).data;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){ arena->newest, arena->newest ? arena->newest->used_bytes : 0,
                                arena->used_bytes };
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    struct arena_chunk *chunk = arena->newest;

    assert(arena->used_bytes >= mark.used_bytes); /* marks nest */
    while (chunk != mark.chunk) {
        struct arena_chunk *older;

        assert(chunk); /* the mark is one of this arena's */
        older = chunk->older;

        free_chunk(chunk);
        chunk = older;
    }
    if (chunk) {
        assert(chunk->used_bytes >= mark.chunk_used_bytes);
#ifdef ORRERY_DEBUG
        memset(chunk->memory + mark.chunk_used_bytes, 0xdb, chunk->used_bytes - mark.chunk_used_bytes);
#endif
        chunk->used_bytes = mark.chunk_used_bytes;
    }
    arena->newest = chunk;
    arena->used_bytes = mark.used_bytes;
}

static void free_chunks(struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;

        free_chunk(chunk);
        chunk = older;
    }
}

void arena_reset(struct arena *arena)
{
    struct arena_chunk *kept = arena->newest;

    while (kept && kept->older) { /* the first and smallest is the one kept */
        struct arena_chunk *older = kept->older;

        free_chunk(kept);
        kept = older;
    }
    if (kept && kept->size_bytes > CHUNK_BYTES_FIRST) {
        free_chunks(kept);
        kept = NULL;
    }
    if (kept) {
#ifdef ORRERY_DEBUG
        memset(kept->memory, 0xdb, kept->used_bytes);
#endif
        kept->used_bytes = 0;
    }
    arena->newest = kept;
    arena->used_bytes = 0;
}

void arena_free(struct arena *arena)
{
    free_chunks(arena->newest);
    arena->newest = NULL;
    arena->used_bytes = 0;
}
