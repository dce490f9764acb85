/*
 * src/http/session.h - bytes to requests and answers to bytes, for protocols with many requests at a time on a connection.
 * A session takes what a client sent and gives what is to be sent. It has no socket and no clock, and no memory of its own
 * for requests: those are its owner's, and so is the decision how many there may be. A kind of session is a protocol:
 * HTTP/2 is http2_session.c's, and what a server is given besides (struct http_options) is other folders'.
 *
 * Ownership. The owner makes streams and has them from begin() to ended(); a session never frees one.
 * Threads. One at a time.
 */
#pragma once
#include "base/arena.h"
#include "http/input.h"

struct session;

/* A request and its answer. All of it is the session's to write, and anybody's to read, unless it says otherwise. */
struct stream {
    struct session *session; /* NULL once it has ended */
    struct stream *next_ready;
    uint32_t id;
    enum method method;
    enum status why;    /* the request cannot be served */
    const char *reason; /* ... because of this; NULL: the owner's admit() knows why */
    struct input head, body;
    struct span target, header[HEADER_COUNT]; /* in the head, whose first byte is nobody's */
    uint64_t length;                          /* what the body will have; 0 where it is not told */
    struct slice unsent_head;                 /* of the answer, where its session does not keep that itself */
    struct slice unsent;                      /* of the answer's body */
    uint64_t sent_bytes;                      /* of it; a clock elsewhere sees progress by it */
    bool head_done, whole, ready, answered, admitted;
    bool direct; /* it is of Direct mode (base/exchange.h) */
    union {
        struct {
            struct span authority, host;
            size_t list_bytes; /* of the head, as RFC 9113, 6.5.2, counts them */
            bool expects_continue;
        } http2;
        struct {
            uint8_t activity_id[16];
            struct stream *next_unsent;
        } rntbd;
    };
};

struct session_limits {
    size_t head_bytes_max, body_bytes_max, small_body_bytes;
    uint32_t streams_max; /* at a time */
    uint32_t
        window_bytes; /* of a body that a client may send before it is told that there is room for more */
    uint32_t windows_bytes;   /* ... of all bodies of a session */
    int32_t frames_spare_max; /* that bring no request nearer to its answer */
};

/* What a session asks of its owner. It is asked within feed() and pull(). */
struct session_owner {
    /* A stream whose bytes are 0, or NULL: it is refused and the client may try again, or it has to wait. */
    struct stream *(*begin)(void *context);
    bool (*reserve)(void *context, struct input *input, size_t bytes); /* as input_reserve() */
    void (*release)(void *context, struct input *input);
    void (*ended)(void *context, struct stream *stream); /* it was answered whole, or reset */
    bool (*admit)(void *context,
                  struct stream *stream); /* whether it may send its body, which is not small */
};

struct session_answer {
    int status;
    struct slice date;
    struct slice head; /* "name: value\r\n" lines; the names may be in any case */
    struct slice body; /* it must live until the stream ends */
    bool has_length;   /* length_bytes is told, whatever is sent */
    uint64_t length_bytes;
};

/* What the protocols do. Nothing is asked of a stream that has ended. */
struct session_kind {
    size_t size; /* of what begins with a struct session */
    bool
        lingers; /* it has no word for goodbye: when it drains it answers that it does, until its client is quiet */

    /* False without memory. */
    bool (*open)(struct session *session);

    /* The streams that are left are the owner's: they end without a call. Also after open() has failed. */
    void (*close)(struct session *session);

    /* Takes what came in. False: the connection cannot go on, and not even say so. */
    bool (*feed)(struct session *session, struct slice bytes);

    /* False without memory. Of a request that was not read to its end nothing more is read. */
    bool (*answer)(struct stream *stream, struct arena *arena, const struct session_answer *answer);

    /* The client is told that its request was given up, or loses its connection. */
    void (*reset)(struct stream *stream);

    /* The next bytes to be sent, until the next call. Empty: there are none now. False: the connection cannot go on. */
    bool (*pull)(struct session *session, struct slice *bytes);

    /* Tells the client that is_draining is set; NULL where the protocol cannot. */
    void (*drain)(struct session *session);

    /* Says goodbye, whatever streams there are. */
    void (*end)(struct session *session);

    /* Everything was said, and nothing will be listened to. */
    bool (*is_over)(const struct session *session);
};

extern const struct session_kind session_http2;

/* What all kinds have. */
struct session {
    const struct session_kind *kind;
    const struct session_limits *limits;
    const struct session_owner *owner;
    void *context;
    struct stream *ready, **last_ready;
    bool is_draining; /* streams that its client begins are not served any more */
    bool
        is_held; /* it has bytes that it has not taken, since its owner had no room: feed() goes on with them */
    bool is_partial;  /* something was begun that is no stream yet, or no longer: its rest is awaited */
    bool ends_record; /* what pull() gave last ends an answer, and nothing may follow it in its TLS record */
    uint64_t parts;   /* how often something that is_partial tells of has come to its end */
};

/* NULL without memory. The limits and the owner must outlive it. */
struct session *session_open(const struct session_kind *kind, const struct session_limits *limits,
                             const struct session_owner *owner, void *context);
void session_close(struct session *session); /* NULL is welcome */

/* Streams that the client begins from now on are not served; those that it has begun are. */
void session_drain(struct session *session);

/* The oldest stream whose request is whole, or wrong; each comes once. NULL: there is none. */
struct stream *session_next(struct session *session);

/* The request of a stream that is ready; its slices live as long as the stream's head and body. */
void stream_request(const struct stream *stream, struct request *request);

/* For the kinds. */
void stream_begin(struct stream *stream, struct session *session, uint32_t id);
void stream_end(struct stream *stream); /* its owner is told */
void stream_make_ready(struct stream *stream);
void stream_refuse(struct stream *stream, enum status why, const char *reason); /* the first reason is told */
void stream_admit(struct stream *stream, uint64_t body_bytes,
                  bool waits); /* asked once, if it is not small */
bool stream_append(struct stream *stream, struct input *input, struct slice bytes);
void stream_note(struct stream *stream, struct span *span, struct slice value);
struct slice stream_slice(const struct stream *stream,
                          struct span span); /* data is NULL where it is absent */
void stream_take_body(struct stream *stream, struct slice bytes);
