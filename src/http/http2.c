/*
 * src/http/http2.c - the life of a connection that speaks HTTP/2: its requests, each a job, and what is to be sent.
 * Requests are served as they become whole and answered as they are done, side by side. While a client takes nothing
 * of what it is sent, nothing of what it sends is read: so neither grows.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "http/server.h"

struct http2 {
    struct http2_session *session;
    struct http2_limits limits;
    struct job *jobs; /* newest first; also those that were reset and are away */
    size_t job_count;
    uint64_t idle_since_ms;
    bool broken;        /* the session must not be asked anything any more */
    char *kept;         /* what the socket did not take, or NULL */
    struct claim claim; /* for that */
    struct slice unsent;
    bool has_new_answers; /* since those that were not taken at once were last put by */
};

static struct job *job_of(struct http2_stream *stream)
{
    return (struct job *)((char *)stream - offsetof(struct job, stream));
}

/* Jobs */

static void release_request(struct job *job)
{
    connection_release(job->connection, &job->stream.head);
    connection_release(job->connection, &job->stream.body);
}

static void link_job(struct http2 *http2, struct job *job)
{
    job->previous_stream = NULL;
    job->next_stream = http2->jobs;
    if (job->next_stream)
        job->next_stream->previous_stream = job;
    http2->jobs = job;
    http2->job_count++;
}

static void unlink_job(struct http2 *http2, struct job *job)
{
    if (job->previous_stream)
        job->previous_stream->next_stream = job->next_stream;
    else
        http2->jobs = job->next_stream;
    if (job->next_stream)
        job->next_stream->previous_stream = job->previous_stream;
    assert(http2->job_count > 0);
    http2->job_count--;
}

/* A stream that a client resets is one fewer to the protocol, but not to us while the pool has it: so we count ourselves. */
static struct job *begin_job(struct connection *c)
{
    struct http_server *server = c->loop->server;
    struct job *job = NULL;

    if (c->http2->job_count >= c->http2->limits.streams_max || c->loop->stopping)
        return NULL;
    if (atomic_fetch_add(&server->streams_open, 1) < server->options.connections_max)
        job = job_take(c->loop);
    if (!job) {
        atomic_fetch_sub(&server->streams_open, 1);
        return NULL;
    }
    job->connection = c;
    job->stream = (struct http2_stream){ 0 };
    link_job(c->http2, job);
    return job;
}

static void end_job(struct job *job)
{
    struct connection *c = job->connection;
    uint64_t before = atomic_fetch_sub(&c->loop->server->streams_open, 1);

    assert(before > 0);
    assert(!job->away);
    unlink_job(c->http2, job);
    release_request(job);
    peer_less(c->peer, &job->answer, job->answer.bytes);
    free(job->kept);
    job->kept = NULL;
    job_release(c->loop, job);
    if (!c->http2->jobs)
        c->http2->idle_since_ms = c->loop->now_ms;
}

/* What the session asks for */

static struct http2_stream *begin_stream(void *context)
{
    struct job *job = begin_job(context);

    return job ? &job->stream : NULL;
}

static bool reserve(void *context, struct input *input, size_t bytes)
{
    return connection_reserve(context, input, bytes);
}

static void stream_ended(void *context, struct http2_stream *stream)
{
    struct job *job = job_of(stream);

    (void)context;
    if (job->away)
        job_cancel(job); /* and is ended when it is back */
    else
        end_job(job);
}

/* Its answer is there when it may not, and waits for serve_ready(). */
static bool admit(void *context, struct http2_stream *stream)
{
    struct job *job = job_of(stream);

    http2_stream_request(stream, &job->exchange.request);
    job->exchange.request.body = slice_of("");
    connection_describe(context, &job->exchange.request);
    return job_admit(job);
}

static const struct http2_owner owner = { begin_stream, reserve, stream_ended, admit };

bool http2_open(struct connection *c)
{
    const struct http_options *options = &c->loop->server->options;
    struct http2 *http2 = calloc(1, sizeof(*http2));

    assert(!c->http2 && !c->job);
    if (!http2)
        return false;
    http2->limits = (struct http2_limits){ .head_bytes_max = options->head_bytes_max,
                                           .body_bytes_max = options->body_bytes_max,
                                           .small_body_bytes = HTTP_SMALL_BODY_BYTES,
                                           .streams_max = HTTP2_STREAMS_MAX,
                                           .window_bytes = HTTP2_WINDOW_BYTES,
                                           .windows_bytes = HTTP2_WINDOWS_BYTES,
                                           .frames_spare_max = HTTP2_FRAMES_SPARE_MAX };
    http2->idle_since_ms = c->loop->now_ms;
    http2->claim = (struct claim){ .account = options->account, .holder = HOLDER_ANSWERS };
    http2->session = http2_session_open(&http2->limits, &owner, c);
    c->http2 = http2;
    return http2->session != NULL;
}

/* Answers */

static void answer(struct job *job)
{
    struct http2_answer answer = answer_for_http2(job->connection->loop, job);

    job->progress_ms = job->connection->loop->now_ms;
    job->progress_bytes = 0;
    job->connection->http2->has_new_answers = true;
    release_request(job);
    if (!http2_stream_answer(&job->stream, &job->exchange.op.arena, &answer))
        http2_stream_reset(&job->stream);
}

static void refuse(struct job *job, enum status why, const char *message)
{
    job_write_error(job, why, message);
    answer(job);
}

static void refuse_wrong(struct job *job)
{
    const struct http2_stream *stream = &job->stream;
    struct op *op = &job->exchange.op;

    count(&job->connection->loop->counts.malformed, 1);
    if (stream->why != ST_BAD_REQUEST) {
        refuse(job, stream->why, stream->reason);
        return;
    }
    op_set_error(op, "The request is not valid HTTP: %s", stream->reason);
    refuse(job, ST_BAD_REQUEST, op->error);
}

static void serve(struct job *job)
{
    struct request *request = &job->exchange.request;

    http2_stream_request(&job->stream, request);
    connection_describe(job->connection, request);
    if (job_serve(job) == SERVED)
        answer(job);
}

static void serve_ready(struct http2 *http2)
{
    struct http2_stream *stream;

    while ((stream = http2_session_next(http2->session))) {
        if (stream->why == ST_OK)
            serve(job_of(stream));
        else if (!stream->reason)
            answer(job_of(stream));
        else
            refuse_wrong(job_of(stream));
    }
}

void http2_resume(struct job *job)
{
    if (job_take_back(job) == SERVED_LATER)
        return;
    if (job->stream.session)
        answer(job);
    else
        end_job(job); /* its client has reset it, or has gone */
}

/*
 * What is left of an answer that was not taken at once is its peer's to hold, as of HTTP/1.1, and the operation's memory is
 * given back. False when the peer holds too much already, or there is no memory.
 */
static bool keep_answer(struct job *job)
{
    struct slice *left = &job->stream.unsent;

    if (!job->stream.answered || left->size == 0 || job->kept)
        return true;
    job->answer =
        (struct claim){ .account = job->connection->http2->claim.account, .holder = HOLDER_ANSWERS };
    if (!peer_more(job->connection->peer, &job->answer, left->size))
        return false;
    job->kept = malloc(left->size);
    if (!job->kept)
        return false;
    memcpy(job->kept, left->data, left->size);
    left->data = job->kept;
    arena_reset(&job->exchange.op.arena);
    return true;
}

/* Whether some were given up instead: then there is more to say. */
static bool keep_answers(struct http2 *http2)
{
    bool any = false;

    if (!http2->has_new_answers || http2->broken)
        return false;
    http2->has_new_answers = false;
    for (struct job *job = http2->jobs; job; job = job->next_stream)
        if (!keep_answer(job)) {
            job->stream.unsent.size = 0;
            http2_stream_reset(&job->stream);
            any = true;
        }
    return any;
}

/* Bytes */

static bool feed(struct connection *c, struct slice bytes)
{
    c->http2->broken = !http2_session_feed(c->http2->session, bytes);
    if (!c->http2->broken)
        serve_ready(c->http2);
    return !c->http2->broken;
}

bool http2_take_input(struct connection *c)
{
    bool fed = feed(c, slice_make(c->input.data, c->input.size));

    connection_release(c, &c->input);
    return fed;
}

/* Puts what there is to say into the loop's scratch. */
static void gather(struct connection *c)
{
    struct http2 *http2 = c->http2;
    char *scratch = c->loop->scratch;
    size_t size = 0;
    struct slice piece;

    do {
        http2->broken = !http2_session_pull(http2->session, &piece);
        assert(piece.size <= SCRATCH_BYTES - size);
        if (piece.size)
            memcpy(scratch + size, piece.data, piece.size);
        size += piece.size;
    } while (piece.size && size <= SCRATCH_BYTES / 2);
    http2->unsent = slice_make(scratch, size);
}

/* The scratch is every connection's; what the socket did not take goes elsewhere. False without memory. */
static bool keep_unsent(struct connection *c)
{
    struct http2 *http2 = c->http2;

    if (http2->kept)
        return true;
    if (!peer_more(c->peer, &http2->claim, http2->unsent.size))
        return false;
    http2->kept = malloc(http2->unsent.size);
    if (!http2->kept)
        return false;
    memcpy(http2->kept, http2->unsent.data, http2->unsent.size);
    http2->unsent.data = http2->kept;
    c->since_ms = c->loop->now_ms;
    return true;
}

static void drop_kept(struct connection *c)
{
    struct http2 *http2 = c->http2;

    peer_less(c->peer, &http2->claim, http2->claim.bytes);
    free(http2->kept);
    http2->kept = NULL;
}

static enum io send_unsent(struct connection *c)
{
    struct http2 *http2 = c->http2;
    struct slice parts[2] = { http2->unsent, slice_of("") };
    size_t sent;
    enum io io = transport_send(&c->transport, parts, &sent);

    count(&c->loop->counts.bytes_out, sent);
    if (sent > 0)
        c->since_ms = c->loop->now_ms;
    http2->unsent = parts[0];
    if (io == IO_DONE) {
        drop_kept(c);
    } else if (io != IO_CLOSED && !keep_unsent(c)) {
        return IO_CLOSED;
    }
    return io;
}

bool http2_is_over(const struct connection *c)
{
    const struct http2 *http2 = c->http2;

    return !http2->broken && http2->unsent.size == 0 && http2_session_is_over(http2->session);
}

static enum io flush(struct connection *c)
{
    struct http2 *http2 = c->http2;
    enum io io;

    do {
        if (http2->unsent.size == 0)
            gather(c);
        if (http2->unsent.size == 0)
            return http2->broken || http2_is_over(c) ? IO_CLOSED : IO_WANT_READ;
        io = send_unsent(c);
    } while (io == IO_DONE);
    return io;
}

enum io http2_flush(struct connection *c)
{
    enum io io = flush(c);

    if (io != IO_CLOSED && keep_answers(c->http2))
        io = flush(c);
    return io;
}

static enum io receive(struct connection *c)
{
    size_t size = 0;
    enum io io = transport_recv(&c->transport, c->loop->scratch, SCRATCH_BYTES, &size);

    if (io != IO_DONE)
        return io;
    count(&c->loop->counts.bytes_in, size);
    c->drained = size < SCRATCH_BYTES && !transport_pending(&c->transport);
    return feed(c, slice_make(c->loop->scratch, size)) ? IO_DONE : IO_CLOSED;
}

enum io http2_step(struct connection *c)
{
    enum io io = http2_flush(c);

    if (io != IO_WANT_READ || c->http2->unsent.size > 0)
        return io;
    if (c->drained) {
        c->drained = false; /* the next event says that there is more */
        return IO_WANT_READ;
    }
    return receive(c);
}

/* Time */

/* Answers that their client does not take, or takes byte by byte, are given up. Half a head keeps all other streams from being read. */
static void check_stream(struct job *job, uint64_t at_ms)
{
    struct http2_stream *stream = &job->stream;
    struct connection *c = job->connection;
    uint64_t patience_ms = (uint64_t)c->loop->server->options.request_ms;

    if (stream->sent_bytes - job->progress_bytes >= HTTP_PROGRESS_BYTES) {
        job->progress_bytes = stream->sent_bytes;
        job->progress_ms = at_ms;
    }
    if (job->away || at_ms - (stream->answered ? job->progress_ms : job->begun_ms) <= patience_ms)
        return;
    count(&c->loop->counts.timeouts, 1);
    if (stream->answered)
        http2_stream_reset(stream);
    else if (stream->head_done)
        refuse(job, ST_TIMEOUT, "The request was not complete in time.");
    else
        http2_session_end(c->http2->session);
}

enum io http2_check_time(struct connection *c, uint64_t at_ms)
{
    const struct http_options *options = &c->loop->server->options;
    const struct http2 *http2 = c->http2;

    if (http2->unsent.size && at_ms - c->since_ms > (uint64_t)options->request_ms) {
        count(&c->loop->counts.timeouts, 1);
        return IO_CLOSED;
    }
    if (!http2->jobs && at_ms - http2->idle_since_ms > (uint64_t)options->idle_ms)
        http2_session_end(http2->session);
    for (struct job *job = http2->jobs; job; job = job->next_stream)
        check_stream(job, at_ms);
    return http2_flush(c);
}

/* Ends */

void http2_drain(struct connection *c)
{
    http2_session_drain(c->http2->session);
}

bool http2_is_idle(const struct connection *c)
{
    return !c->http2->jobs;
}

/* The goodbye is sent if it fits into the socket now: nobody waits for it. */
static void end_session(struct connection *c)
{
    struct http2 *http2 = c->http2;

    if (!http2->session)
        return;
    if (!http2->broken && !http2_session_is_over(http2->session)) {
        http2_session_end(http2->session);
        http2_flush(c);
    }
    http2_session_close(http2->session);
    http2->session = NULL;
    drop_kept(c);
}

bool http2_abandon(struct connection *c)
{
    struct job *next;

    end_session(c);
    for (struct job *job = c->http2->jobs; job; job = next) {
        next = job->next_stream;
        job->stream.session = NULL;
        if (job->away)
            job_cancel(job);
        else
            end_job(job);
    }
    return !c->http2->jobs;
}

void http2_close(struct connection *c)
{
    bool alone = http2_abandon(c);

    assert(alone); /* whoever closes has looked */
    free(c->http2);
    c->http2 = NULL;
}
