/*
 * src/index/plain.h - entries that are keys of the store, as its snapshot has them; for set.c.
 * The reference: what packed runs give must be what these give.
 *
 * Ownership and threads. As in set.h.
 */
#pragma once
#include "index/set.h"

struct plain_cursor;

enum status plain_open(struct op *op, const struct view *view, const struct index_walk *walk,
                       struct plain_cursor **cursor);
enum status plain_next(struct op *op, struct plain_cursor *cursor, struct index_block *block);
enum status plain_seek(struct op *op, struct plain_cursor *cursor, struct slice term, uint64_t number);
void plain_end(struct plain_cursor *cursor); /* NULL is welcome */

/* Counts by looking at each key; `most` is where it stops. */
enum status plain_count(struct op *op, const struct view *view, struct slice from, struct slice to,
                        uint64_t most, uint64_t *count);
