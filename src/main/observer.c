/* src/main/observer.c - slow requests as lines, requests as spans. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/heap.h"
#include "base/log.h"
#include "main/observer.h"

enum {
    SPAN_ID_SIZE = 16,
    TEXT_SHOWN_MAX = 2048,
    RANGES_SHOWN_MAX = 16,
    SPAN_KIND_SERVER = 2,
    STATUS_ERROR = 2,
    SLOW_MS = 100 /* what is kept for those who look, unless --slow-ms says another time */
};

struct observer {
    struct otlp *otlp; /* NULL: no spans */
    int64_t slow_us;   /* of the log; 0: nothing is slow */
    int64_t kept_us;   /* of what is kept */
    struct slow *slow;
};

static int64_t kept_us(const struct settings *settings)
{
    return (settings->slow_ms ? settings->slow_ms : SLOW_MS) * 1000;
}

int64_t observer_from_us(const struct settings *settings)
{
    return settings->otlp ? PLANS_OF_ALL_US : kept_us(settings);
}

struct slow *observer_slow(const struct observer *observer)
{
    return observer->slow;
}

enum status observer_open(struct op *op, const struct settings *settings, struct observer **observer)
{
    struct observer *made;
    enum status st = ST_OK;

    *observer = NULL;
    made = heap_allocate(sizeof(*made));
    made->slow_us = settings->slow_ms * 1000;
    made->kept_us = kept_us(settings);
    made->slow = slow_open();
    if (settings->otlp)
        TRY(otlp_open(op, settings->otlp, &made->otlp));
    *observer = made;
    made = NULL;
out:
    observer_close(made);
    return st;
}

void observer_close(struct observer *observer)
{
    if (!observer)
        return;
    otlp_close(observer->otlp);
    slow_close(observer->slow);
    free(observer);
}

void observer_stats(const struct observer *observer, struct otlp_stats *stats)
{
    otlp_stats(observer ? observer->otlp : NULL, stats);
}

/* --- what both tell --- */

static struct slice shorten(struct slice text)
{
    return text.size > TEXT_SHOWN_MAX ? slice_make(text.data, TEXT_SHOWN_MAX) : text;
}

static void print_text(struct buf *out, struct slice text)
{
    size_t room = text.size * QUOTED_BYTES_MAX + QUOTED_BYTES_MAX;
    char *to;

    buf_byte(out, '"');
    to = buf_reserve(out, room);
    if (to)
        out->size += quoted_write(to, room, text);
    buf_byte(out, '"');
}

/* The ids of the ranges that the answer is about: "0,1,2". */
static void print_ranges(struct buf *out, const struct reply *reply)
{
    struct range_ids ranges = reply->about.ranges;

    for (size_t i = 0; i < ranges.count && i < RANGES_SHOWN_MAX; i++)
        buf_printf(out, "%s%u", i ? "," : "", (unsigned)ranges.id[i]);
    if (ranges.count > RANGES_SHOWN_MAX)
        buf_text(out, ",...");
}

/* --- slow requests --- */

static void print_fields(struct buf *out, struct op *op, const struct observed *seen)
{
    buf_printf(out,
               "\"event\":\"slow\",\"operation\":\"%s\",\"milliseconds\":%.3f,\"charge\":%.2f,\"status\":%d,"
               "\"activityId\":\"%s\",\"link\":",
               seen->operation, (double)seen->took_us / 1000, seen->charge, seen->answer->status,
               op->activity_id);
    print_text(out, shorten(seen->link));
    buf_text(out, ",\"ranges\":\"");
    print_ranges(out, seen->reply);
    buf_byte(out, '"');
    if (seen->reply->query.data) {
        buf_text(out, ",\"query\":");
        print_text(out, shorten(seen->reply->query));
    }
    if (seen->reply->plan.data) {
        buf_text(out, ",\"plan\":"); /* it is JSON */
        buf_slice(out, seen->reply->plan);
    }
}

static void tell_slow(struct op *op, const struct observed *seen)
{
    struct log_quote link = log_quote(seen->link);
    struct slice query = seen->reply->query, plan = seen->reply->plan;
    struct buf fields;

    buf_init(&fields, &op->arena);
    print_fields(&fields, op, seen);
    log_event(LOG_WARN, fields.failed ? slice_of("") : buf_as_slice(&fields),
              "slow: %s %s took %lld ms, %.2f RU, status %d, activity %s%s%s%s%.*s", seen->operation,
              link.text, (long long)seen->took_us / 1000, seen->charge, seen->answer->status, op->activity_id,
              query.data ? ", query " : "", query.data ? log_quote(query).text : "",
              plan.data ? ", plan " : "", (int)shorten(plan).size, plan.data ? plan.data : "");
}

/* --- spans --- */

static bool is_hex(struct slice text)
{
    bool is_zero = true;

    for (size_t i = 0; i < text.size; i++) {
        if (!((text.data[i] >= '0' && text.data[i] <= '9') || (text.data[i] >= 'a' && text.data[i] <= 'f')))
            return false;
        is_zero &= text.data[i] == '0';
    }
    return !is_zero;
}

/* W3C's "00-<trace>-<parent>-<flags>"; later versions may go on behind the flags. */
struct parent {
    struct slice trace, span; /* no data: there is none */
    bool is_sampled;
};

static struct parent parent_of(const struct request *request)
{
    struct slice header = slice_trim(request->header[HEADER_TRACEPARENT]);
    struct parent parent = { .is_sampled = true };
    bool is_later;

    if (!header.data || header.size < 55 || header.data[2] != '-' || header.data[35] != '-' ||
        header.data[52] != '-')
        return parent;
    is_later = header.data[0] != '0' || header.data[1] != '0';
    if ((!is_later && header.size != 55) || (is_later && header.size > 55 && header.data[55] != '-') ||
        slice_starts_with(header, "ff") || !is_hex(slice_make(header.data + 3, TRACE_ID_SIZE)) ||
        !is_hex(slice_make(header.data + 36, SPAN_ID_SIZE)) || !strchr("0123456789abcdef", header.data[54]))
        return parent;
    parent.trace = slice_make(header.data + 3, TRACE_ID_SIZE);
    parent.span = slice_make(header.data + 36, SPAN_ID_SIZE);
    parent.is_sampled = (header.data[54] >= 'a' ? header.data[54] - 'a' + 10 : header.data[54] - '0') & 1;
    return parent;
}

static void name_attribute(struct buf *out, const char *key, const char *type)
{
    buf_printf(out, "%s{\"key\":\"%s\",\"value\":{\"%s\":",
               out->size && out->data[out->size - 1] == '}' ? "," : "", key, type);
}

static void add_text(struct buf *out, const char *key, struct slice value)
{
    if (!value.data || value.size == 0)
        return;
    name_attribute(out, key, "stringValue");
    print_text(out, shorten(value));
    buf_text(out, "}}");
}

/* OTLP has integers as strings. */
static void add_number(struct buf *out, const char *key, long long value)
{
    name_attribute(out, key, "intValue");
    buf_printf(out, "\"%lld\"}}", value);
}

static void add_charge(struct buf *out, const char *key, double value)
{
    name_attribute(out, key, "doubleValue");
    buf_printf(out, "%.2f}}", value);
}

/* Of dbs/shop/colls/orders/docs/1 the second and the fourth. */
static struct slice part_of_link(struct slice link, int which)
{
    while (which-- > 0) {
        const char *slash = link.size ? memchr(link.data, '/', link.size) : NULL;

        link = slash ? slice_after(link, (size_t)(slash - link.data) + 1) : slice_make("", 0);
    }
    if (link.size && memchr(link.data, '/', link.size))
        link.size = (size_t)((const char *)memchr(link.data, '/', link.size) - link.data);
    return link;
}

/* The way is the plan's first member: {"way":"pick",... */
static struct slice way_of(struct slice plan)
{
    static const char before[] = "{\"way\":\"";
    struct slice way = { 0 };

    if (plan.data && slice_starts_with(plan, before)) {
        way = slice_after(plan, sizeof(before) - 1);
        way.size = (size_t)((const char *)memchr(way.data, '"', way.size) - way.data);
    }
    return way;
}

/* The names are those of OpenTelemetry's conventions for Cosmos DB where these have one. */
static void print_attributes(struct buf *out, struct op *op, const struct observed *seen)
{
    const struct reply *reply = seen->reply;
    struct buf ranges;

    buf_init(&ranges, &op->arena);
    print_ranges(&ranges, reply);
    add_text(out, "db.system.name", slice_of("azure.cosmosdb"));
    add_text(out, "db.operation.name", slice_of(seen->operation));
    add_text(out, "db.namespace", part_of_link(seen->link, 1));
    add_text(out, "db.collection.name", part_of_link(seen->link, 3));
    add_text(out, "db.query.text", reply->query);
    add_charge(out, "azure.cosmosdb.operation.request_charge", seen->charge);
    add_number(out, "azure.cosmosdb.response.sub_status_code", seen->sub_status);
    add_text(out, "http.request.method", slice_of(method_name(seen->request->method)));
    add_number(out, "http.response.status_code", seen->answer->status);
    add_number(out, "http.request.body.size", (long long)seen->request->body.size);
    add_number(out, "http.response.body.size", (long long)seen->answer->body.size);
    add_text(out, "client.address", seen->request->peer);
    add_text(out, "az.service_request_id", slice_of(op->activity_id));
    add_text(out, "orrery.ranges", buf_as_slice(&ranges));
    add_text(out, "orrery.way", way_of(reply->plan));
    add_text(out, "orrery.plan", reply->plan);
}

static void print_span(struct buf *out, struct op *op, const struct observed *seen,
                       const struct parent *parent, const char *trace)
{
    int64_t end_us = env_now_ms(op->env) * 1000;

    buf_printf(out, "{\"traceId\":\"%s\",\"spanId\":\"%016llx\",", trace,
               (unsigned long long)env_random_u64(op->env) | 1);
    if (parent->span.data)
        buf_printf(out, "\"parentSpanId\":\"%.*s\",", SLICE_ARGS(parent->span));
    buf_printf(
        out,
        "\"name\":\"%s\",\"kind\":%d,\"startTimeUnixNano\":\"%lld000\",\"endTimeUnixNano\":\"%lld000\","
        "\"attributes\":[",
        seen->operation, SPAN_KIND_SERVER, (long long)(end_us - seen->took_us), (long long)end_us);
    print_attributes(out, op, seen);
    buf_printf(out, "],\"status\":{\"code\":%d}}", seen->answer->status >= 500 ? STATUS_ERROR : 0);
}

static struct trace_id send_span(struct observer *observer, struct op *op, const struct observed *seen)
{
    struct parent parent = parent_of(seen->request);
    struct trace_id trace = { "" };
    struct buf span;

    if (!parent.is_sampled)
        return trace;
    if (parent.trace.data)
        memcpy(trace.text, parent.trace.data, TRACE_ID_SIZE);
    else
        snprintf(trace.text, sizeof(trace.text), "%016llx%016llx",
                 (unsigned long long)env_random_u64(op->env) | 1,
                 (unsigned long long)env_random_u64(op->env));
    buf_init(&span, &op->arena);
    print_span(&span, op, seen, &parent, trace.text);
    if (span.failed || !otlp_add(observer->otlp, buf_as_slice(&span)))
        trace.text[0] = '\0';
    return trace;
}

struct trace_id observer_see(void *context, struct op *op, const struct observed *observed)
{
    struct observer *observer = context;

    if (observer->slow_us && observed->took_us >= observer->slow_us)
        tell_slow(op, observed);
    if (observed->took_us >= observer->kept_us)
        slow_note(observer->slow, op, observed);
    return observer->otlp ? send_span(observer, op, observed) : (struct trace_id){ "" };
}
