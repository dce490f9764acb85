/*
 * src/source/past.c - two lists of items merged: those that are as they were, and those that were changed since. Of a container of
 * several buckets each part is read so, one after the other.
 */
#include <assert.h>

#include "catalog/parts.h"
#include "partition/expiry.h"
#include "source/items_private.h"
#include "source/past.h"

/* One part of the container. */
struct past_part {
    struct partition_scan scan;
    struct history history;
    size_t at;           /* the next change of the history */
    struct record now;   /* what the scan has given, and nobody has taken */
    bool has_now, ended; /* the scan has no more */
};

struct past_source {
    struct query_source base; /* first: the query knows no more of it */
    struct past_part *part;
    uint32_t part_count, at_part;
    struct arena memory;  /* of the old record that was given last */
    struct record record; /* of the row */
};

/* ---- of one part ---- */

/* The next item of the scan that nobody has changed since. */
static enum status look_at_scan(struct op *op, struct past_part *part)
{
    enum status st = ST_OK;
    size_t at;

    while (!part->has_now && !part->ended) {
        TRY(partition_scan_next(op, &part->scan, &part->now, &part->has_now));
        part->ended = !part->has_now;
        if (part->ended)
            break;
        at = history_at(&part->history, part->now.number);
        if (at < part->history.count && part->history.change[at].number == part->now.number)
            part->has_now = false;
    }
out:
    return st;
}

/* The item of the history's next change, in memory that the one after it takes. */
static enum status take_old(struct op *op, struct past_part *part, struct arena *memory, struct record *item)
{
    struct arena ours = op->arena;
    enum status st;

    arena_reset(memory);
    op->arena = *memory;
    st = history_item(op, &part->history, part->at, item);
    *memory = op->arena;
    op->arena = ours;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    part->at++;
    return st;
}

static void skip_created(struct past_part *part)
{
    const struct history *history = &part->history;

    while (part->at < history->count && history->change[part->at].is_create)
        part->at++;
}

static enum status next_item(struct op *op, struct past_part *part, struct arena *memory, struct record *item,
                             bool *found)
{
    const struct history *history = &part->history;
    enum status st;

    TRY(look_at_scan(op, part));
    skip_created(part);
    *found = part->has_now || part->at < history->count;
    if (!*found)
        goto out;
    if (part->has_now &&
        (part->at == history->count || part->now.number < history->change[part->at].number)) {
        *item = part->now;
        part->has_now = false;
        goto out;
    }
    TRY(take_old(op, part, memory, item));
out:
    return st;
}

/* The scan has looked at the scope, but not at the time: it is asked for expired items, too. */
static bool is_there(const struct past_part *part, const struct record *item)
{
    return partition_scope_holds(part->scan.container, &part->scan.scope, item) &&
           !item_is_expired(part->scan.container, item, part->history.ts_ms);
}

static void seek_in_part(struct past_part *part, uint64_t after)
{
    partition_scan_seek(&part->scan, after);
    part->at = history_at(&part->history, after + 1);
    part->has_now = part->ended = false;
}

static enum status open_part(struct op *op, const struct container *container,
                             const struct partition_scope *scope, const struct moment *moment,
                             struct past_part *part)
{
    struct number_span span = partition_scope_span(container, scope);
    enum status st;

    TRY(partition_scan_open(op, container, scope, &part->scan));
    part->scan.expired_too = true;
    TRY(history_open(op, container, partition_scan_view(&part->scan), moment, &span, &part->history));
out:
    return st;
}

/* ---- of all parts ---- */

enum status past_source_next(struct op *op, struct past_source *past, struct record *item, bool *found)
{
    struct past_part *part;
    enum status st;

    do {
        TRY(op_check(op));
        part = &past->part[past->at_part];
        TRY(next_item(op, part, &past->memory, item, found));
        if (*found && is_there(part, item))
            break;
        if (!*found)
            past->at_part++;
    } while (past->at_part < past->part_count);
    if (past->at_part == past->part_count)
        past->at_part--; /* which stays at its end */
out:
    return st;
}

/* A number names its part, if there are several of them. */
void past_source_seek(struct past_source *past, uint64_t after)
{
    const struct container *whole = past->part[0].scan.container->whole;

    past->at_part = after && past->part_count > 1 ? container_part_at(whole, after)->part_index : 0;
    for (uint32_t i = past->at_part; i < past->part_count; i++)
        seek_in_part(&past->part[i], i == past->at_part ? after : 0);
}

/* ---- as a query sees it ---- */

static enum status row_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct past_source *past = (struct past_source *)source;
    enum status st = past_source_next(op, past, &past->record, found);

    if (st == ST_OK && *found)
        item_row(op, &past->record, row);
    return st;
}

static enum status row_seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    past_source_seek((struct past_source *)source, after);
    return ST_OK;
}

static struct json row_system(struct query_source *source, const struct query_row *row, struct arena *memory)
{
    struct past_source *past = (struct past_source *)source;

    assert(row->number == past->record.number);
    return item_system_members(memory, past->part[past->at_part].scan.container, &past->record);
}

enum status past_source_open(struct op *op, const struct container *container,
                             const struct partition_scope *scope, const struct moment *moments,
                             struct past_source **items)
{
    const struct container *only = partition_scope_part(container, scope);
    struct past_source *past = *items = arena_alloc(&op->arena, sizeof(*past));
    enum status st = ST_OK;

    *past = (struct past_source){ .base = { row_next, row_seek, row_system } };
    op_arena(op, &past->memory, OP_MEMORY_BYTES_MAX);
    past->part_count = only ? 1 : container->part_count;
    past->part = arena_alloc(&op->arena, past->part_count * sizeof(*past->part));
    memset(past->part, 0, past->part_count * sizeof(*past->part));
    past->base.apart = only ? 0 : container->part_count;
    past->base.seed = container->seed;
    past->base.ties_by_creation = container->rids_by_creation;
    for (uint32_t i = 0; i < past->part_count; i++) {
        const struct container *part = only ? only : container->part[i];

        TRY(open_part(op, part, scope, &moments[part->part_index], &past->part[i]));
    }
out:
    return st;
}

struct query_source *past_source_rows(struct past_source *past)
{
    return &past->base;
}

void past_source_print_lsns(const struct past_source *past, struct buf *out)
{
    for (uint32_t i = 0; i < past->part_count; i++) {
        buf_text(out, i ? "," : "");
        buf_u64(out, past->part[i].history.lsn);
    }
}

void past_source_close(struct past_source *past)
{
    if (!past)
        return;
    for (uint32_t i = 0; i < past->part_count; i++)
        partition_scan_close(&past->part[i].scan);
    arena_free(&past->memory);
}
