/* src/http/session.c - what sessions of every kind do: streams that are read, refused, ready, ended. */
#include <assert.h>
#include <stdlib.h>

#include "http/session.h"

struct session *session_open(const struct session_kind *kind, const struct session_limits *limits,
                             const struct session_owner *owner, void *context)
{
    struct session *session = calloc(1, kind->size);

    if (!session)
        return NULL;
    *session = (struct session){
        .kind = kind, .limits = limits, .owner = owner, .context = context, .last_ready = &session->ready
    };
    if (kind->open(session))
        return session;
    session_close(session);
    return NULL;
}

void session_close(struct session *session)
{
    if (!session)
        return;
    session->kind->close(session);
    free(session);
}

void session_drain(struct session *session)
{
    session->is_draining = true;
    if (session->kind->drain)
        session->kind->drain(session);
}

/* Streams */

void stream_begin(struct stream *stream, struct session *session, uint32_t id)
{
    stream->session = session;
    stream->id = id;
    stream_append(stream, &stream->head, slice_of(" "));
}

static void leave_ready(struct session *session, const struct stream *stream)
{
    struct stream **at = &session->ready;

    while (*at && *at != stream)
        at = &(*at)->next_ready;
    if (!*at)
        return;
    *at = stream->next_ready;
    if (!*at)
        session->last_ready = at;
}

void stream_end(struct stream *stream)
{
    struct session *session = stream->session;

    leave_ready(session, stream);
    stream->session = NULL;
    session->owner->ended(session->context, stream);
}

void stream_make_ready(struct stream *stream)
{
    struct session *session = stream->session;

    if (stream->ready)
        return;
    stream->ready = true;
    *session->last_ready = stream;
    session->last_ready = &stream->next_ready;
}

struct stream *session_next(struct session *session)
{
    struct stream *stream = session->ready;

    if (!stream)
        return NULL;
    session->ready = stream->next_ready;
    if (!session->ready)
        session->last_ready = &session->ready;
    stream->next_ready = NULL;
    return stream;
}

void stream_refuse(struct stream *stream, enum status why, const char *reason)
{
    if (stream->why != ST_OK)
        return;
    stream->why = why;
    stream->reason = reason;
}

/* Requests */

bool stream_append(struct stream *stream, struct input *input, struct slice bytes)
{
    struct session *session = stream->session;

    if (!session->owner->reserve(session->context, input, bytes.size)) {
        stream_refuse(stream, ST_UNAVAILABLE, "The server is overloaded.");
        return false;
    }
    if (bytes.size)
        memcpy(input->data + input->size, bytes.data, bytes.size);
    input->size += bytes.size;
    return true;
}

void stream_note(struct stream *stream, struct span *span, struct slice value)
{
    struct span noted = { (uint32_t)stream->head.size, (uint32_t)value.size };

    if (stream_append(stream, &stream->head, value))
        *span = noted;
}

struct slice stream_slice(const struct stream *stream, struct span span)
{
    return span.at ? slice_make(stream->head.data + span.at, span.size) : (struct slice){ 0 };
}

void stream_admit(struct stream *stream, uint64_t body_bytes, bool waits)
{
    struct session *session = stream->session;

    if (stream->why != ST_OK || stream->admitted ||
        (body_bytes <= session->limits->small_body_bytes && !waits))
        return;
    stream->admitted = true;
    if (!session->owner->admit(session->context, stream))
        stream_refuse(stream, ST_UNAUTHORIZED, NULL);
}

void stream_take_body(struct stream *stream, struct slice bytes)
{
    if (bytes.size > stream->session->limits->body_bytes_max - stream->body.size)
        stream_refuse(stream, ST_TOO_LARGE, "Request size is too large");
    else if (stream->why == ST_OK)
        stream_append(stream, &stream->body, bytes);
    if (stream->why != ST_OK)
        stream_make_ready(stream);
}

void stream_request(const struct stream *stream, struct request *request)
{
    assert(stream->head_done);
    request->method = stream->method;
    request->direct = stream->direct;
    if (stream->target.at)
        request->target = stream_slice(stream, stream->target);
    if (stream->body.size)
        request->body = slice_make(stream->body.data, stream->body.size);
    for (int id = 0; id < HEADER_COUNT; id++)
        if (stream->header[id].at)
            request->header[id] = slice_trim(stream_slice(stream, stream->header[id]));
}
