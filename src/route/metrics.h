/* src/route/metrics.h - counts and times of requests, by route, for Prometheus. */
#pragma once
#include <stdatomic.h>

#include "base/buf.h"
#include "route/table.h"

enum { METRIC_TIMES = 12 };

struct trace_id;
struct metric_examples; /* of each of the times one request, by its trace; metrics.c */

enum { METRIC_PARTS = 16, METRIC_PART_BYTES = 256 };

/* A thread counts in a part of its own, so that cores do not wait for each other's counts. */
struct metric_part {
    atomic_ullong by_class[6];            /* answers 1xx to 5xx */
    atomic_ullong retry[2];               /* answers 429 and 449, among those above */
    atomic_ullong time[METRIC_TIMES + 1]; /* answers by how long they took; the last holds the slowest */
    atomic_ullong time_us, requests;
    atomic_ullong direct; /* requests of Direct mode, among those above */
    char apart[METRIC_PART_BYTES - (6 + 2 + METRIC_TIMES + 1 + 3) * sizeof(atomic_ullong)];
};

struct route_metrics {
    struct metric_part part[METRIC_PARTS];
    _Atomic(struct metric_examples *) examples; /* NULL until there is one */
};

/* What the parts have together: of one route, or of all. */
struct request_totals {
    uint64_t by_class[6], retry[2], time[METRIC_TIMES + 1], time_us, requests, direct;
};

void metrics_total(const struct route_metrics *metrics, struct request_totals *totals);

/* The upper bounds of the times, in microseconds. */
extern const uint64_t metric_bound_us[METRIC_TIMES];

/* [{"name","requests","failed","seconds"}] of each route that was ever asked for. */
void metrics_print_routes(struct buf *out, const struct route_metrics *metrics);

void metrics_count(struct route_metrics *metrics, int http_status, int64_t time_us, bool is_direct);

/* The request took so long, and a trace tells why. */
void metrics_note_example(struct route_metrics *metrics, const struct trace_id *trace, int64_t time_us,
                          int64_t now_ms);

/* What all of them hold, for each row of the route table and one behind them. */
void metrics_free(struct route_metrics *metrics);

/* From Prometheus' own text form to OpenMetrics', which the same lines are but for the names of counters and the end. */
void metrics_as_openmetrics(struct buf *out, struct slice text);

/* `metrics` has one for each row of the route table, and one behind them for requests without a route. */
void metrics_print(struct buf *out, const struct route_metrics *metrics, bool with_examples);
