/* test/unit/http/http2_client.c - requests by nghttp2, and what comes back noted by stream. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http2_client.h"

static struct http2_reply *reply_of(struct http2_client *client, int32_t id)
{
    assert(id > 0 && id / 2 < HTTP2_STREAMS);
    return &client->replies[id / 2];
}

/* The next power of two behind a size: what it has room for need not be kept. */
static size_t capacity_of(size_t size)
{
    size_t capacity = 64;

    while (capacity <= size)
        capacity *= 2;
    return capacity;
}

static void append(char **text, size_t *size, const void *bytes, size_t more)
{
    if (!*text || capacity_of(*size + more) != capacity_of(*size))
        *text = realloc(*text, capacity_of(*size + more));
    assert(*text);
    memcpy(*text + *size, bytes, more);
    *size += more;
    (*text)[*size] = '\0';
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags, void *context)
{
    struct http2_reply *reply = reply_of(context, frame->hd.stream_id);

    (void)session, (void)flags;
    if (name_size == 7 && memcmp(name, ":status", 7) == 0) {
        reply->was_continued = reply->was_continued || reply->status == 100;
        reply->status = (int)strtol((const char *)value, NULL, 10);
    }
    append(&reply->head, &reply->head_size, name, name_size);
    append(&reply->head, &reply->head_size, ": ", 2);
    append(&reply->head, &reply->head_size, value, value_size);
    append(&reply->head, &reply->head_size, "\n", 1);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t size,
                   void *context)
{
    struct http2_reply *reply = reply_of(context, id);

    (void)session, (void)flags;
    append(&reply->body, &reply->body_size, data, size);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct http2_client *client = context;

    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        client->got_goaway = true;
        client->goaway_error = frame->goaway.error_code;
        client->goaway_last_id = frame->goaway.last_stream_id;
    }
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        reply_of(client, frame->hd.stream_id)->whole = true;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
    struct http2_reply *reply = reply_of(context, id);

    (void)session;
    reply->ended = true;
    reply->error = error;
    return 0;
}

static nghttp2_session *open_session(struct http2_client *client)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    nghttp2_session *session;

    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_option_new(&options);
    nghttp2_option_set_no_http_messaging(options, 1); /* so that it also sends what is wrong */
    nghttp2_option_set_peer_max_concurrent_streams(options, HTTP2_STREAMS);
    nghttp2_session_client_new2(&session, callbacks, client, options);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    return session;
}

struct http2_client *http2_connect_over(struct client over, const nghttp2_settings_entry *settings,
                                        size_t count)
{
    struct http2_client *client = calloc(1, sizeof(*client));

    assert(client);
    client->client = over;
    client->session = open_session(client);
    nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, settings, count);
    return client;
}

struct http2_client *http2_connect(const struct http_server *server, const nghttp2_settings_entry *settings,
                                   size_t count)
{
    return http2_connect_over(client_connect(server, 0), settings, count);
}

void http2_disconnect(struct http2_client *client)
{
    nghttp2_session_del(client->session);
    client_close(&client->client);
    for (size_t i = 0; i < HTTP2_STREAMS; i++) {
        free(client->replies[i].head);
        free(client->replies[i].body);
    }
    free(client);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *room, size_t room_size,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct http2_reply *reply = reply_of(context, id);
    bool open = source->ptr != NULL;
    size_t size = reply->sends_size < room_size ? reply->sends_size : room_size;

    (void)session;
    if (size == 0 && open)
        return NGHTTP2_ERR_DEFERRED;
    memcpy(room, reply->sends, size);
    reply->sends += size;
    reply->sends_size -= size;
    if (reply->sends_size == 0 && !open)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

static nghttp2_nv make_header(const char *name, const char *value)
{
    return (nghttp2_nv){ (uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                         NGHTTP2_NV_FLAG_NO_COPY_NAME /* nghttp2 would lower its case */ };
}

int32_t http2_submit(struct http2_client *client, const struct http2_request *request)
{
    nghttp2_data_provider body = { .source.ptr = request->open ? client : NULL, .read_callback = read_body };
    bool has_body = request->body || request->open;
    nghttp2_nv headers[16];
    size_t count = 0;
    int32_t id;

    headers[count++] = make_header(":method", request->method ? request->method : "GET");
    headers[count++] = make_header(":scheme", client->client.ssl ? "https" : "http");
    headers[count++] = make_header(":authority", "localhost");
    headers[count++] = make_header(":path", request->path ? request->path : "/echo");
    for (size_t i = 0; i < 8 && request->extra[i].name; i++)
        headers[count++] = make_header(request->extra[i].name, request->extra[i].value);
    id = nghttp2_submit_request(client->session, NULL, headers, count, has_body ? &body : NULL, NULL);
    reply_of(client, id)->sends = request->body;
    reply_of(client, id)->sends_size = request->body_size;
    return id;
}

int32_t http2_get(struct http2_client *client, const char *path)
{
    return http2_submit(client, &(struct http2_request){ .path = path });
}

void http2_send(struct http2_client *client)
{
    const uint8_t *data;
    ssize_t size;

    while (!client->is_closed && (size = nghttp2_session_mem_send(client->session, &data)) > 0)
        if (!client_send_bytes(&client->client, data, (size_t)size))
            client->is_closed = true;
}

void http2_send_bytes(struct http2_client *client, const void *bytes, size_t size)
{
    http2_send(client);
    if (!client_send_bytes(&client->client, bytes, size))
        client->is_closed = true;
}

bool http2_receive(struct http2_client *client)
{
    static uint8_t room[65536];
    ssize_t got;

    http2_send(client);
    errno = 0;
    got = client->client.ssl ? SSL_read(client->client.ssl, room, sizeof(room))
                             : recv(client->client.fd, room, sizeof(room), 0);
    if (got <= 0) {
        client->is_closed = errno != EAGAIN; /* which is our own patience */
        return false;
    }
    return nghttp2_session_mem_recv(client->session, room, (size_t)got) >= 0;
}

const struct http2_reply *http2_reply(struct http2_client *client, int32_t id)
{
    return reply_of(client, id);
}

const struct http2_reply *http2_wait(struct http2_client *client, int32_t id)
{
    while (!reply_of(client, id)->ended && http2_receive(client))
        ;
    return reply_of(client, id);
}

const struct http2_reply *http2_ask(struct http2_client *client, const struct http2_request *request)
{
    return http2_wait(client, http2_submit(client, request));
}

bool http2_is_closed(struct http2_client *client)
{
    while (http2_receive(client))
        ;
    return client->is_closed;
}

bool http2_wait_for_goaway(struct http2_client *client)
{
    while (!client->got_goaway && http2_receive(client))
        ;
    return client->got_goaway;
}

bool http2_head_has(const struct http2_reply *reply, const char *line)
{
    return reply->head && strstr(reply->head, line);
}

bool http2_body_is(const struct http2_reply *reply, const char *text)
{
    return reply->body_size == strlen(text) &&
           memcmp(reply->body ? reply->body : "", text, reply->body_size) == 0;
}
