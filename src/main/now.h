/*
 * src/main/now.h - the figures of the last hour, for GET /_orrery/now: a ring of samples, taken every few seconds by who
 * keeps house, and a ring of minutes with the keys and ranges that requests went to.
 * A sample has the counters themselves: whoever reads two of them subtracts.
 *
 * Ownership. The caller owns it from now_open() to now_close(). Its memory is fixed, and on the account.
 * Threads. Any; they take turns.
 */
#pragma once
#include "main/slow.h"
#include "main/statistics.h"
#include "resource/heat.h"

struct now;

/* NULL when there is no memory. */
struct now *now_open(struct env *env, struct account *account);
void now_close(struct now *now); /* NULL is welcome */

/* Whom to ask, each time: a restored snapshot brings another store and another catalog. */
struct now_sources {
    struct statistics statistics;
    const struct router *router;
    struct slow *slow;
};

/* What requests are to note, and where slow ones are kept. */
struct heat *now_heat(struct now *now);

/* Takes a sample, if it is time for one. */
void now_sample(struct now *now, const struct now_sources *sources);

/* The members of an object: samples from that number on, then the sample of this moment, and the rest. */
void now_print(struct now *now, struct op *op, const struct now_sources *sources, uint64_t since,
               struct buf *out);
