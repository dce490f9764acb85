/* src/store/entries.c - walking and counting entries, whichever way the store keeps them; making them again after a crash. */
#include <assert.h>

#include "store/batch_private.h"
#include "store/entries_private.h"
#include "store/packed_entries.h"
#include "store/plain.h"
#include "store/store_private.h"

static struct packed_sight sight_of(const struct snapshot *snapshot)
{
    return (struct packed_sight){ snapshot->bucket->store->packed, snapshot->pin };
}

enum status store_entries_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                               struct entries_cursor **cursor)
{
    if (snapshot->pin)
        return packed_entries_open(op, snapshot, sight_of(snapshot), walk, cursor);
    return plain_open(op, snapshot, walk, cursor);
}

enum status store_entries_next(struct op *op, struct entries_cursor *cursor, struct entries_block *block)
{
    enum status st = cursor->ops->next(op, cursor, block);

    op->work.entries_read += st == ST_OK ? block->count : 0;
    return st;
}

enum status store_entries_seek(struct op *op, struct entries_cursor *cursor, struct slice term,
                               uint64_t number)
{
    return cursor->ops->seek(op, cursor, term, number);
}

void store_entries_end(struct entries_cursor *cursor)
{
    if (cursor)
        cursor->ops->end(cursor);
}

enum status store_entries_count(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                                bool rough, uint64_t *count)
{
    if (snapshot->pin)
        return packed_entries_count(op, snapshot, sight_of(snapshot), from, to, count);
    return plain_count(op, snapshot, from, to, rough, count);
}

/* ---- after a crash ---- */

enum status store_entries_settled(struct op *op, struct bucket *bucket, uint64_t *lsn)
{
    struct packed *packed = bucket->store->packed;

    *lsn = UINT64_MAX;
    return packed ? packed_settled(op, packed, bucket->id, lsn) : ST_OK;
}

enum status store_entries_restore(struct op *op, struct bucket *bucket, struct batch *batch)
{
    assert(bucket->store->packed);
    assert(batch->bucket == bucket->id);
    return packed_entries_append(op, bucket->store->packed, batch, bucket_lsn(bucket));
}

void store_entries_restored(struct bucket *bucket)
{
    assert(bucket->store->packed);
    packed_committed(bucket->store->packed);
}

enum status store_entries_flush(struct op *op, struct store *store)
{
    if (!store->packed)
        return ST_OK;
    if (!store_is_writable(store))
        return op_fail(op, ST_UNAVAILABLE, "The store cannot write at the moment.");
    return packed_flush(op, store->packed);
}
