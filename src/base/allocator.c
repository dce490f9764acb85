/* src/base/allocator.c - malloc(), or what was chosen in its place. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocator.h"

static struct {
    allocator_resizer *resize; /* NULL: malloc() and its kin */
    void *context;
    atomic_bool is_used;
} allocator;

bool allocator_choose(allocator_resizer *resize, void *context)
{
    if (atomic_exchange(&allocator.is_used, true))
        return false;
    allocator.context = context;
    allocator.resize = resize;
    return true;
}

/* It is written once: a flag that all threads write would go from one to the other. */
static void note_use(void)
{
    if (!atomic_load_explicit(&allocator.is_used, memory_order_relaxed))
        atomic_store(&allocator.is_used, true);
}

void *allocator_get(size_t bytes)
{
    note_use();
    return allocator.resize ? allocator.resize(allocator.context, NULL, bytes ? bytes : 1) : malloc(bytes);
}

void *allocator_zeroed(size_t count, size_t bytes)
{
    void *memory;

    note_use();
    if (!allocator.resize)
        return calloc(count, bytes);
    if (__builtin_mul_overflow(count, bytes, &bytes))
        return NULL;
    memory = allocator_get(bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void *allocator_resize(void *memory, size_t bytes)
{
    note_use();
    return allocator.resize ? allocator.resize(allocator.context, memory, bytes ? bytes : 1)
                            : realloc(memory, bytes);
}

void allocator_free(void *memory)
{
    if (!allocator.resize)
        free(memory);
    else if (memory)
        allocator.resize(allocator.context, memory, 0);
}
