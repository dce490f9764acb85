/*
 * src/store/view.h - a snapshot under a set of writes: what a transaction sees.
 * A plain read has no writes of its own; everything above store/ reads only through a view,
 * so a query, a batch, a trigger and a script see the same things.
 *
 * Ownership. The view owns its snapshot from view_open() to view_close(); the batch is the caller's.
 * Threads. Used by one thread at a time.
 */
#pragma once
#include "store/store.h"

struct view {
    struct bucket *bucket;
    struct snapshot *snapshot;
    struct batch *writes; /* NULL when there are none */
};

enum status view_open(struct op *op, struct bucket *bucket, struct batch *writes, struct view *view);

/* The same over a snapshot that the caller has taken, and that is the view's from here on. */
void view_open_over(struct snapshot *snapshot, struct bucket *bucket, struct batch *writes,
                    struct view *view);
void view_close(struct view *view); /* welcome on a view that never opened (all zero) */

/* As store_get_many() and store_scan(), with the view's own writes in place. */
enum status view_get_many(struct op *op, const struct view *view, const struct slice *keys, size_t count,
                          struct slice *values);

/* The same for those who only read documents: as store_get_items(). */
enum status view_get_items(struct op *op, const struct view *view, const struct slice *keys, size_t count,
                           struct slice *values);
enum status view_scan(struct op *op, const struct view *view, struct range range, struct scan_limit limit,
                      struct rows *rows);

/* One key; value.data is NULL when absent. */
static inline enum status view_get(struct op *op, const struct view *view, struct slice key,
                                   struct slice *value)
{
    return view_get_many(op, view, &key, 1, value);
}
