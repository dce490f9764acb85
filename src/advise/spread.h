/*
 * src/advise/spread.h - how values spread: about how many different ones there are, and how often the commonest comes.
 * A sketch of fixed size, however many values it is told of. Values are told by a seeded hash, so nobody can make values
 * that look like one. Both figures are estimates, good to a few percent, and a report says so.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPREAD_REGISTERS = 256, SPREAD_HEAVY = 32 };

struct spread {
    uint64_t count;
    uint8_t reg[SPREAD_REGISTERS];
    struct {
        uint64_t hash, count;
    } heavy[SPREAD_HEAVY];
};

void spread_add(struct spread *spread, uint64_t hash);

/* Values of the other one, too. What is common in both stays common; the estimate of what is rare is rough. */
void spread_join(struct spread *spread, const struct spread *other);

uint64_t spread_distinct(const struct spread *spread);

/* At least so often the commonest value came: what is told is too small by a thirtieth of all at most. */
uint64_t spread_commonest(const struct spread *spread);
