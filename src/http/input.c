/* src/http/input.c - what has come in, in one run of memory that grows and is moved together. */
#include <assert.h>
#include <stdlib.h>

#include "http/input.h"

enum { INPUT_BYTES_FIRST = 8 * 1024 };

static void input_compact(struct input *input)
{
    size_t kept = input->size - input->start;

    assert(input->start <= input->parsed);
    assert(input->parsed <= input->size);
    assert(input->size <= input->capacity);
    if (input->start == 0)
        return;
    memmove(input->data, input->data + input->start, kept);
    input->parsed -= input->start;
    input->size = kept;
    input->start = 0;
}

size_t input_capacity(const struct input *input, size_t bytes)
{
    size_t capacity = input->capacity ? input->capacity : INPUT_BYTES_FIRST;
    size_t wanted = input->size - input->start + bytes;

    if (wanted <= input->capacity)
        return input->capacity;
    while (capacity < wanted)
        capacity *= 2;
    return capacity > input->expected && input->expected >= wanted ? input->expected : capacity;
}

bool input_reserve(struct input *input, size_t bytes)
{
    size_t capacity = input_capacity(input, bytes);
    char *data;

    input_compact(input);
    if (capacity == input->capacity)
        return true;
    data = realloc(input->data, capacity);
    if (!data)
        return false;
    input->data = data;
    input->capacity = capacity;
    return true;
}

void input_next(struct input *input)
{
    assert(input->parsed <= input->size);
    input->start = input->parsed;
    input->expected = 0;
    if (input->start == input->size)
        input->start = input->parsed = input->size = 0;
}

void input_free(struct input *input)
{
    free(input->data);
    *input = (struct input){ .claim = input->claim };
}
