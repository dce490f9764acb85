/*
 * src/query/aggregate.h - COUNT, SUM, AVG, MIN, MAX and their like: one value from many rows.
 *     struct aggregate state = { .memory = arena };
 *     aggregate_add(eval, &state, call->builtin, value);     for each row
 *     aggregate_result(eval, &state, call->builtin);
 */
#pragma once
#include "query/builtin.h"
#include "query/eval.h"
#include "query/hashes.h"

struct aggregate {
    struct arena *memory; /* for what must outlive a row */
    uint64_t count;       /* of values taken */
    bool spoiled;         /* a value of a type that makes the result undefined */
    struct value total;   /* SUM, AVG */
    struct value best;    /* MIN, MAX; a string lies in `room` */
    char *room;
    size_t room_bytes;
    struct buf list; /* MAKELIST, MAKESET: values, one behind the other */
    struct hashes seen;
};

void aggregate_add(struct eval *eval, struct aggregate *state, const struct builtin *function,
                   struct value value);
struct value aggregate_result(struct eval *eval, const struct aggregate *state,
                              const struct builtin *function);
