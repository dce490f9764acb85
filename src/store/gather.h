/*
 * src/store/gather.h - whether the committer holds a group back for those who are about to commit again.
 * While one half of the writers has its answers the other half waits, and without this the two would take turns for ever: twice as
 * many groups, and each of them waits for the other's sync. So a group is held back until as many wait as were on their way when the last
 * one was done. But while one half is written the other half's requests are sent and read, and a group that waits for all has nothing to do
 * beside its sync: with sixteen writers that costs more than the syncs. So nobody waits for longer than a quarter of what the last
 * write took. Where nobody comes in that time, as with writers who have other things to do, it is tried ever more seldom.
 *
 * Threads. One at a time: the committer, under its mutex.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is faster is not worth a sleep; what was slower was so for some other reason, and is nobody's measure. */
enum { GATHER_WRITE_US_MIN = 50, GATHER_SHARE = 4, GATHER_US_MAX = 10000 };

/* All zero at first. */
struct gather {
    size_t expected;  /* submissions of the last group, and those that waited behind it */
    int64_t limit_us; /* a share of what the last group's write took; 0: it was not held back for */
    unsigned vain;    /* in a row: nobody came in time */
    unsigned skipped; /* groups that are not held back, because of that */
};

/* A group of so many was written, in so long, and so many wait by now. */
void gather_wrote(struct gather *gather, size_t written, size_t waiting, int64_t write_us);

/* Whether to hold the next group back, of which so many wait, for at most `limit_us`. Asked once a group. */
bool gather_holds(struct gather *gather, size_t waiting);

/* It was held back. */
void gather_held(struct gather *gather, bool all_came);
