/*
 * src/http/input.h - what a client has sent, and where in it things lie.
 * An input holds what has come in, in one run of memory. Its readers note where things lie as offsets, since the memory
 * moves as it grows, and turn them into slices when the request is whole.
 *
 * Ownership. The input owns its memory; slices of it end when it changes.
 */
#pragma once
#include "base/exchange.h"

struct input {
    char *data;
    size_t start;  /* of the request that is being read */
    size_t parsed; /* up to here */
    size_t size, capacity;
    size_t expected;    /* what the request will take, once its head has told; 0: not known */
    struct claim claim; /* its owner's: what of the memory is counted */
};

enum { INPUT_READ_BYTES = 2048 }; /* room there should be for a read */

/* How much memory it will have after input_reserve(). */
size_t input_capacity(const struct input *input, size_t bytes);

/* Room for at least `bytes` behind data + size; what earlier requests left is moved away. False without memory. */
bool input_reserve(struct input *input, size_t bytes);

/* The request has been served; bytes that follow it, if there are any, belong to the next one. */
void input_next(struct input *input);

static inline bool input_has_more(const struct input *input)
{
    return input->parsed < input->size;
}

void input_free(struct input *input);

struct span {
    uint32_t at, size; /* from the request's start; at is 0 where there is none, since a method comes first */
};
