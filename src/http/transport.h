/*
 * src/http/transport.h - bytes over a socket, plain or through TLS; OpenSSL's connections are known here only.
 * Nothing here waits: a call that cannot go on says what the socket must be ready for.
 *
 * Ownership. A transport owns its socket, from transport_init() to transport_close().
 */
#pragma once
#include "base/op.h"

struct ssl_st;
struct ssl_ctx_st;

struct transport {
    struct ssl_st *ssl; /* NULL for plain http */
    int fd;
};

enum io {
    IO_DONE,
    IO_WANT_READ,
    IO_WANT_WRITE,
    IO_CLOSED,
    IO_HELD, /* by what has to be answered first */
    IO_TURN, /* it would go on, but others have their turn */
};

/* The first byte of a TLS connection (RFC 8446, 5.1: a handshake record); no HTTP method begins with it. */
enum { TLS_FIRST_BYTE = 0x16 };

void transport_init(struct transport *transport, int fd);

/* Looks at the next byte and leaves it there. */
enum io transport_peek(const struct transport *transport, uint8_t *byte);

bool transport_begin_tls(struct transport *transport, struct ssl_ctx_st *tls);
enum io transport_handshake(struct transport *transport);
bool transport_is_http2(
    const struct transport *transport); /* after the handshake: the protocol that was agreed on */

/* IO_DONE: at least one byte. */
enum io transport_recv(struct transport *transport, char *data, size_t room, size_t *size);

/* Whether the other side has our own address, as commands on this machine do. */
bool transport_is_from_here(const struct transport *transport);

/* Bytes that have left the socket already and that no poll will tell about. */
bool transport_pending(const struct transport *transport);

/*
 * Sends as much of two parts as it can, up to `most` bytes and then to the end of a record of TLS, and takes it off them;
 * IO_DONE when so much was sent, or nothing is left.
 */
enum io transport_send(struct transport *transport, struct slice parts[2], size_t most, size_t *sent);

/* No more will be sent; the other side may still be sending. */
void transport_end(struct transport *transport);

/* Reads what comes and drops it; it need not be TLS any more. */
enum io transport_discard(struct transport *transport, char *scratch, size_t room);

void transport_close(struct transport *transport);

/* What all TLS connections share: the certificate and its key. */
enum status tls_open(struct op *op, const char *cert_file, const char *key_file, struct ssl_ctx_st **tls);
void tls_close(struct ssl_ctx_st *tls); /* NULL is welcome */
