/* src/packed/run_space.c - what all run spaces do alike with rows of runs. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "packed/run_space.h"

/* A zero byte behind the key: with it, it is the least key above itself. */
void run_row_copy(struct run_row *row, struct slice key, struct slice value)
{
    size_t bytes = key.size + 1 + value.size;
    char *memory = row->memory;

    assert(memory || row->capacity == 0);
    assert(key.data); /* a row without a key says that there is none */
    if (bytes > row->capacity) {
        row->capacity = bytes + bytes / 4;
        memory = heap_allocate_unset(row->capacity);
    }
    memcpy(memory, key.data, key.size);
    memory[key.size] = 0;
    memcpy(memory + key.size + 1, value.data, value.size);
    if (memory != row->memory)
        free(row->memory);
    row->memory = memory;
    row->key = slice_make(memory, key.size);
    row->value = slice_make(memory + key.size + 1, value.size);
}
