/* test/unit/http/harness.c - the handler, its gate, and a client that reads one answer at a time. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int gate_entered;
static bool gate_is_open;

void gate_close(void)
{
    pthread_mutex_lock(&mutex);
    gate_entered = 0;
    gate_is_open = false;
    pthread_mutex_unlock(&mutex);
}

void gate_open(void)
{
    pthread_mutex_lock(&mutex);
    gate_is_open = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void gate_wait_for(int entered)
{
    pthread_mutex_lock(&mutex);
    while (gate_entered < entered)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void gate_enter(bool stay)
{
    pthread_mutex_lock(&mutex);
    gate_entered++;
    pthread_cond_broadcast(&changed);
    while (stay && !gate_is_open)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* ---- what is pending ---- */

enum { PENDING_MAX = 64 };

static struct op *pending[PENDING_MAX];
static size_t pending_count, resumed;
static struct http_server *opened; /* the newest */

static void add_pending(struct op *op)
{
    pthread_mutex_lock(&mutex);
    pending[pending_count++] = op;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void count_resumed(void)
{
    pthread_mutex_lock(&mutex);
    resumed++;
    pthread_mutex_unlock(&mutex);
}

void pending_wait_for(size_t count)
{
    pthread_mutex_lock(&mutex);
    while (pending_count < count)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

void resume_all(size_t count)
{
    pending_wait_for(count);
    pending_count = 0;
    for (size_t i = 0; i < count; i++)
        pending[i]->resume(pending[i], i + 1 == count);
}

size_t resumed_count(void)
{
    size_t count;

    pthread_mutex_lock(&mutex);
    count = resumed;
    pthread_mutex_unlock(&mutex);
    return count;
}

static bool is_pending(struct exchange *exchange)
{
    if (!slice_starts_with(exchange->request.target, "/pending") || exchange->resumed)
        return false;
    add_pending(&exchange->op);
    return true;
}

char pattern_at(size_t offset)
{
    return (char)('a' + (offset + offset / 4096) % 26);
}

static void answer_large(struct exchange *exchange)
{
    char *body = buf_reserve(&exchange->answer.body, LARGE_BYTES);

    for (size_t i = 0; i < LARGE_BYTES; i++)
        body[i] = pattern_at(i);
    exchange->answer.body.size = LARGE_BYTES;
}

static void answer_echo(struct exchange *exchange)
{
    static const char *const names[] = {
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "OTHER"
    };
    const struct request *request = &exchange->request;

    buf_printf(&exchange->answer.body, "%s %.*s\n", names[request->method], SLICE_ARGS(request->target));
    buf_slice(&exchange->answer.body, request->body);
}

static void answer_sent(struct exchange *exchange)
{
    struct http_stats stats;

    http_stats(opened, &stats);
    buf_printf(&exchange->answer.body, "%llu", (unsigned long long)stats.bytes_out);
}

static enum status spend_all(struct exchange *exchange)
{
    uint32_t steps = exchange->op.may_block ? 0 : exchange->op.steps_left;

    if (!exchange->op.may_block && steps == 0)
        return ST_WOULD_BLOCK;
    CHECK(op_spend(&exchange->op, steps) == ST_OK);
    exchange->answer.status = 200;
    buf_printf(&exchange->answer.body, "%u", steps);
    return ST_OK;
}

static enum status handle(void *context, struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct slice target = request->target;
    struct slice token = request->header[HEADER_SESSION_TOKEN];
    bool waits = slice_starts_with(target, "/wait"), stuck = slice_starts_with(target, "/stuck");

    (void)context;
    if (is_pending(exchange))
        return ST_PENDING;
    if (exchange->resumed && !exchange->op.may_block)
        count_resumed();
    if (slice_starts_with(target, "/steps"))
        return spend_all(exchange);
    if (slice_starts_with(target, "/pending-pool") && !exchange->op.may_block)
        return ST_WOULD_BLOCK;
    if ((waits || stuck || slice_starts_with(target, "/pool")) && !exchange->op.may_block) {
        buf_text(&exchange->answer.body, "what the first call wrote must not be sent");
        return ST_WOULD_BLOCK;
    }
    if (waits || slice_starts_with(target, "/hold"))
        gate_enter(true);
    if (stuck)
        gate_enter(false);
    while (stuck && op_check(&exchange->op) == ST_OK)
        sched_yield();
    if (stuck)
        gate_enter(false);
    exchange->answer.status = slice_starts_with(target, "/empty") ? 204 : 200;
    buf_printf(&exchange->answer.head, "x-tls: %s\r\n", request->tls ? "yes" : "no");
    if (slice_starts_with(target, "/large"))
        answer_large(exchange);
    else if (slice_starts_with(target, "/sent"))
        answer_sent(exchange);
    else if (slice_starts_with(target, "/header"))
        buf_slice(&exchange->answer.body, token.data ? token : slice_of("absent"));
    else
        answer_echo(exchange);
    return ST_OK;
}

static bool admit(void *context, struct exchange *exchange)
{
    (void)context;
    if (!slice_starts_with(exchange->request.target, "/closed"))
        return true;
    exchange->answer.status = 401;
    buf_text(&exchange->answer.body, "show your key first");
    return false;
}

static void write_error(struct exchange *exchange, enum status status, const char *message)
{
    exchange->answer.status = error_row(status)->http;
    buf_printf(&exchange->answer.body, "{\"message\":\"%s\"}", message);
}

struct http_options site_options(void)
{
    static const char *const listen[] = { "127.0.0.1:0" };

    return (struct http_options){
        .listen = listen,
        .listen_count = 1,
        .loops = 1,
        .connections_max = 1000,
        .head_bytes_max = 16 * 1024,
        .body_bytes_max = 1024 * 1024,
        .idle_ms = 60 * 1000,
        .request_ms = 60 * 1000,
        .env = env_system(),
        .handler = handle,
        .admit = admit,
        .write_error = write_error,
    };
}

struct http_server *site_open(const struct http_options *options)
{
    struct http_server *server = NULL;
    struct http_options usual = site_options();

    signal(SIGPIPE, SIG_IGN);
    gate_close();
    pending_count = resumed = 0;
    if (http_open(test_op(), options ? options : &usual, &server) == ST_OK &&
        http_start(test_op(), server) == ST_OK)
        return opened = server;
    test_failed(__FILE__, __LINE__, test_op()->error);
    http_free(server);
    return NULL;
}

void site_close(struct http_server *server)
{
    gate_open();
    http_stop(server, 10 * 1000);
    http_free(server);
}

static socklen_t parse_address(const char *text, struct sockaddr_storage *address)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    in_port_t port = htons((uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10));

    memset(address, 0, sizeof(*address));
    if (text[0] == '[') {
        *v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
                                     .sin6_port = port,
                                     .sin6_addr = in6addr_loopback };
        return sizeof(*v6);
    }
    *v4 = (struct sockaddr_in){ .sin_family = AF_INET,
                                .sin_port = port,
                                .sin_addr = { htonl(INADDR_LOOPBACK) } };
    return sizeof(*v4);
}

static struct client connect_from(const struct http_server *server, size_t index,
                                  const struct sockaddr_in *from)
{
    struct client client = { .fd = -1 };
    struct sockaddr_storage address;
    socklen_t size = parse_address(http_address(server, index), &address);
    struct timeval patience = { .tv_sec = 100 };
    int on = 1;

    client.fd = socket(address.ss_family, SOCK_STREAM, 0);
    setsockopt(client.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(client.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    setsockopt(client.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (from)
        CHECK(bind(client.fd, (const struct sockaddr *)from, sizeof(*from)) == 0);
    CHECK(connect(client.fd, (struct sockaddr *)&address, size) == 0);
    return client;
}

struct client client_connect(const struct http_server *server, size_t index)
{
    return connect_from(server, index, NULL);
}

struct client client_connect_from(const struct http_server *server, uint8_t host)
{
    struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr = { htonl(0x7f000000 + host) } };

    return connect_from(server, 0, &from);
}

bool client_send_bytes(struct client *client, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        ssize_t sent =
            client->ssl ? SSL_write(client->ssl, at, (int)size) : send(client->fd, at, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

void client_send(struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

static bool receive(struct client *client)
{
    ssize_t got;

    if (client->capacity - client->size < 65536) {
        client->capacity = 2 * client->capacity + 65536;
        client->data = realloc(client->data, client->capacity + 1); /* numbers in it are read up to a NUL */
        assert(client->data);
    }
    got = client->ssl ? SSL_read(client->ssl, client->data + client->size, 65536)
                      : recv(client->fd, client->data + client->size, 65536, 0);
    if (got <= 0)
        return false;
    client->size += (size_t)got;
    client->data[client->size] = '\0';
    return true;
}

static const char *find_head_end(const struct client *client)
{
    return client->size ? memmem(client->data, client->size, "\r\n\r\n", 4) : NULL;
}

static size_t content_length(struct slice head)
{
    static const char name[] = "\r\nContent-Length: ";
    const char *at = memmem(head.data, head.size, name, sizeof(name) - 1);

    return at ? strtoull(at + sizeof(name) - 1, NULL, 10) : 0;
}

static void drop_taken(struct client *client)
{
    if (client->taken)
        memmove(client->data, client->data + client->taken, client->size - client->taken);
    client->size -= client->taken;
    client->taken = 0;
}

static struct reply read_reply(struct client *client, bool with_body)
{
    struct reply reply = { 0 };
    size_t head_size, body_size;

    while (!find_head_end(client))
        if (!receive(client))
            return reply;
    head_size = (size_t)(find_head_end(client) - client->data) + 4;
    body_size = with_body ? content_length(slice_make(client->data, head_size)) : 0;
    while (client->size < head_size + body_size)
        if (!receive(client))
            return reply;
    reply.head = slice_make(client->data, head_size);
    reply.body = slice_make(client->data + head_size, body_size);
    reply.whole = slice_starts_with(reply.head, "HTTP/1.1 ");
    reply.status = reply.whole ? (int)strtol(client->data + 9, NULL, 10) : 0;
    return reply;
}

static struct reply read_next(struct client *client, bool with_body)
{
    struct reply reply;

    drop_taken(client);
    reply = read_reply(client, with_body);
    client->taken = reply.head.size + reply.body.size;
    return reply;
}

struct reply client_read(struct client *client)
{
    return read_next(client, true);
}

struct reply client_read_head(struct client *client)
{
    return read_next(client, false);
}

struct reply client_ask(struct client *client, const char *text)
{
    client_send(client, text);
    return client_read(client);
}

bool client_is_closed(struct client *client)
{
    drop_taken(client);
    errno = 0;
    return client->size == 0 && !receive(client) && errno != EAGAIN; /* which is our own patience */
}

void client_close(struct client *client)
{
    SSL_free(client->ssl);
    close(client->fd);
    free(client->data);
    *client = (struct client){ .fd = -1 };
}

bool reply_has(const struct reply *reply, const char *text)
{
    return reply->head.size && memmem(reply->head.data, reply->head.size, text, strlen(text));
}
