/* src/base/heap.c - memory that is there: the machine's, the reserve's, or the program is not. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/reserve.h"

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
    void *memory;

    do
        memory = calloc(1, bytes);
    while (!memory && reserve_spend());
    return check(memory);
}

void *heap_allocate_unset(size_t bytes)
{
    return heap_grow(NULL, bytes);
}

void *heap_grow(void *memory, size_t bytes)
{
    void *larger;

    do
        larger = realloc(memory, bytes);
    while (!larger && reserve_spend());
    return check(larger);
}

char *heap_text(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(heap_allocate_unset(bytes), text, bytes);
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
