/* src/route/metrics.c - request metrics in Prometheus' text form. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
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

static void add(atomic_ullong *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static uint64_t read_counter(const atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_count(struct route_metrics *metrics, int http_status, int64_t time_us, bool is_direct)
{
    struct metric_part *part = &metrics->part[thread_number() % METRIC_PARTS];

    assert(http_status >= 100); /* by_class[] has a place for each first digit */
    assert(http_status < 600);
    add(&part->time[slot_of(time_us)], 1);
    add(&part->by_class[http_status / 100], 1);
    if (http_status == 429 || http_status == 449)
        add(&part->retry[http_status == 449], 1);
    add(&part->time_us, (uint64_t)time_us);
    add(&part->requests, 1);
    if (is_direct)
        add(&part->direct, 1);
}

static void add_part(struct request_totals *totals, const struct metric_part *part)
{
    for (size_t class = 1; class < 6; class ++)
        totals->by_class[class] += read_counter(&part->by_class[class]);
    for (size_t slot = 0; slot <= METRIC_TIMES; slot++)
        totals->time[slot] += read_counter(&part->time[slot]);
    for (size_t i = 0; i < 2; i++)
        totals->retry[i] += read_counter(&part->retry[i]);
    totals->time_us += read_counter(&part->time_us);
    totals->requests += read_counter(&part->requests);
    totals->direct += read_counter(&part->direct);
}

static void add_route(struct request_totals *totals, const struct route_metrics *metrics)
{
    for (size_t i = 0; i < METRIC_PARTS; i++)
        if (read_counter(&metrics->part[i].requests))
            add_part(totals, &metrics->part[i]);
}

static struct request_totals totals_of(const struct route_metrics *metrics)
{
    struct request_totals totals = { 0 };

    add_route(&totals, metrics);
    return totals;
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

static void print_counts(struct buf *out, const struct request_totals *totals, size_t index)
{
    for (int class = 1; class <= 5; class ++)
        if (totals->by_class[class])
            buf_printf(out, "orrery_requests_total{operation=\"%s\",status=\"%dxx\"} %llu\n", name_of(index),
                       class, (unsigned long long)totals->by_class[class]);
}

/* Answers that ask the client to send the request again. */
static void print_retries(struct buf *out, const struct request_totals *totals, size_t index)
{
    for (int i = 0; i < 2; i++)
        if (totals->retry[i])
            buf_printf(out, "orrery_requests_retry_total{operation=\"%s\",status=\"%d\"} %llu\n",
                       name_of(index), i ? 449 : 429, (unsigned long long)totals->retry[i]);
}

static void print_direct(struct buf *out, const struct request_totals *totals, size_t index)
{
    if (totals->direct)
        buf_printf(out, "orrery_requests_direct_total{operation=\"%s\"} %llu\n", name_of(index),
                   (unsigned long long)totals->direct);
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
    struct request_totals totals = totals_of(&metrics[index]);
    uint64_t count = 0;

    if (!totals.requests)
        return;
    for (size_t i = 0; i <= METRIC_TIMES; i++) {
        count += totals.time[i];
        print_bucket(out, metrics, index, i, count, with_examples);
    }
    buf_printf(out, "orrery_request_seconds_sum{operation=\"%s\"} %.6f\n", name_of(index),
               (double)totals.time_us / 1e6);
    buf_printf(out, "orrery_request_seconds_count{operation=\"%s\"} %llu\n", name_of(index),
               (unsigned long long)count);
}

/* A kind of counter, of each route. */
static void print_each(struct buf *out, const struct route_metrics *metrics,
                       void (*print)(struct buf *out, const struct request_totals *totals, size_t index))
{
    for (size_t i = 0; i <= route_count; i++) {
        struct request_totals totals = totals_of(&metrics[i]);

        print(out, &totals, i);
    }
}

void metrics_print(struct buf *out, const struct route_metrics *metrics, bool with_examples)
{
    buf_text(out, "# TYPE orrery_requests_total counter\n");
    print_each(out, metrics, print_counts);
    buf_text(out, "# TYPE orrery_requests_retry_total counter\n");
    print_each(out, metrics, print_retries);
    buf_text(out, "# TYPE orrery_requests_direct_total counter\n");
    print_each(out, metrics, print_direct);
    buf_text(out, "# TYPE orrery_request_seconds histogram\n");
    for (size_t i = 0; i <= route_count; i++)
        print_times(out, metrics, i, with_examples);
}

void metrics_total(const struct route_metrics *metrics, struct request_totals *totals)
{
    *totals = (struct request_totals){ 0 };
    for (size_t i = 0; i <= route_count; i++)
        add_route(totals, &metrics[i]);
}

void metrics_print_routes(struct buf *out, const struct route_metrics *metrics)
{
    const char *before = "[";

    for (size_t i = 0; i <= route_count; i++) {
        struct request_totals totals = totals_of(&metrics[i]);
        unsigned long long failed = totals.by_class[4] + totals.by_class[5];

        if (!totals.requests)
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"requests\":%llu,\"failed\":%llu,\"seconds\":%.6f}", before,
                   name_of(i), (unsigned long long)totals.requests, failed, (double)totals.time_us / 1e6);
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
