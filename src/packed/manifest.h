/*
 * src/packed/manifest.h - which runs there are: one small value, replaced whole (key_runs in keys/keys.h).
 *
 *     format 1, the next run's number 8, how many runs 4, then each of them oldest first: number 8, level 8, bytes 8,
 *     pages 8, terms 8, marks 8, adds less removes 8, bytes of its filter 8; CRC-32C 4 of all that
 *
 * A bucket's settled LSN (key_settled) is format 1, LSN 8.
 */
#pragma once
#include "packed/run.h"

struct manifest {
    uint64_t next_run;
    struct run_facts *run;
    size_t count;
};

enum { SETTLED_BYTES = 1 + 8 };

/* Into the op's arena. */
struct slice manifest_encode(struct op *op, const struct manifest *manifest);

/* An absent value is a manifest without runs. ST_CORRUPT: it is none. */
enum status manifest_decode(struct op *op, struct slice value, struct manifest *manifest);

struct slice settled_encode(struct op *op, uint64_t lsn);
enum status settled_decode(struct op *op, struct slice value, uint64_t *lsn); /* absent: 0 */
