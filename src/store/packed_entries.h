/*
 * src/store/packed_entries.h - entries that the packed index has (packed/packed.h), as a snapshot of the local store sees them.
 *
 * Ownership and threads. As in entries.h.
 */
#pragma once
#include "packed/packed.h"
#include "store/entries.h"

/* What a snapshot sees there. */
struct packed_sight {
    struct packed *packed;
    struct packed_pin *pin;
};

enum status packed_entries_open(struct op *op, struct snapshot *snapshot, struct packed_sight sight,
                                const struct entries_walk *walk, struct entries_cursor **cursor);
enum status packed_entries_count(struct op *op, struct snapshot *snapshot, struct packed_sight sight,
                                 struct slice from, struct slice to, uint64_t *count);

/* The entries of a batch, as of a commit. They lie in the op's arena for the time of the call. */
enum status packed_entries_append(struct op *op, struct packed *packed, struct batch *batch, uint64_t lsn);
