/*
 * src/main/observer.h - what is told of requests that have their answers: slow ones to the log and to those who look
 * at them now, each as a span to a collector. Without a collector only slow requests come here.
 *
 * Ownership. The caller owns it from observer_open() to observer_close(). Routers that have it are closed before.
 * Threads. observer_see() runs on any number at once.
 */
#pragma once
#include "main/otlp.h"
#include "main/settings.h"
#include "main/slow.h"
#include "route/route.h"

struct observer;

enum status observer_open(struct op *op, const struct settings *settings, struct observer **observer);
void observer_close(struct observer *observer); /* NULL is welcome */

/* How long a request takes at least that comes here; queries as slow have their plans noted. */
int64_t observer_from_us(const struct settings *settings);

/* What is kept of slow requests. */
struct slow *observer_slow(const struct observer *observer);

/* A route_observer; the context is the observer. */
struct trace_id observer_see(void *observer, struct op *op, const struct observed *observed);

/* Of the spans; NULL: all are 0. */
void observer_stats(const struct observer *observer, struct otlp_stats *stats);
