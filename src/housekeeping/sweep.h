/*
 * src/housekeeping/sweep.h - removes items whose time to live is over, a little at a time.
 * Readers do not wait for it: an expired item is gone for them at once (partition/expiry.h). It gives back the
 * space, and puts the removal into the change log as a delete that says why.
 *
 * A container is walked from its first item to its last, in steps; each step removes what it found in one
 * transaction that expects those items unchanged, and that is given up when the container has a new definition,
 * by which they may be there again. A pass remembers the first expiry that is still to come, and
 * the next one waits for it, or for items that came since and may have a shorter time of their own. Between
 * passes it rests nine times as long as it worked: at most a tenth of one core, however large the container.
 * A list of items by expiry would find them sooner, but every write would pay for it, and a new default would
 * put all of it out of date.
 *
 * Threads. One at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct sweep;

struct sweep *sweep_open(struct catalog *catalog); /* which outlives it */
void sweep_close(struct sweep *sweep);             /* NULL is welcome */

/* Does what is due, for a fraction of a second. Adds up what was removed; a failure is tried again later. */
enum status sweep_expired(struct op *op, struct sweep *sweep, uint64_t *removed);
