/*
 * embedded/transport.c - the transport of a client whose database is in its own process; and what such a client alone can.
 * A call that waits is done by the thread that calls. One that does not is begun there, too: a write comes back when it
 * is committed, together with those that were begun beside it, and what would wait goes to a thread of the pool.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client.h"
#include "embedded/errand.h"

/* One attempt of a call that does not wait. */
struct trip {
    struct inside *inside;
    struct errand *errand;
    struct call *call; /* NULL: nobody wants to know any more */
    struct trip *next; /* among those that are ready, or among those that are free */
};

struct inside {
    struct held *held;
    struct errand *waiting; /* of calls that wait */
    struct trip *idle;
    size_t away; /* trips that are neither idle nor taken back */
    int event;   /* a descriptor that can be read when there are some that are ready */

    pthread_mutex_t mutex; /* guards what follows */
    struct trip *ready, **last;
};

/* ---- opening */

static orrery_status status_of(enum held_outcome outcome)
{
    static const orrery_status statuses[] = { [HELD_OK] = ORRERY_OK,
                                              [HELD_NO_MEMORY] = ORRERY_ENOMEM,
                                              [HELD_WRONG] = ORRERY_EINVAL,
                                              [HELD_BUSY] = ORRERY_EBUSY,
                                              [HELD_FAILED] = ORRERY_EIO };

    return statuses[outcome];
}

static orrery_status take_database(orrery_client *client, const orrery_settings *settings)
{
    const orrery_client *other = SETTING(settings, database_of);
    struct held_settings given = { .directory = SETTING(settings, directory),
                                   .async = SETTING(settings, async) != 0,
                                   .cache_mb = SETTING(settings, cache_mb),
                                   .memory_mb = SETTING(settings, memory_mb),
                                   .script_program = SETTING(settings, script_program) };
    char why[HELD_WHY_SIZE];
    enum held_outcome outcome;

    if (other && !other->inside)
        return client_fail(client, ORRERY_EINVAL,
                           "the client of database_of has no database inside the program");
    if (other) {
        client->inside->held = held_share(other->inside->held);
        return ORRERY_OK;
    }
    outcome = held_take(&given, &client->inside->held, why);
    if (outcome == HELD_NO_MEMORY)
        return client_no_memory(client);
    return outcome == HELD_OK ? ORRERY_OK : client_fail(client, status_of(outcome), "%s", why);
}

/* The set that a program with a loop of its own polls has one descriptor. */
static orrery_status open_event(orrery_client *client)
{
    struct inside *inside = client->inside;

    inside->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (inside->event < 0)
        return client_fail(client, ORRERY_EIO, "no descriptor: %s", strerror(errno));
    if (!memory_grow(&client->fds, &client->fd_capacity, 1, sizeof(*client->fds)))
        return client_no_memory(client);
    client->fds[0] = (struct pollfd){ .fd = inside->event, .events = POLLIN };
    client->fd_count = 1;
    return ORRERY_OK;
}

static orrery_status open_inside(orrery_client *client, const orrery_settings *settings)
{
    orrery_status status;

    client->inside = allocator_zeroed(1, sizeof(*client->inside));
    if (!client->inside)
        return client_no_memory(client);
    client->inside->event = -1;
    client->inside->last = &client->inside->ready;
    pthread_mutex_init(&client->inside->mutex, NULL);
    status = open_event(client);
    return status == ORRERY_OK ? take_database(client, settings) : status;
}

/* ---- trips */

/* Any thread calls this. The event is told only of the first: whoever hears of it takes all. */
static void note_ready(struct errand *errand)
{
    struct trip *trip = errand_owner(errand);
    struct inside *inside = trip->inside;
    bool is_first;

    pthread_mutex_lock(&inside->mutex);
    is_first = !inside->ready;
    trip->next = NULL;
    *inside->last = trip;
    inside->last = &trip->next;
    if (is_first)
        eventfd_write(inside->event, 1); /* under the lock: behind it the client may be closed */
    pthread_mutex_unlock(&inside->mutex);
}

static struct trip *take_ready(struct inside *inside)
{
    struct trip *ready;
    eventfd_t count;

    pthread_mutex_lock(&inside->mutex);
    ready = inside->ready;
    inside->ready = NULL;
    inside->last = &inside->ready;
    if (ready)
        (void)!eventfd_read(inside->event, &count);
    pthread_mutex_unlock(&inside->mutex);
    return ready;
}

static struct trip *new_trip(struct inside *inside)
{
    struct trip *trip = inside->idle;

    if (trip) {
        inside->idle = trip->next;
        return trip;
    }
    trip = allocator_zeroed(1, sizeof(*trip));
    if (!trip)
        return NULL;
    trip->inside = inside;
    trip->errand = errand_new(inside->held, note_ready, trip);
    if (!trip->errand) {
        allocator_free(trip);
        return NULL;
    }
    return trip;
}

static void keep_trip(struct trip *trip)
{
    trip->call = NULL;
    trip->next = trip->inside->idle;
    trip->inside->idle = trip;
}

/* ---- a call as an errand */

/* "Name: value", "Name;" for one without a value, "Name:" for one that libcurl is not to send. */
static void fill_line(struct errand *errand, const char *line)
{
    size_t name = strcspn(line, ":;");
    const char *value = line + name + (line[name] != '\0');

    value += strspn(value, " \t");
    if (*value || line[name] == ';')
        errand_header(errand, slice_make(line, name), slice_of(value));
}

static void fill(struct errand *errand, struct call *call)
{
    static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };
    const char *end = call->head.data + call->head.size;

    errand_begin(errand, methods[call->method], call->target.path, call_left_ms(call));
    for (const char *line = call->head.data; line < end; line += strlen(line) + 1)
        fill_line(errand, line);
    if (call->has_body)
        errand_body(errand, buf_as_slice(&call->body));
    call->sent = 0;
    call->is_late = false;
}

static void take_head(orrery_response *response, struct slice head)
{
    while (head.size > 0) {
        const char *end = memchr(head.data, '\n', head.size);
        size_t size = end ? (size_t)(end - head.data) + 1 : head.size;

        if (response_take_head(response, head.data, size) != size)
            return;
        head = slice_after(head, size);
    }
}

static void take_answer(struct call *call, struct errand *errand)
{
    struct slice head, body;

    call->response->http = errand_answer(errand, &head, &body);
    if (call->response->http)
        take_head(call->response, head);
    if (call->response->http && body.size)
        response_take_body(call->response, body.data, body.size);
    call_attempt_ended(call, call->response->http ? CURLE_OK : CURLE_OUT_OF_MEMORY);
}

/* As over HTTP, a call whose time is over before it could be sent is not sent. */
static bool is_late(struct call *call)
{
    call->is_late = env_monotonic_ms(call->client->env) >= call->deadline_ms;
    return call->is_late;
}

static orrery_status perform_inside(struct call *call)
{
    struct inside *inside = call->client->inside;

    if (!inside->waiting)
        inside->waiting = errand_new(inside->held, NULL, NULL);
    if (!inside->waiting)
        return ORRERY_ENOMEM;
    fill(inside->waiting, call);
    if (is_late(call)) {
        call_attempt_ended(call, CURLE_OPERATION_TIMEDOUT);
        return ORRERY_OK;
    }
    call->sent = 1;
    errand_run(inside->waiting);
    take_answer(call, inside->waiting);
    return ORRERY_OK;
}

static orrery_status send_inside(struct call *call)
{
    struct inside *inside = call->client->inside;
    struct trip *trip = new_trip(inside);

    assert(!call->trip); /* the other one would be told of, for a call that may be gone */
    if (!trip)
        return ORRERY_ENOMEM;
    fill(trip->errand, call);
    if (!errand_keep(trip->errand)) {
        keep_trip(trip);
        return ORRERY_ENOMEM;
    }
    trip->call = call;
    call->trip = trip;
    call->sent = 1;
    inside->away++;
    if (errand_start(trip->errand))
        note_ready(trip->errand);
    return ORRERY_OK;
}

static void cancel_inside(struct call *call)
{
    if (!call->trip)
        return;
    errand_cancel(call->trip->errand);
    call->trip->call = NULL;
    call->trip = NULL;
}

/* ---- the loop */

static void take_back(struct inside *inside, struct trip *trip)
{
    struct call *call;

    if (!errand_go_on(trip->errand))
        return;
    assert(inside->away > 0);
    inside->away--;
    call = trip->call;
    if (call) {
        call->trip = NULL;
        take_answer(call, trip->errand);
    }
    keep_trip(trip);
}

static void take_back_all(struct inside *inside)
{
    for (struct trip *trip = take_ready(inside), *next; trip; trip = next) {
        next = trip->next;
        take_back(inside, trip);
    }
}

static orrery_status turn_inside(orrery_client *client, int wait_ms)
{
    if (poll(client->fds, client->fd_count, wait_ms) > 0)
        take_back_all(client->inside);
    return ORRERY_OK;
}

/* Nothing of the client's is left with another thread: writes that were begun are committed. */
static void close_inside(orrery_client *client)
{
    struct inside *inside = client->inside;

    if (!inside)
        return;
    while (inside->away > 0) {
        poll(client->fds, client->fd_count, -1);
        take_back_all(inside);
    }
    while (inside->idle) {
        struct trip *trip = inside->idle;

        inside->idle = trip->next;
        errand_free(trip->errand);
        allocator_free(trip);
    }
    errand_free(inside->waiting);
    held_release(inside->held);
    if (inside->event >= 0)
        close(inside->event);
    pthread_mutex_destroy(&inside->mutex);
    allocator_free(inside);
}

const struct transport transport_embedded = {
    .open = open_inside,
    .close = close_inside,
    .send = send_inside,
    .perform = perform_inside,
    .cancel = cancel_inside,
    .turn = turn_inside,
};

/* ---- what only such a client can */

void orrery_log_to(orrery_log *log, void *context, orrery_log_level level)
{
    held_log_to((held_log *)(void *)log, context, (int)level);
}

#define LISTEN(settings, member)                                                               \
    ((settings)->size >= offsetof(orrery_listen_settings, member) + sizeof((settings)->member) \
         ? (settings)->member                                                                  \
         : (__typeof__((settings)->member))0)

static bool is_sensible(const orrery_listen_settings *settings)
{
    return settings && struct_is_sized(settings) && LISTEN(settings, address) &&
           !LISTEN(settings, tls_cert) == !LISTEN(settings, tls_key);
}

orrery_status orrery_listen(orrery_client *client, const orrery_listen_settings *settings, char *address,
                            size_t address_size)
{
    char why[HELD_WHY_SIZE];
    enum held_outcome outcome;
    const char *bound = NULL;

    if (!client)
        return ORRERY_EINVAL;
    if (!client->inside)
        return client_refuse(client, ORRERY_EINVAL, "this client has no database inside the program");
    if (!is_sensible(settings))
        return client_refuse(client, ORRERY_EINVAL,
                             "where to listen: { .size = sizeof(settings), .address = ... }; "
                             "tls_cert and tls_key go together");
    client_begin(client);
    outcome = held_listen(client->inside->held,
                          &(struct held_listen){ .address = settings->address,
                                                 .key = LISTEN(settings, key),
                                                 .tls_cert = LISTEN(settings, tls_cert),
                                                 .tls_key = LISTEN(settings, tls_key),
                                                 .no_tls = LISTEN(settings, no_tls) != 0 },
                          &bound, why);
    if (outcome != HELD_OK)
        return client_fail(client, status_of(outcome), "%s", why);
    if (address && address_size > 0)
        snprintf(address, address_size, "%s", bound);
    return ORRERY_OK;
}

void orrery_listen_end(orrery_client *client)
{
    if (client && client->inside)
        held_listen_end(client->inside->held);
}
