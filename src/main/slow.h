/*
 * src/main/slow.h - the requests that took long, kept for those who look: of queries with text and plan.
 * The same query of the same container is one row, which counts. When there is no row left, the one goes that was seen
 * longest ago.
 *
 * Ownership. The caller owns it from slow_open() to slow_close().
 * Threads. Any. A lock is held for a copy.
 */
#pragma once
#include "route/route.h"

struct slow;

struct slow *slow_open(void);
void slow_close(struct slow *slow); /* NULL is welcome */

/* All that it ever takes. */
size_t slow_bytes(void);

void slow_note(struct slow *slow, struct op *op, const struct observed *seen);

/* An array of those that were seen since then, the slowest first. */
void slow_print(struct slow *slow, int64_t from_ms, struct buf *out);
