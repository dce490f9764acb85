/* src/http/post.c - a URL in its parts, a socket with a time limit, one request, the status of its answer. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/thread.h"
#include "http/post.h"

enum { HOST_SIZE = 256, PATH_SIZE = 1024, HEAD_SIZE = 2048 };

struct post_target {
    char host[HOST_SIZE], port[8], path[PATH_SIZE];
    SSL_CTX *tls; /* NULL: http */
};

/* --- the URL --- */

static bool has_only(const char *text, size_t size, const char *allowed)
{
    return strspn(text, allowed) >= size;
}

/* Nothing in it may end a line of the request. */
static bool parse(const char *url, const char *default_path, struct post_target *target, bool *is_tls)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    size_t host_size, port_size = 0, path_size;
    const char *at;

    *is_tls = strncmp(url, "https://", 8) == 0;
    if (!*is_tls && strncmp(url, "http://", 7) != 0)
        return false;
    at = url + (*is_tls ? 8 : 7);
    host_size = strcspn(at, ":/");
    if (host_size == 0 || host_size >= HOST_SIZE || !has_only(at, host_size, letters))
        return false;
    memcpy(target->host, at, host_size);
    at += host_size;
    if (*at == ':') {
        port_size = strspn(++at, "0123456789");
        if (port_size == 0 || port_size > 5)
            return false;
        memcpy(target->port, at, port_size);
        at += port_size;
    }
    if (port_size == 0)
        snprintf(target->port, sizeof(target->port), "%s", *is_tls ? "443" : "80");
    path_size = strlen(at);
    if (path_size >= PATH_SIZE || (*at && *at != '/') || strpbrk(at, " \t\r\n"))
        return false;
    snprintf(target->path, sizeof(target->path), "%s", path_size > 1 ? at : default_path);
    return true;
}

enum status post_open(struct op *op, const char *url, const char *default_path, struct post_target **target)
{
    struct post_target *made = calloc(1, sizeof(*made));
    bool is_tls;

    *target = NULL;
    if (!made)
        return op_fail(op, ST_UNAVAILABLE, "out of memory");
    if (!parse(url, default_path, made, &is_tls)) {
        free(made);
        return op_fail(op, ST_BAD_REQUEST, "\"%s\" is not like http://host:port or https://host/path", url);
    }
    if (is_tls) {
        made->tls = SSL_CTX_new(TLS_client_method());
        if (!made->tls || SSL_CTX_set_default_verify_paths(made->tls) != 1) {
            post_close(made);
            return op_fail(op, ST_UNAVAILABLE, "cannot prepare TLS");
        }
        SSL_CTX_set_verify(made->tls, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_min_proto_version(made->tls, TLS1_2_VERSION);
    }
    *target = made;
    return ST_OK;
}

void post_close(struct post_target *target)
{
    if (!target)
        return;
    SSL_CTX_free(target->tls);
    free(target);
}

/* --- a connection --- */

static bool wait_until_connected(int fd, int timeout_ms)
{
    struct pollfd wanted = { .fd = fd, .events = POLLOUT };
    int error = 0;
    socklen_t size = sizeof(error);

    return poll(&wanted, 1, timeout_ms) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
           error == 0;
}

static int connect_to(const struct addrinfo *info, int timeout_ms)
{
    struct timeval limit = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if ((connect(fd, info->ai_addr, info->ai_addrlen) == 0 ||
         (errno == EINPROGRESS && wait_until_connected(fd, timeout_ms))) &&
        fcntl(fd, F_SETFL, 0) == 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_connection(const struct post_target *target, int timeout_ms)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int fd = -1;

    if (getaddrinfo(target->host, target->port, &hints, &found) != 0)
        return -1;
    for (const struct addrinfo *info = found; info && fd < 0; info = info->ai_next)
        fd = connect_to(info, timeout_ms);
    freeaddrinfo(found);
    return fd;
}

static SSL *begin_tls(const struct post_target *target, int fd)
{
    SSL *ssl = SSL_new(target->tls);

    if (ssl && SSL_set_fd(ssl, fd) == 1 && SSL_set_tlsext_host_name(ssl, target->host) == 1 &&
        SSL_set1_host(ssl, target->host) == 1 && SSL_connect(ssl) == 1)
        return ssl;
    SSL_free(ssl);
    return NULL;
}

static bool send_all(int fd, SSL *ssl, struct slice bytes)
{
    while (bytes.size) {
        size_t piece = bytes.size < 1 << 20 ? bytes.size : 1 << 20;
        ssize_t moved =
            ssl ? SSL_write(ssl, bytes.data, (int)piece) : send(fd, bytes.data, piece, MSG_NOSIGNAL);

        if (moved <= 0)
            return false;
        bytes = slice_after(bytes, (size_t)moved);
    }
    return true;
}

/* "HTTP/1.1 200 ": the rest of the answer is nobody's. */
static int read_status(int fd, SSL *ssl)
{
    char head[16] = "";
    size_t size = 0;

    while (size < 13) {
        ssize_t moved =
            ssl ? SSL_read(ssl, head + size, (int)(13 - size)) : recv(fd, head + size, 13 - size, 0);

        if (moved <= 0)
            return 0;
        size += (size_t)moved;
    }
    if (strncmp(head, "HTTP/1.", 7) != 0 || head[8] != ' ' || strspn(head + 9, "0123456789") != 3)
        return 0;
    return (head[9] - '0') * 100 + (head[10] - '0') * 10 + (head[11] - '0');
}

int post_send(struct post_target *target, const char *content_type, struct slice body, int timeout_ms)
{
    char head[HEAD_SIZE];
    SSL *ssl = NULL;
    int fd, status = 0;

    thread_assert_may_block();
    fd = open_connection(target, timeout_ms);
    if (fd < 0)
        return 0;
    snprintf(
        head, sizeof(head),
        "POST %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
        "User-Agent: orrery/" ORRERY_VERSION "\r\n\r\n",
        target->path, target->host, target->port, content_type, body.size);
    if (!target->tls || (ssl = begin_tls(target, fd)))
        if (send_all(fd, ssl, slice_of(head)) && send_all(fd, ssl, body))
            status = read_status(fd, ssl);
    SSL_free(ssl);
    close(fd);
    return status;
}
