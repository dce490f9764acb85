/*
 * src/partition/history.h - a container as it was at an earlier moment, from its change log.
 *     history_parse(op, text, &moment);                          an LSN or a time (RFC 3339)
 *     history_open(op, container, &view, &moment, &span, &history);
 * The log has what each change found. So what an item was at LSN l is the old record in its first change above l; an item
 * without such a change is what it is now. Opening reads the log from l on, once, and notes the first change of each
 * item. That costs 24 bytes an item that was changed since, and no document is kept.
 *
 * Ownership. All lies in the op's arena. The view outlives the history.
 * Threads. One, which waits on the store.
 */
#pragma once
#include "partition/scan.h"

struct moment {
    bool is_time;
    uint64_t lsn;  /* when it is none */
    int64_t ts_ms; /* when it is one */
};

/* ST_BAD_HEADER when the text is neither. */
enum status history_parse(struct op *op, struct slice text, struct moment *moment);

struct history {
    uint64_t lsn;  /* the moment: everything up to this commit, and nothing after it */
    int64_t ts_ms; /* by which it is judged which items had expired */
    const struct container *container;
    const struct view *view;
    size_t count;
    struct history_change {
        uint64_t number;
        struct log_place place; /* the first change above `lsn` */
        bool is_create;         /* the item was not there */
    } * change;                 /* by number */
};

/*
 * Changes of items whose numbers are outside the span are left out. ST_BAD_REQUEST: the moment lies before what the log
 * keeps, or after the present.
 */
enum status history_open(struct op *op, const struct container *container, const struct view *view,
                         const struct moment *moment, const struct number_span *span,
                         struct history *history);

/* The place of the first change at or after that number; history->count when there is none. */
size_t history_at(const struct history *history, uint64_t number);

/* The item as it was before that change, which is no create. */
enum status history_item(struct op *op, const struct history *history, size_t index, struct record *item);
