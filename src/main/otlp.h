/*
 * src/main/otlp.h - spans on their way to a collector, by OTLP over HTTP as JSON.
 * Whoever has a span leaves it in a buffer and goes on. A thread sends the buffer every second, or when it is half full.
 * What finds no room is dropped and counted: a collector that is slow or away costs nobody a request.
 *
 * Ownership. The caller owns it from otlp_open() to otlp_close(), which tries once more to send what is left.
 * Threads. otlp_add() and otlp_stats() from any.
 */
#pragma once
#include "base/op.h"

struct otlp;

enum status otlp_open(struct op *op, const char *url, struct otlp **otlp);
void otlp_close(struct otlp *otlp); /* NULL is welcome */

/* A span as a JSON object. False: it was dropped. */
bool otlp_add(struct otlp *otlp, struct slice span);

struct otlp_stats {
    uint64_t sent, dropped,
        failed; /* spans: taken by the collector, without room here, refused or not taken there */
};

void otlp_stats(struct otlp *otlp, struct otlp_stats *stats); /* NULL: all are 0 */
