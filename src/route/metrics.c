/* src/route/metrics.c - request metrics in Prometheus' text form. */
#include <assert.h>

#include "route/metrics.h"

/* Upper bounds of the histogram, in microseconds. */
static const uint64_t bound_us[METRIC_TIMES] = { 50,   100,   250,   500,    1000,    2500,
                                                 5000, 10000, 50000, 250000, 1000000, 5000000 };

void metrics_count(struct route_metrics *metrics, int http_status, int64_t time_us, bool is_direct)
{
    size_t slot = 0;

    assert(http_status >= 100); /* by_class[] has a place for each first digit */
    assert(http_status < 600);
    while (slot < METRIC_TIMES && (uint64_t)time_us > bound_us[slot])
        slot++;
    atomic_fetch_add_explicit(&metrics->time[slot], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->by_class[http_status / 100], 1, memory_order_relaxed);
    if (http_status == 429 || http_status == 449)
        atomic_fetch_add_explicit(&metrics->retry[http_status == 449], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->time_us, (unsigned long long)time_us, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->requests, 1, memory_order_relaxed);
    if (is_direct)
        atomic_fetch_add_explicit(&metrics->direct, 1, memory_order_relaxed);
}

static const char *name_of(size_t index)
{
    return index < route_count ? routes[index].name : "none";
}

static void print_counts(struct buf *out, const struct route_metrics *metrics, size_t index)
{
    for (int class = 1; class <= 5; class ++) {
        uint64_t count = atomic_load_explicit(&metrics[index].by_class[class], memory_order_relaxed);

        if (count)
            buf_printf(out, "orrery_requests_total{operation=\"%s\",status=\"%dxx\"} %llu\n", name_of(index),
                       class, (unsigned long long)count);
    }
}

/* Answers that ask the client to send the request again. */
static void print_retries(struct buf *out, const struct route_metrics *metrics, size_t index)
{
    for (int i = 0; i < 2; i++) {
        uint64_t count = atomic_load_explicit(&metrics[index].retry[i], memory_order_relaxed);

        if (count)
            buf_printf(out, "orrery_requests_retry_total{operation=\"%s\",status=\"%d\"} %llu\n",
                       name_of(index), i ? 449 : 429, (unsigned long long)count);
    }
}

static void print_direct(struct buf *out, const struct route_metrics *metrics, size_t index)
{
    uint64_t count = atomic_load_explicit(&metrics[index].direct, memory_order_relaxed);

    if (count)
        buf_printf(out, "orrery_requests_direct_total{operation=\"%s\"} %llu\n", name_of(index),
                   (unsigned long long)count);
}

static void print_times(struct buf *out, const struct route_metrics *metrics, size_t index)
{
    uint64_t sum = atomic_load_explicit(&metrics[index].time_us, memory_order_relaxed);
    uint64_t count = 0;

    for (size_t i = 0; i < METRIC_TIMES; i++) {
        count += atomic_load_explicit(&metrics[index].time[i], memory_order_relaxed);
        buf_printf(out, "orrery_request_seconds_bucket{operation=\"%s\",le=\"%g\"} %llu\n", name_of(index),
                   (double)bound_us[i] / 1e6, (unsigned long long)count);
    }
    count += atomic_load_explicit(&metrics[index].time[METRIC_TIMES], memory_order_relaxed);
    buf_printf(out, "orrery_request_seconds_bucket{operation=\"%s\",le=\"+Inf\"} %llu\n", name_of(index),
               (unsigned long long)count);
    buf_printf(out, "orrery_request_seconds_sum{operation=\"%s\"} %.6f\n", name_of(index), (double)sum / 1e6);
    buf_printf(out, "orrery_request_seconds_count{operation=\"%s\"} %llu\n", name_of(index),
               (unsigned long long)count);
}

void metrics_print(struct buf *out, const struct route_metrics *metrics)
{
    buf_text(out, "# TYPE orrery_requests_total counter\n");
    for (size_t i = 0; i <= route_count; i++)
        print_counts(out, metrics, i);
    buf_text(out, "# TYPE orrery_requests_retry_total counter\n");
    for (size_t i = 0; i <= route_count; i++)
        print_retries(out, metrics, i);
    buf_text(out, "# TYPE orrery_requests_direct_total counter\n");
    for (size_t i = 0; i <= route_count; i++)
        print_direct(out, metrics, i);
    buf_text(out, "# TYPE orrery_request_seconds histogram\n");
    for (size_t i = 0; i <= route_count; i++)
        if (atomic_load_explicit(&metrics[i].requests, memory_order_relaxed))
            print_times(out, metrics, i);
}
