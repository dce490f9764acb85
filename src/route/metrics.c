/* src/route/metrics.c - request metrics in Prometheus' text form. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "route/metrics.h"
#include "route/route.h"

/* The last request of each slot that a trace was kept of. */
struct metric_examples {
    pthread_mutex_t mutex;
    struct {
        struct trace_id trace;
        int64_t time_us, at_ms;
    } slot[METRIC_TIMES + 1];
};

/* Upper bounds of the histogram, in microseconds. */
const uint64_t metric_bound_us[METRIC_TIMES] = { 50,   100,   250,   500,    1000,    2500,
                                                 5000, 10000, 50000, 250000, 1000000, 5000000 };

static size_t slot_of(int64_t time_us)
{
    size_t slot = 0;

    while (slot < METRIC_TIMES && (uint64_t)time_us > metric_bound_us[slot])
        slot++;
    return slot;
}

void metrics_count(struct route_metrics *metrics, int http_status, int64_t time_us, bool is_direct)
{
    size_t slot = slot_of(time_us);

    assert(http_status >= 100); /* by_class[] has a place for each first digit */
    assert(http_status < 600);
    atomic_fetch_add_explicit(&metrics->time[slot], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->by_class[http_status / 100], 1, memory_order_relaxed);
    if (http_status == 429 || http_status == 449)
        atomic_fetch_add_explicit(&metrics->retry[http_status == 449], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->time_us, (unsigned long long)time_us, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->requests, 1, memory_order_relaxed);
    if (is_direct)
        atomic_fetch_add_explicit(&metrics->direct, 1, memory_order_relaxed);
}

/* Made by the first who has one. */
static struct metric_examples *examples_of(struct route_metrics *metrics)
{
    struct metric_examples *there = atomic_load(&metrics->examples), *made;

    if (there)
        return there;
    made = heap_allocate(sizeof(*made));
    pthread_mutex_init(&made->mutex, NULL);
    if (atomic_compare_exchange_strong(&metrics->examples, &there, made))
        return made;
    pthread_mutex_destroy(&made->mutex);
    free(made);
    return there;
}

void metrics_note_example(struct route_metrics *metrics, const struct trace_id *trace, int64_t time_us,
                          int64_t now_ms)
{
    struct metric_examples *examples = examples_of(metrics);
    size_t slot = slot_of(time_us);

    pthread_mutex_lock(&examples->mutex);
    examples->slot[slot].trace = *trace;
    examples->slot[slot].time_us = time_us;
    examples->slot[slot].at_ms = now_ms;
    pthread_mutex_unlock(&examples->mutex);
}

void metrics_free(struct route_metrics *metrics)
{
    for (size_t i = 0; i <= route_count; i++) {
        struct metric_examples *examples = atomic_load(&metrics[i].examples);

        if (!examples)
            continue;
        pthread_mutex_destroy(&examples->mutex);
        free(examples);
    }
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

/* Behind a line of the histogram: # {trace_id="..."} 0.012 1789000000.123 */
static void print_example(struct buf *out, const struct route_metrics *metrics, size_t slot)
{
    struct metric_examples *examples = atomic_load(&metrics->examples);

    if (!examples)
        return;
    pthread_mutex_lock(&examples->mutex);
    if (examples->slot[slot].trace.text[0])
        buf_printf(out, " # {trace_id=\"%s\"} %.6f %lld.%03lld", examples->slot[slot].trace.text,
                   (double)examples->slot[slot].time_us / 1e6, (long long)examples->slot[slot].at_ms / 1000,
                   (long long)examples->slot[slot].at_ms % 1000);
    pthread_mutex_unlock(&examples->mutex);
}

static void print_bucket(struct buf *out, const struct route_metrics *metrics, size_t index, size_t slot,
                         uint64_t count, bool with_examples)
{
    buf_printf(out, "orrery_request_seconds_bucket{operation=\"%s\",le=\"", name_of(index));
    if (slot < METRIC_TIMES)
        buf_printf(out, "%g\"} %llu", (double)metric_bound_us[slot] / 1e6, (unsigned long long)count);
    else
        buf_printf(out, "+Inf\"} %llu", (unsigned long long)count);
    if (with_examples)
        print_example(out, &metrics[index], slot);
    buf_byte(out, '\n');
}

static void print_times(struct buf *out, const struct route_metrics *metrics, size_t index,
                        bool with_examples)
{
    uint64_t sum = atomic_load_explicit(&metrics[index].time_us, memory_order_relaxed);
    uint64_t count = 0;

    for (size_t i = 0; i <= METRIC_TIMES; i++) {
        count += atomic_load_explicit(&metrics[index].time[i], memory_order_relaxed);
        print_bucket(out, metrics, index, i, count, with_examples);
    }
    buf_printf(out, "orrery_request_seconds_sum{operation=\"%s\"} %.6f\n", name_of(index), (double)sum / 1e6);
    buf_printf(out, "orrery_request_seconds_count{operation=\"%s\"} %llu\n", name_of(index),
               (unsigned long long)count);
}

void metrics_print(struct buf *out, const struct route_metrics *metrics, bool with_examples)
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
            print_times(out, metrics, i, with_examples);
}

static uint64_t read_counter(const atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_total(const struct route_metrics *metrics, struct request_totals *totals)
{
    *totals = (struct request_totals){ 0 };
    for (size_t i = 0; i <= route_count; i++) {
        if (!read_counter(&metrics[i].requests))
            continue;
        for (size_t class = 1; class < 6; class ++)
            totals->by_class[class] += read_counter(&metrics[i].by_class[class]);
        for (size_t slot = 0; slot <= METRIC_TIMES; slot++)
            totals->time[slot] += read_counter(&metrics[i].time[slot]);
        totals->retry[0] += read_counter(&metrics[i].retry[0]);
        totals->retry[1] += read_counter(&metrics[i].retry[1]);
        totals->time_us += read_counter(&metrics[i].time_us);
    }
}

void metrics_print_routes(struct buf *out, const struct route_metrics *metrics)
{
    const char *before = "[";

    for (size_t i = 0; i <= route_count; i++) {
        if (!read_counter(&metrics[i].requests))
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"requests\":%llu,\"failed\":%llu,\"seconds\":%.6f}", before,
                   name_of(i), (unsigned long long)read_counter(&metrics[i].requests),
                   (unsigned long long)read_counter(&metrics[i].by_class[4]) +
                       (unsigned long long)read_counter(&metrics[i].by_class[5]),
                   (double)read_counter(&metrics[i].time_us) / 1e6);
        before = ",";
    }
    buf_text(out, *before == '[' ? "[]" : "]");
}

void metrics_as_openmetrics(struct buf *out, struct slice text)
{
    static const char ending[] = "_total counter";
    enum { TOTAL_BYTES = sizeof("_total") - 1, ENDING_BYTES = sizeof(ending) - 1 };

    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        struct slice line = slice_make(text.data, end ? (size_t)(end - text.data) : text.size);
        bool is_counter = slice_starts_with(line, "# TYPE ") && line.size > ENDING_BYTES &&
                          slice_is(slice_after(line, line.size - ENDING_BYTES), ending);

        text = slice_after(text, line.size + (end != NULL));
        if (is_counter)
            line.size -= ENDING_BYTES;
        buf_slice(out, line);
        buf_text(out, is_counter ? ending + TOTAL_BYTES : "");
        buf_byte(out, '\n');
    }
    buf_text(out, "# EOF\n");
}
