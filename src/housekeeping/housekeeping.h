/*
 * src/housekeeping/housekeeping.h - what is done over and over besides requests, a little at a time:
 *     data of dropped containers is removed, and expired items (sweep.h)
 *     items are indexed again by a new policy (reindex.h), old changes taken out of the logs (trim.h)
 *     ranges that grew too large are split (watch.h), and the store is brought into fewer files
 * Who calls housekeeping_run() does so two or three times in a second; a call takes a second at most, unless the disk is slow.
 *
 * Threads. One runs it, opens it and closes it; any may ask for what it has counted.
 */
#pragma once
#include "catalog/catalog.h"

struct housekeeping;

struct housekeeping_options {
    struct catalog *catalog;  /* outlives it, and so does the catalog's store */
    int64_t retention_ms;     /* of changes, where a container does not say it */
    uint64_t range_bytes_max; /* of items */
};

/* Since it was opened. */
struct housekeeping_stats {
    uint64_t items_expired, ranges_split;
};

struct housekeeping *housekeeping_open(const struct housekeeping_options *options);
void housekeeping_close(struct housekeeping *housekeeping); /* NULL is welcome */

/* Every chore once, with the operation begun anew for each. One that fails is told of in the log, and keeps no other from being done. */
void housekeeping_run(struct op *op, struct housekeeping *housekeeping);

void housekeeping_stats(const struct housekeeping *housekeeping, struct housekeeping_stats *stats);
