/*
 * test/unit/http/http2_client.h - a client of HTTP/2, by nghttp2's own client side, over a client of harness.h.
 * A call that waits reads and answers whatever comes until it has what it waits for, or the connection ends.
 */
#pragma once
#include <nghttp2/nghttp2.h>

#include "harness.h"

enum { HTTP2_STREAMS = 4096 };

/* What became of one request. */
struct http2_reply {
    int status;
    bool ended;         /* by an answer's end, or a reset */
    bool whole;         /* the answer came to its end */
    bool was_continued; /* 100 came before */
    uint32_t error;     /* of the reset; 0 for none */
    char *head, *body;  /* "name: value\n" lines; body_size bytes */
    size_t head_size, body_size;
    const char *sends; /* what is left of the request's body */
    size_t sends_size;
};

struct http2_client {
    struct client client;
    nghttp2_session *session;
    struct http2_reply replies[HTTP2_STREAMS]; /* by the half of their ids */
    bool is_closed, got_goaway;
    uint32_t goaway_error;
    int32_t goaway_last_id;
};

struct http2_header {
    const char *name, *value;
};

struct http2_request {
    const char *method, *path;    /* GET and /echo where they are NULL */
    struct http2_header extra[8]; /* up to the first without a name; behind the pseudo-headers */
    const char *body;
    size_t body_size;
    bool open; /* the body has no end */
};

/* The client's own settings may be NULL. http2_connect() speaks by prior knowledge, the other one over what is there. */
struct http2_client *http2_connect(const struct http_server *server, const nghttp2_settings_entry *settings,
                                   size_t count);
struct http2_client *http2_connect_over(struct client client, const nghttp2_settings_entry *settings,
                                        size_t count);
void http2_disconnect(struct http2_client *client);

/* The stream's id. Nothing is sent before the next http2_send() or wait. */
int32_t http2_submit(struct http2_client *client, const struct http2_request *request);
int32_t http2_get(struct http2_client *client, const char *path);
void http2_send(struct http2_client *client);
void http2_send_bytes(struct http2_client *client, const void *bytes, size_t size); /* after what waits */

const struct http2_reply *http2_reply(struct http2_client *client, int32_t id);
const struct http2_reply *http2_wait(struct http2_client *client, int32_t id); /* until it has ended */
const struct http2_reply *http2_ask(struct http2_client *client, const struct http2_request *request);
bool http2_receive(struct http2_client *client); /* reads once; false when nothing more will come */
bool http2_is_closed(
    struct http2_client *client); /* waits for the other side's end; a goodbye may come before */
bool http2_wait_for_goaway(struct http2_client *client);

bool http2_head_has(const struct http2_reply *reply, const char *line);
bool http2_body_is(const struct http2_reply *reply, const char *text);
