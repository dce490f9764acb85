/* test/client/fake.c - one thread, poll(), and as many connections as come. */
#include "fake.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 64, REQUEST_MAX = 1 << 20, REQUESTS_MAX = 1 << 16 };

struct connection {
    int fd; /* -1: free */
    char *bytes;
    size_t size;
};

struct fake {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the requests */
    int listener, wake[2];
    char url[64];
    fake_handler *handler;
    void *context;
    struct connection connections[CONNECTIONS_MAX];
    char *requests[REQUESTS_MAX];
    size_t request_count, connection_count;
};

static void drop(struct connection *connection)
{
    close(connection->fd);
    free(connection->bytes);
    *connection = (struct connection){ .fd = -1 };
}

static void accept_one(struct fake *fake)
{
    int fd = accept(fake->listener, NULL, NULL), on = 1;

    for (size_t i = 0; fd >= 0 && i < CONNECTIONS_MAX; i++)
        if (fake->connections[i].fd < 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            pthread_mutex_lock(&fake->mutex);
            fake->connection_count++;
            pthread_mutex_unlock(&fake->mutex);
            fake->connections[i] = (struct connection){ .fd = fd, .bytes = malloc(REQUEST_MAX + 1) };
            return;
        }
    if (fd >= 0)
        close(fd);
}

/* How long the request is, once all of it is there; 0: not yet. */
static size_t whole(struct connection *connection)
{
    char *end;
    const char *length;
    size_t head, body = 0;

    connection->bytes[connection->size] = '\0';
    end = strstr(connection->bytes, "\r\n\r\n");
    if (!end)
        return 0;
    head = (size_t)(end - connection->bytes) + 4;
    length = strcasestr(connection->bytes, "\r\ncontent-length:");
    if (length && length < end)
        body = strtoul(length + 17, NULL, 10);
    return connection->size >= head + body ? head + body : 0;
}

static void keep_request(struct fake *fake, const char *bytes, size_t size)
{
    pthread_mutex_lock(&fake->mutex);
    if (fake->request_count < REQUESTS_MAX)
        fake->requests[fake->request_count++] = strndup(bytes, size);
    pthread_mutex_unlock(&fake->mutex);
}

static void answer(struct fake *fake, struct connection *connection, size_t size)
{
    struct fake_answer answer = { 0 };
    size_t left;

    keep_request(fake, connection->bytes, size);
    fake->handler(fake->context, fake->requests[fake->request_count - 1], &answer);
    memmove(connection->bytes, connection->bytes + size, connection->size - size);
    connection->size -= size;
    left = answer.bytes ? answer.size ? answer.size : strlen(answer.bytes) : 0;
    while (left > 0) {
        ssize_t sent = send(connection->fd, answer.bytes, left, MSG_NOSIGNAL);

        if (sent <= 0)
            break;
        answer.bytes += sent;
        left -= (size_t)sent;
    }
    if (answer.dies) {
        close(fake->listener);
        fake->listener = -1;
    }
    if (answer.closes)
        drop(connection);
}

static void receive(struct fake *fake, struct connection *connection)
{
    ssize_t got =
        recv(connection->fd, connection->bytes + connection->size, REQUEST_MAX - connection->size, 0);
    size_t size;

    if (got <= 0) {
        drop(connection);
        return;
    }
    connection->size += (size_t)got;
    while (connection->fd >= 0 && (size = whole(connection)) > 0)
        answer(fake, connection, size);
}

static void *serve(void *argument)
{
    struct fake *fake = argument;

    for (;;) {
        struct pollfd fds[CONNECTIONS_MAX + 2] = { { fake->wake[0], POLLIN, 0 },
                                                   { fake->listener, POLLIN, 0 } };

        for (size_t i = 0; i < CONNECTIONS_MAX; i++)
            fds[i + 2] = (struct pollfd){ fake->connections[i].fd, POLLIN, 0 };
        poll(fds, CONNECTIONS_MAX + 2, -1);
        if (fds[0].revents)
            return NULL;
        if (fds[1].revents)
            accept_one(fake);
        for (size_t i = 0; i < CONNECTIONS_MAX; i++)
            if (fds[i + 2].revents && fake->connections[i].fd >= 0)
                receive(fake, &fake->connections[i]);
    }
}

struct fake *fake_start(fake_handler *handler, void *context)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    struct fake *fake = calloc(1, sizeof(*fake));

    fake->handler = handler;
    fake->context = context;
    pthread_mutex_init(&fake->mutex, NULL);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        fake->connections[i].fd = -1;
    fake->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fake->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fake->listener, 64) != 0 ||
        getsockname(fake->listener, (struct sockaddr *)&address, &size) != 0 || pipe(fake->wake) != 0)
        abort();
    snprintf(fake->url, sizeof(fake->url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    if (pthread_create(&fake->thread, NULL, serve, fake) != 0)
        abort();
    return fake;
}

void fake_stop(struct fake *fake)
{
    if (write(fake->wake[1], "", 1) != 1)
        abort();
    pthread_join(fake->thread, NULL);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (fake->connections[i].fd >= 0)
            drop(&fake->connections[i]);
    for (size_t i = 0; i < fake->request_count; i++)
        free(fake->requests[i]);
    if (fake->listener >= 0)
        close(fake->listener);
    close(fake->wake[0]);
    close(fake->wake[1]);
    pthread_mutex_destroy(&fake->mutex);
    free(fake);
}

const char *fake_url(const struct fake *fake)
{
    return fake->url;
}

size_t fake_connections(struct fake *fake)
{
    size_t count;

    pthread_mutex_lock(&fake->mutex);
    count = fake->connection_count;
    pthread_mutex_unlock(&fake->mutex);
    return count;
}

size_t fake_asked(struct fake *fake)
{
    size_t count;

    pthread_mutex_lock(&fake->mutex);
    count = fake->request_count;
    pthread_mutex_unlock(&fake->mutex);
    return count;
}

const char *fake_request(struct fake *fake, size_t index)
{
    const char *request;

    pthread_mutex_lock(&fake->mutex);
    request = index < fake->request_count ? fake->requests[index] : "";
    pthread_mutex_unlock(&fake->mutex);
    return request;
}
