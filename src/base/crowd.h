/*
 * src/base/crowd.h - a count of those who have something, which all cores add to and take from and hardly anybody reads.
 * A counter in one word goes from core to core with every request, and each waits for it. Here a thread counts in a part of
 * its own, and may take off in its part what another has added in its: then nobody knows how many there are, which does not
 * matter as long as somebody has one and keeps it. Whoever that is gathers the parts before giving up that one: from then
 * on the count is exact, in one word, and tells who was the last.
 *
 * Threads. crowd_more() and crowd_less() from any; crowd_spread() and crowd_gather() from one at a time, who has one.
 *
 * Promises
 * 1. Of as many crowd_less() as there were crowd_more(), and one for crowd_init(), exactly one says that it was the last.
 * 2. Nobody who was not the last touches the crowd afterwards.
 * 3. While it is spread, two threads write nothing in common, unless there are more of them than parts.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

enum { CROWD_PARTS = 16, CROWD_PART_BYTES = 64 };

struct crowd {
    /* Private to crowd.c. */
    atomic_llong exact; /* while it is spread, a large number and those from before */
    struct crowd_part {
        /*
         * Twice as many as were added and not taken off; the lowest bit: look at `exact` instead. One thread may add for years
         * what another takes off.
         */
        atomic_llong word;
        char apart[CROWD_PART_BYTES - sizeof(atomic_llong)];
    } part[CROWD_PARTS];
};

/* One, counted exactly. */
void crowd_init(struct crowd *crowd);

void crowd_more(struct crowd *crowd); /* the caller has one, or somebody keeps his meanwhile */
bool crowd_less(struct crowd *crowd); /* true: it was the last. While it is spread nobody is told so */

/* The same where it is for sure that it is spread; false when it is not, and nothing is counted. */
bool crowd_more_while_spread(struct crowd *crowd);

void crowd_spread(struct crowd *crowd); /* welcome on one that is */
void crowd_gather(struct crowd *crowd); /* welcome on one that is exact */

/* How many there are; it is exact. */
long long crowd_count(const struct crowd *crowd);
