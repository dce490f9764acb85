/*
 * src/source/changes.h - which items were written between two commits, by the change log. What is kept in memory as of
 * one commit speaks of the other items as of the other. For this folder alone.
 */
#pragma once
#include "source/item_index_private.h"

struct changes {
    struct vector_change *change; /* rising LSNs */
    size_t count, capacity;
    bool too_many; /* more than was asked for, or the log does not reach back as far */
};

/* Those above `from`, up to `to`, which the index's view has. They lie in the op's arena. */
enum status changes_read(struct op *op, const struct item_index *index, uint64_t from, uint64_t to,
                         size_t most, struct changes *changes);

/* The items of the changes and some more, each once, in order; in the op's arena. */
enum status changes_numbers(struct op *op, const struct vector_change *change, size_t count,
                            const uint64_t *more, size_t more_count, uint64_t **number, size_t *number_count);
