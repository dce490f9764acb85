/* src/partition/hints.c - one slot for each hash; the newest takes it. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/heap.h"
#include "partition/hints.h"

enum { SLOTS = 1 << 18 }; /* 4 MB when all are in use, and nothing before */

/* The two words are not read together. A number beside another item's hash is a wrong hint, and does no harm. */
struct slot {
    atomic_ullong item, number;
};

struct hints {
    struct slot slot[SLOTS];
};

struct hints *hints_open(void)
{
    struct hints *hints = heap_allocate(sizeof(*hints));

    return hints;
}

void hints_close(struct hints *hints)
{
    free(hints);
}

uint64_t hints_find(const struct hints *hints, uint64_t item)
{
    const struct slot *slot = &hints->slot[item % SLOTS];

    if (atomic_load_explicit(&slot->item, memory_order_relaxed) != item)
        return 0;
    return atomic_load_explicit(&slot->number, memory_order_relaxed);
}

void hints_put(struct hints *hints, uint64_t item, uint64_t number)
{
    struct slot *slot = &hints->slot[item % SLOTS];

    assert(number > 0); /* 0 says that there is no hint */
    atomic_store_explicit(&slot->number, number, memory_order_relaxed);
    atomic_store_explicit(&slot->item, item, memory_order_relaxed);
}
