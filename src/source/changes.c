/* src/source/changes.c - the change log, from one commit to another. */
#include <stdlib.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "keys/record.h"
#include "source/changes.h"

enum { LOG_ROWS = 512, LOG_BYTES = 1024 * 1024 };

/* One reading of the log. */
struct reading {
    struct op *op;
    const struct item_index *index;
    struct changes *changes;
    struct arena memory;   /* of a block */
    struct log_place from; /* where it goes on */
    bool more;
};

/* Whether the log still names every change above the LSN. */
static enum status log_is_whole(struct op *op, const struct item_index *index, uint64_t lsn, bool *whole)
{
    struct slice key = key_trimmed(&op->arena, index->container->bucket_id), value;
    struct trimmed trimmed;
    enum status st;

    TRY(view_get(op, index->base.view, key, &value));
    TRY(trimmed_decode(op, value, &trimmed));
    *whole = trimmed.lsn <= lsn;
out:
    return st;
}

static enum status add_change(struct reading *reading, const struct change *change)
{
    struct changes *changes = reading->changes;

    if (change->kind == CHANGE_REINDEX)
        return ST_OK;
    if (!arena_list_reserve(&reading->op->arena, &changes->change, &changes->capacity, changes->count + 1,
                            sizeof(*changes->change)))
        return op_fail_as(reading->op, ST_QUERY_MEMORY);
    changes->change[changes->count++] = (struct vector_change){ change->lsn, change->number };
    return ST_OK;
}

/* In memory of its own: old versions of items are in the log, and are let go block by block. */
static enum status read_rows(struct reading *reading, struct rows *rows)
{
    uint64_t bucket = reading->index->container->bucket_id;
    struct op *op = reading->op;
    struct arena readers = op->arena;
    struct range range;
    enum status st;

    arena_reset(&reading->memory);
    op->arena = reading->memory;
    range = (struct range){ key_log(&op->arena, bucket, reading->from.lsn, reading->from.position),
                            key_kind_end(&op->arena, bucket, KEY_LOG), false };
    st = view_scan(op, reading->index->base.view, range, (struct scan_limit){ LOG_ROWS, LOG_BYTES }, rows);
    reading->memory = op->arena;
    op->arena = readers;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

static enum status read_block(struct reading *reading)
{
    struct op *op = reading->op;
    struct log_place *from = &reading->from;
    struct rows rows = { 0 };
    enum status st;

    TRY(op_check(op));
    TRY(read_rows(reading, &rows));
    reading->more = rows.count && rows.more;
    for (size_t i = 0; i < rows.count; i++) {
        struct key_parts key;
        struct change change;

        TRY(change_decode(op, rows.row[i].value, &change));
        if (!key_parse(rows.row[i].key, &key) || !key_parse_log(&key, &from->lsn, &from->position))
            TRY(op_fail_as(op, ST_CORRUPT));
        TRY(add_change(reading, &change));
    }
    from->position++;
out:
    return st;
}

enum status changes_read(struct op *op, const struct item_index *index, uint64_t from, uint64_t to,
                         size_t most, struct changes *changes)
{
    struct reading reading = {
        .op = op, .index = index, .changes = changes, .from = { from + 1, 0 }, .more = from < to
    };
    bool whole;
    enum status st = ST_OK;

    *changes = (struct changes){ 0 };
    op_arena(op, &reading.memory, OP_MEMORY_BYTES_MAX);
    if (!reading.more)
        goto out;
    TRY(log_is_whole(op, index, from, &whole));
    changes->too_many = !whole || to - from > most; /* each commit has a change at least */
    while (reading.more && !changes->too_many) {
        TRY(read_block(&reading));
        changes->too_many = changes->count > most;
    }
out:
    arena_free(&reading.memory);
    return st;
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

enum status changes_numbers(struct op *op, const struct vector_change *change, size_t count,
                            const uint64_t *more, size_t more_count, uint64_t **number, size_t *number_count)
{
    uint64_t *all = arena_try_alloc(&op->arena, (count + more_count + 1) * sizeof(*all));
    size_t kept = 0;

    if (!all)
        return op_fail_as(op, ST_QUERY_MEMORY);
    for (size_t i = 0; i < count; i++)
        all[i] = change[i].number;
    for (size_t i = 0; i < more_count; i++)
        all[count + i] = more[i];
    qsort(all, count + more_count, sizeof(*all), by_u64);
    for (size_t i = 0; i < count + more_count; i++)
        if (kept == 0 || all[kept - 1] != all[i])
            all[kept++] = all[i];
    *number = all;
    *number_count = kept;
    return ST_OK;
}
