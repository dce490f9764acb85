/*
 * src/http/http2_session.h - HTTP/2 bytes to requests, answers to bytes; nghttp2 is known in http2_session.c only.
 * A session takes what a client sent and gives what is to be sent. It has no socket, no clock and no memory of its own
 * for requests: those are its owner's, and so is the decision how many there may be. What HTTP/2 itself forbids is
 * refused by nghttp2: the stream is reset, or the connection is told to end.
 *
 * Ownership. The owner makes streams and has them from begin() to ended(); a session never frees one.
 * Threads. One at a time.
 */
#pragma once
#include "base/arena.h"
#include "http/parser.h"

struct http2_session;

/* A request and its answer. All of it is the session's to write, and anybody's to read, unless it says otherwise. */
struct http2_stream {
    struct http2_session *session; /* NULL once it has ended */
    struct http2_stream *next_ready;
    int32_t id;
    enum method method;
    enum status why;    /* the request cannot be served */
    const char *reason; /* ... because of this; NULL: the owner's admit() knows why */
    struct input head, body;
    struct span target, authority, host, header[HEADER_COUNT]; /* in the head, whose first byte is nobody's */
    size_t list_bytes;   /* of the head, as RFC 9113, 6.5.2, counts them */
    uint64_t length;     /* what Content-Length says; 0 without one */
    struct slice unsent; /* of the answer's body */
    uint64_t sent_bytes; /* of it; a clock elsewhere sees progress by it */
    bool head_done, whole, ready, answered, expects_continue, admitted;
};

struct http2_limits {
    size_t head_bytes_max, body_bytes_max, small_body_bytes;
    uint32_t streams_max; /* at a time */
    uint32_t
        window_bytes; /* of a body that a client may send before it is told that there is room for more */
    uint32_t windows_bytes;   /* ... of all bodies of a session */
    int32_t frames_spare_max; /* that bring no request nearer to its answer */
};

/* What a session asks of its owner. It is asked within http2_session_feed() and http2_session_pull(). */
struct http2_owner {
    /* A stream whose bytes are 0, or NULL: it is refused and the client may try again. */
    struct http2_stream *(*begin)(void *context);
    bool (*reserve)(void *context, struct input *input, size_t bytes); /* as input_reserve() */
    void (*ended)(void *context, struct http2_stream *stream);         /* it was answered whole, or reset */
    bool (*admit)(void *context,
                  struct http2_stream *stream); /* whether it may send its body, which is not small */
};

/* NULL without memory. The limits and the owner must outlive it. */
struct http2_session *http2_session_open(const struct http2_limits *limits, const struct http2_owner *owner,
                                         void *context);

/* The streams that are left are the owner's: they end without a call. NULL is welcome. */
void http2_session_close(struct http2_session *session);

/* Takes what came in. False: the connection cannot go on, and not even say so. */
bool http2_session_feed(struct http2_session *session, struct slice bytes);

/* The oldest stream whose request is whole, or wrong; each comes once. NULL: there is none. */
struct http2_stream *http2_session_next(struct http2_session *session);

/* The request of a stream that is ready; its slices live as long as the stream's head and body. */
void http2_stream_request(const struct http2_stream *stream, struct request *request);

struct http2_answer {
    int status;
    struct slice date;
    struct slice head; /* "name: value\r\n" lines; the names may be in any case */
    struct slice body; /* it must live until the stream ends */
    bool has_length;   /* length_bytes is told, whatever is sent */
    uint64_t length_bytes;
};

/* False without memory. Of a request that was not read to its end nothing more is read. */
bool http2_stream_answer(struct http2_stream *stream, struct arena *arena, const struct http2_answer *answer);

/* The client is told that its request was given up. */
void http2_stream_reset(struct http2_stream *stream);

/* The next bytes to be sent, until the next call. Empty: there are none now. False: the connection cannot go on. */
bool http2_session_pull(struct http2_session *session, struct slice *bytes);

/* Streams that the client begins from now on are not served; those that it has begun are. */
void http2_session_drain(struct http2_session *session);

/* Says goodbye, whatever streams there are. */
void http2_session_end(struct http2_session *session);

/* Everything was said, and nothing will be listened to. */
bool http2_session_is_over(const struct http2_session *session);
