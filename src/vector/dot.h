/*
 * src/vector/dot.h - products of codes: one with many, wherever each of them lies.
 * A code is whole numbers of -127 to 127, a byte each, filled up with zeros to a multiple of VECTOR_LANE_BYTES. Sums of
 * such products are exact, so that every form gives the same.
 *
 * Threads. Nothing here has state but which form suits the processor.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VECTOR_LANE_BYTES = 64 };

/* dots[i] is the product of `query` and code[i]; each has `bytes` bytes. */
typedef void vector_dots(const int8_t *query, const int8_t *const *code, size_t bytes, size_t count,
                         int32_t *dots);

struct vector_form {
    const char *name;
    bool (*runs)(void); /* whether this processor can */
    vector_dots *dots;
};

/* Plain C is the first, and the best comes last. */
extern const struct vector_form vector_forms[];
extern const size_t vector_form_count;

/* The last one that runs. */
const struct vector_form *vector_form_best(void);
