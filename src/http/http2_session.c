/* src/http/http2_session.c - nghttp2's callbacks make requests of frames, and frames of answers. */
#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>

#include "base/encode.h"
#include "http/http2_session.h"

enum {
    LIST_OVERHEAD = 32,      /* of each header (RFC 9113, 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE) */
    FRAMES_PER_ANSWER = 256, /* what a client may send besides, for each answer it got */
    BYTES_PER_FRAME = 1024,  /* ... and for so many bytes of bodies, either way */
    ANSWER_HEADERS_MAX = 128,
    NUMBERS_BYTES = 40, /* two of 20 digits */
};

struct http2_session {
    nghttp2_session *nghttp2;
    const struct http2_limits *limits;
    const struct http2_owner *owner;
    void *context;
    struct http2_stream *ready, **last_ready;
    int32_t frames_spare;
    size_t bytes_earned, bytes_spent; /* that have not made a frame yet */
};

/* Floods */

/*
 * A frame costs little, but a client may send any number of them. So each takes from a store that answers and the bytes of
 * bodies fill again. Resets, pings, settings, priorities, windows, frames without content and of unknown kinds, and requests
 * that are given up before they are answered all end the connection when nothing else happens on it.
 */
static int on_begin_frame(nghttp2_session *nghttp2, const nghttp2_frame_hd *frame, void *context)
{
    struct http2_session *session = context;

    (void)nghttp2, (void)frame;
    session->frames_spare--;
    return 0;
}

static void earn_frames(struct http2_session *session, uint32_t count)
{
    uint32_t lacking = (uint32_t)(session->limits->frames_spare_max - session->frames_spare);

    session->frames_spare += (int32_t)(count < lacking ? count : lacking);
}

static void earn_by_bytes(struct http2_session *session, size_t bytes)
{
    session->bytes_earned += bytes;
    earn_frames(session, (uint32_t)(session->bytes_earned / BYTES_PER_FRAME));
    session->bytes_earned %= BYTES_PER_FRAME;
}

/* nghttp2 passes over frames of unknown kinds without a word, but not without work. */
static void spend_by_bytes(struct http2_session *session, size_t bytes)
{
    session->bytes_spent += bytes;
    session->frames_spare -= (int32_t)(session->bytes_spent / BYTES_PER_FRAME);
    session->bytes_spent %= BYTES_PER_FRAME;
}

/* Requests */

static void make_ready(struct http2_stream *stream)
{
    struct http2_session *session = stream->session;

    if (stream->ready)
        return;
    stream->ready = true;
    *session->last_ready = stream;
    session->last_ready = &stream->next_ready;
}

static void leave_ready(struct http2_session *session, const struct http2_stream *stream)
{
    struct http2_stream **at = &session->ready;

    while (*at && *at != stream)
        at = &(*at)->next_ready;
    if (!*at)
        return;
    *at = stream->next_ready;
    if (!*at)
        session->last_ready = at;
}

struct http2_stream *http2_session_next(struct http2_session *session)
{
    struct http2_stream *stream = session->ready;

    if (!stream)
        return NULL;
    session->ready = stream->next_ready;
    if (!session->ready)
        session->last_ready = &session->ready;
    stream->next_ready = NULL;
    return stream;
}

/* The first reason is told. */
static void refuse(struct http2_stream *stream, enum status why, const char *reason)
{
    if (stream->why != ST_OK)
        return;
    stream->why = why;
    stream->reason = reason;
}

static bool append(struct http2_stream *stream, struct input *input, struct slice bytes)
{
    struct http2_session *session = stream->session;

    if (!session->owner->reserve(session->context, input, bytes.size)) {
        refuse(stream, ST_UNAVAILABLE, "The server is overloaded.");
        return false;
    }
    if (bytes.size)
        memcpy(input->data + input->size, bytes.data, bytes.size);
    input->size += bytes.size;
    return true;
}

static void note(struct http2_stream *stream, struct span *span, struct slice value)
{
    struct span noted = { (uint32_t)stream->head.size, (uint32_t)value.size };

    if (append(stream, &stream->head, value))
        *span = noted;
}

static const struct {
    const char *name;
    enum method method;
} methods[] = {
    { "GET", METHOD_GET },         { "HEAD", METHOD_HEAD },   { "POST", METHOD_POST },
    { "PUT", METHOD_PUT },         { "PATCH", METHOD_PATCH }, { "DELETE", METHOD_DELETE },
    { "OPTIONS", METHOD_OPTIONS },
};

static enum method method_of(struct slice name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (slice_is(name, methods[i].name))
            return methods[i].method;
    return METHOD_OTHER;
}

/* nghttp2 has seen to it that each comes once, before the others, and that no other ones come. */
static void take_pseudo_header(struct http2_stream *stream, struct slice name, struct slice value)
{
    if (slice_is(name, ":method"))
        stream->method = method_of(value);
    else if (slice_is(name, ":path"))
        note(stream, &stream->target, value);
    else if (slice_is(name, ":authority"))
        note(stream, &stream->authority, value);
    else if (!slice_is(value, "http") && !slice_is(value, "https"))
        refuse(stream, ST_BAD_REQUEST, "the scheme is neither http nor https");
}

static void take_header(struct http2_stream *stream, struct slice name, struct slice value)
{
    enum header_id id = header_find(name);

    if (name.data[0] == ':')
        take_pseudo_header(stream, name, value);
    else if (id == HEADER_HOST)
        note(stream, &stream->host, value);
    else if (id != HEADER_COUNT)
        note(stream, &stream->header[id], value);
    else if (slice_is(name, "content-length"))
        slice_to_u64(value, &stream->length); /* nghttp2 has looked at it */
    else if (slice_is(name, "expect"))
        stream->expects_continue = slice_is_nocase(value, "100-continue");
}

static struct http2_stream *stream_of(nghttp2_session *nghttp2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(nghttp2, id);
}

/* A stream whose request is being read. NULL for others: their frames are passed over. */
static struct http2_stream *reading(nghttp2_session *nghttp2, int32_t id)
{
    struct http2_stream *stream = stream_of(nghttp2, id);

    return stream && !stream->ready ? stream : NULL;
}

static bool is_request(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

/* Of a stream that the owner has no room for nothing is kept, and the client may try it again (RFC 9113, 8.7). */
static int on_begin_headers(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *context)
{
    struct http2_session *session = context;
    struct http2_stream *stream;

    if (!is_request(frame))
        return 0;
    stream = session->owner->begin(session->context);
    if (!stream)
        return nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                         NGHTTP2_REFUSED_STREAM);
    stream->session = session;
    stream->id = frame->hd.stream_id;
    append(stream, &stream->head, slice_of(" "));
    return nghttp2_session_set_stream_user_data(nghttp2, stream->id, stream);
}

/* Trailers are passed over: nothing that comes after the body may change what the head said. */
static int on_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *context)
{
    struct http2_stream *stream = reading(nghttp2, frame->hd.stream_id);
    struct http2_session *session = context;

    (void)flags;
    if (!stream || !is_request(frame))
        return 0;
    stream->list_bytes += name_size + value_size + LIST_OVERHEAD;
    if (stream->list_bytes > session->limits->head_bytes_max)
        refuse(stream, ST_HEADERS_TOO_LARGE, "The request's headers are too large.");
    if (stream->why == ST_OK)
        take_header(stream, slice_make(name, name_size), slice_make(value, value_size));
    return 0;
}

/* One that nghttp2 would pass over. A proxy may read it otherwise. */
static int on_invalid_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                             size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                             void *context)
{
    struct http2_stream *stream = reading(nghttp2, frame->hd.stream_id);

    (void)name, (void)name_size, (void)value, (void)value_size, (void)flags, (void)context;
    if (stream && is_request(frame))
        refuse(stream, ST_BAD_REQUEST, "a header's name or value has a byte in it that it must not have");
    return 0;
}

static struct slice slice_at(const struct http2_stream *stream, struct span span)
{
    return span.at ? slice_make(stream->head.data + span.at, span.size) : (struct slice){ 0 };
}

/* :authority takes the place of Host (RFC 9113, 8.3.1). A proxy may look at either. */
static void settle_host(struct http2_stream *stream)
{
    if (stream->authority.at && stream->host.at &&
        !slice_equal_nocase(slice_at(stream, stream->authority), slice_at(stream, stream->host)))
        refuse(stream, ST_BAD_REQUEST, "Host is another one than :authority");
    stream->header[HEADER_HOST] = stream->authority.at ? stream->authority : stream->host;
    if (!stream->target.at) /* CONNECT has no path, and names a host as it does in HTTP/1.1 */
        stream->target = stream->authority;
}

static int say_continue(struct http2_stream *stream)
{
    nghttp2_nv status = { (uint8_t *)":status", (uint8_t *)"100", 7, 3, NGHTTP2_NV_FLAG_NONE };

    stream->expects_continue = false;
    return nghttp2_submit_headers(stream->session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, NULL, &status, 1,
                                  NULL);
}

/* Asks whether a request may send its body, once, when it is not small or its client waits to be told. */
static void admit(struct http2_stream *stream, uint64_t body_bytes)
{
    struct http2_session *session = stream->session;
    bool waits = stream->expects_continue && !stream->whole;

    if (stream->why != ST_OK || stream->admitted ||
        (body_bytes <= session->limits->small_body_bytes && !waits))
        return;
    stream->admitted = true;
    if (!session->owner->admit(session->context, stream))
        refuse(stream, ST_UNAUTHORIZED, NULL);
}

static int end_head(struct http2_stream *stream)
{
    stream->head_done = true;
    settle_host(stream);
    if (stream->length > stream->session->limits->body_bytes_max)
        refuse(stream, ST_TOO_LARGE, "Request size is too large");
    admit(stream, stream->length);
    if (stream->why != ST_OK)
        make_ready(stream);
    else if (stream->expects_continue && !stream->whole)
        return say_continue(stream);
    return 0;
}

static int on_frame_recv(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *context)
{
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    bool about_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    struct http2_stream *stream = about_request ? stream_of(nghttp2, frame->hd.stream_id) : NULL;
    int error = 0;

    (void)context;
    if (!stream)
        return 0;
    stream->whole = stream->whole || ends;
    if (is_request(frame))
        error = end_head(stream);
    if (ends)
        make_ready(stream);
    return error;
}

static void take_body(struct http2_stream *stream, struct slice bytes)
{
    const struct http2_limits *limits = stream->session->limits;

    admit(stream, stream->body.size + bytes.size);
    if (bytes.size > limits->body_bytes_max - stream->body.size)
        refuse(stream, ST_TOO_LARGE, "Request size is too large");
    else if (stream->why == ST_OK)
        append(stream, &stream->body, bytes);
    if (stream->why != ST_OK)
        make_ready(stream);
}

/* The client gets room for more on its stream only when there was memory for this. What nobody reads takes no memory. */
static int on_data_chunk(nghttp2_session *nghttp2, uint8_t flags, int32_t id, const uint8_t *data,
                         size_t size, void *context)
{
    struct http2_stream *stream = reading(nghttp2, id);

    (void)flags;
    earn_frames(context, 1); /* a frame with content costs nothing */
    earn_by_bytes(context, size);
    if (stream)
        take_body(stream, slice_make(data, size));
    if (stream && stream->why == ST_OK)
        return nghttp2_session_consume(nghttp2, id, size);
    return nghttp2_session_consume_connection(nghttp2, size);
}

bool http2_session_feed(struct http2_session *session, struct slice bytes)
{
    ssize_t taken = nghttp2_session_mem_recv(session->nghttp2, (const uint8_t *)bytes.data, bytes.size);

    assert(taken < 0 || (size_t)taken == bytes.size); /* no callback pauses it */
    if (taken < 0)
        return false;
    spend_by_bytes(session, bytes.size);
    return session->frames_spare > 0 ||
           nghttp2_session_terminate_session(session->nghttp2, NGHTTP2_ENHANCE_YOUR_CALM) == 0;
}

void http2_stream_request(const struct http2_stream *stream, struct request *request)
{
    assert(stream->head_done);
    request->method = stream->method;
    if (stream->target.at)
        request->target = slice_at(stream, stream->target);
    if (stream->body.size)
        request->body = slice_make(stream->body.data, stream->body.size);
    for (int id = 0; id < HEADER_COUNT; id++)
        if (stream->header[id].at)
            request->header[id] = slice_trim(slice_at(stream, stream->header[id]));
}

/* Answers */

static ssize_t read_body(nghttp2_session *nghttp2, int32_t id, uint8_t *room, size_t room_bytes,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct http2_stream *stream = source->ptr;
    size_t size = stream->unsent.size < room_bytes ? stream->unsent.size : room_bytes;

    (void)nghttp2, (void)id;
    memcpy(room, stream->unsent.data, size);
    stream->unsent = slice_after(stream->unsent, size);
    stream->sent_bytes += size;
    earn_by_bytes(context, size);
    if (stream->unsent.size == 0)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

struct headers {
    nghttp2_nv each[ANSWER_HEADERS_MAX];
    size_t count;
};

static void add_header(struct headers *headers, struct slice name, struct slice value)
{
    assert(headers->count < ANSWER_HEADERS_MAX);
    headers->each[headers->count++] = (nghttp2_nv){ (uint8_t *)name.data, (uint8_t *)value.data, name.size,
                                                    value.size, NGHTTP2_NV_FLAG_NONE };
}

/* The lines are copied, since their names must be in lower case. */
static void add_lines(struct headers *headers, struct arena *arena, struct slice lines)
{
    char *at = arena_alloc(arena, lines.size + 1), *end = at + lines.size;

    if (lines.size)
        memcpy(at, lines.data, lines.size);
    while (at < end) {
        char *colon = memchr(at, ':', (size_t)(end - at));
        char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);

        assert(colon && stop && colon < stop); /* our own line */
        for (char *c = at; c < colon; c++)
            if (*c >= 'A' && *c <= 'Z')
                *c += 'a' - 'A';
        add_header(headers, slice_make(at, (size_t)(colon - at)),
                   slice_trim(slice_make(colon + 1, (size_t)(stop - colon - 1))));
        at = stop + 2;
    }
}

static struct slice add_number(struct buf *numbers, uint64_t number)
{
    size_t at = numbers->size;

    buf_u64(numbers, number);
    return slice_make(numbers->data + at, numbers->size - at);
}

bool http2_stream_answer(struct http2_stream *stream, struct arena *arena, const struct http2_answer *answer)
{
    nghttp2_data_provider body = { .source = { .ptr = stream }, .read_callback = read_body };
    struct headers headers = { .count = 0 };
    struct buf numbers = { .data = arena_alloc(arena, NUMBERS_BYTES), .capacity = NUMBERS_BYTES };

    assert(stream->session);
    assert(!stream->answered);
    stream->answered = stream->ready = true;
    stream->unsent = answer->body;
    add_header(&headers, slice_of(":status"), add_number(&numbers, (uint64_t)answer->status));
    add_header(&headers, slice_of("date"), answer->date);
    if (answer->has_length)
        add_header(&headers, slice_of("content-length"), add_number(&numbers, answer->length_bytes));
    add_lines(&headers, arena, answer->head);
    return nghttp2_submit_response(stream->session->nghttp2, stream->id, headers.each, headers.count,
                                   answer->body.size ? &body : NULL) == 0;
}

void http2_stream_reset(struct http2_stream *stream)
{
    assert(stream->session);
    nghttp2_submit_rst_stream(stream->session->nghttp2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
}

/* A whole answer to half a request: the client need not send the rest (RFC 9113, 8.1). */
static int on_frame_send(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *context)
{
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    struct http2_stream *stream = ends ? stream_of(nghttp2, frame->hd.stream_id) : NULL;

    if (!stream)
        return 0;
    earn_frames(context, FRAMES_PER_ANSWER);
    if (stream->whole)
        return 0;
    return nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
}

static int on_stream_close(nghttp2_session *nghttp2, int32_t id, uint32_t error, void *context)
{
    struct http2_session *session = context;
    struct http2_stream *stream = stream_of(nghttp2, id);

    (void)error;
    if (!stream)
        return 0;
    leave_ready(session, stream);
    stream->session = NULL;
    session->owner->ended(session->context, stream);
    return 0;
}

bool http2_session_pull(struct http2_session *session, struct slice *bytes)
{
    const uint8_t *data = NULL;
    ssize_t size = nghttp2_session_mem_send(session->nghttp2, &data);

    *bytes = slice_make(data, size > 0 ? (size_t)size : 0);
    return size >= 0;
}

/* Sessions */

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *callbacks;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    return callbacks;
}

/* nghttp2's own bounds stay as they are: 8 CONTINUATIONs, 32 settings, 1,000 unsent answers to pings, 33 resets a second. */
static nghttp2_option *make_options(void)
{
    nghttp2_option *options;

    if (nghttp2_option_new(&options) != 0)
        return NULL;
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_option_set_no_closed_streams(options, 1);
    return options;
}

/* Without the priorities of RFC 7540 there is no tree of them to keep. */
static bool announce(const struct http2_session *session)
{
    const struct http2_limits *limits = session->limits;
    const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->streams_max },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits->window_bytes },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)limits->head_bytes_max },
        { NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
    };

    return nghttp2_submit_settings(session->nghttp2, NGHTTP2_FLAG_NONE, settings,
                                   sizeof(settings) / sizeof(settings[0])) == 0 &&
           nghttp2_session_set_local_window_size(session->nghttp2, NGHTTP2_FLAG_NONE, 0,
                                                 (int32_t)limits->windows_bytes) == 0;
}

struct http2_session *http2_session_open(const struct http2_limits *limits, const struct http2_owner *owner,
                                         void *context)
{
    struct http2_session *session = calloc(1, sizeof(*session));
    nghttp2_session_callbacks *callbacks = make_callbacks();
    nghttp2_option *options = make_options();
    bool made = false;

    if (session && callbacks && options) {
        *session = (struct http2_session){ .limits = limits,
                                           .owner = owner,
                                           .context = context,
                                           .last_ready = &session->ready,
                                           .frames_spare = limits->frames_spare_max };
        made = nghttp2_session_server_new2(&session->nghttp2, callbacks, session, options) == 0 &&
               announce(session);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    if (made)
        return session;
    http2_session_close(session);
    return NULL;
}

void http2_session_close(struct http2_session *session)
{
    if (!session)
        return;
    nghttp2_session_del(session->nghttp2);
    free(session);
}

void http2_session_drain(struct http2_session *session)
{
    nghttp2_submit_goaway(session->nghttp2, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session->nghttp2), NGHTTP2_NO_ERROR, NULL,
                          0);
}

void http2_session_end(struct http2_session *session)
{
    nghttp2_session_terminate_session(session->nghttp2, NGHTTP2_NO_ERROR);
}

bool http2_session_is_over(const struct http2_session *session)
{
    return !nghttp2_session_want_read(session->nghttp2) && !nghttp2_session_want_write(session->nghttp2);
}
