/* src/http/listen.c - parse, resolve, bind, listen. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/listen.h"

enum { BACKLOG = 1024, PORT_TRIES = 16 };

/* Splits at the last colon; brackets around an IPv6 address are taken off; no host means every address. */
static enum status parse(struct op *op, const char *where, const char **host, uint16_t *port)
{
    const char *colon = strrchr(where, ':');
    struct slice name;
    uint64_t number;

    if (!colon || !slice_to_u64(slice_of(colon + 1), &number) || number > UINT16_MAX)
        return op_fail(op, ST_BAD_REQUEST, "\"%s\" is no ADDR:PORT to listen on", where);
    name = slice_make(where, (size_t)(colon - where));
    if (name.size >= 2 && name.data[0] == '[' && name.data[name.size - 1] == ']')
        name = slice_make(name.data + 1, name.size - 2);
    *host = name.size == 0 || slice_is(name, "*") ? NULL : arena_text(&op->arena, name);
    *port = (uint16_t)number;
    return ST_OK;
}

static void set_port(struct sockaddr *address, uint16_t port)
{
    if (address->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons(port);
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = { .v6 = { .sin6_port = 0 } };
    socklen_t size = sizeof(address);

    if (getsockname(fd, &address.any, &size) != 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

static void write_address(const struct addrinfo *info, uint16_t port, char text[LISTEN_ADDRESS_SIZE])
{
    char host[48] = "?";

    getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), NULL, 0, NI_NUMERICHOST);
    snprintf(text, LISTEN_ADDRESS_SIZE, info->ai_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
             (unsigned)port);
}

/* Connections inherit TCP_NODELAY from the socket that accepts them. -1 and errno when it cannot be done. */
static int open_socket(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    on = errno;
    close(fd);
    errno = on;
    return -1;
}

static bool is_listening(const struct listeners *listeners, const char *address)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (strcmp(listeners->each[i].address, address) == 0)
            return true;
    return false;
}

static void close_from(struct listeners *listeners, size_t first)
{
    while (listeners->count > first)
        close(listeners->each[--listeners->count].fd);
}

/* False and errno when it cannot be done. *port becomes what was bound. */
static bool add_one(struct listeners *listeners, const struct addrinfo *info, uint16_t *port)
{
    struct listener *listener = &listeners->each[listeners->count];

    if (listeners->count == LISTENERS_MAX) {
        errno = EMFILE;
        return false;
    }
    set_port(info->ai_addr, *port);
    listener->fd = open_socket(info);
    if (listener->fd < 0)
        return false;
    *port = port_of(listener->fd);
    write_address(info, *port, listener->address);
    listeners->count++;
    return true;
}

static bool is_absent_here(int error)
{
    return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

/* Listens on every address of one name, on one port. A failure tells the address, and errno. */
static bool add_all(struct listeners *listeners, const struct addrinfo *infos, uint16_t port,
                    char failed[LISTEN_ADDRESS_SIZE])
{
    size_t first = listeners->count;
    int error = EADDRNOTAVAIL;

    for (const struct addrinfo *info = infos; info; info = info->ai_next) {
        write_address(info, port, failed);
        if (port && is_listening(listeners, failed)) {
            if (listeners->count > first) /* /etc/hosts has some addresses twice */
                continue;
            error = EADDRINUSE;
            break;
        }
        if (add_one(listeners, info, &port))
            continue;
        error = errno;
        if (!is_absent_here(error))
            break;
        error = EADDRNOTAVAIL;
    }
    if (listeners->count > first && is_absent_here(error))
        return true;
    close_from(listeners, first);
    errno = error;
    return false;
}

static enum status resolve(struct op *op, const char *host, const char *where, struct addrinfo **infos)
{
    /* "localhost" is both loopback addresses, whatever /etc/hosts has: no host and not passive means just these. */
    bool is_loopback = host && strcmp(host, "localhost") == 0;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = is_loopback ? 0 : AI_PASSIVE };
    int error = getaddrinfo(is_loopback ? NULL : host, "0", &hints, infos);

    if (error != 0)
        return op_fail(op, ST_BAD_REQUEST, "cannot listen on %s: %s", where, gai_strerror(error));
    return ST_OK;
}

enum status listen_add(struct op *op, struct listeners *listeners, const char *where)
{
    struct addrinfo *infos = NULL;
    char failed[LISTEN_ADDRESS_SIZE];
    const char *host = NULL;
    uint16_t port = 0;
    int tries;
    enum status st;

    TRY(parse(op, where, &host, &port));
    TRY(resolve(op, host, where, &infos));
    /* A port that is free at one address may be taken at the next: then another one is tried. */
    for (tries = port ? 1 : PORT_TRIES; tries > 0; tries--) {
        if (add_all(listeners, infos, port, failed))
            break;
        if (errno != EADDRINUSE)
            tries = 1;
    }
    if (tries == 0)
        st = op_fail(op, ST_UNAVAILABLE, "cannot listen on %s: %s", failed, strerror(errno));
out:
    if (infos)
        freeaddrinfo(infos);
    return st;
}

void listen_close(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++) {
        if (listeners->each[i].fd >= 0)
            close(listeners->each[i].fd);
        listeners->each[i].fd = -1;
    }
}
