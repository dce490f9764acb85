/* src/main/otlp.c - two buffers of spans: one is filled, one is sent. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "http/post.h"
#include "main/otlp.h"

/* What is around the spans; the buffers begin with it. */
static const char opening[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":"
    "\"orrery\"}},{\"key\":\"service.version\",\"value\":{\"stringValue\":\"" ORRERY_VERSION "\"}}]},"
    "\"scopeSpans\":[{\"scope\":{\"name\":\"orrery\",\"version\":\"" ORRERY_VERSION "\"},\"spans\":[";
static const char closing[] = "]}]}]}";

enum { OPENING_BYTES = sizeof(opening) - 1, CLOSING_BYTES = sizeof(closing) - 1 };

struct batch {
    char *bytes; /* OTLP_BUFFER_BYTES */
    size_t size, count;
};

struct otlp {
    struct post_target *target;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    struct batch filled;
    struct otlp_stats stats;
    bool stops;
    struct batch sent; /* the thread's own */
    bool is_away;      /* likewise: the last batch was not taken, which the log was told */
};

static void empty(struct batch *batch)
{
    memcpy(batch->bytes, opening, OPENING_BYTES);
    batch->size = OPENING_BYTES;
    batch->count = 0;
}

bool otlp_add(struct otlp *otlp, struct slice span)
{
    struct batch *batch = &otlp->filled;
    bool fits, was_half;

    pthread_mutex_lock(&otlp->mutex);
    fits = span.size + 1 + CLOSING_BYTES <= OTLP_BUFFER_BYTES - batch->size;
    was_half = batch->size >= OTLP_BUFFER_BYTES / 2;
    if (fits) {
        if (batch->count++)
            batch->bytes[batch->size++] = ',';
        memcpy(batch->bytes + batch->size, span.data, span.size);
        batch->size += span.size;
        if (!was_half && batch->size >= OTLP_BUFFER_BYTES / 2)
            pthread_cond_signal(&otlp->wake);
    } else {
        otlp->stats.dropped++;
    }
    pthread_mutex_unlock(&otlp->mutex);
    return fits;
}

void otlp_stats(struct otlp *otlp, struct otlp_stats *stats)
{
    *stats = (struct otlp_stats){ 0 };
    if (!otlp)
        return;
    pthread_mutex_lock(&otlp->mutex);
    *stats = otlp->stats;
    pthread_mutex_unlock(&otlp->mutex);
}

/* Sends what the thread has taken. A batch that is refused is not sent again: the next one has newer news. */
static void send_batch(struct otlp *otlp)
{
    struct batch *batch = &otlp->sent;
    int status;

    if (batch->count == 0)
        return;
    memcpy(batch->bytes + batch->size, closing, CLOSING_BYTES);
    status = post_send(otlp->target, "application/json",
                       slice_make(batch->bytes, batch->size + CLOSING_BYTES), OTLP_TIMEOUT_MS);
    if (otlp->is_away != (status / 100 != 2)) {
        otlp->is_away = status / 100 != 2;
        log_line(otlp->is_away ? LOG_WARN : LOG_INFO, "the collector of spans %s (status %d)",
                 otlp->is_away ? "takes none" : "takes them again", status);
    }
    pthread_mutex_lock(&otlp->mutex);
    if (otlp->is_away)
        otlp->stats.failed += batch->count;
    else
        otlp->stats.sent += batch->count;
    pthread_mutex_unlock(&otlp->mutex);
    empty(batch);
}

/* Waits for a second, for half a buffer, or for the end. True: it goes on. */
static bool take_batch(struct otlp *otlp)
{
    struct batch taken;
    struct timespec until;
    bool goes_on;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_mutex_lock(&otlp->mutex);
    while (!otlp->stops && otlp->filled.size < OTLP_BUFFER_BYTES / 2 &&
           pthread_cond_timedwait(&otlp->wake, &otlp->mutex, &until) != ETIMEDOUT)
        ;
    taken = otlp->filled;
    otlp->filled = otlp->sent;
    otlp->sent = taken;
    goes_on = !otlp->stops;
    pthread_mutex_unlock(&otlp->mutex);
    return goes_on;
}

static void *run(void *context)
{
    struct otlp *otlp = context;
    bool goes_on;

    do {
        goes_on = take_batch(otlp);
        send_batch(otlp);
    } while (goes_on);
    return NULL;
}

static void release(struct otlp *otlp)
{
    pthread_cond_destroy(&otlp->wake);
    pthread_mutex_destroy(&otlp->mutex);
    post_close(otlp->target);
    free(otlp->filled.bytes);
    free(otlp->sent.bytes);
    free(otlp);
}

enum status otlp_open(struct op *op, const char *url, struct otlp **otlp)
{
    struct otlp *made = calloc(1, sizeof(*made));
    pthread_condattr_t monotonic;
    enum status st;

    *otlp = NULL;
    if (!made)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    pthread_mutex_init(&made->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    made->filled.bytes = malloc(OTLP_BUFFER_BYTES);
    made->sent.bytes = malloc(OTLP_BUFFER_BYTES);
    if (!made->filled.bytes || !made->sent.bytes)
        TRY(op_fail(op, ST_UNAVAILABLE, "out of memory"));
    empty(&made->filled);
    empty(&made->sent);
    TRY(post_open(op, url, "/v1/traces", &made->target));
    if (pthread_create(&made->thread, NULL, run, made) != 0)
        TRY(op_fail(op, ST_UNAVAILABLE, "no thread for spans"));
    *otlp = made;
    made = NULL;
out:
    if (made)
        release(made);
    return st;
}

void otlp_close(struct otlp *otlp)
{
    struct timespec until;

    if (!otlp)
        return;
    pthread_mutex_lock(&otlp->mutex);
    otlp->stops = true;
    pthread_cond_signal(&otlp->wake);
    pthread_mutex_unlock(&otlp->mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += OTLP_LINGER_S;
    if (pthread_timedjoin_np(otlp->thread, NULL, &until) == 0)
        release(otlp);
    else
        pthread_detach(
            otlp->thread); /* it waits for a collector, and has what it needs until the process ends */
}
