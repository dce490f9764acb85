/*
 * src/store/plain.h - entries that are keys of the store like all others, as a snapshot has them.
 * The reference: what the packed ones give must be what these give.
 *
 * Ownership and threads. As in entries.h.
 */
#pragma once
#include "store/entries.h"

enum status plain_open(struct op *op, struct snapshot *snapshot, const struct entries_walk *walk,
                       struct entries_cursor **cursor);

/* Looks at each key; a rough count looks only at the first few hundred. */
enum status plain_count(struct op *op, struct snapshot *snapshot, struct slice from, struct slice to,
                        bool rough, uint64_t *count);
