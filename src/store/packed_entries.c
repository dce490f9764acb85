/* src/store/packed_entries.c - from terms of a bucket to keys of the packed index, and as far as the snapshot's own LSN. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/keys.h"
#include "store/packed_entries.h"
#include "store/store_private.h"

struct packed_entries {
    struct entries_cursor cursor;
    struct packed_cursor *packed;
};

static struct packed_entries *entries_of(struct entries_cursor *cursor)
{
    return (struct packed_entries *)cursor; /* its first member */
}

static enum status next(struct op *op, struct entries_cursor *cursor, struct entries_block *block)
{
    struct packed_block packed;
    enum status st;

    TRY(packed_cursor_next(op, entries_of(cursor)->packed, &packed));
    *block = (struct entries_block){ packed.term, packed.number, packed.count };
out:
    return st;
}

static enum status seek(struct op *op, struct entries_cursor *cursor, struct slice term, uint64_t number)
{
    return packed_cursor_seek(op, entries_of(cursor)->packed, term, number);
}

static void end(struct entries_cursor *cursor)
{
    packed_cursor_end(entries_of(cursor)->packed);
    free(cursor);
}

static const struct entries_ops packed_entries_ops = { next, seek, end };

static struct entries_cursor *wrap(struct packed_cursor *packed)
{
    struct packed_entries *made = heap_allocate_unset(sizeof(*made));

    *made = (struct packed_entries){ .cursor = { &packed_entries_ops }, .packed = packed };
    return &made->cursor;
}

enum status packed_entries_open(struct op *op, struct snapshot *snapshot, struct packed_sight sight,
                                const struct entries_walk *walk, struct entries_cursor **cursor)
{
    uint64_t bucket = snapshot->bucket->id;
    struct packed_walk packed_walk = { .from = key_index_term(&op->arena, bucket, walk->from),
                                       .to = key_index_term(&op->arena, bucket, walk->to),
                                       .first = walk->first,
                                       .last = walk->last,
                                       .reverse = walk->reverse };
    struct packed_cursor *packed;
    struct head head;
    enum status st;

    assert(sight.pin); /* the snapshot holds it for as long as the cursor lives */
    TRY(store_snapshot_head(op, snapshot, &head));
    packed_walk.lsn = head.lsn;
    TRY(packed_cursor_open(op, sight.packed, sight.pin, &packed_walk, &packed));
    *cursor = wrap(packed);
out:
    return st;
}

enum status packed_entries_count(struct op *op, struct snapshot *snapshot, struct packed_sight sight,
                                 struct slice from, struct slice to, uint64_t *count)
{
    uint64_t bucket = snapshot->bucket->id;
    struct head head;
    enum status st;

    assert(sight.pin);
    TRY(store_snapshot_head(op, snapshot, &head));
    TRY(packed_count(op, sight.packed, sight.pin, key_index_term(&op->arena, bucket, from),
                     key_index_term(&op->arena, bucket, to), head.lsn, count));
out:
    return st;
}

enum status packed_entries_append(struct op *op, struct packed *packed, struct batch *batch, uint64_t lsn)
{
    size_t count;
    const struct batch_index_entry *entry = batch_index_entries(batch, &count);
    struct packed_entry *list = arena_alloc(&op->arena, (count + 1) * sizeof(*list));

    for (size_t i = 0; i < count; i++)
        list[i] = (struct packed_entry){ entry[i].key, entry[i].present };
    return packed_append(op, packed, batch_bucket(batch), lsn, list, count);
}
