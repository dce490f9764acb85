/*
 * client/direct_wire.c - a connection as bytes: TCP, and TLS over it, by OpenSSL.
 * OpenSSL writes into memory, and this file into the socket: its own way would raise SIGPIPE where the peer is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "direct_wire.h"

enum { RECORD_BYTES = 17 * 1024 }; /* what is read of TLS at a time: a record and its head */

struct wire {
    const struct wire_place *place;
    int fd;
    struct addrinfo *addresses, *next; /* next: to try if this one fails */
    bool is_joined, is_secured;        /* TCP is there; TLS is, or is not asked for */
    SSL *tls;
    BIO *from_peer, *to_peer; /* the SSL's */
};

struct wire_trust {
    SSL_CTX *context;
};

static struct wire *fail(struct wire_error *error, CURLcode code, const char *words)
{
    error->code = code;
    snprintf(error->words, sizeof(error->words), "%s", words);
    return NULL;
}

/* ---- TLS */

void wire_trust_free(struct wire_trust *trust)
{
    if (!trust)
        return;
    SSL_CTX_free(trust->context);
    free(trust);
}

static bool load_certificates(SSL_CTX *context, const struct wire_place *place)
{
    if (place->trust_any)
        return true;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return place->ca_file ? SSL_CTX_load_verify_locations(context, place->ca_file, NULL) == 1
                          : SSL_CTX_set_default_verify_paths(context) == 1;
}

static bool make_trust(struct wire_place *place, struct wire_error *error)
{
    struct wire_trust *trust = place->trust ? place->trust : calloc(1, sizeof(*trust));

    if (!trust || place->trust)
        return trust || fail(error, CURLE_OUT_OF_MEMORY, "out of memory");
    trust->context = SSL_CTX_new(TLS_client_method());
    if (trust->context && SSL_CTX_set_min_proto_version(trust->context, TLS1_2_VERSION) &&
        load_certificates(trust->context, place)) {
        place->trust = trust;
        return true;
    }
    fail(error, trust->context ? CURLE_SSL_CACERT_BADFILE : CURLE_OUT_OF_MEMORY,
         trust->context ? "the certificates to trust cannot be read" : "out of memory");
    wire_trust_free(trust);
    ERR_clear_error();
    return false;
}

/* The certificate is to be that of the name, or of the address, which is no name to ask for. */
static bool expect_host(SSL *tls, const struct wire_place *place)
{
    X509_VERIFY_PARAM *expected = SSL_get0_param(tls);
    struct in6_addr address;
    bool is_address =
        inet_pton(AF_INET, place->host, &address) == 1 || inet_pton(AF_INET6, place->host, &address) == 1;

    if (is_address)
        return X509_VERIFY_PARAM_set1_ip_asc(expected, place->host) == 1;
    return SSL_set_tlsext_host_name(tls, place->host) == 1 && SSL_set1_host(tls, place->host) == 1;
}

static bool begin_tls(struct wire *wire)
{
    wire->tls = SSL_new(wire->place->trust->context);
    wire->from_peer = BIO_new(BIO_s_mem());
    wire->to_peer = BIO_new(BIO_s_mem());
    if (!wire->tls || !wire->from_peer || !wire->to_peer) {
        BIO_free(wire->from_peer);
        BIO_free(wire->to_peer);
        return false;
    }
    SSL_set_bio(wire->tls, wire->from_peer, wire->to_peer); /* they are its own now */
    SSL_set_connect_state(wire->tls);
    return expect_host(wire->tls, wire->place);
}

/* ---- the socket */

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static long read_socket(const struct wire *wire, char *bytes, size_t size)
{
    long got = recv(wire->fd, bytes, size, 0);

    if (got > 0)
        return got;
    return got < 0 && would_block() ? 0 : -1;
}

static long write_socket(const struct wire *wire, const char *bytes, size_t size)
{
    long taken = send(wire->fd, bytes, size, MSG_NOSIGNAL);

    if (taken >= 0)
        return taken;
    return would_block() ? 0 : -1;
}

/* What TLS has written goes out; false: the connection is over. */
static bool flush_tls(const struct wire *wire)
{
    char *bytes;
    long size, taken;

    while ((size = BIO_get_mem_data(wire->to_peer, &bytes)) > 0) {
        char gone[4096];

        taken = write_socket(wire, bytes, (size_t)size);
        if (taken <= 0)
            return taken == 0;
        for (long left = taken; left > 0;)
            left -= BIO_read(wire->to_peer, gone, left < (long)sizeof(gone) ? (int)left : (int)sizeof(gone));
    }
    return true;
}

/* What has come goes to TLS. As read_socket(). */
static long fill_tls(const struct wire *wire)
{
    char record[RECORD_BYTES];
    long got = read_socket(wire, record, sizeof(record));

    if (got > 0 && BIO_write(wire->from_peer, record, (int)got) != got)
        return -1;
    return got;
}

/* ---- connecting */

static bool try_address(struct wire *wire)
{
    const struct addrinfo *address = wire->next;
    int one = 1;

    if (wire->fd >= 0)
        close(wire->fd);
    wire->next = address->ai_next;
    wire->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (wire->fd < 0)
        return false;
    setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(wire->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    return connect(wire->fd, address->ai_addr, address->ai_addrlen) == 0 || errno == EINPROGRESS;
}

static bool try_addresses(struct wire *wire)
{
    while (wire->next)
        if (try_address(wire))
            return true;
    return false;
}

static struct wire *give_up(struct wire *wire, struct wire_error *error, CURLcode code, const char *words)
{
    wire_close(wire);
    return fail(error, code, words);
}

struct wire *wire_open(struct wire_place *place, struct wire_error *error)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
    struct wire *wire;

    if (place->is_secure && !make_trust(place, error))
        return NULL;
    wire = calloc(1, sizeof(*wire));
    if (!wire)
        return fail(error, CURLE_OUT_OF_MEMORY, "out of memory");
    wire->place = place;
    wire->fd = -1;
    if (getaddrinfo(place->host, place->port, &wanted, &wire->addresses) != 0)
        return give_up(wire, error, CURLE_COULDNT_RESOLVE_HOST, "the endpoint's host is not known");
    wire->next = wire->addresses;
    if (!try_addresses(wire))
        return give_up(wire, error, CURLE_COULDNT_CONNECT, "the endpoint cannot be reached");
    return wire;
}

void wire_close(struct wire *wire)
{
    if (!wire)
        return;
    SSL_free(wire->tls);
    if (wire->addresses)
        freeaddrinfo(wire->addresses);
    if (wire->fd >= 0)
        close(wire->fd);
    free(wire);
}

static enum wire_step breaks(struct wire_error *error, CURLcode code, const char *words)
{
    fail(error, code, words);
    return WIRE_BROKEN;
}

static enum wire_step join(struct wire *wire, struct wire_error *error)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof(peer);
    int why = 0;
    socklen_t why_size = sizeof(why);

    if (getpeername(wire->fd, (struct sockaddr *)&peer, &size) == 0) {
        wire->is_joined = true;
        wire->is_secured = !wire->place->is_secure;
        return wire->is_secured || begin_tls(wire) ? WIRE_READY
                                                   : breaks(error, CURLE_OUT_OF_MEMORY, "out of memory");
    }
    getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &why, &why_size);
    if (why == 0)
        return WIRE_WAITS;
    return try_addresses(wire) ? WIRE_WAITS : breaks(error, CURLE_COULDNT_CONNECT, strerror(why));
}

static enum wire_step not_secured(const struct wire *wire, struct wire_error *error)
{
    long verified = SSL_get_verify_result(wire->tls);

    ERR_clear_error();
    if (verified != X509_V_OK && !wire->place->trust_any)
        return breaks(error, CURLE_PEER_FAILED_VERIFICATION, X509_verify_cert_error_string(verified));
    return breaks(error, CURLE_SSL_CONNECT_ERROR, "TLS failed before it began");
}

static enum wire_step secure(struct wire *wire, struct wire_error *error)
{
    for (;;) {
        int done = SSL_do_handshake(wire->tls);
        int why = done == 1 ? SSL_ERROR_NONE : SSL_get_error(wire->tls, done);
        long got;

        if (!flush_tls(wire)) /* cut while connecting: nobody listens there for now */
            return breaks(error, CURLE_COULDNT_CONNECT, "the connection was lost before TLS began");
        if (done == 1) {
            wire->is_secured = true;
            return WIRE_READY;
        }
        if (why != SSL_ERROR_WANT_READ)
            return not_secured(wire, error);
        got = fill_tls(wire);
        if (got < 0)
            return breaks(error, CURLE_COULDNT_CONNECT, "the connection was lost before TLS began");
        if (got == 0)
            return WIRE_WAITS;
    }
}

enum wire_step wire_connect(struct wire *wire, struct wire_error *error)
{
    enum wire_step step = wire->is_joined ? WIRE_READY : join(wire, error);

    if (step != WIRE_READY || wire->is_secured)
        return step;
    return secure(wire, error);
}

/* ---- bytes */

/* TLS has none for now: it wants more of the socket's, or the peer has said that it ends. */
static bool is_waiting(const struct wire *wire, int result)
{
    bool waits = SSL_get_error(wire->tls, result) == SSL_ERROR_WANT_READ;

    ERR_clear_error();
    return waits;
}

static long read_tls(const struct wire *wire, char *bytes, size_t size)
{
    for (;;) {
        int got = SSL_read(wire->tls, bytes, size < INT32_MAX ? (int)size : INT32_MAX);
        long filled;

        if (got > 0)
            return got;
        if (!is_waiting(wire, got) || !flush_tls(wire)) /* it may have had to answer */
            return -1;
        filled = fill_tls(wire);
        if (filled <= 0)
            return filled;
    }
}

long wire_read(struct wire *wire, char *bytes, size_t size)
{
    return wire->tls ? read_tls(wire, bytes, size) : read_socket(wire, bytes, size);
}

long wire_write(struct wire *wire, const char *bytes, size_t size)
{
    int taken;

    if (!wire->tls)
        return write_socket(wire, bytes, size);
    if (!flush_tls(wire))
        return -1;
    if (size == 0 || wire_has_unsent(wire))
        return 0;
    taken = SSL_write(wire->tls, bytes, size < INT32_MAX ? (int)size : INT32_MAX);
    if (taken <= 0 || !flush_tls(wire)) {
        ERR_clear_error();
        return -1;
    }
    return taken;
}

int wire_fd(const struct wire *wire)
{
    return wire->fd;
}

bool wire_has_unsent(const struct wire *wire)
{
    return wire->tls && BIO_ctrl_pending(wire->to_peer) > 0;
}

bool wire_wants_out(const struct wire *wire)
{
    return !wire->is_joined || wire_has_unsent(wire);
}
