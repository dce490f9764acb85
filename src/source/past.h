/*
 * src/source/past.h - items as they were at an earlier moment (partition/history.h), as the rows of a query.
 *     past_source_open(op, container, &scope, moments, &items);
 *     query_run(op, query, past_source_rows(items), ...);          or past_source_next(): the records themselves
 *     past_source_close(items);                                    NULL is welcome
 * Rows come in the order of their numbers, as those of items.h. There is no index of the past: everything in the scope is read.
 *
 * Ownership, threads. As in items.h.
 */
#pragma once
#include "partition/history.h"
#include "query/query.h"

struct past_source;

/* A moment for each part of the container. */
enum status past_source_open(struct op *op, const struct container *container,
                             const struct partition_scope *scope, const struct moment *moments,
                             struct past_source **items);
struct query_source *past_source_rows(struct past_source *items);

/* Goes on behind that number; 0 is the beginning. */
void past_source_seek(struct past_source *items, uint64_t after);

/* The item's bytes live until the next call. */
enum status past_source_next(struct op *op, struct past_source *items, struct record *item, bool *found);

/* Up to which commit it shows each part that the scope has: 812, or 812,3,97. */
void past_source_print_lsns(const struct past_source *items, struct buf *out);
void past_source_close(struct past_source *items);
