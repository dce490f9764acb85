/*
 * src/reply/charge.h - what a request costs, in request units: a function of the work counted and nothing else.
 * docs/throughput.md has the table beside the service's published figures.
 */
#pragma once
#include <stddef.h>

#include "base/op.h"

/* One kind of work and its price. */
struct price {
    const char *what;
    size_t counter; /* in struct work */
    double units;   /* request units for each, or for each kilobyte */
    bool kilobytes; /* the counter has bytes */
};

extern const struct price prices[];
extern const size_t price_count;

/* Every answer costs at least 1. */
double charge_of(const struct work *work);

/* What the service was seen to charge for an answer that tells a client to come back later. */
extern const double charge_refused;

/* The charge of the work since `before`. Unlike a whole answer, a part of a request may cost nothing. */
double charge_since(const struct work *work, const struct work *before);

/* At most two decimals, as the service prints charges. */
void charge_print(struct buf *out, double charge);
