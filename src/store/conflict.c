/* src/store/conflict.c - a table of recent changes that forgets on the safe side. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "store/conflict.h"

/*
 * A row is short enough to search, and long enough that a scope that leaves it is old, whichever scopes share the
 * row.
 */
enum { ROW_BITS = 13, ROW_SLOTS = 8 };

struct slot {
    struct local_bucket *bucket; /* NULL: free */
    uint64_t scope, lsn;
};

/* The last mark comes first. */
struct slots {
    struct slot slot[ROW_SLOTS];
};

/* 1.5 MB, of which only the pages in use exist. */
struct conflicts {
    struct slots rows[1 << ROW_BITS];
};

struct conflicts *conflicts_new(void)
{
    struct conflicts *conflicts = heap_allocate(sizeof(*conflicts));

    return conflicts;
}

void conflicts_free(struct conflicts *conflicts)
{
    free(conflicts);
}

static size_t row_index(const struct local_bucket *bucket, uint64_t scope)
{
    uint64_t mixed = (scope ^ bucket->base.id * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

    return mixed >> (64 - ROW_BITS);
}

/* Where the scope is in its row; ROW_SLOTS when it is not. */
static size_t find(const struct slots *row, const struct local_bucket *bucket, uint64_t scope)
{
    size_t at = 0;

    assert(bucket); /* a free slot has none, and must not be found */
    while (at < ROW_SLOTS && (row->slot[at].bucket != bucket || row->slot[at].scope != scope))
        at++;
    return at;
}

bool conflicts_changed_after(const struct conflicts *conflicts, const struct local_bucket *bucket,
                             uint64_t scope, uint64_t lsn)
{
    const struct slots *row = &conflicts->rows[row_index(bucket, scope)];
    size_t at = find(row, bucket, scope);

    return bucket->floor_lsn > lsn || (at < ROW_SLOTS && row->slot[at].lsn > lsn);
}

/* When a scope leaves the table, its bucket remembers that something was changed at the scope's LSN. */
static void push_out(const struct slot *slot)
{
    if (slot->bucket && slot->bucket->floor_lsn < slot->lsn)
        slot->bucket->floor_lsn = slot->lsn;
}

void conflicts_mark(struct conflicts *conflicts, struct local_bucket *bucket, uint64_t scope, uint64_t lsn)
{
    struct slots *row = &conflicts->rows[row_index(bucket, scope)];
    size_t at = find(row, bucket, scope);

    assert(lsn >= bucket->floor_lsn); /* LSNs only rise: what left the table is older */
    if (at == ROW_SLOTS)
        push_out(&row->slot[--at]);
    memmove(&row->slot[1], &row->slot[0], at * sizeof(row->slot[0]));
    row->slot[0] = (struct slot){ bucket, scope, lsn };
}

void conflicts_forget(struct conflicts *conflicts, const struct local_bucket *bucket, uint64_t scope)
{
    struct slots *row = &conflicts->rows[row_index(bucket, scope)];
    size_t at = find(row, bucket, scope);

    if (at < ROW_SLOTS)
        row->slot[at] = (struct slot){ 0 };
}
