/*
 * src/source/expired.h - which items may have expired, by the index alone: by when they were written, and by the time to
 * live that some have of their own. For this folder alone.
 */
#pragma once
#include "source/item_index_private.h"

/*
 * Rising, in the op's arena; every item that has expired is among them, and hardly another. False in `told`: the index
 * does not say, or they are more than `most`.
 */
enum status expired_find(struct op *op, const struct item_index *index, size_t most, uint64_t **number,
                         size_t *count, bool *told);
