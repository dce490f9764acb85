/*
 * src/index/set.h - the set of (term, number) as a view sees it: walked in order, either way, and counted.
 *     index_cursor_open(op, view, &walk, &cursor);
 *     while (index_cursor_next(op, cursor, &block) == ST_OK && block.count) ...
 *     index_cursor_close(cursor);
 *
 * The snapshot's entries are the store's (store/entries.h); the view's own batch, with what it adds and removes, lies
 * over them.
 *
 * Ownership. A block's term and numbers live until the cursor's next call. A cursor is closed before its view is.
 * Threads. Used by one thread, and waits on the store.
 *
 * Promises
 * 1. A cursor gives each (term, number) once, in order; in reverse exactly the other way round.
 * 2. It sees what its view sees: no entry of a later commit, each of an earlier one.
 */
#pragma once
#include "index/term.h"
#include "store/view.h"

struct index_cursor;

struct index_walk {
    struct slice from, to; /* terms of one path: [from, to); `to` may be the path's end */
    uint64_t first, last;  /* numbers: [first, last]; entries outside are passed over */
    bool reverse;          /* largest term first, and within it the largest number */
};

/* Numbers of one term, in the walk's order. A term with many comes in several blocks. */
struct index_block {
    struct slice term;
    const uint64_t *number;
    size_t count; /* 0: the end */
};

enum status index_cursor_open(struct op *op, const struct view *view, const struct index_walk *walk,
                              struct index_cursor **cursor);
enum status index_cursor_next(struct op *op, struct index_cursor *cursor, struct index_block *block);

/* Passes over everything before (term, number) in the walk's order; never goes back. */
enum status index_cursor_seek(struct op *op, struct index_cursor *cursor, struct slice term, uint64_t number);
void index_cursor_close(struct index_cursor *cursor); /* NULL is welcome */

/* How many entries there are in [from, to), all numbers. Exact; cheap for one term and for a whole path. */
enum status index_count(struct op *op, const struct view *view, struct slice from, struct slice to,
                        uint64_t *count);

/* About how many, for the planner. Costs a lookup or two. */
enum status index_estimate(struct op *op, const struct view *view, struct slice from, struct slice to,
                           uint64_t *count);

/* The least term above every term that begins with these bytes: the end of a path, or of a prefix. */
struct slice index_prefix_end(struct arena *arena, struct slice prefix);
