/* src/http/loop.c - one thread of the event loop: accepts, ticks, takes back what the pool has done. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/thread.h"
#include "http/server.h"

enum { TICK_MS_MAX = 250, TICK_MS_MIN = 5 };

/* Jobs that come back */

/* True when the job is the only one there. After this call the job belongs to the loop. */
static bool push_returned(struct loop *loop, struct job *job)
{
    struct job *before = atomic_load_explicit(&loop->returned, memory_order_relaxed);

    do {
        job->next = before;
    } while (!atomic_compare_exchange_weak_explicit(&loop->returned, &before, job, memory_order_release,
                                                    memory_order_relaxed));
    return !before;
}

void loop_return(struct job *job)
{
    struct loop *loop = job->connection->loop;

    thread_assert_may_block();    /* a pool thread's */
    if (push_returned(loop, job)) /* otherwise somebody has woken the loop, and it has not looked yet */
        loop_wake(loop);
}

/*
 * Those of a group are given back before their loops are woken: a wake for each would cost more than the rest of it. One
 * that is awake and takes them earlier is woken for nothing. It leaves `pending` last: until then the loops are there.
 */
void loop_resume(struct op *op, bool last)
{
    struct job *job = (struct job *)((char *)op - offsetof(struct job, exchange.op));
    struct loop *loop = job->connection->loop;
    struct http_server *server = loop->server;

    assert(op->resume == loop_resume);
    assert(!job->goes_on); /* once */
    job->goes_on = true;
    atomic_store(&loop->owed, true);
    push_returned(loop, job);
    for (size_t i = 0; last && i < server->loop_count; i++)
        if (atomic_exchange(&server->loops[i].owed, false))
            loop_wake(&server->loops[i]);
    door_leave(&loop->pending);
}

/* All jobs that were given back, the oldest first. */
static struct job *take_returned(struct loop *loop)
{
    struct job *job = atomic_exchange_explicit(&loop->returned, NULL, memory_order_acquire);
    struct job *oldest = NULL;

    while (job) {
        struct job *next = job->next;

        job->next = oldest;
        oldest = job;
        job = next;
    }
    return oldest;
}

/* Accepting */

/*
 * Out of descriptors: the waiting connection would wake us again and again, so one kept in
 * reserve is given up for it. When even that does not help, accepting rests until the next tick.
 */
static void refuse_with_reserve(struct loop *loop, uv_poll_t *poll, int listening_fd)
{
    int fd;

    if (loop->reserve_fd >= 0)
        close(loop->reserve_fd);
    fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    loop->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    count(&loop->counts.refused, 1);
    if (fd < 0 || loop->reserve_fd < 0) {
        uv_poll_stop(poll);
        loop->accept_paused = true;
        loop_keep_ticking(loop);
    }
}

void loop_connection_ended(struct loop *loop)
{
    uint64_t here = atomic_fetch_sub(&loop->open, 1);
    uint64_t everywhere = atomic_fetch_sub(&loop->server->connections_open, 1);

    assert(here > 0);
    assert(everywhere > 0);
}

/* The connection was meant for the loop `to`; the loop that drops it counts it. */
static void drop_connection(struct loop *loop, struct loop *to, int fd)
{
    loop_connection_ended(to);
    count(&loop->counts.refused, 1);
    close(fd);
}

/*
 * The loop with the fewest connections, this one if it is among them. Otherwise a loop that is awake would accept all
 * connections, and one core would serve them.
 */
static struct loop *least_loaded(struct loop *loop)
{
    struct http_server *server = loop->server;
    struct loop *least = loop;

    for (size_t i = 0; i < server->loop_count && !atomic_load(&server->stopping); i++)
        if (atomic_load(&server->loops[i].open) < atomic_load(&least->open))
            least = &server->loops[i];
    return least;
}

/* False without memory. */
static bool hand_over(struct loop *to, int fd)
{
    struct arrival *arrival = malloc(sizeof(*arrival));

    if (!arrival)
        return false;
    *arrival =
        (struct arrival){ .next = atomic_load_explicit(&to->arrivals, memory_order_relaxed), .fd = fd };
    while (!atomic_compare_exchange_weak_explicit(&to->arrivals, &arrival->next, arrival,
                                                  memory_order_release, memory_order_relaxed))
        ;
    loop_wake(to);
    return true;
}

static void take_connection(struct loop *loop, int fd)
{
    struct http_server *server = loop->server;
    struct loop *to = least_loaded(loop);

    atomic_fetch_add(&to->open, 1);
    if (atomic_fetch_add(&server->connections_open, 1) >= server->options.connections_max)
        drop_connection(loop, to, fd);
    else if (to == loop)
        connection_open(loop, fd);
    else if (!hand_over(to, fd))
        drop_connection(loop, to, fd);
}

/* Connections that other loops handed over. When this loop ends, nothing of them was read yet, and they are closed. */
static void take_arrivals(struct loop *loop, bool ends)
{
    struct arrival *next, *arrival = atomic_exchange_explicit(&loop->arrivals, NULL, memory_order_acquire);

    for (; arrival; arrival = next) {
        next = arrival->next;
        if (ends)
            drop_connection(loop, loop, arrival->fd);
        else
            connection_open(loop, arrival->fd);
        free(arrival);
    }
}

/* Accepts one connection for each wake, because every loop polls the same sockets. */
static void on_accept(uv_poll_t *poll, int status, int events)
{
    struct loop *loop = poll->loop->data;
    uv_os_fd_t listening_fd;
    int fd;

    (void)status, (void)events;
    loop_look_at_clock(loop);
    uv_fileno((uv_handle_t *)poll, &listening_fd);
    fd = accept4(listening_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        take_connection(loop, fd);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        refuse_with_reserve(loop, poll, listening_fd);
}

static void accept_on_all(struct loop *loop)
{
    for (size_t i = 0; i < loop->server->listeners.count; i++)
        uv_poll_start(&loop->accept[i], UV_READABLE, on_accept);
    loop->accept_paused = false;
}

/* Time */

static uint64_t tick_ms(const struct loop *loop)
{
    const struct http_options *options = &loop->server->options;
    int64_t shortest = options->request_ms < options->idle_ms ? options->request_ms : options->idle_ms;

    if (shortest / 2 > TICK_MS_MAX)
        return TICK_MS_MAX;
    return shortest / 2 < TICK_MS_MIN ? TICK_MS_MIN : (uint64_t)shortest / 2;
}

static void abandon_all(struct loop *loop)
{
    struct connection *next;

    for (struct connection *c = loop->connections; c; c = next) {
        next = c->next;
        connection_abandon(c);
    }
}

void loop_look_at_clock(struct loop *loop)
{
    loop->now_ms = (uint64_t)env_monotonic_ms(loop->server->options.env);
}

static void on_tick(uv_timer_t *timer)
{
    struct loop *loop = timer->loop->data;
    struct connection *next;

    loop_look_at_clock(loop);
    if (loop->accept_paused && !loop->stopping)
        accept_on_all(loop);
    if (loop->stopping && uv_now(&loop->uv) >= loop->drain_until_ms)
        abandon_all(loop);
    for (struct connection *c = loop->connections; c; c = next) {
        next = c->next;
        connection_check_time(c, loop->now_ms);
    }
    if (!loop->connections && !loop->accept_paused)
        uv_timer_stop(timer); /* an idle server sleeps */
}

void loop_keep_ticking(struct loop *loop)
{
    if (!uv_is_active((uv_handle_t *)&loop->tick))
        uv_timer_start(&loop->tick, on_tick, tick_ms(loop), tick_ms(loop));
}

/* Stopping */

void loop_end_if_done(struct loop *loop)
{
    if (!loop->stopping || loop->connections || uv_is_closing((uv_handle_t *)&loop->wake))
        return;
    uv_close((uv_handle_t *)&loop->tick, NULL);
    uv_close((uv_handle_t *)&loop->wake, NULL);
}

static void stop_accepting(struct loop *loop)
{
    struct http_server *server = loop->server;
    size_t accepting;

    for (size_t i = 0; i < server->listeners.count; i++)
        uv_close((uv_handle_t *)&loop->accept[i], NULL);
    accepting = atomic_fetch_sub(&server->accepting, 1);
    assert(accepting > 0);
    if (accepting == 1)
        listen_close(&server->listeners);
}

static void begin_stop(struct loop *loop)
{
    uint64_t drain_ms = (uint64_t)loop->server->drain_ms;
    struct connection *next;

    assert(!loop->stopping);
    loop->stopping = true;
    stop_accepting(loop);
    for (struct connection *c = loop->connections; c; c = next) {
        next = c->next;
        connection_drain(c);
    }
    loop->drain_until_ms = uv_now(&loop->uv) + drain_ms; /* whatever a test does to the env's clock */
    if (loop->connections)
        uv_timer_start(&loop->tick, on_tick, drain_ms < tick_ms(loop) ? drain_ms : tick_ms(loop),
                       tick_ms(loop));
    loop_end_if_done(loop);
}

/* A group of commits may have answered many requests of one connection: they are sent together. */
static void flush_all(struct loop *loop)
{
    while (loop->unsent) {
        struct connection *c = loop->unsent;

        loop->unsent = c->next_unsent;
        c->is_unsent = false;
        connection_flush(c);
    }
}

/* The wake comes with whatever else has happened by then. */
void loop_wait_for_turn(struct loop *loop, struct connection *c)
{
    if (c->awaits_turn)
        return;
    c->awaits_turn = true;
    c->next_turn = loop->turns;
    loop->turns = c;
    loop_wake(loop);
}

void loop_forget_turn(struct loop *loop, struct connection *c)
{
    struct connection **at = &loop->turns;

    if (!c->awaits_turn)
        return;
    while (*at != c) {
        assert(*at); /* it is in the list */
        at = &(*at)->next_turn;
    }
    *at = c->next_turn;
    c->awaits_turn = false;
}

/* Those that wait now: whoever waits again does so for the next wake. A turn ends no connection but its own. */
static void give_turns(struct loop *loop)
{
    struct connection *next, *c = loop->turns;

    loop->turns = NULL;
    for (; c; c = next) {
        next = c->next_turn;
        c->awaits_turn = false;
        connection_take_turn(c);
    }
}

/*
 * Takes the wake before anything is looked at: who comes later wakes the loop again. Whoever has marked the loop as woken writes once,
 * so the read finds that; the mark is taken back by an exchange, which sees what all had left who found it set.
 */
static void take_wake(struct loop *loop)
{
    uint64_t wakes;
    ssize_t size = read(loop->wake_fd, &wakes, sizeof(wakes));
    bool woken;

    assert(size == sizeof(wakes));
    woken = atomic_exchange(&loop->woken, false);
    assert(woken);
}

/*
 * What was put off comes first: an operation that began in this round may have been committed by somebody else's call, and with it
 * ends the right to call that store.
 */
static void on_wake(uv_poll_t *wake, int status, int events)
{
    struct loop *loop = wake->loop->data;
    struct job *next;

    (void)status, (void)events;
    thread_catch_up();
    take_wake(loop);
    loop_look_at_clock(loop);
    for (struct job *job = take_returned(loop); job; job = next) {
        next = job->next;
        connection_resume(job);
    }
    flush_all(loop);
    give_turns(loop);
    if (atomic_load(&loop->server->stopping) && !loop->stopping)
        begin_stop(loop);
    take_arrivals(loop, loop->stopping);
}

/*
 * Not by libuv's uv_async_send(): the loop that it wakes spins until the caller's write() has returned, on a busy machine for as long as
 * the caller is kept from going on. Here the caller touches nothing after the write. One wake stands for all that come before the
 * loop has looked.
 */
void loop_wake(struct loop *loop)
{
    const uint64_t one = 1;
    ssize_t size;

    if (atomic_exchange(&loop->woken, true))
        return;
    size = write(loop->wake_fd, &one, sizeof(one));
    assert(size == sizeof(one)); /* it would have to wait at 2^64 wakes */
}

/* The thread */

/* Everything that has arrived was begun: what many of those requests put off is done for them together. */
static void on_before_waiting(uv_prepare_t *before_waiting)
{
    struct loop *loop = before_waiting->loop->data;

    loop->steps_left = ROUND_STEPS_MAX;
    thread_catch_up();
}

static void catch_up_before_waiting(struct loop *loop)
{
    uv_prepare_init(&loop->uv, &loop->before_waiting);
    uv_prepare_start(&loop->before_waiting, on_before_waiting);
    uv_unref((uv_handle_t *)&loop->before_waiting); /* the loop does not go on for it */
}

static int init_wake(struct loop *loop)
{
    int error;

    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->wake_fd < 0)
        return uv_translate_sys_error(errno);
    error = uv_poll_init(&loop->uv, &loop->wake, loop->wake_fd);
    return error ? error : uv_poll_start(&loop->wake, UV_READABLE, on_wake);
}

static int init_handles(struct loop *loop)
{
    const struct listeners *listeners = &loop->server->listeners;
    int error;

    loop->uv.data = loop;
    loop->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    uv_timer_init(&loop->uv, &loop->tick);
    catch_up_before_waiting(loop);
    error = init_wake(loop);
    for (size_t i = 0; i < listeners->count && error == 0; i++)
        error = uv_poll_init(&loop->uv, &loop->accept[i], listeners->each[i].fd);
    return error;
}

enum status loop_open(struct op *op, struct http_server *server, struct loop *loop)
{
    int error;

    loop->server = server;
    loop->date_second = -1;
    loop->wake_fd = -1;
    error = uv_loop_init(&loop->uv);
    if (error == 0) {
        door_init(&loop->pending);
        error = init_handles(loop);
        if (error == 0)
            return ST_OK;
        loop_close(loop);
    }
    return op_fail(op, ST_UNAVAILABLE, "cannot start an event loop: %s", uv_strerror(error));
}

static void *run(void *argument)
{
    struct loop *loop = argument;
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE); /* OpenSSL writes with write() */
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    thread_forbid_blocking();
    thread_catches_up();
    accept_on_all(loop);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    thread_catch_up();
    return NULL;
}

enum status loop_start(struct op *op, struct loop *loop)
{
    int error = pthread_create(&loop->thread, NULL, run, loop);

    if (error != 0)
        return op_fail(op, ST_UNAVAILABLE, "cannot start a thread: %s", strerror(error));
    return ST_OK;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void loop_close(struct loop *loop)
{
    int error;

    uv_walk(&loop->uv, close_handle, NULL); /* those of a loop that was never started */
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    error = uv_loop_close(&loop->uv);
    assert(error == 0); /* every handle is closed */
    assert(!loop->connections);
    assert(!atomic_load(&loop->returned)); /* no job is on its way */
    door_free(&loop->pending);
    take_arrivals(loop, true);
    job_free_all(loop);
    if (loop->reserve_fd >= 0)
        close(loop->reserve_fd);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
}
