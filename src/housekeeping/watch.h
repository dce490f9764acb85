/*
 * src/housekeeping/watch.h - splits ranges that have grown too large, in housekeeping's time.
 * The watch looks at containers that hold more bytes than one range may hold, and that have grown since the last
 * look. It reads such a container a little at a time, adds up how many bytes each range holds, and keeps the keys of
 * some items, chosen by chance. A range that holds too much is split where half of these keys lie. A range whose
 * items all have one partition key stays as it is.
 *
 * Threads. One, housekeeping's. At most one container is being read at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct watch;

struct watch *watch_open(struct catalog *catalog, uint64_t range_bytes_max); /* the catalog outlives it */
void watch_close(struct watch *watch);                                       /* NULL is welcome */

/* Works for a fifth of a second at most. Adds the number of ranges that it split to `split`. */
enum status watch_ranges(struct op *op, struct watch *watch, uint64_t *split);
