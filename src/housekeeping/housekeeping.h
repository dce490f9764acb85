/*
 * src/housekeeping/housekeeping.h - what is done over and over besides requests, a little at a time:
 *     data of dropped containers is removed, and expired items (sweep.h)
 *     items are indexed again by a new policy (reindex.h), old changes taken out of the logs (trim.h)
 *     what became of old transactions is forgotten (ledger/)
 *     ranges that grew too large are split (watch.h), and the store is brought into fewer files
 * The caller runs housekeeping_run() two or three times in a second. A call takes a second at most, unless the disk
 * is slow.
 *
 * Threads. One thread opens, runs and closes it. Any thread may ask for its counts.
 */
#pragma once
#include "catalog/catalog.h"
#include "ledger/ledger.h"

struct housekeeping;

struct housekeeping_options {
    struct catalog *catalog; /* outlives it, and so does the catalog's store */
    struct ledger *ledger;   /* likewise */
    int64_t transactions_kept_ms;
    int64_t retention_ms;     /* how long changes are kept, where a container's definition does not say it */
    uint64_t range_bytes_max; /* how many bytes of items a range may hold before it is split */
};

/* Since it was opened. */
struct housekeeping_stats {
    uint64_t items_expired, ranges_split;
};

struct housekeeping *housekeeping_open(const struct housekeeping_options *options);
void housekeeping_close(struct housekeeping *housekeeping); /* NULL is welcome */

/*
 * Runs every chore once, and begins the operation anew for each. The log tells of a chore that failed; the others run
 * all the same.
 */
void housekeeping_run(struct op *op, struct housekeeping *housekeeping);

void housekeeping_stats(const struct housekeeping *housekeeping, struct housekeeping_stats *stats);
