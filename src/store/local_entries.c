/* src/store/local_entries.c - index entries of the local store: plain keys, or the packed index as the snapshot's pin has it. */
#include <assert.h>

#include "store/local_private.h"
#include "store/packed_entries.h"
#include "store/plain.h"

static struct packed_sight sight_of(struct snapshot *snapshot)
{
    struct packed_sight sight = { local_of(snapshot->bucket->store)->packed,
                                  local_snapshot_of(snapshot)->pin };

    assert((sight.pin != NULL) == (sight.packed != NULL)); /* the snapshot holds a pin of the packed index */
    return sight;
}

enum status local_entries_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                               struct entries_cursor **cursor)
{
    struct packed_sight sight = sight_of(snapshot);

    return sight.packed ? packed_entries_open(op, snapshot, sight, walk, cursor)
                        : plain_open(op, snapshot, walk, cursor);
}

enum status local_entries_count(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                                bool rough, uint64_t *count)
{
    struct packed_sight sight = sight_of(snapshot);

    return sight.packed ? packed_entries_count(op, snapshot, sight, from, to, count)
                        : plain_count(op, snapshot, from, to, rough, count);
}

/* ---- after a crash ---- */

enum status local_entries_settled(struct op *op, struct bucket *bucket, uint64_t *lsn)
{
    struct packed *packed = local_of(bucket->store)->packed;

    *lsn = UINT64_MAX;
    return packed ? packed_settled(op, packed, bucket->id, lsn) : ST_OK;
}

enum status local_entries_restore(struct op *op, struct bucket *bucket, struct batch *batch)
{
    struct packed *packed = local_of(bucket->store)->packed;

    assert(packed); /* plain keys are never lost */
    return packed_entries_append(op, packed, batch, bucket_lsn(bucket));
}

void local_entries_restored(struct bucket *bucket)
{
    assert(local_of(bucket->store)->packed);
    packed_committed(local_of(bucket->store)->packed);
}

enum status local_entries_flush(struct op *op, struct store *store)
{
    struct packed *packed = local_of(store)->packed;

    if (!packed)
        return ST_OK;
    if (!store_is_writable(store))
        return op_fail(op, ST_UNAVAILABLE, "The store cannot write at the moment.");
    return packed_flush(op, packed);
}
