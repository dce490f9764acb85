/*
 * src/query/eval/exact_sum.h - a sum of numbers that does not depend on their order.
 * Nothing is rounded before the end: SUM and AVG give the same to the last bit whether items are read as they lie or
 * in the order of an index, one at a time or many at once.
 */
#pragma once
#include "query/value.h"

/* All zero is an empty sum. */
struct exact_sum {
    __int128 whole; /* of the integers */
    int64_t *
        limb; /* of the fractions: 32 bits each and what is carried, the least first; NULL until there is one */
    uint32_t uncarried;
    bool has_nan, has_infinity, has_minus_infinity;
};

/* A number, so many times. Memory is the arena's; false past its limit. */
bool exact_sum_add(struct exact_sum *sum, struct arena *memory, struct value number, uint64_t times);

/*
 * Doubles whose sum it is, exactly, the largest first, and how many. Sums of several places are joined by all of their parts.
 * What is not finite is one part.
 */
enum { EXACT_SUM_PARTS_MAX = 64 };
size_t exact_sum_parts(const struct exact_sum *sum, double part[EXACT_SUM_PARTS_MAX]);

/* An integer when it is one of 64 bits, else the nearest double. */
struct value exact_sum_result(const struct exact_sum *sum);
