/* src/store/wanted.c - keys that were asked for together, sorted once. */
#include <stdlib.h>

#include "store/wanted.h"

static int by_key(const void *a, const void *b)
{
    const struct wanted_key *left = a, *right = b;

    return slice_compare(left->key, right->key);
}

void wanted_init(struct wanted *wanted, struct arena *arena, const struct slice *keys, size_t count,
                 size_t skipped)
{
    *wanted =
        (struct wanted){ .sorted = arena_alloc(arena, count * sizeof(*wanted->sorted)), .count = count };
    for (size_t i = 0; i < count; i++)
        wanted->sorted[i] =
            (struct wanted_key){ slice_make(keys[i].data + skipped, keys[i].size - skipped), i };
    if (count > 1)
        qsort(wanted->sorted, count, sizeof(*wanted->sorted), by_key);
}

static int compare(struct wanted *wanted, size_t at, struct slice key)
{
    wanted->compared++;
    return slice_compare(wanted->sorted[at].key, key);
}

const struct wanted_key *wanted_find(struct wanted *wanted, struct slice key, const struct wanted_key **end)
{
    size_t low = 0, high = wanted->count, behind;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(wanted, middle, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    behind = low;
    while (behind < wanted->count && compare(wanted, behind, key) == 0)
        behind++;
    *end = &wanted->sorted[behind];
    return &wanted->sorted[low];
}
