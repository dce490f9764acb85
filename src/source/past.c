/* src/source/past.c - two lists of items merged: those that are as they were, and those that were changed since. */
#include <assert.h>

#include "partition/expiry.h"
#include "source/items_private.h"
#include "source/past.h"

struct past_source {
    struct query_source base; /* first: the query knows no more of it */
    struct partition_scan scan;
    struct history history;
    size_t at;            /* the next change of the history */
    struct record now;    /* what the scan has given, and nobody has taken */
    bool has_now, ended;  /* the scan has no more */
    struct arena memory;  /* of the old record that was given last */
    struct record record; /* of the row */
};

/* The next item of the scan that nobody has changed since. */
static enum status look_at_scan(struct op *op, struct past_source *past)
{
    enum status st = ST_OK;
    size_t at;

    while (!past->has_now && !past->ended) {
        TRY(partition_scan_next(op, &past->scan, &past->now, &past->has_now));
        past->ended = !past->has_now;
        if (past->ended)
            break;
        at = history_at(&past->history, past->now.number);
        if (at < past->history.count && past->history.change[at].number == past->now.number)
            past->has_now = false;
    }
out:
    return st;
}

/* The item of the history's next change, in memory that the one after it takes. */
static enum status take_old(struct op *op, struct past_source *past, struct record *item)
{
    struct arena ours = op->arena;
    enum status st;

    arena_reset(&past->memory);
    op->arena = past->memory;
    st = history_item(op, &past->history, past->at, item);
    past->memory = op->arena;
    op->arena = ours;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    past->at++;
    return st;
}

static void skip_created(struct past_source *past)
{
    const struct history *history = &past->history;

    while (past->at < history->count && history->change[past->at].is_create)
        past->at++;
}

static enum status next_item(struct op *op, struct past_source *past, struct record *item, bool *found)
{
    const struct history *history = &past->history;
    enum status st;

    TRY(look_at_scan(op, past));
    skip_created(past);
    *found = past->has_now || past->at < history->count;
    if (!*found)
        goto out;
    if (past->has_now &&
        (past->at == history->count || past->now.number < history->change[past->at].number)) {
        *item = past->now;
        past->has_now = false;
        goto out;
    }
    TRY(take_old(op, past, item));
out:
    return st;
}

/* The scan has looked at the scope, but not at the time: it is asked for expired items, too. */
static bool is_there(const struct past_source *past, const struct record *item)
{
    return partition_scope_holds(past->scan.container, &past->scan.scope, item) &&
           !item_is_expired(past->scan.container, item, past->history.ts_ms);
}

enum status past_source_next(struct op *op, struct past_source *past, struct record *item, bool *found)
{
    enum status st;

    do {
        TRY(op_check(op));
        TRY(next_item(op, past, item, found));
    } while (*found && !is_there(past, item));
out:
    return st;
}

void past_source_seek(struct past_source *past, uint64_t after)
{
    partition_scan_seek(&past->scan, after);
    past->at = history_at(&past->history, after + 1);
    past->has_now = past->ended = false;
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
    return item_system_members(memory, past->scan.container, &past->record);
}

enum status past_source_open(struct op *op, const struct container *container,
                             const struct partition_scope *scope, const struct moment *moment,
                             struct past_source **items)
{
    struct past_source *past = *items = arena_alloc(&op->arena, sizeof(*past));
    struct number_span span = partition_scope_span(container, scope);
    enum status st;

    *past = (struct past_source){ .base = { row_next, row_seek, row_system } };
    op_arena(op, &past->memory, OP_MEMORY_BYTES_MAX);
    container = partition_scope_part(container, scope);
    if (!container)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "A container of several buckets is read range by range as of an earlier moment."));
    TRY(partition_scan_open(op, container, scope, &past->scan));
    past->scan.expired_too = true;
    past->base.seed = container->seed;
    past->base.ties_by_creation = container->rids_by_creation;
    TRY(history_open(op, container, partition_scan_view(&past->scan), moment, &span, &past->history));
out:
    return st;
}

struct query_source *past_source_rows(struct past_source *past)
{
    return &past->base;
}

uint64_t past_source_lsn(const struct past_source *past)
{
    return past->history.lsn;
}

void past_source_close(struct past_source *past)
{
    if (!past)
        return;
    partition_scan_close(&past->scan);
    arena_free(&past->memory);
}
