/* src/base/heap.c - memory that is there, or the program is not. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"

static void *check(void *memory)
{
    if (!memory) {
        fputs("orrery: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *heap_allocate(size_t bytes)
{
    return check(calloc(1, bytes));
}

void *heap_allocate_unset(size_t bytes)
{
    return check(malloc(bytes));
}

void *heap_grow(void *memory, size_t bytes)
{
    return check(realloc(memory, bytes));
}

void heap_list_grow(void *list, size_t *capacity, size_t wanted, size_t item_bytes)
{
    size_t larger = arena_list_capacity(*capacity, wanted);
    void *items;

    memcpy(&items, list, sizeof(items)); /* a pointer to a type that is not known here */
    assert(items || *capacity == 0);
    items = heap_grow(items, larger * item_bytes);
    memcpy(list, &items, sizeof(items));
    *capacity = larger;
}
