/* src/partition/recover.c - makes lost index entries again, from the part of the change log that is not settled. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "keys/keys.h"
#include "partition/indexed.h"
#include "partition/recover.h"
#include "store/entries.h"

/*
 * A block's items and their terms are in memory too, and may take far more than its rows. At BLOCK_MEMORY a block
 * ends.
 */
enum { BLOCK_ROWS = 1000, BLOCK_BYTES = 4 * 1024 * 1024, BLOCK_MEMORY = 32 * 1024 * 1024 };

/* The items whose first change was seen. Only that change holds the item as it was when the index was settled. */
struct seen {
    uint64_t *slot; /* 0: free; documents count from 1 */
    size_t count, capacity;
};

struct recovery {
    const struct container *container;
    struct view view;
    uint64_t from_lsn;
    struct seen seen;
    struct op block; /* what one block of the log needs */
};

/* --- numbers --- */

static uint64_t *slot_of(uint64_t *slots, size_t capacity, uint64_t number)
{
    size_t at = (size_t)(number * 0x9e3779b97f4a7c15) & (capacity - 1);

    while (slots[at] && slots[at] != number)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static void grow(struct seen *seen)
{
    size_t capacity = seen->capacity ? 2 * seen->capacity : 1024;
    uint64_t *slots = heap_allocate(capacity * sizeof(*slots));

    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slot[i])
            *slot_of(slots, capacity, seen->slot[i]) = seen->slot[i];
    free(seen->slot);
    seen->slot = slots;
    seen->capacity = capacity;
}

/* False when it was there. */
static bool add(struct seen *seen, uint64_t number)
{
    uint64_t *slot;

    if (2 * seen->count >= seen->capacity)
        grow(seen);
    assert((seen->capacity & (seen->capacity - 1)) == 0); /* a power of two, as slot_of() wants it */
    slot = slot_of(seen->slot, seen->capacity, number);
    if (*slot)
        return false;
    *slot = number;
    seen->count++;
    return true;
}

/* --- one container --- */

static enum status read_before(struct op *op, const struct change *change, struct record *before)
{
    if (change->kind == CHANGE_CREATE)
        return ST_OK;
    return record_decode(op, change->old_record, before);
}

static enum status difference(struct op *op, struct recovery *recovery, const struct change *change,
                              struct batch *batch)
{
    uint64_t bucket = recovery->container->bucket_id;
    struct record before, after;
    struct slice value;
    enum status st;

    TRY(read_before(op, change, &before));
    TRY(view_get(op, &recovery->view, key_document(&op->arena, bucket, change->number), &value));
    if (value.data)
        TRY(record_decode(op, value, &after));
    if (change->kind == CHANGE_CREATE && !value.data)
        goto out;
    TRY(indexed_difference(op, recovery->container, batch, change->kind == CHANGE_CREATE ? NULL : &before,
                           value.data ? &after : NULL));
out:
    return st;
}

static enum status visit_change(struct op *op, struct recovery *recovery, const struct row *row,
                                struct batch *batch)
{
    struct change change;
    enum status st;

    TRY(change_decode(op, row->value, &change));
    if (add(&recovery->seen, change.number))
        TRY(difference(op, recovery, &change, batch));
out:
    return st;
}

/* A block of the log; `from` becomes the key behind it. */
static enum status read_block(struct op *op, struct recovery *recovery, struct buf *from, bool *more)
{
    uint64_t bucket = recovery->container->bucket_id;
    struct op *block = &recovery->block;
    struct batch *batch;
    struct range range;
    struct rows rows;
    enum status st;

    op_begin(block, INT64_MAX / 2);
    block->may_block = true;
    batch = batch_new(block, bucket);
    range = (struct range){ buf_as_slice(from), key_kind_end(&block->arena, bucket, KEY_LOG), false };
    TRY(view_scan(block, &recovery->view, range, (struct scan_limit){ BLOCK_ROWS, BLOCK_BYTES }, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        TRY(visit_change(block, recovery, &rows.row[i], batch));
        if (block->arena.used_bytes > BLOCK_MEMORY && i + 1 < rows.count) {
            rows.count = i + 1;
            rows.more = true;
        }
    }
    TRY(store_entries_restore(block, recovery->container->bucket, batch)); /* no two blocks have one item */
    assert(rows.count > 0 || !rows.more); /* each block goes on behind the one before it */
    *more = rows.more;
    if (rows.count)
        key_step_behind(from, rows.row[rows.count - 1].key);
out:
    if (st != ST_OK)
        op_set_error(op, "%s", block->error ? block->error : error_row(st)->code);
    return st;
}

static enum status read_log(struct op *op, struct recovery *recovery)
{
    uint64_t bucket = recovery->container->bucket_id;
    struct buf from;
    bool more = true;
    enum status st = ST_OK;

    buf_init(&from, &op->arena);
    buf_slice(&from, key_log(&op->arena, bucket, recovery->from_lsn, 0));
    while (more)
        TRY(read_block(op, recovery, &from, &more));
out:
    return st;
}

static enum status recover(struct op *op, const struct container *container, uint64_t settled_lsn)
{
    struct recovery recovery = { .container = container, .from_lsn = settled_lsn + 1 };
    enum status st;

    assert(settled_lsn < bucket_lsn(container->bucket)); /* there is something to make again */
    op_init(&recovery.block, op->env, SIZE_MAX);
    TRY(view_open(op, container->bucket, NULL, &recovery.view));
    TRY(read_log(op, &recovery));
    store_entries_restored(container->bucket);
    log_line(LOG_INFO, "index of %s: changes %llu to %llu were read again", log_quote(container->link).text,
             (unsigned long long)recovery.from_lsn, (unsigned long long)bucket_lsn(container->bucket));
out:
    view_close(&recovery.view);
    op_free(&recovery.block);
    free(recovery.seen.slot);
    return st;
}

static enum status recover_container(struct op *op, const struct container *container)
{
    struct op own;
    uint64_t settled_lsn;
    enum status st;

    op_init(&own, op->env, SIZE_MAX);
    op_begin(&own, INT64_MAX / 2);
    own.may_block = true;
    TRY(store_entries_settled(&own, container->bucket, &settled_lsn));
    if (settled_lsn < bucket_lsn(container->bucket))
        TRY(recover(&own, container, settled_lsn));
out:
    if (st != ST_OK)
        op_set_error(op, "the index of %.*s: %s", SLICE_ARGS(container->link),
                     own.error ? own.error : error_row(st)->code);
    op_free(&own);
    return st;
}

/* Marks the container's present LSN as settled, without reading the changes before it. */
static enum status begin_container(struct op *op, const struct container *container)
{
    enum status st;

    TRY(store_entries_restore(op, container->bucket, batch_new(op, container->bucket_id)));
    store_entries_restored(container->bucket);
out:
    return st;
}

/* --- all of them --- */

typedef enum status visit_container(struct op *op, const struct container *container);

/* Every list call walks the whole catalog, so each asks for many entries at once. */
enum { LIST_MAX = 256 };

static enum status visit_database(struct op *op, struct catalog *catalog, const struct database *database,
                                  visit_container *visit)
{
    struct container *list[LIST_MAX];
    struct rid after = { 0 };
    size_t count = LIST_MAX;
    enum status st = ST_OK;

    while (st == ST_OK && count == LIST_MAX) {
        count = catalog_list_containers(catalog, database, rid_slice(&after), list, LIST_MAX);
        for (size_t i = 0; i < count; i++) {
            after = list[i]->rid;
            for (uint32_t part = 0; st == ST_OK && part < list[i]->part_count; part++)
                st = visit(op, list[i]->part[part]);
            container_release(list[i]);
        }
    }
    return st;
}

static enum status visit_all(struct op *op, struct catalog *catalog, visit_container *visit)
{
    struct database *list[LIST_MAX];
    struct rid after = { 0 };
    size_t count = LIST_MAX;
    enum status st = ST_OK;

    while (st == ST_OK && count == LIST_MAX) {
        count = catalog_list_databases(catalog, rid_slice(&after), list, LIST_MAX);
        for (size_t i = 0; i < count; i++) {
            after = list[i]->rid;
            st = st == ST_OK ? visit_database(op, catalog, list[i], visit) : st;
            database_release(list[i]);
        }
    }
    return st;
}

enum status recover_index(struct op *op, struct catalog *catalog)
{
    return visit_all(op, catalog, recover_container);
}

enum status recover_begin(struct op *op, struct catalog *catalog)
{
    enum status st;

    TRY(visit_all(op, catalog, begin_container));
    TRY(store_entries_flush(op, catalog_store(catalog)));
out:
    return st;
}
