/*
 * src/http/streams.c - the life of a connection with many requests at a time: each is a job; and what is to be sent.
 * Requests are served as they become whole and answered as they are done, side by side. While a client takes nothing
 * of what it is sent, nothing of what it sends is read: so neither grows.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "http/server.h"

struct streams {
    struct session *session;
    struct session_limits limits;
    struct job *jobs; /* newest first; also those that were reset and are away */
    size_t job_count;
    uint64_t idle_since_ms;
    uint64_t heard_ms;  /* when something last came in */
    uint64_t part;      /* of the session's, that is not whole */
    uint64_t part_ms;   /* when it was begun */
    bool broken;        /* the session must not be asked anything any more */
    char *kept;         /* what the socket did not take, or NULL */
    struct claim claim; /* for that */
    struct slice unsent;
    bool has_new_answers; /* since those that were not taken at once were last put by */
};

static struct job *job_of(struct stream *stream)
{
    return (struct job *)((char *)stream - offsetof(struct job, stream));
}

/* Jobs */

static void release_request(struct job *job)
{
    connection_release(job->connection, &job->stream.head);
    connection_release(job->connection, &job->stream.body);
}

static void link_job(struct streams *streams, struct job *job)
{
    job->previous_stream = NULL;
    job->next_stream = streams->jobs;
    if (job->next_stream)
        job->next_stream->previous_stream = job;
    streams->jobs = job;
    streams->job_count++;
}

static void unlink_job(struct streams *streams, struct job *job)
{
    if (job->previous_stream)
        job->previous_stream->next_stream = job->next_stream;
    else
        streams->jobs = job->next_stream;
    if (job->next_stream)
        job->next_stream->previous_stream = job->previous_stream;
    assert(streams->job_count > 0);
    streams->job_count--;
}

static bool has_room(const struct connection *c)
{
    const struct http_server *server = c->loop->server;

    return c->streams->job_count < c->streams->limits.streams_max &&
           atomic_load(&server->streams_open) < server->options.connections_max;
}

/* A stream that a client resets is one fewer to the protocol, but not to us while the pool has it: so we count ourselves. */
static struct job *begin_job(struct connection *c)
{
    struct http_server *server = c->loop->server;
    struct job *job = NULL;

    if (c->streams->job_count >= c->streams->limits.streams_max)
        return NULL;
    if (atomic_fetch_add(&server->streams_open, 1) < server->options.connections_max)
        job = job_take(c->loop);
    if (!job) {
        atomic_fetch_sub(&server->streams_open, 1);
        return NULL;
    }
    job->connection = c;
    job->stream = (struct stream){ 0 };
    link_job(c->streams, job);
    return job;
}

static void end_job(struct job *job)
{
    struct connection *c = job->connection;
    uint64_t before = atomic_fetch_sub(&c->loop->server->streams_open, 1);

    assert(before > 0);
    assert(!job->away);
    unlink_job(c->streams, job);
    release_request(job);
    peer_less(c->peer, &job->answer, job->answer.bytes);
    free(job->kept);
    job->kept = NULL;
    job_release(c->loop, job);
    if (!c->streams->jobs)
        c->streams->idle_since_ms = c->loop->now_ms;
}

/* What the session asks for */

static struct stream *begin_stream(void *context)
{
    struct job *job = begin_job(context);

    return job ? &job->stream : NULL;
}

static bool reserve(void *context, struct input *input, size_t bytes)
{
    return connection_reserve(context, input, bytes);
}

static void release(void *context, struct input *input)
{
    connection_release(context, input);
}

static void stream_ended(void *context, struct stream *stream)
{
    struct job *job = job_of(stream);

    (void)context;
    if (job->away)
        job_cancel(job); /* and is ended when it is back */
    else
        end_job(job);
}

/* Its answer is there when it may not, and waits for serve_ready(). */
static bool admit(void *context, struct stream *stream)
{
    struct job *job = job_of(stream);

    stream_request(stream, &job->exchange.request);
    job->exchange.request.body = slice_of("");
    connection_describe(context, &job->exchange.request);
    return job_admit(job);
}

static const struct session_owner owner = { begin_stream, reserve, release, stream_ended, admit };

bool streams_open(struct connection *c, const struct session_kind *kind)
{
    const struct http_options *options = &c->loop->server->options;
    struct streams *streams = calloc(1, sizeof(*streams));

    assert(!c->streams && !c->job);
    if (!streams)
        return false;
    streams->limits = (struct session_limits){ .head_bytes_max = options->head_bytes_max,
                                               .body_bytes_max = options->body_bytes_max,
                                               .small_body_bytes = HTTP_SMALL_BODY_BYTES,
                                               .streams_max = HTTP2_STREAMS_MAX,
                                               .window_bytes = HTTP2_WINDOW_BYTES,
                                               .windows_bytes = HTTP2_WINDOWS_BYTES,
                                               .frames_spare_max = HTTP2_FRAMES_SPARE_MAX };
    streams->idle_since_ms = streams->heard_ms = streams->part_ms = c->loop->now_ms;
    streams->claim = (struct claim){ .account = options->account, .holder = HOLDER_ANSWERS };
    streams->session = session_open(kind, &streams->limits, &owner, c);
    c->streams = streams;
    if (streams->session && c->loop->stopping)
        session_drain(streams->session);
    return streams->session != NULL;
}

/* Answers */

static void answer(struct job *job)
{
    struct session_answer answer = answer_for_stream(job->connection->loop, job);

    job->progress_ms = job->connection->loop->now_ms;
    job->progress_bytes = 0;
    job->connection->streams->has_new_answers = true;
    if (!job->stream.session->kind->answer(&job->stream, &job->exchange.op.arena, &answer))
        job->stream.session->kind->reset(&job->stream);
    release_request(job);
}

static void refuse(struct job *job, enum status why, const char *message)
{
    job->exchange.request.target = stream_slice(&job->stream, job->stream.target);
    job_write_error(job, why, message);
    answer(job);
}

static void refuse_wrong(struct job *job)
{
    const struct stream *stream = &job->stream;
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

    stream_request(&job->stream, request);
    connection_describe(job->connection, request);
    if (request->direct)
        op_hurry(&job->exchange.op, DIRECT_TIMEOUT_MS);
    if (job_serve(job) == SERVED)
        answer(job);
}

static void serve_ready(struct streams *streams)
{
    struct stream *stream;

    while ((stream = session_next(streams->session))) {
        if (stream->why == ST_OK)
            serve(job_of(stream));
        else if (!stream->reason)
            answer(job_of(stream));
        else
            refuse_wrong(job_of(stream));
    }
}

void streams_resume(struct job *job)
{
    if (job_take_back(job) == SERVED_LATER)
        return;
    if (job->stream.session)
        answer(job);
    else
        end_job(job); /* its client has reset it, or has gone */
}

static void keep_part(struct slice *part, char *room)
{
    if (part->size)
        memcpy(room, part->data, part->size);
    part->data = room;
}

/*
 * What is left of an answer that was not taken at once is its peer's to hold, as of HTTP/1.1, and the operation's memory is
 * given back. False when the peer holds too much already, or there is no memory.
 */
static bool keep_answer(struct job *job)
{
    struct slice *head = &job->stream.unsent_head, *body = &job->stream.unsent;
    size_t left = head->size + body->size;

    if (!job->stream.answered || left == 0 || job->kept)
        return true;
    job->answer =
        (struct claim){ .account = job->connection->streams->claim.account, .holder = HOLDER_ANSWERS };
    if (!peer_more(job->connection->peer, &job->answer, left))
        return false;
    job->kept = malloc(left);
    if (!job->kept)
        return false;
    keep_part(head, job->kept);
    keep_part(body, job->kept + head->size);
    arena_free(&job->exchange.op.arena);
    return true;
}

/* Whether some were given up instead: then there is more to say. */
static bool keep_answers(struct streams *streams)
{
    bool any = false;

    if (!streams->has_new_answers || streams->broken)
        return false;
    streams->has_new_answers = false;
    for (struct job *job = streams->jobs; job; job = job->next_stream)
        if (!keep_answer(job)) {
            job->stream.unsent_head.size = job->stream.unsent.size = 0;
            job->stream.session->kind->reset(&job->stream);
            any = true;
        }
    return any;
}

/* Bytes */

static bool feed(struct connection *c, struct slice bytes)
{
    c->streams->broken = !c->streams->session->kind->feed(c->streams->session, bytes);
    if (!c->streams->broken)
        serve_ready(c->streams);
    return !c->streams->broken;
}

bool streams_take_input(struct connection *c)
{
    bool fed = feed(c, slice_make(c->input.data, c->input.size));

    connection_release(c, &c->input);
    return fed;
}

/* Puts what there is to say into the loop's scratch. */
static void gather(struct connection *c)
{
    struct streams *streams = c->streams;
    char *scratch = c->loop->scratch;
    size_t size = 0;
    struct slice piece;

    do {
        streams->broken = !streams->session->kind->pull(streams->session, &piece);
        assert(piece.size <= SCRATCH_BYTES - size);
        if (piece.size)
            memcpy(scratch + size, piece.data, piece.size);
        size += piece.size;
    } while (piece.size && size <= SCRATCH_BYTES / 2 && !(c->transport.ssl && streams->session->ends_record));
    streams->unsent = slice_make(scratch, size);
}

/* The scratch is every connection's; what the socket did not take goes elsewhere. False without memory. */
static bool keep_unsent(struct connection *c)
{
    struct streams *streams = c->streams;

    if (streams->kept)
        return true;
    if (!peer_more(c->peer, &streams->claim, streams->unsent.size))
        return false;
    streams->kept = malloc(streams->unsent.size);
    if (!streams->kept)
        return false;
    memcpy(streams->kept, streams->unsent.data, streams->unsent.size);
    streams->unsent.data = streams->kept;
    c->since_ms = c->loop->now_ms;
    return true;
}

static void drop_kept(struct connection *c)
{
    struct streams *streams = c->streams;

    peer_less(c->peer, &streams->claim, streams->claim.bytes);
    free(streams->kept);
    streams->kept = NULL;
}

static enum io send_unsent(struct connection *c)
{
    struct streams *streams = c->streams;
    struct slice parts[2] = { streams->unsent, slice_of("") };
    size_t sent;
    enum io io = transport_send(&c->transport, parts, SIZE_MAX, &sent);

    count(&c->loop->counts.bytes_out, sent);
    loop_moved(c->loop, sent);
    if (sent > 0)
        c->since_ms = c->loop->now_ms;
    streams->unsent = parts[0];
    if (io == IO_DONE) {
        drop_kept(c);
    } else if (io != IO_CLOSED && !keep_unsent(c)) {
        return IO_CLOSED;
    }
    return io;
}

bool streams_is_over(const struct connection *c)
{
    const struct streams *streams = c->streams;

    return !streams->broken && streams->unsent.size == 0 && streams->session->kind->is_over(streams->session);
}

/* Until there is nothing to say, the socket takes no more, or others have their turn. */
static enum io flush(struct connection *c)
{
    struct streams *streams = c->streams;
    enum io io;

    do {
        if (c->loop->left_bytes == 0)
            return IO_TURN;
        if (streams->unsent.size == 0)
            gather(c);
        if (streams->unsent.size == 0 && (streams->broken || streams_is_over(c)))
            return IO_CLOSED;
        if (streams->unsent.size == 0)
            return !streams->session->is_held ? IO_WANT_READ : has_room(c) ? IO_DONE : IO_HELD;
        io = send_unsent(c);
    } while (io == IO_DONE);
    return io;
}

enum io streams_flush(struct connection *c)
{
    enum io io = flush(c);

    if (io != IO_CLOSED && keep_answers(c->streams))
        io = flush(c);
    return io;
}

/* What is no stream yet has no time of its own. */
static void note_part(struct streams *streams)
{
    if (streams->session->is_partial && streams->part == streams->session->parts)
        return;
    streams->part = streams->session->parts;
    streams->part_ms = streams->heard_ms;
}

static enum io receive(struct connection *c)
{
    size_t size = 0;
    enum io io = transport_recv(&c->transport, c->loop->scratch, SCRATCH_BYTES, &size);

    if (io != IO_DONE)
        return io;
    count(&c->loop->counts.bytes_in, size);
    loop_moved(c->loop, size);
    c->streams->heard_ms = c->loop->now_ms;
    c->drained = size < SCRATCH_BYTES && !transport_pending(&c->transport);
    if (!feed(c, slice_make(c->loop->scratch, size)))
        return IO_CLOSED;
    note_part(c->streams);
    return IO_DONE;
}

enum io streams_step(struct connection *c)
{
    enum io io = streams_flush(c);

    if (io == IO_DONE) /* there is room for what was held */
        return feed(c, slice_of("")) ? IO_DONE : IO_CLOSED;
    if (io != IO_WANT_READ || c->streams->unsent.size > 0)
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
    struct stream *stream = &job->stream;
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
        stream->session->kind->reset(stream);
    else if (stream->head_done)
        refuse(job, ST_TIMEOUT, "The request was not complete in time.");
    else
        c->streams->session->kind->end(c->streams->session);
}

static uint64_t idle_patience_ms(const struct connection *c)
{
    const struct session *session = c->streams->session;

    return session->is_draining && session->kind->lingers ? HTTP_QUIET_MS
                                                          : (uint64_t)c->loop->server->options.idle_ms;
}

/* A stream whose rest is late is told so before. */
static uint64_t part_patience_ms(const struct http_options *options)
{
    return (uint64_t)options->request_ms + (uint64_t)options->request_ms / 2;
}

enum io streams_check_time(struct connection *c, uint64_t at_ms)
{
    const struct http_options *options = &c->loop->server->options;
    const struct streams *streams = c->streams;
    bool is_stuck = streams->unsent.size && at_ms - c->since_ms > (uint64_t)options->request_ms;
    bool is_silent =
        streams->session->is_partial && at_ms - streams->heard_ms > (uint64_t)options->request_ms;
    bool is_late = streams->session->is_partial && at_ms - streams->part_ms > part_patience_ms(options);

    if (is_stuck || is_silent || is_late) {
        count(&c->loop->counts.timeouts, 1);
        return IO_CLOSED;
    }
    if (!streams->jobs && at_ms - streams->idle_since_ms > idle_patience_ms(c))
        streams->session->kind->end(streams->session);
    for (struct job *job = streams->jobs; job; job = job->next_stream)
        check_stream(job, at_ms);
    return streams_flush(c);
}

/* Ends */

void streams_drain(struct connection *c)
{
    session_drain(c->streams->session);
}

bool streams_is_idle(const struct connection *c)
{
    return !c->streams->jobs;
}

bool streams_linger(const struct connection *c)
{
    return c->streams->session && c->streams->session->kind->lingers;
}

/* The goodbye is sent if it fits into the socket now: nobody waits for it. */
static void end_session(struct connection *c)
{
    struct streams *streams = c->streams;

    if (!streams->session)
        return;
    if (!streams->broken && !streams->session->kind->is_over(streams->session)) {
        streams->session->kind->end(streams->session);
        loop_begin_turn(c->loop);
        streams_flush(c);
    }
    session_close(streams->session);
    streams->session = NULL;
    drop_kept(c);
}

bool streams_abandon(struct connection *c)
{
    struct job *next;

    end_session(c);
    for (struct job *job = c->streams->jobs; job; job = next) {
        next = job->next_stream;
        job->stream.session = NULL;
        if (job->away)
            job_cancel(job);
        else
            end_job(job);
    }
    return !c->streams->jobs;
}

void streams_close(struct connection *c)
{
    bool alone = streams_abandon(c);

    assert(alone); /* whoever closes has looked */
    free(c->streams);
    c->streams = NULL;
}
