/* src/store/conflict.c - a table of recent changes that forgets on the safe side. */
#include <stdlib.h>

#include "store/conflict.h"

enum { SLOT_BITS = 16 };

struct slot {
    struct bucket *bucket; /* NULL: free */
    uint64_t lsn;
};

/* 1 MB, of which only the pages in use exist. */
struct conflicts {
    struct slot slots[1 << SLOT_BITS];
};

struct conflicts *conflicts_new(void)
{
    struct conflicts *conflicts = calloc(1, sizeof(*conflicts));

    if (!conflicts)
        abort();
    return conflicts;
}

void conflicts_free(struct conflicts *conflicts)
{
    free(conflicts);
}

static size_t slot_index(const struct bucket *bucket, uint64_t scope)
{
    uint64_t mixed = (scope ^ bucket->id * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

    return mixed >> (64 - SLOT_BITS);
}

bool conflicts_changed_after(const struct conflicts *conflicts, const struct bucket *bucket, uint64_t scope,
                             uint64_t lsn)
{
    const struct slot *slot = &conflicts->slots[slot_index(bucket, scope)];

    return bucket->floor_lsn > lsn || (slot->bucket == bucket && slot->lsn > lsn);
}

void conflicts_mark(struct conflicts *conflicts, struct bucket *bucket, uint64_t scope, uint64_t lsn)
{
    struct slot *slot = &conflicts->slots[slot_index(bucket, scope)];

    if (slot->bucket && slot->bucket != bucket && slot->bucket->floor_lsn < slot->lsn)
        slot->bucket->floor_lsn = slot->lsn;
    *slot = (struct slot){ bucket, lsn };
}

void conflicts_forget(struct conflicts *conflicts, const struct bucket *bucket, uint64_t scope)
{
    struct slot *slot = &conflicts->slots[slot_index(bucket, scope)];

    if (slot->bucket == bucket)
        *slot = (struct slot){ 0 };
}
