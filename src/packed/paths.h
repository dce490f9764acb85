/*
 * src/packed/paths.h - which paths a bucket has entries of, one after the other: for walks over a whole bucket.
 */
#pragma once
#include "packed/layers.h"
#include "packed/run_stream.h"

/* The next path above `path`, or below it in reverse; without `path` the first or the last. `found`: there is one. */
enum status paths_next(struct op *op, const struct packed_pin *pin, struct run_reader *reader,
                       uint64_t bucket, const uint64_t *path, bool reverse, bool *found, uint64_t *next);

/* To the count, adds less removes that the LSN sees in all of the bucket's entries in a delta. */
enum status paths_count(struct op *op, struct delta *delta, uint64_t bucket, uint64_t lsn, int64_t *count);
