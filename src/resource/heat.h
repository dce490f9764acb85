/*
 * src/resource/heat.h - where requests on items go: to which partition keys, to which ranges, for how many request units.
 * A request pays for an addition to a counter that few threads share. Of the first ones after heat_gather() all are
 * noted, then one of sixteen for sixteen. What is noted lies in sketches, whose memory does not grow.
 *
 * Ownership. The caller owns a heat from heat_open() to heat_close(). A service without one notes nothing.
 * Threads. Notes are made on any number of threads, and wait for nobody: where another is at it, a note is lost.
 *     heat_gather() is for one thread at a time.
 */
#pragma once
#include "base/sketch.h"
#include "partition/key.h"
#include "resource/call.h"

struct heat;

struct heat *heat_open(struct env *env);
void heat_close(struct heat *heat); /* NULL is welcome */

/* All that it ever takes. */
size_t heat_bytes(void);

/* A request that has its answer: the key of its header, and the ranges that the answer is about. */
void heat_note(struct op *op, const struct call *call, const struct reply *reply, double charge);

/* An operation of a bulk, whose ranges the whole request tells; or of a transaction, which is of no container. */
void heat_note_key(struct op *op, const struct call *call, const struct placed_key *key, double charge);
void heat_note_place(struct op *op, const struct call *call, const struct placed_key *key, double charge);

/* What was noted since the last time, in hundredths of request units, is added. */
struct heat_sums {
    struct sketch *keys, *ranges;
};
struct heat_sums heat_sums_new(const struct heat *heat);
void heat_sums_free(struct heat_sums *sums);
size_t heat_sums_bytes(void);
void heat_gather(struct heat *heat, struct heat_sums *sums);

/* What a row of the sums is about. A key's text is a JSON array, of which a long one has only the beginning. */
enum { HEAT_KEY_BYTES = 88 };

struct heat_place {
    struct rid container;
    struct slice key;
    uint32_t range;
};
struct heat_place heat_key_of(const struct sketch_row *row);
struct heat_place heat_range_of(const struct sketch_row *row);
