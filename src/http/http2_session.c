/* src/http/http2_session.c - nghttp2's callbacks make requests of frames, and frames of answers. */
#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>

#include "base/encode.h"
#include "http/session.h"

enum {
    LIST_OVERHEAD = 32,      /* of each header (RFC 9113, 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE) */
    FRAMES_PER_ANSWER = 256, /* what a client may send besides, for each answer it got */
    BYTES_PER_FRAME = 1024,  /* ... and for so many bytes of bodies, either way */
    ANSWER_HEADERS_MAX = 128,
    NUMBERS_BYTES = 40, /* two of 20 digits */
};

struct http2_session {
    struct session base;
    nghttp2_session *nghttp2;
    int32_t frames_spare;
    size_t bytes_earned, bytes_spent; /* that have not made a frame yet */
};

static struct http2_session *http2_of(struct session *session)
{
    static_assert(offsetof(struct http2_session, base) == 0);
    return (struct http2_session *)session;
}

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
    uint32_t lacking = (uint32_t)(session->base.limits->frames_spare_max - session->frames_spare);

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
static void take_pseudo_header(struct stream *stream, struct slice name, struct slice value)
{
    if (slice_is(name, ":method"))
        stream->method = method_of(value);
    else if (slice_is(name, ":path"))
        stream_note(stream, &stream->target, value);
    else if (slice_is(name, ":authority"))
        stream_note(stream, &stream->http2.authority, value);
    else if (!slice_is(value, "http") && !slice_is(value, "https"))
        stream_refuse(stream, ST_BAD_REQUEST, "the scheme is neither http nor https");
}

static void take_header(struct stream *stream, struct slice name, struct slice value)
{
    enum header_id id = header_find(name);

    if (name.data[0] == ':')
        take_pseudo_header(stream, name, value);
    else if (id == HEADER_HOST)
        stream_note(stream, &stream->http2.host, value);
    else if (id != HEADER_COUNT)
        stream_note(stream, &stream->header[id], value);
    else if (slice_is(name, "content-length"))
        slice_to_u64(value, &stream->length); /* nghttp2 has looked at it */
    else if (slice_is(name, "expect"))
        stream->http2.expects_continue = slice_is_nocase(value, "100-continue");
}

static struct stream *stream_of(nghttp2_session *nghttp2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(nghttp2, id);
}

/* A stream whose request is being read. NULL for others: their frames are passed over. */
static struct stream *reading(nghttp2_session *nghttp2, int32_t id)
{
    struct stream *stream = stream_of(nghttp2, id);

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
    struct stream *stream;

    if (!is_request(frame))
        return 0;
    stream = session->base.is_draining ? NULL : session->base.owner->begin(session->base.context);
    if (!stream)
        return nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                         NGHTTP2_REFUSED_STREAM);
    stream_begin(stream, &session->base, (uint32_t)frame->hd.stream_id);
    return nghttp2_session_set_stream_user_data(nghttp2, frame->hd.stream_id, stream);
}

/* Trailers are passed over: nothing that comes after the body may change what the head said. */
static int on_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *context)
{
    struct stream *stream = reading(nghttp2, frame->hd.stream_id);
    struct http2_session *session = context;

    (void)flags;
    if (!stream || !is_request(frame))
        return 0;
    stream->http2.list_bytes += name_size + value_size + LIST_OVERHEAD;
    if (stream->http2.list_bytes > session->base.limits->head_bytes_max)
        stream_refuse(stream, ST_HEADERS_TOO_LARGE, "The request's headers are too large.");
    if (stream->why == ST_OK)
        take_header(stream, slice_make(name, name_size), slice_make(value, value_size));
    return 0;
}

/* One that nghttp2 would pass over. A proxy may read it otherwise. */
static int on_invalid_header(nghttp2_session *nghttp2, const nghttp2_frame *frame, const uint8_t *name,
                             size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                             void *context)
{
    struct stream *stream = reading(nghttp2, frame->hd.stream_id);

    (void)name, (void)name_size, (void)value, (void)value_size, (void)flags, (void)context;
    if (stream && is_request(frame))
        stream_refuse(stream, ST_BAD_REQUEST,
                      "a header's name or value has a byte in it that it must not have");
    return 0;
}

/* :authority takes the place of Host (RFC 9113, 8.3.1). A proxy may look at either. */
static void settle_host(struct stream *stream)
{
    if (stream->http2.authority.at && stream->http2.host.at &&
        !slice_equal_nocase(stream_slice(stream, stream->http2.authority),
                            stream_slice(stream, stream->http2.host)))
        stream_refuse(stream, ST_BAD_REQUEST, "Host is another one than :authority");
    stream->header[HEADER_HOST] = stream->http2.authority.at ? stream->http2.authority : stream->http2.host;
    if (!stream->target.at) /* CONNECT has no path, and names a host as it does in HTTP/1.1 */
        stream->target = stream->http2.authority;
}

static int say_continue(struct stream *stream)
{
    nghttp2_nv status = { (uint8_t *)":status", (uint8_t *)"100", 7, 3, NGHTTP2_NV_FLAG_NONE };

    stream->http2.expects_continue = false;
    return nghttp2_submit_headers(http2_of(stream->session)->nghttp2, NGHTTP2_FLAG_NONE, (int32_t)stream->id,
                                  NULL, &status, 1, NULL);
}

static int end_head(struct stream *stream)
{
    stream->head_done = true;
    settle_host(stream);
    if (stream->length > stream->session->limits->body_bytes_max)
        stream_refuse(stream, ST_TOO_LARGE, "Request size is too large");
    stream_admit(stream, stream->length, stream->http2.expects_continue && !stream->whole);
    if (stream->why != ST_OK)
        stream_make_ready(stream);
    else if (stream->http2.expects_continue && !stream->whole)
        return say_continue(stream);
    return 0;
}

static int on_frame_recv(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *context)
{
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    bool about_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    struct stream *stream = about_request ? stream_of(nghttp2, frame->hd.stream_id) : NULL;
    int error = 0;

    (void)context;
    if (!stream)
        return 0;
    stream->whole = stream->whole || ends;
    if (is_request(frame))
        error = end_head(stream);
    if (ends)
        stream_make_ready(stream);
    return error;
}

/* The client gets room for more on its stream only when there was memory for this. What nobody reads takes no memory. */
static int on_data_chunk(nghttp2_session *nghttp2, uint8_t flags, int32_t id, const uint8_t *data,
                         size_t size, void *context)
{
    struct stream *stream = reading(nghttp2, id);

    (void)flags;
    earn_frames(context, 1); /* a frame with content costs nothing */
    earn_by_bytes(context, size);
    if (stream) {
        stream_admit(stream, stream->body.size + size, false);
        stream_take_body(stream, slice_make(data, size));
    }
    if (stream && stream->why == ST_OK)
        return nghttp2_session_consume(nghttp2, id, size);
    return nghttp2_session_consume_connection(nghttp2, size);
}

static bool feed(struct session *base, struct slice bytes)
{
    struct http2_session *session = http2_of(base);
    ssize_t taken = nghttp2_session_mem_recv(session->nghttp2, (const uint8_t *)bytes.data, bytes.size);

    assert(taken < 0 || (size_t)taken == bytes.size); /* no callback pauses it */
    if (taken < 0)
        return false;
    spend_by_bytes(session, bytes.size);
    return session->frames_spare > 0 ||
           nghttp2_session_terminate_session(session->nghttp2, NGHTTP2_ENHANCE_YOUR_CALM) == 0;
}

/* Answers */

static ssize_t read_body(nghttp2_session *nghttp2, int32_t id, uint8_t *room, size_t room_bytes,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct stream *stream = source->ptr;
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

static bool answer_stream(struct stream *stream, struct arena *arena, const struct session_answer *answer)
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
    return nghttp2_submit_response(http2_of(stream->session)->nghttp2, (int32_t)stream->id, headers.each,
                                   headers.count, answer->body.size ? &body : NULL) == 0;
}

static void reset_stream(struct stream *stream)
{
    assert(stream->session);
    nghttp2_submit_rst_stream(http2_of(stream->session)->nghttp2, NGHTTP2_FLAG_NONE, (int32_t)stream->id,
                              NGHTTP2_CANCEL);
}

/* A whole answer to half a request: the client need not send the rest (RFC 9113, 8.1). */
static int on_frame_send(nghttp2_session *nghttp2, const nghttp2_frame *frame, void *context)
{
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    struct stream *stream = ends ? stream_of(nghttp2, frame->hd.stream_id) : NULL;

    if (!stream)
        return 0;
    earn_frames(context, FRAMES_PER_ANSWER);
    if (stream->whole)
        return 0;
    return nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, (int32_t)stream->id, NGHTTP2_NO_ERROR);
}

static int on_stream_close(nghttp2_session *nghttp2, int32_t id, uint32_t error, void *context)
{
    struct stream *stream = stream_of(nghttp2, id);

    (void)error, (void)context;
    if (stream)
        stream_end(stream);
    return 0;
}

static bool pull(struct session *session, struct slice *bytes)
{
    const uint8_t *data = NULL;
    ssize_t size = nghttp2_session_mem_send(http2_of(session)->nghttp2, &data);

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
    const struct session_limits *limits = session->base.limits;
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

static bool open_session(struct session *base)
{
    struct http2_session *session = http2_of(base);
    nghttp2_session_callbacks *callbacks = make_callbacks();
    nghttp2_option *options = make_options();
    bool made;

    session->frames_spare = base->limits->frames_spare_max;
    made = callbacks && options &&
           nghttp2_session_server_new2(&session->nghttp2, callbacks, session, options) == 0 &&
           announce(session);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    return made;
}

static void close_session(struct session *session)
{
    nghttp2_session_del(http2_of(session)->nghttp2);
}

static void drain(struct session *session)
{
    nghttp2_session *nghttp2 = http2_of(session)->nghttp2;

    nghttp2_submit_goaway(nghttp2, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(nghttp2),
                          NGHTTP2_NO_ERROR, NULL, 0);
}

static void end_session(struct session *session)
{
    nghttp2_session_terminate_session(http2_of(session)->nghttp2, NGHTTP2_NO_ERROR);
}

static bool is_over(const struct session *session)
{
    nghttp2_session *nghttp2 = ((const struct http2_session *)session)->nghttp2;

    return !nghttp2_session_want_read(nghttp2) && !nghttp2_session_want_write(nghttp2);
}

const struct session_kind session_http2 = {
    .size = sizeof(struct http2_session),
    .open = open_session,
    .close = close_session,
    .feed = feed,
    .answer = answer_stream,
    .reset = reset_stream,
    .pull = pull,
    .drain = drain,
    .end = end_session,
    .is_over = is_over,
};
