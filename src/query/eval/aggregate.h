/*
 * src/query/eval/aggregate.h - COUNT, SUM, AVG, MIN, MAX and their like: one value from many rows.
 *     struct aggregate state = { .memory = arena };
 *     aggregate_add(eval, &state, call->builtin, value, 1);     for each row
 *     aggregate_result(eval, &state, call->builtin);
 */
#pragma once
#include "query/eval/builtin.h"
#include "query/eval/eval.h"
#include "query/eval/exact_sum.h"
#include "query/eval/hashes.h"

extern const struct builtin_family builtins_aggregate;

struct aggregate {
    struct arena *memory; /* for what must outlive a row */
    uint64_t count;       /* of values taken */
    bool spoiled;         /* a value of a type that makes the result undefined */
    struct exact_sum sum; /* SUM, AVG */
    struct value best;    /* MIN, MAX; a string lies in `room` */
    char *room;
    size_t room_bytes;
    struct buf list; /* MAKELIST, MAKESET: values, one behind the other */
    struct hashes seen;
};

/* Adds a value as if it came `times` times. */
void aggregate_add(struct eval *eval, struct aggregate *state, const struct builtin *function,
                   struct value value, uint64_t times);

/* As if no value had come; its memory is used again. */
void aggregate_reset(struct aggregate *state);
struct value aggregate_result(struct eval *eval, const struct aggregate *state,
                              const struct builtin *function);
