/*
 * src/query/run/cursor.h - a statement over a source: which item and which of its rows is being looked at.
 *
 * How run/ fails. Every function that can fail returns enum status. What goes wrong while a value is computed is kept
 * in eval.status, because a value cannot say it: whoever computes one returns cursor_status() behind it, and
 * cursor_walk() does. A sink has no status to return: it gives its own to cursor_goes_on(), so that the walk ends and
 * returns it. Memory that is not there is ST_QUERY_MEMORY to cursor_fail() at once, which tells whether it was this
 * query's or everybody's.
 *
 * Ownership. The statement, the source and the op outlive it. What a row's evaluation keeps lies in `kept` until
 *     cursor_close(), what belongs to an item in `item_memory` until the next item.
 * Threads. One at a time.
 */
#pragma once
#include "query/eval/rows.h"
#include "query/run/compile.h"

struct cursor {
    struct eval eval;
    const struct select *select;
    struct query_source *source;
    struct query_row item; /* being looked at */
    uint32_t index;        /* which of its rows, from 1; sinks count */
    uint64_t passed;       /* rows gathered so far; sinks count */
    struct arena kept, item_memory;
};

void cursor_open(struct cursor *cursor, struct op *op, struct query *query, const struct select *select);
void cursor_close(struct cursor *cursor);

/* An arena within the limit of one query, on the account of all. */
void cursor_memory(const struct cursor *cursor, struct arena *memory);

/* Goes on after that number; 0 is the beginning. */
enum status cursor_seek(struct cursor *cursor, uint64_t after);

/* Where to seek for the item of that number to come next, if it is there. */
static inline uint64_t cursor_before(const struct cursor *cursor, uint64_t number)
{
    return number - (cursor->source->apart ? cursor->source->apart : 1);
}

/* The source gives these items next; the numbers outlive that. */
enum status cursor_pick(struct cursor *cursor, const uint64_t *number, size_t count);

/*
 * Walks the rows of all items behind the one the source stands at, until a sink wants no more, something
 * fails, or `scanned_max` items were looked at or a page's time is up (0: never). `ended`: there are no more items.
 */
enum status cursor_walk(struct cursor *cursor, size_t scanned_max, row_sink *sink, void *context,
                        bool *ended);

/* What went wrong so far while values were computed. */
static inline enum status cursor_status(const struct cursor *cursor)
{
    return cursor->eval.status;
}

/* Records the reason, if it is the first, and returns the one that is recorded. */
enum status cursor_fail(struct cursor *cursor, enum status why);

/* For sinks: records a failure; whether the walk goes on. */
static inline bool cursor_goes_on(struct cursor *cursor, enum status st)
{
    return (st == ST_OK ? cursor_status(cursor) : cursor_fail(cursor, st)) == ST_OK;
}

/* The value in the slots of the item: without system properties when the source has none. */
struct value cursor_item(const struct query_source *source, struct query_row *item);
