/* client/memory.c - lists and copies of texts, by malloc or in an arena. */
#include <stdlib.h>

#include "memory.h"

enum { FIRST_CAPACITY = 16, STRUCT_BYTES_MAX = 64 * 1024 };

/* The capacity to grow to, and its bytes; false: more than there are addresses. */
static bool larger(size_t *capacity, size_t needed, size_t element_bytes, size_t *bytes)
{
    size_t doubled = *capacity ? 2 * *capacity : FIRST_CAPACITY;

    *capacity = needed > doubled ? needed : doubled;
    return !__builtin_mul_overflow(*capacity, element_bytes, bytes);
}

bool memory_grow(void *list, size_t *capacity, size_t needed, size_t element_bytes)
{
    size_t grown_to = *capacity, bytes;
    void *grown;

    if (needed <= *capacity)
        return true;
    if (!larger(&grown_to, needed, element_bytes, &bytes))
        return false;
    memcpy(&grown, list, sizeof(grown));
    grown = allocator_resize(grown, bytes);
    if (!grown)
        return false;
    memcpy(list, &grown, sizeof(grown));
    *capacity = grown_to;
    return true;
}

bool memory_grow_in(struct arena *arena, void *list, size_t *capacity, size_t needed, size_t element_bytes)
{
    size_t grown_to = *capacity, bytes;
    void *old, *grown;

    if (needed <= *capacity)
        return true;
    if (!larger(&grown_to, needed, element_bytes, &bytes))
        return false;
    grown = arena_try_alloc(arena, bytes);
    if (!grown)
        return false;
    memcpy(&old, list, sizeof(old));
    if (*capacity)
        memcpy(grown, old, *capacity * element_bytes);
    memcpy(list, &grown, sizeof(grown));
    *capacity = grown_to;
    return true;
}

bool struct_is_sized(const void *given)
{
    size_t bytes;

    memcpy(&bytes, given, sizeof(bytes));
    return bytes > sizeof(bytes) && bytes <= STRUCT_BYTES_MAX;
}

void *memory_list(struct arena *arena, size_t count, size_t element_bytes)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, element_bytes, &bytes))
        return NULL;
    return arena_try_alloc(arena, bytes ? bytes : 1);
}

static char *fill(char *copy, struct slice text)
{
    if (!copy)
        return NULL;
    if (text.size)
        memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

char *memory_text(struct slice text)
{
    return fill(allocator_get(text.size + 1), text);
}

char *memory_text_in(struct arena *arena, struct slice text)
{
    return fill(arena_try_alloc(arena, text.size + 1), text);
}
