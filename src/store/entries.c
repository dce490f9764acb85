/* src/store/entries.c - index entries, whichever way a store keeps them: counted, and handed to the kind's own calls. */
#include <assert.h>

#include "store/batch_private.h"
#include "store/store_private.h"

enum status store_entries_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                               struct entries_cursor **cursor)
{
    return snapshot->bucket->store->ops->entries_open(op, snapshot, walk, cursor);
}

enum status store_entries_next(struct op *op, struct entries_cursor *cursor, struct entries_block *block)
{
    enum status st;

    TRY(cursor->ops->next(op, cursor, block));
    assert(block->count == 0 || block->number);
    op->work.entries_read += block->count;
out:
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
    return snapshot->bucket->store->ops->entries_count(op, snapshot, from, to, rough, count);
}

/* ---- after a crash ---- */

enum status store_entries_settled(struct op *op, struct bucket *bucket, uint64_t *lsn)
{
    return bucket->store->ops->entries_settled(op, bucket, lsn);
}

enum status store_entries_restore(struct op *op, struct bucket *bucket, struct batch *batch)
{
    assert(batch->bucket == bucket->id);
    return bucket->store->ops->entries_restore(op, bucket, batch);
}

void store_entries_restored(struct bucket *bucket)
{
    bucket->store->ops->entries_restored(bucket);
}

enum status store_entries_flush(struct op *op, struct store *store)
{
    return store->ops->entries_flush(op, store);
}
