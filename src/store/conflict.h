/*
 * src/store/conflict.h - when each scope (batch.h) was last changed, as far as anybody could ask.
 * A fixed table. A slot belongs to one scope of one bucket. When a row is full, the scope that was marked longest ago
 * leaves it, and its bucket remembers in `floor_lsn` that something was changed at that LSN. That LSN is older than
 * every transaction under way, except very long ones, so it refuses hardly any transaction without need.
 *
 * Threads. The committer's own.
 */
#pragma once
#include "store/local_bucket.h"

struct conflicts;

struct conflicts *conflicts_new(void);
void conflicts_free(struct conflicts *conflicts);

/* Whether the scope may have changed after the LSN. Never wrongly false. */
bool conflicts_changed_after(const struct conflicts *conflicts, const struct local_bucket *bucket,
                             uint64_t scope, uint64_t lsn);
void conflicts_mark(struct conflicts *conflicts, struct local_bucket *bucket, uint64_t scope, uint64_t lsn);

/* Takes a mark back. The caller sets the bucket's floor to its true last LSN. */
void conflicts_forget(struct conflicts *conflicts, const struct local_bucket *bucket, uint64_t scope);
