/*
 * src/main/observer.h - what is told of requests that have their answers: slow ones to the log, each as a span to a
 * collector. A server that is asked for neither has none, and then nothing is spent on it.
 *
 * Ownership. The caller owns it from observer_open() to observer_close(). Routers that have it are closed before.
 * Threads. observer_see() runs on any number at once.
 */
#pragma once
#include "main/otlp.h"
#include "main/settings.h"
#include "route/route.h"

struct observer;

/* *observer is NULL when the settings ask for nothing. */
enum status observer_open(struct op *op, const struct settings *settings, struct observer **observer);
void observer_close(struct observer *observer); /* NULL is welcome */

/* A route_observer; the context is the observer. */
struct trace_id observer_see(void *observer, struct op *op, const struct observed *observed);

/* Of the spans; NULL: all are 0. */
void observer_stats(const struct observer *observer, struct otlp_stats *stats);
