/*
 * src/http/connection.c - the life of a connection, as a table of steps.
 * Each state has a step that goes as far as it can without waiting and says what it waits for;
 * run() repeats them. What libuv is asked to watch follows from that and is changed only there.
 */
#include <assert.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/thread.h"
#include "http/server.h"

enum {
    STEPS_PER_WAKE = 64, /* then the loop's other connections have their turn */
    LINGER_MS = 2000,
    BUFFER_KEPT_MS = 1000, /* an idle connection's buffer, while more requests are likely */
};

enum wait { GO_ON, WAIT_READ, WAIT_WRITE, WAIT_TURN, WAIT_POOL, WAIT_NOTHING /* it is closed */ };

static void run(struct connection *c);

static uint64_t now_ms(const struct connection *c)
{
    return c->loop->now_ms;
}

static void enter(struct connection *c, enum connection_state state)
{
    c->state = state;
    c->since_ms = now_ms(c);
    progress_begin(&c->request, c->since_ms);
}

void progress_begin(struct progress *progress, uint64_t at_ms)
{
    *progress = (struct progress){ .window_ms = at_ms };
}

bool progress_is_enough(struct progress *progress, uint64_t at_ms, uint64_t window_ms)
{
    if (at_ms - progress->window_ms <= window_ms)
        return true;
    if (progress->bytes < HTTP_PROGRESS_BYTES)
        return false;
    progress_begin(progress, at_ms);
    return true;
}

/* Ends */

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    struct loop *loop = c->loop;

    free(c);
    loop_end_if_done(loop);
}

static void unlink_connection(struct connection *c)
{
    if (c->previous) {
        assert(c->previous->next == c);
        c->previous->next = c->next;
    } else {
        assert(c->loop->connections == c);
        c->loop->connections = c->next;
    }
    if (c->next)
        c->next->previous = c->previous;
}

void connection_release(struct connection *c, struct input *input)
{
    peer_less(c->peer, &input->claim, input->claim.bytes);
    input_free(input);
}

bool connection_reserve(struct connection *c, struct input *input, size_t bytes)
{
    size_t wanted = input_capacity(input, bytes);

    if (wanted > input->claim.bytes) {
        input->claim.account = c->loop->server->options.account;
        input->claim.holder = HOLDER_BODIES;
        if (!peer_more(c->peer, &input->claim, wanted - input->claim.bytes))
            return false;
    }
    return input_reserve(input, bytes);
}

static void release_job(struct connection *c)
{
    peer_less(c->peer, &c->job->answer, c->job->answer.bytes);
    free(c->job->kept);
    c->job->kept = NULL;
    job_release(c->loop, c->job);
    c->job = NULL;
}

static enum wait close_connection(struct connection *c)
{
    assert(c->state != CONNECTION_POOL && c->state != CONNECTION_CLOSED);
    c->state = CONNECTION_CLOSED;
    unlink_connection(c);
    loop_forget_turn(c->loop, c);
    if (c->job)
        release_job(c);
    if (c->streams)
        streams_close(c);
    connection_release(c, &c->input);
    peers_leave(c->loop->server->peers, c->peer);
    uv_close((uv_handle_t *)&c->poll, on_closed); /* before the descriptor may come back as another's */
    transport_close(&c->transport);
    loop_connection_ended(c->loop);
    return WAIT_NOTHING;
}

static void watch(struct connection *c, int events);

/* The pool still reads from the connection's buffer, so the connection is closed when the job is back. */
static void leave_to_pool(struct connection *c)
{
    assert(c->job);
    watch(c, 0);
    c->gone = true;
    job_cancel(c->job);
}

/* The same for those requests of many that the pool has. The client need not wait for their end to see its own. */
static enum wait leave_streams_to_pool(struct connection *c)
{
    assert(c->streams);
    watch(c, 0);
    transport_end(&c->transport);
    c->gone = true;
    return WAIT_NOTHING;
}

void connection_abandon(struct connection *c)
{
    if (c->state == CONNECTION_POOL)
        leave_to_pool(c);
    else if (!c->streams || streams_abandon(c))
        close_connection(c);
    else
        leave_streams_to_pool(c);
}

/* Answers */

static enum wait answer(struct connection *c)
{
    assert(c->job);
    assert(c->state != CONNECTION_POOL); /* the job is the loop's */
    c->last = c->last || !c->job->parser.keep_alive || c->loop->stopping;
    answer_compose(c->loop, c->job, c->last);
    enter(c, CONNECTION_WRITE);
    return GO_ON;
}

/* The request will not be read to its end, so nothing after it can be read either. */
static enum wait refuse(struct connection *c, enum status why, const char *message)
{
    c->job->exchange.request.target = parser_target(&c->job->parser, &c->input);
    job_write_error(c->job, why, message);
    c->last = c->lingers = true;
    return answer(c);
}

static enum wait refuse_wrong(struct connection *c)
{
    const struct parser *parser = &c->job->parser;
    struct op *op = &c->job->exchange.op;

    count(&c->loop->counts.malformed, 1);
    if (parser->why != ST_BAD_REQUEST)
        return refuse(c, parser->why, parser->reason);
    op_set_error(op, "The request is not valid HTTP: %s", parser->reason);
    return refuse(c, ST_BAD_REQUEST, op->error);
}

static enum wait write_continue(struct connection *c)
{
    assert(!c->continues);
    c->job->parser.expects_continue = false;
    c->job->out[0] = slice_of("HTTP/1.1 100 Continue\r\n\r\n");
    c->job->out[1] = slice_of("");
    c->continues = true;
    enter(c, CONNECTION_WRITE);
    return GO_ON;
}

/* Requests */

void connection_describe(const struct connection *c, struct request *request)
{
    request->tls = c->transport.ssl != NULL;
    request->peer = slice_of(c->peer_name);
}

static enum wait serve(struct connection *c)
{
    struct request *request = &c->job->exchange.request;

    assert(c->state == CONNECTION_READ);
    parser_request(&c->job->parser, &c->input, request);
    connection_describe(c, request);
    if (job_serve(c->job) == SERVED)
        return answer(c);
    enter(c, CONNECTION_POOL);
    return WAIT_POOL;
}

static enum wait linger(struct connection *c)
{
    transport_end(&c->transport);
    connection_release(c, &c->input);
    enter(c, CONNECTION_LINGER);
    return GO_ON;
}

/* A client that was told why may still be sending, and reads it then. */
static enum wait end_streams(struct connection *c, bool was_told)
{
    if (!streams_abandon(c))
        return leave_streams_to_pool(c);
    return was_told && !c->loop->stopping ? linger(c) : close_connection(c);
}

static void resume_stream(struct job *job)
{
    struct connection *c = job->connection;

    streams_resume(job);
    if (!c->gone && !c->is_unsent) {
        c->is_unsent = true;
        c->next_unsent = c->loop->unsent;
        c->loop->unsent = c;
    } else if (c->gone && streams_is_idle(c)) {
        c->gone = false;
        end_streams(c, true);
        run(c);
    }
}

void connection_resume(struct job *job)
{
    struct connection *c = job->connection;

    if (c->streams) {
        resume_stream(job);
        return;
    }
    assert(c->state == CONNECTION_POOL);
    assert(c->job == job);
    if (job_take_back(job) ==
        SERVED_LATER) /* of a client that has gone, too: the operation has its own things to end */
        return;
    c->state = CONNECTION_WRITE; /* it is the loop's again, and may be closed */
    if (c->gone) {
        close_connection(c);
        return;
    }
    answer(c);
    run(c);
}

/* Steps */

static enum wait wait_of(enum io io)
{
    return io == IO_WANT_WRITE ? WAIT_WRITE : WAIT_READ;
}

static enum wait begin_streams(struct connection *c, const struct session_kind *kind)
{
    if (!streams_open(c, kind))
        return close_connection(c);
    enter(c, CONNECTION_STREAMS);
    return GO_ON;
}

/* What was read already is the session's. */
static enum wait switch_to_streams(struct connection *c, const struct session_kind *kind)
{
    if (begin_streams(c, kind) != GO_ON)
        return WAIT_NOTHING;
    return streams_take_input(c) ? GO_ON : end_streams(c, false);
}

/* The first bytes of a plain connection are those of HTTP/2 ("prior knowledge", RFC 9113, 3.3). */
static enum wait switch_to_http2(struct connection *c)
{
    if (c->began || c->transport.ssl) /* it has agreed on HTTP/1.1 */
        return refuse_wrong(c);
    job_release(c->loop, c->job);
    c->job = NULL;
    return switch_to_streams(c, &session_http2);
}

/*
 * The first bytes of Direct mode are the length of a small frame, so that the fourth is 0, which is in no request of HTTP.
 * GO_ON: it is HTTP, or goes on as what it is.
 */
static enum wait look_for_direct(struct connection *c)
{
    enum { LENGTH_BYTES = 4 };
    const struct session_kind *kind = c->loop->server->options.direct;
    const char *first = c->input.data + c->input.start;

    if (!kind || c->began || c->input.start > 0)
        return GO_ON;
    if (c->input.size < LENGTH_BYTES)
        return c->drained ? WAIT_READ : GO_ON;
    if (first[LENGTH_BYTES - 1] != 0)
        return GO_ON;
    return c->refuses_plain ? close_connection(c) : switch_to_streams(c, kind);
}

static enum wait step_new(struct connection *c)
{
    uint8_t first;
    enum io io = transport_peek(&c->transport, &first);

    if (io == IO_CLOSED)
        return close_connection(c);
    if (io != IO_DONE)
        return WAIT_READ;
    if (first != TLS_FIRST_BYTE || !c->loop->server->tls) {
        c->refuses_plain = c->loop->server->options.tls_only && !transport_is_from_here(&c->transport);
        enter(c, CONNECTION_READ);
        return GO_ON;
    }
    if (!transport_begin_tls(&c->transport, c->loop->server->tls))
        return close_connection(c);
    enter(c, CONNECTION_HANDSHAKE);
    return GO_ON;
}

static enum wait step_handshake(struct connection *c)
{
    enum io io = transport_handshake(&c->transport);

    if (io == IO_CLOSED)
        return close_connection(c);
    if (io != IO_DONE)
        return wait_of(io);
    c->drained = !transport_pending(&c->transport);
    if (transport_is_http2(&c->transport))
        return begin_streams(c, &session_http2);
    enter(c, CONNECTION_READ);
    return c->drained ? WAIT_READ : GO_ON;
}

static enum wait fill(struct connection *c)
{
    struct input *input = &c->input;
    size_t room, size = 0;
    enum io io;

    if (!connection_reserve(c, input, INPUT_READ_BYTES))
        return c->job ? refuse(c, ST_UNAVAILABLE, "The server has no room for this request at this time.")
                      : close_connection(c);
    room = input->capacity - input->size;
    if (room > c->loop->left_bytes)
        room = c->loop->left_bytes;
    io = transport_recv(&c->transport, input->data + input->size, room, &size);
    if (io == IO_CLOSED)
        return close_connection(c);
    if (io != IO_DONE)
        return wait_of(io);
    input->size += size;
    c->request.bytes += size;
    loop_moved(c->loop, size);
    count(&c->loop->counts.bytes_in, size);
    c->drained = size < room && !transport_pending(&c->transport);
    return GO_ON;
}

/* Looks at the head alone. Its slices end when more is read, and the handler gets them anew. */
static bool admit(struct connection *c)
{
    struct request *request = &c->job->exchange.request;
    bool admitted;

    parser_request_head(&c->job->parser, &c->input, request);
    request->tls = c->transport.ssl != NULL;
    request->peer = slice_of(c->peer_name);
    admitted = job_admit(c->job);
    if (admitted)
        *request = (struct request){ .target = slice_of(""), .body = slice_of("") };
    return admitted;
}

/* It has its answer. Nothing of the body will be read, so nothing after it can be read either. */
static enum wait refuse_body(struct connection *c)
{
    c->last = c->lingers = true;
    return answer(c);
}

static enum wait step_read(struct connection *c)
{
    enum wait wait = input_has_more(&c->input) ? GO_ON : fill(c);

    if (wait == GO_ON && !c->job)
        wait = look_for_direct(c);
    if (wait != GO_ON || c->state != CONNECTION_READ)
        return wait;
    if (!c->job) {
        c->job = job_take(c->loop);
        if (!c->job)
            return close_connection(c);
        c->job->connection = c;
        progress_begin(&c->request, now_ms(c)); /* it may have been idle before */
    }
    if (c->refuses_plain)
        return refuse(c, ST_BAD_HEADER,
                      "This server speaks https only. (serve --tls-only=no has it speak http, too.)");
    switch (parser_feed(&c->job->parser, &c->input)) {
    case PARSED_WHOLE:
        return serve(c);
    case PARSED_WRONG:
        return refuse_wrong(c);
    case PARSED_HTTP2:
        return switch_to_http2(c);
    case PARSED_MORE:
        break;
    }
    if (!c->job->admitted && parser_needs_admission(&c->job->parser, HTTP_SMALL_BODY_BYTES) && !admit(c))
        return refuse_body(c);
    if (parser_awaits_continue(&c->job->parser))
        return write_continue(c);
    return c->drained ? WAIT_READ : GO_ON;
}

static enum wait finish_answer(struct connection *c)
{
    assert(!c->continues);
    release_job(c);
    c->began = true;
    if (c->last || c->loop->stopping) /* an answer that was begun before the stop did not say so */
        return c->lingers ? linger(c) : close_connection(c);
    input_next(&c->input);
    enter(c, CONNECTION_READ);
    return input_has_more(&c->input) || !c->drained ? GO_ON : WAIT_READ;
}

/*
 * The client does not take its answer at once. What is left of it is kept by itself, and all else that the request took is
 * given back. False when there is no room, or when its peer holds too much.
 */
static bool keep_answer(struct connection *c)
{
    struct job *job = c->job;
    size_t left = job->out[0].size + job->out[1].size;

    if (job->kept || c->continues)
        return true;
    job->answer = (struct claim){ .account = c->loop->server->options.account, .holder = HOLDER_ANSWERS };
    if (!peer_more(c->peer, &job->answer, left))
        return false;
    job->kept = malloc(left);
    if (!job->kept)
        return false;
    memcpy(mempcpy(job->kept, job->out[0].data, job->out[0].size), job->out[1].data, job->out[1].size);
    job->out[0] = slice_make(job->kept, left);
    job->out[1] = slice_of("");
    arena_free(&job->exchange.op.arena);
    if (!input_has_more(&c->input))
        connection_release(c, &c->input);
    return true;
}

static enum wait step_write(struct connection *c)
{
    size_t sent;
    enum io io = transport_send(&c->transport, c->job->out, c->loop->left_bytes, &sent);

    count(&c->loop->counts.bytes_out, sent);
    c->request.bytes += sent;
    loop_moved(c->loop, sent);
    if (io == IO_CLOSED)
        return close_connection(c);
    if (io != IO_DONE)
        return keep_answer(c) ? wait_of(io) : close_connection(c);
    if (c->job->out[0].size + c->job->out[1].size > 0)
        return WAIT_TURN;
    if (!c->continues)
        return finish_answer(c);
    c->continues = false;
    enter(c, CONNECTION_READ);
    return c->drained ? WAIT_READ : GO_ON;
}

static enum wait wait_of_streams(struct connection *c, enum io io)
{
    if (io == IO_CLOSED)
        return end_streams(c, streams_is_over(c));
    if (io == IO_HELD) { /* what it waits for are its own requests, and the clock looks after it */
        watch(c, 0);
        return WAIT_POOL;
    }
    if (io == IO_TURN)
        return WAIT_TURN;
    return io == IO_DONE ? GO_ON : wait_of(io);
}

static enum wait step_streams(struct connection *c)
{
    return wait_of_streams(c, streams_step(c));
}

static enum wait step_linger(struct connection *c)
{
    enum io io = transport_discard(&c->transport, c->loop->scratch, SCRATCH_BYTES);

    loop_moved(c->loop, SCRATCH_BYTES);
    if (io == IO_CLOSED)
        return close_connection(c);
    return io == IO_DONE ? GO_ON : WAIT_READ;
}

/*
 * Something came while the pool has the request: either the next request, which is not read before its turn,
 * or the end of what the client sends. A client that ends it may have closed its sending side only, and wait
 * for its answer. A client that has gone for good resets the connection, which on_event() sees.
 */
static enum wait step_pool(struct connection *c)
{
    watch(c, 0);
    return WAIT_POOL;
}

static enum wait step_closed(struct connection *c)
{
    (void)c;
    return WAIT_NOTHING;
}

static enum wait (*const steps[])(struct connection *c) = {
    [CONNECTION_NEW] = step_new,       [CONNECTION_HANDSHAKE] = step_handshake,
    [CONNECTION_READ] = step_read,     [CONNECTION_POOL] = step_pool,
    [CONNECTION_WRITE] = step_write,   [CONNECTION_LINGER] = step_linger,
    [CONNECTION_CLOSED] = step_closed, [CONNECTION_STREAMS] = step_streams,
};

/* Events */

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct connection *c = poll->data;

    loop_look_at_clock(c->loop);
    (void)events;
    if (status < 0) { /* libuv has stopped watching: the connection is broken */
        c->watched = 0;
        connection_abandon(c);
        return;
    }
    run(c);
}

static void watch(struct connection *c, int events)
{
    if (events == c->watched)
        return;
    assert(c->state != CONNECTION_CLOSED); /* libuv has its handle then */
    c->watched = events;
    if (events == 0)
        uv_poll_stop(&c->poll);
    else
        uv_poll_start(&c->poll, events, on_event);
}

/* While the pool has the request, the connection goes on watching for reads: mostly nothing comes. */
static void watch_for(struct connection *c, enum wait wait)
{
    switch (wait) {
    case WAIT_READ:
        watch(c, UV_READABLE);
        break;
    case WAIT_WRITE:
        watch(c, UV_WRITABLE);
        break;
    case GO_ON: /* its share of this wake is used up; a socket is nearly always writable, so it is next again */
        watch(c, UV_READABLE | UV_WRITABLE);
        break;
    case WAIT_TURN: /* whether or not its socket takes more: what it does not take must be put by */
        loop_wait_for_turn(c->loop, c);
        break;
    case WAIT_POOL:
    case WAIT_NOTHING:
        break;
    }
}

static void run(struct connection *c)
{
    enum wait wait = GO_ON;

    assert(!thread_may_block()); /* the loop's own thread */
    loop_begin_turn(c->loop);
    for (int left = STEPS_PER_WAKE; left > 0 && wait == GO_ON && c->loop->left_bytes > 0; left--)
        wait = steps[c->state](c);
    watch_for(c, wait);
}

void connection_take_turn(struct connection *c)
{
    if (c->state != CONNECTION_POOL && !c->gone)
        run(c);
}

void connection_flush(struct connection *c)
{
    assert(c->state == CONNECTION_STREAMS);
    loop_begin_turn(c->loop);
    watch_for(c, wait_of_streams(c, streams_flush(c)));
}

/* Of a connection that lingers, or whose client has gone, the end is near anyway. */
void connection_drain(struct connection *c)
{
    if (c->gone || c->state == CONNECTION_LINGER)
        return;
    if (c->streams ? streams_is_idle(c) && !streams_linger(c) : !c->job) {
        connection_abandon(c);
    } else if (c->streams) {
        streams_drain(c);
        connection_flush(c);
    }
}

static void link_connection(struct connection *c)
{
    struct loop *loop = c->loop;

    c->next = loop->connections;
    if (c->next)
        c->next->previous = c;
    loop->connections = c;
}

static void name_peer(struct connection *c, const struct sockaddr_storage *address, socklen_t size)
{
    char host[INET6_ADDRSTRLEN] = "", port[8] = "";

    if (getnameinfo((const struct sockaddr *)address, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(c->peer_name, sizeof(c->peer_name), strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* NULL when its peer may have no more, or without memory. */
static struct connection *make_connection(struct loop *loop, int fd)
{
    struct peers *peers = loop->server->peers;
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof(address);
    struct connection *c = calloc(1, sizeof(*c));

    if (c && getpeername(fd, (struct sockaddr *)&address, &size) == 0) {
        c->peer = peers_enter(peers, &address);
        name_peer(c, &address, size);
    }
    if (c && c->peer && uv_poll_init(&loop->uv, &c->poll, fd) == 0)
        return c;
    if (c && c->peer)
        peers_leave(peers, c->peer);
    free(c);
    return NULL;
}

void connection_open(struct loop *loop, int fd)
{
    struct connection *c = make_connection(loop, fd);

    if (!c) {
        struct transport transport = { .fd = fd };

        transport_close(&transport);
        loop_connection_ended(loop);
        count(&loop->counts.refused, 1);
        return;
    }
    c->poll.data = c;
    c->loop = loop;
    transport_init(&c->transport, fd);
    link_connection(c);
    enter(c, CONNECTION_NEW);
    watch(c, UV_READABLE);
    count(&loop->counts.connections, 1);
    loop_keep_ticking(loop);
}

/* Time */

static void time_out_request(struct connection *c)
{
    count(&c->loop->counts.timeouts, 1);
    refuse(c, ST_TIMEOUT, "The request was not complete in time.");
    run(c);
}

static void check_reading(struct connection *c, uint64_t at_ms)
{
    const struct http_options *options = &c->loop->server->options;

    if (c->job) {
        if (at_ms - c->job->begun_ms > (uint64_t)options->request_ms ||
            !progress_is_enough(&c->request, at_ms, (uint64_t)options->request_ms / 2))
            time_out_request(c);
        return;
    }
    if (at_ms - c->since_ms > (uint64_t)options->idle_ms)
        close_connection(c);
    else if (c->input.data && at_ms - c->since_ms > BUFFER_KEPT_MS)
        connection_release(c, &c->input);
}

static uint64_t patience_ms(const struct connection *c)
{
    const struct http_options *options = &c->loop->server->options;

    switch (c->state) {
    case CONNECTION_NEW:
        return (uint64_t)options->idle_ms;
    case CONNECTION_LINGER:
        return LINGER_MS;
    default:
        return (uint64_t)options->request_ms;
    }
}

void connection_check_time(struct connection *c, uint64_t at_ms)
{
    switch (c->state) {
    case CONNECTION_READ:
        check_reading(c, at_ms);
        break;
    case CONNECTION_STREAMS:
        if (c->gone)
            break;
        loop_begin_turn(c->loop);
        watch_for(c, wait_of_streams(c, streams_check_time(c, at_ms)));
        break;
    case CONNECTION_POOL: /* the operation has a deadline of its own */
    case CONNECTION_CLOSED:
        break;
    case CONNECTION_WRITE:
        if (progress_is_enough(&c->request, at_ms, patience_ms(c) / 2))
            break;
        count(&c->loop->counts.timeouts, 1);
        close_connection(c);
        break;
    default:
        if (at_ms - c->since_ms <= patience_ms(c))
            break;
        count(&c->loop->counts.timeouts, c->state == CONNECTION_HANDSHAKE);
        close_connection(c);
    }
}
