/*
 * src/http/http.h - sockets, TLS, HTTP/1.1, HTTP/2: bytes to exchanges and back.
 * One port speaks http and https, told apart by a connection's first byte, and HTTP/2 where a client wants it.
 * Loop threads (one per core) read, parse and write; the handler runs there first with op.may_block false and, when it
 * answers ST_WOULD_BLOCK, again on a pool thread. What a client can do wrong on this level is answered here: malformed
 * requests, too large heads and bodies, slow ones.
 *
 * Ownership. The server owns its threads, sockets and exchanges.
 * Threads. http_start, http_stop, http_free from one thread; http_stats from any.
 */
#pragma once
#include "base/exchange.h"

struct http_server;
struct session_kind;

struct http_options {
    const char *const *listen; /* "ADDR:PORT", "[::1]:8081", "localhost:0" (every address of the name) */
    size_t listen_count;
    const char *const *optional; /* likewise; where somebody else listens, the log says so and it goes on */
    size_t optional_count;
    const char *tls_cert_file, *tls_key_file; /* PEM; NULL for http only */
    bool tls_only; /* plain http is refused, but for those who have our own address */
    size_t loops;  /* 0: one per core */
    size_t connections_max;
    size_t head_bytes_max, body_bytes_max;
    struct account *account; /* NULL: what requests take is on none */
    int64_t idle_ms, request_ms;
    struct env *env;
    const struct session_kind *direct; /* Direct mode's (session.h); NULL: it is not spoken */
    exchange_handler *handler;
    exchange_admission *admit; /* NULL: every request may send its body */
    void *context;
    void (*write_error)(struct exchange *exchange, enum status status,
                        const char *message); /* fills the answer */
};

/* Binds and listens; nothing is accepted before http_start(). Failures are told in op->error. */
enum status http_open(struct op *op, const struct http_options *options, struct http_server **server);

/* "127.0.0.1:8081", "[::1]:8081": what was bound, ports filled in. NULL past the last. */
const char *http_address(const struct http_server *server, size_t index);

enum status http_start(struct op *op, struct http_server *server);

/* Stops accepting, lets requests in flight finish, closes idle connections at once and the rest after drain_ms. Waits. */
void http_stop(struct http_server *server, int64_t drain_ms);
void http_free(struct http_server *server); /* NULL is welcome */

struct http_stats {
    uint64_t connections_open, connections_total, connections_refused;
    uint64_t requests, requests_on_pool, bytes_in, bytes_out, malformed, timeouts;
    uint64_t pool_threads, pool_queued;
};

void http_stats(struct http_server *server, struct http_stats *stats);
