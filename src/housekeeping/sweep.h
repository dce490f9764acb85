/*
 * src/housekeeping/sweep.h - removes items whose time to live is over, a little at a time.
 * Readers do not wait for the sweep: they do not see an expired item (partition/expiry.h). The sweep gives back the
 * space, and puts the removal into the change log as a delete that says why.
 *
 * A pass walks a container from its first item to its last, in steps. Each step removes the expired items that it
 * found in one transaction that expects those items unchanged. The transaction is given up when the container has a
 * new definition, because by that definition they may not have expired. A pass remembers the earliest expiry that is
 * still to come. The next pass waits for that time, or for items that were written since and may live shorter.
 * Between passes the sweep rests nine times as long as it worked: it uses at most a tenth of one core, however large
 * the container. A list of items by expiry would find them sooner. But every write would pay for it, and a new
 * default would put all of it out of date.
 *
 * Threads. One at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct sweep;

struct sweep *sweep_open(struct catalog *catalog); /* which outlives it */
void sweep_close(struct sweep *sweep);             /* NULL is welcome */

/*
 * Works for a fraction of a second, if a container is due. Adds the items it removed. A failure is tried again later.
 */
enum status sweep_expired(struct op *op, struct sweep *sweep, uint64_t *removed);
