/*
 * src/housekeeping/watch.h - splits ranges that have grown too large, in housekeeping's time.
 * A container that has more bytes than one range may have, and has grown since it was last looked at, is passed over a little at
 * a time: how much each range holds, and the keys of some items by chance. A range that holds too much is split where
 * half of those lie. One whose items all have one partition key stays as it is.
 *
 * Threads. One, housekeeping's. At most one container is passed over at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct watch;

struct watch *watch_open(struct catalog *catalog, uint64_t range_bytes_max); /* the catalog outlives it */
void watch_close(struct watch *watch);                                       /* NULL is welcome */

/* Goes on for a fifth of a second at most; `split` is counted up. */
enum status watch_ranges(struct op *op, struct watch *watch, uint64_t *split);
