/* src/http/server.c - opens, starts, stops and counts: the calls of http.h. */
#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/thread.h"
#include "http/server.h"

/* The cores that this process may run on: in a container or under taskset they are fewer than the machine has. */
static size_t core_count(void)
{
    cpu_set_t usable;

    if (sched_getaffinity(0, sizeof(usable), &usable) != 0)
        return 1;
    return (size_t)CPU_COUNT(&usable);
}

/* Those that wait are small each and many together: they leave room for others. */
static size_t queue_max(const struct account *account, size_t most)
{
    size_t room = account ? account_kept(account) / POOL_WAITING_PART / POOL_WAITING_BYTES : most;

    return room < most ? room : most;
}

static struct pool *open_pool(const struct account *account)
{
    size_t slow = POOL_SLOW_THREADS_PER_CORE * core_count();

    if (slow < POOL_SLOW_THREADS_MIN)
        slow = POOL_SLOW_THREADS_MIN;
    if (slow > POOL_SLOW_THREADS_MAX)
        slow = POOL_SLOW_THREADS_MAX;
    return pool_open(&(struct pool_limits){
        .threads = POOL_THREADS_MAX,
        .class = { [CLASS_QUICK] = { POOL_THREADS_MAX, POOL_QUEUE_MAX },
                   [CLASS_SCANS] = { slow, queue_max(account, POOL_SLOW_QUEUE_MAX),
                                     slow - slow / POOL_KEPT_PART },
                   [CLASS_SCRIPTS] = { POOL_SCRIPT_THREADS_MAX, queue_max(account, POOL_SCRIPT_QUEUE_MAX),
                                       POOL_SCRIPT_THREADS_MAX - POOL_SCRIPT_THREADS_MAX / POOL_KEPT_PART } },
        .kept = POOL_THREADS_KEPT,
        .idle_ms = POOL_IDLE_MS,
        .slow_ms = POOL_SLOW_MS,
        .slow_nice = POOL_SLOW_NICE });
}

static enum status open_listeners(struct op *op, struct http_server *server)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < server->options.listen_count; i++)
        TRY(listen_add(op, &server->listeners, server->options.listen[i]));
    for (size_t i = 0; i < server->options.optional_count; i++)
        if (listen_add(op, &server->listeners, server->options.optional[i]) != ST_OK)
            log_line(LOG_WARN, "%s; it goes on without", op->error);
    if (server->listeners.count == 0)
        st = op_fail(op, ST_BAD_REQUEST, "there is no address to listen on");
out:
    return st;
}

static enum status open_loops(struct op *op, struct http_server *server)
{
    size_t wanted = server->options.loops ? server->options.loops : core_count();
    enum status st = ST_OK;

    server->loops = calloc(wanted, sizeof(*server->loops));
    server->pool = open_pool(server->options.account);
    server->peers = peers_open(server->options.connections_max);
    if (!server->loops || !server->pool || !server->peers)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    for (; server->loop_count < wanted; server->loop_count++)
        TRY(loop_open(op, server, &server->loops[server->loop_count]));
out:
    return st;
}

enum status http_open(struct op *op, const struct http_options *options, struct http_server **server)
{
    struct http_server *made = calloc(1, sizeof(*made));
    enum status st;

    if (!made)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    assert(options->handler && options->write_error && options->env);
    assert(options->head_bytes_max > 0 && options->request_ms > 0 && options->idle_ms > 0);
    made->options = *options;
    TRY(open_listeners(op, made));
    if (options->tls_cert_file)
        TRY(tls_open(op, options->tls_cert_file, options->tls_key_file, &made->tls));
    TRY(open_loops(op, made));
    *server = made;
    made = NULL;
out:
    http_free(made);
    return st;
}

const char *http_address(const struct http_server *server, size_t index)
{
    return index < server->listeners.count ? server->listeners.each[index].address : NULL;
}

static void join_loops(struct http_server *server, size_t count_started)
{
    thread_assert_may_block();
    atomic_store(&server->stopping, true);
    for (size_t i = 0; i < count_started; i++)
        loop_wake(&server->loops[i]);
    for (size_t i = 0; i < count_started; i++)
        pthread_join(server->loops[i].thread, NULL);
}

enum status http_start(struct op *op, struct http_server *server)
{
    size_t started = 0;
    enum status st = ST_OK;

    assert(!server->started);
    assert(!atomic_load(&server->stopping)); /* it is started once */
    assert(server->loop_count > 0);
    atomic_store(&server->accepting, server->loop_count);
    for (; started < server->loop_count; started++)
        TRY(loop_start(op, &server->loops[started]));
    server->started = true;
out:
    if (st != ST_OK)
        join_loops(server, started);
    return st;
}

void http_stop(struct http_server *server, int64_t drain_ms)
{
    if (!server->started)
        return;
    server->drain_ms = drain_ms > 0 ? drain_ms : 0;
    join_loops(server, server->loop_count);
    server->started = false;
}

/* The last jobs have been given back; the threads that did it still touch the loops for a moment. */
static void wait_for_resumes(struct http_server *server)
{
    for (size_t i = 0; i < server->loop_count; i++)
        door_close(&server->loops[i].pending);
}

void http_free(struct http_server *server)
{
    if (!server)
        return;
    http_stop(server, 0);
    pool_close(server->pool); /* before the loops: its threads wake them */
    wait_for_resumes(server); /* and so do the threads that resume jobs */
    for (size_t i = 0; i < server->loop_count; i++)
        loop_close(&server->loops[i]);
    assert(atomic_load(&server->connections_open) == 0);
    peers_close(server->peers);
    listen_close(&server->listeners);
    tls_close(server->tls);
    free(server->loops);
    free(server);
}

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void http_stats(struct http_server *server, struct http_stats *stats)
{
    *stats = (struct http_stats){ .connections_open = load(&server->connections_open) };
    for (size_t i = 0; i < server->loop_count; i++) {
        const struct loop_counts *counts = &server->loops[i].counts;

        stats->connections_total += load(&counts->connections);
        stats->connections_refused += load(&counts->refused);
        stats->requests += load(&counts->requests);
        stats->requests_on_pool += load(&counts->requests_on_pool);
        stats->bytes_in += load(&counts->bytes_in);
        stats->bytes_out += load(&counts->bytes_out);
        stats->malformed += load(&counts->malformed);
        stats->timeouts += load(&counts->timeouts);
    }
    pool_stats(server->pool, &stats->pool_threads, &stats->pool_queued);
}
