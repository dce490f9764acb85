/* src/route/metrics.h - counts and times of requests, by route, for Prometheus. */
#pragma once
#include <stdatomic.h>

#include "base/buf.h"
#include "route/table.h"

enum { METRIC_TIMES = 12 };

struct route_metrics {
    atomic_ullong by_class[6];            /* answers 1xx to 5xx */
    atomic_ullong retry[2];               /* answers 429 and 449, among those above */
    atomic_ullong time[METRIC_TIMES + 1]; /* answers by how long they took; the last holds the slowest */
    atomic_ullong time_us, requests;
    atomic_ullong direct; /* requests of Direct mode, among those above */
};

void metrics_count(struct route_metrics *metrics, int http_status, int64_t time_us, bool is_direct);

/* `metrics` has one for each row of the route table, and one behind them for requests without a route. */
void metrics_print(struct buf *out, const struct route_metrics *metrics);
