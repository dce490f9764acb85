/*
 * src/rntbd/session.c - a connection of Direct mode: frames in, frames out, in whatever order they are done.
 * The first frame says who is there and is answered at once; every other one is a request. What is wrong with a frame's
 * bytes ends the connection, since nobody can tell where the next one begins. What is wrong with what it asks is answered.
 */
#include <assert.h>
#include <stdlib.h>

#include "rntbd/answer.h"
#include "rntbd/request.h"
#include "rntbd/rntbd.h"

enum {
    PIECE_BYTES = 16 * 1024,              /* what is sent at a time of a large answer */
    SKIPPED_BYTES_MAX = 16 * 1024 * 1024, /* of a payload that is too large */
    HELLO_BYTES = 128,
    VERSION_BYTES = 16,
};

enum awaits { AWAITS_HEAD, AWAITS_LENGTH, AWAITS_PAYLOAD };

struct rntbd_session {
    struct session base;
    struct input kept; /* bytes of a frame whose head is not whole, or that there was no room for */
    enum awaits awaits;
    struct stream *stream; /* whose payload comes; NULL: it is passed over */
    uint32_t left;         /* of the payload */
    struct stream *unsent, **last_unsent;
    struct stream *sent;     /* whole; it ends when its last piece has been taken */
    char hello[HELLO_BYTES]; /* the answer to the first frame */
    size_t hello_bytes;
    char version[VERSION_BYTES + 1]; /* of the protocol, as the client says */
    bool is_known;                   /* it has sent its first frame */
    bool is_broken, has_ended;
};

static struct rntbd_session *rntbd_of(struct session *session)
{
    static_assert(offsetof(struct rntbd_session, base) == 0);
    return (struct rntbd_session *)session;
}

static bool open_session(struct session *base)
{
    struct rntbd_session *session = rntbd_of(base);

    session->last_unsent = &session->unsent;
    return true;
}

static void close_session(struct session *base)
{
    base->owner->release(base->context, &rntbd_of(base)->kept);
}

/* The first frame */

/* False when it is no such frame. */
static bool read_context(struct rntbd_session *session, struct slice head)
{
    struct slice rest = slice_after(head, FRAME_FIXED_BYTES);
    struct frame_token token;
    bool has_version = false;

    while (rest.size) {
        if (!frame_take_token(&rest, &token))
            return false;
        if (token.id == GREETING_VERSION && frame_token_is_whole(&token))
            has_version = frame_token_number(&token) == 1;
        if (token.id != GREETING_CLIENT_VERSION)
            continue;
        if (!frame_token_is_text(&token) || token.value.size > VERSION_BYTES)
            return false;
        memcpy(session->version, token.value.data, token.value.size);
        session->version[token.value.size] = '\0';
    }
    return has_version;
}

/* The times are what clients are told; they act on none of them. */
static bool greet(struct rntbd_session *session, struct slice head)
{
    struct buf out = { .data = session->hello, .capacity = sizeof(session->hello) };

    if (frame_u16(slice_after(head, 4)) != 0 || frame_u16(slice_after(head, 6)) != 0 ||
        !read_context(session, head))
        return false;
    frame_begin(&out, 200, (const uint8_t *)head.data + 8);
    frame_number(&out, HELLO_VERSION, 1);
    frame_small_text(&out, HELLO_CLIENT_VERSION, slice_of(session->version));
    frame_small_text(&out, HELLO_AGENT, slice_of("Orrery"));
    frame_small_text(&out, HELLO_AGENT_VERSION, slice_of(ORRERY_VERSION));
    frame_number(&out, HELLO_IDLE_SECONDS, 1800);
    frame_number(&out, HELLO_SILENT_SECONDS, 30);
    frame_end(&out, 0);
    assert(!out.failed);
    session->hello_bytes = out.size;
    session->is_known = true;
    return true;
}

/* Requests */

static void end_payload(struct rntbd_session *session)
{
    struct stream *stream = session->stream;

    session->awaits = AWAITS_HEAD;
    session->stream = NULL;
    session->base.parts++;
    if (!stream)
        return;
    stream->whole = true;
    stream_make_ready(stream);
}

/* A stream that is refused is ready now: the rest of its payload is nobody's. */
static void leave_refused(struct rntbd_session *session)
{
    if (session->stream && session->stream->why != ST_OK) {
        stream_make_ready(session->stream);
        session->stream = NULL;
    }
}

/* False: the frame is malformed, or has to wait for room (is_held). */
static bool begin_request(struct rntbd_session *session, struct slice head)
{
    struct session *base = &session->base;
    struct frame_about about;
    struct stream *stream;

    if (!frame_look(head, &about)) {
        session->is_broken = true;
        return false;
    }
    stream = base->owner->begin(base->context);
    base->is_held = !stream;
    if (!stream)
        return false;
    session->stream = stream;
    stream_begin(stream, base, about.request_id);
    if (base->is_draining)
        stream_refuse(stream, ST_LEAVING, "The server is stopping.");
    session->is_broken = !frame_read_request(stream, head, slice_of(session->version));
    stream->head_done = true;
    session->awaits = AWAITS_LENGTH;
    if (!about.has_payload)
        end_payload(session);
    return !session->is_broken;
}

/* Steps: each takes something off the bytes, or says that it cannot. */

static bool take_head(struct rntbd_session *session, struct slice *bytes)
{
    size_t size;
    struct slice head;

    if (bytes->size < FRAME_LENGTH_BYTES)
        return false;
    size = frame_u32(*bytes);
    session->is_broken = size < FRAME_FIXED_BYTES || size > session->base.limits->head_bytes_max;
    if (session->is_broken || bytes->size < size)
        return false;
    head = slice_make(bytes->data, size);
    if (!session->is_known)
        session->is_broken = !greet(session, head);
    else if (!begin_request(session, head))
        return false;
    *bytes = slice_after(*bytes, size);
    session->base.parts++;
    return !session->is_broken;
}

static bool take_length(struct rntbd_session *session, struct slice *bytes)
{
    struct stream *stream = session->stream;

    if (bytes->size < FRAME_LENGTH_BYTES)
        return false;
    session->left = frame_u32(*bytes);
    session->is_broken = session->left > SKIPPED_BYTES_MAX;
    if (session->is_broken)
        return false;
    *bytes = slice_after(*bytes, FRAME_LENGTH_BYTES);
    session->awaits = AWAITS_PAYLOAD;
    if (stream) {
        stream->length = session->left;
        if (stream->length > session->base.limits->body_bytes_max)
            stream_refuse(stream, ST_TOO_LARGE, "Request size is too large");
        stream_admit(stream, stream->length, false);
        stream->body.expected = stream->length;
    }
    leave_refused(session);
    return true;
}

static bool take_payload(struct rntbd_session *session, struct slice *bytes)
{
    size_t size = bytes->size < session->left ? bytes->size : session->left;

    if (size == 0 && session->left > 0)
        return false;
    if (session->stream)
        stream_take_body(session->stream, slice_make(bytes->data, size));
    leave_refused(session);
    *bytes = slice_after(*bytes, size);
    session->left -= (uint32_t)size;
    if (session->left == 0)
        end_payload(session);
    return true;
}

static bool take_step(struct rntbd_session *session, struct slice *bytes)
{
    switch (session->awaits) {
    case AWAITS_HEAD:
        return take_head(session, bytes);
    case AWAITS_LENGTH:
        return take_length(session, bytes);
    default:
        return take_payload(session, bytes);
    }
}

/* Keeps what was not taken; it is the end of what is kept already, or not kept yet. False without memory. */
static bool keep_rest(struct rntbd_session *session, struct slice rest)
{
    struct session *base = &session->base;
    struct input *kept = &session->kept;

    if (kept->size) {
        kept->start = kept->parsed = kept->size - rest.size;
        if (rest.size == 0)
            base->owner->release(base->context, kept);
        return true;
    }
    if (rest.size == 0)
        return true;
    if (!base->owner->reserve(base->context, kept, rest.size))
        return false;
    memcpy(kept->data, rest.data, rest.size);
    kept->size = rest.size;
    return true;
}

static bool join_kept(struct rntbd_session *session, struct slice *bytes)
{
    struct session *base = &session->base;
    struct input *kept = &session->kept;

    if (kept->size == 0)
        return true;
    if (!base->owner->reserve(base->context, kept, bytes->size))
        return false;
    memcpy(kept->data + kept->size, bytes->data, bytes->size);
    kept->size += bytes->size;
    *bytes = slice_make(kept->data + kept->start, kept->size - kept->start);
    return true;
}

static bool feed(struct session *base, struct slice bytes)
{
    struct rntbd_session *session = rntbd_of(base);

    if (session->has_ended)
        return true;
    if (session->is_broken || !join_kept(session, &bytes))
        return false;
    while (take_step(session, &bytes))
        ;
    if (session->is_broken || !keep_rest(session, bytes))
        return false;
    base->is_partial = session->awaits != AWAITS_HEAD || (bytes.size > 0 && !base->is_held);
    return true;
}

/* Answers */

static void queue(struct rntbd_session *session, struct stream *stream)
{
    stream->rntbd.next_unsent = NULL;
    *session->last_unsent = stream;
    session->last_unsent = &stream->rntbd.next_unsent;
}

static bool answer_stream(struct stream *stream, struct arena *arena, const struct session_answer *answer)
{
    struct rntbd_session *session = rntbd_of(stream->session);
    struct buf frame;

    assert(!stream->answered);
    if (session->stream == stream) /* it is answered before all of it is there */
        session->stream = NULL;
    buf_init(&frame, arena);
    frame_print_answer(
        &frame,
        &(struct frame_answer){ .activity_id = stream->rntbd.activity_id,
                                .request_id = stream->id,
                                .asked_session = stream_slice(stream, stream->header[HEADER_SESSION_TOKEN]) },
        answer);
    if (frame.failed)
        return false;
    stream->answered = stream->ready = true;
    stream->unsent_head = buf_as_slice(&frame);
    stream->unsent = answer->body;
    queue(session, stream);
    return true;
}

/* The protocol has no word for it. */
static void reset_stream(struct stream *stream)
{
    rntbd_of(stream->session)->is_broken = true;
}

static void end_sent(struct rntbd_session *session)
{
    struct stream *stream = session->sent;

    if (!stream)
        return;
    session->sent = NULL;
    stream_end(stream);
}

static struct slice take_piece(struct slice *from)
{
    struct slice piece = slice_make(from->data, from->size < PIECE_BYTES ? from->size : PIECE_BYTES);

    *from = slice_after(*from, piece.size);
    return piece;
}

static struct slice pull_from(struct rntbd_session *session, struct stream *stream)
{
    struct slice piece = take_piece(stream->unsent_head.size ? &stream->unsent_head : &stream->unsent);

    stream->sent_bytes += piece.size;
    session->base.ends_record = stream->unsent_head.size + stream->unsent.size == 0;
    if (!session->base.ends_record)
        return piece;
    session->unsent = stream->rntbd.next_unsent;
    if (!session->unsent)
        session->last_unsent = &session->unsent;
    session->sent = stream;
    return piece;
}

static bool pull(struct session *base, struct slice *bytes)
{
    struct rntbd_session *session = rntbd_of(base);

    end_sent(session);
    *bytes = slice_make(session->hello, session->hello_bytes);
    session->hello_bytes = 0;
    if (bytes->size == 0 && session->unsent && !session->has_ended)
        *bytes = pull_from(session, session->unsent);
    return !session->is_broken;
}

/* Ends */

static void end_session(struct session *session)
{
    rntbd_of(session)->has_ended = true;
}

static bool is_over(const struct session *base)
{
    const struct rntbd_session *session = (const struct rntbd_session *)base;

    return session->has_ended;
}

const struct session_kind session_rntbd = {
    .size = sizeof(struct rntbd_session),
    .lingers = true,
    .open = open_session,
    .close = close_session,
    .feed = feed,
    .answer = answer_stream,
    .reset = reset_stream,
    .pull = pull,
    .end = end_session,
    .is_over = is_over,
};
