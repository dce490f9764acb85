/* src/http/transport.c - recv and send, or SSL_read and SSL_write, behind the same few calls. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "http/transport.h"

enum { TLS_RECORD_BYTES = 16 * 1024 };

void transport_init(struct transport *transport, int fd)
{
    assert(fd >= 0);
    *transport = (struct transport){ .fd = fd };
}

static enum io io_of_errno(enum io wanted)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? wanted : IO_CLOSED;
}

static enum io io_of_ssl(const struct transport *transport, int result)
{
    switch (SSL_get_error(transport->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return IO_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return IO_WANT_WRITE;
    default:
        return IO_CLOSED;
    }
}

enum io transport_peek(const struct transport *transport, uint8_t *byte)
{
    ssize_t count = recv(transport->fd, byte, 1, MSG_PEEK);

    if (count < 0)
        return io_of_errno(IO_WANT_READ);
    return count ? IO_DONE : IO_CLOSED;
}

bool transport_begin_tls(struct transport *transport, SSL_CTX *tls)
{
    SSL *ssl = SSL_new(tls);

    assert(!transport->ssl);
    if (!ssl)
        return false;
    if (SSL_set_fd(ssl, transport->fd) != 1) {
        SSL_free(ssl);
        return false;
    }
    SSL_set_accept_state(ssl);
    transport->ssl = ssl;
    return true;
}

enum io transport_handshake(struct transport *transport)
{
    int result;

    assert(transport->ssl);
    ERR_clear_error();
    result = SSL_do_handshake(transport->ssl);
    return result == 1 ? IO_DONE : io_of_ssl(transport, result);
}

bool transport_is_http2(const struct transport *transport)
{
    const unsigned char *name;
    unsigned int size;

    SSL_get0_alpn_selected(transport->ssl, &name, &size);
    return slice_is(slice_make(name, size), "h2");
}

static enum io recv_tls(struct transport *transport, char *data, size_t room, size_t *size)
{
    int result;

    ERR_clear_error(); /* SSL_get_error() also looks at what an earlier call left there */
    result = SSL_read_ex(transport->ssl, data, room, size);
    return result == 1 ? IO_DONE : io_of_ssl(transport, result);
}

enum io transport_recv(struct transport *transport, char *data, size_t room, size_t *size)
{
    ssize_t count;

    if (transport->ssl)
        return recv_tls(transport, data, room, size);
    count = recv(transport->fd, data, room, 0);
    if (count < 0)
        return io_of_errno(IO_WANT_READ);
    *size = (size_t)count;
    return count ? IO_DONE : IO_CLOSED;
}

bool transport_pending(const struct transport *transport)
{
    return transport->ssl && SSL_has_pending(transport->ssl);
}

static void take_off(struct slice parts[2], size_t size)
{
    for (int i = 0; i < 2; i++) {
        size_t here = size < parts[i].size ? size : parts[i].size;

        parts[i] = slice_after(parts[i], here);
        size -= here;
    }
    assert(size == 0); /* no more was sent than there was */
}

/* What was begun goes on with as many bytes at least, so a record is never cut. */
static enum io send_tls(struct transport *transport, struct slice part, size_t most, size_t *sent)
{
    size_t size = most < TLS_RECORD_BYTES ? TLS_RECORD_BYTES : most;
    int result;

    ERR_clear_error();
    result = SSL_write_ex(transport->ssl, part.data, part.size < size ? part.size : size, sent);
    return result == 1 ? IO_DONE : io_of_ssl(transport, result);
}

static enum io send_plain(struct transport *transport, const struct slice parts[2], size_t most, size_t *sent)
{
    size_t first = parts[0].size < most ? parts[0].size : most;
    size_t second = parts[1].size < most - first ? parts[1].size : most - first;
    struct iovec pieces[2] = { { (void *)parts[0].data, first }, { (void *)parts[1].data, second } };
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };
    ssize_t count = second ? sendmsg(transport->fd, &message, MSG_NOSIGNAL)
                           : send(transport->fd, parts[0].data, first, MSG_NOSIGNAL);

    if (count < 0)
        return io_of_errno(IO_WANT_WRITE);
    *sent = (size_t)count;
    return IO_DONE;
}

enum io transport_send(struct transport *transport, struct slice parts[2], size_t most, size_t *sent)
{
    *sent = 0;
    while (parts[0].size + parts[1].size > 0 && *sent < most) {
        size_t now = 0;
        enum io io = transport->ssl ? send_tls(transport, parts[parts[0].size == 0], most - *sent, &now)
                                    : send_plain(transport, parts, most - *sent, &now);

        if (io != IO_DONE)
            return io;
        take_off(parts, now);
        *sent += now;
    }
    return IO_DONE;
}

/* TLS's goodbye is sent only if it fits into the socket now: nobody waits for it. */
static void say_goodbye(struct transport *transport)
{
    if (!transport->ssl || !SSL_is_init_finished(transport->ssl))
        return;
    ERR_clear_error();
    SSL_shutdown(transport->ssl);
}

void transport_end(struct transport *transport)
{
    say_goodbye(transport);
    shutdown(transport->fd, SHUT_WR);
}

enum io transport_discard(struct transport *transport, char *scratch, size_t room)
{
    ssize_t count = recv(transport->fd, scratch, room, 0);

    if (count < 0)
        return io_of_errno(IO_WANT_READ);
    return count ? IO_DONE : IO_CLOSED;
}

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET6)
        return memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) == 0;
    return a->ss_family == AF_INET && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
}

bool transport_is_from_here(const struct transport *transport)
{
    struct sockaddr_storage peer = { 0 }, own = { 0 };
    socklen_t peer_size = sizeof(peer), own_size = sizeof(own);

    return getpeername(transport->fd, (struct sockaddr *)&peer, &peer_size) == 0 &&
           getsockname(transport->fd, (struct sockaddr *)&own, &own_size) == 0 && same_address(&peer, &own);
}

void transport_close(struct transport *transport)
{
    say_goodbye(transport);
    SSL_free(transport->ssl);
    close(transport->fd);
    *transport = (struct transport){ .fd = -1 };
}

/* The first of these that the client offers; one that offers neither is told so (RFC 7301, 3.2). */
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *size,
                           const unsigned char *offered, unsigned int offered_size, void *context)
{
    static const unsigned char ours[] = "\x02h2\x08http/1.1";

    (void)ssl, (void)context;
    if (SSL_select_next_proto((unsigned char **)chosen, size, ours, sizeof(ours) - 1, offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

static enum status tls_fail(struct op *op, const char *what, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    return op_fail(op, ST_BAD_REQUEST, "cannot use the %s %s: %s", what, file,
                   reason ? reason : "it cannot be read");
}

/* Forward secrecy and authenticated encryption. TLS 1.3 has no others. */
#define SUITES_OF_TLS_1_2 "ECDHE+AESGCM:ECDHE+CHACHA20"

static enum status load_files(struct op *op, SSL_CTX *tls, const char *cert_file, const char *key_file)
{
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(tls, cert_file) != 1)
        return tls_fail(op, "certificate", cert_file);
    if (SSL_CTX_use_PrivateKey_file(tls, key_file, SSL_FILETYPE_PEM) != 1)
        return tls_fail(op, "key", key_file);
    return ST_OK;
}

enum status tls_open(struct op *op, const char *cert_file, const char *key_file, SSL_CTX **tls)
{
    SSL_CTX *made = SSL_CTX_new(TLS_server_method());
    enum status st;

    if (!made)
        return op_fail(op, ST_INTERNAL, "TLS cannot be set up");
    SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(made, SUITES_OF_TLS_1_2);
    SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION);
    /* Idle connections keep no buffers; a write goes on from wherever the bytes are then. */
    SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(made, 1); /* one recv for a record's header and body */
    SSL_CTX_set_alpn_select_cb(made, choose_protocol, NULL);
    TRY(load_files(op, made, cert_file, key_file));
    *tls = made;
    made = NULL;
out:
    tls_close(made);
    return st;
}

void tls_close(SSL_CTX *tls)
{
    SSL_CTX_free(tls);
}
