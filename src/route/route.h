/*
 * src/route/route.h - from a request to its answer.
 * route_handle() is the table of contents of a request: origin, path, who, what, run, reply.
 *
 * Ownership. The caller owns a router from route_open() to route_close(), and everything it was given.
 * Threads. route_handle() runs on any number of threads at once.
 */
#pragma once
#include "base/gate.h"
#include "route/audit.h"
#include "resource/call.h"

struct router;

/* Named moments of the account. Each waits, and is called outside the gate. */
struct route_snapshots {
    /* `database` has no data where all of the account is meant. What was made is printed. */
    enum status (*create)(void *context, struct op *op, struct slice name, struct slice database,
                          struct buf *out);
    enum status (*list)(void *context, struct op *op, struct buf *out);
    enum status (*drop)(void *context, struct op *op, struct slice name);
    enum status (*restore)(void *context, struct op *op, struct slice name);

    /* A database under another name, or a container as of an earlier moment under another name. What came of it is printed. */
    enum status (*copy)(void *context, struct op *op, struct slice from, struct slice to, struct buf *out);
    enum status (*restore_at)(void *context, struct op *op, struct slice from, struct slice moment,
                              struct slice to, struct buf *out);
};

struct route_options {
    struct service *service;
    struct gate
        *gate; /* a request passes it before it uses the service, and leaves it with its answer; NULL: none */
    struct auth *auth;
    bool trusts_all;     /* whoever asks is the program itself: no host, no signature, every right */
    bool guards_metrics; /* they need a token or a signature */
    struct audit *audit; /* NULL: none is kept */
    const char *const *host_names; /* names besides loopback's that a Host header may have */
    size_t host_name_count;
    const char *const *cors_origins; /* web pages that may ask; "*" is any */
    size_t cors_origin_count;
    const char *certificate_file; /* served to clients that want to trust it; NULL without TLS */
    void (*print_metrics)(void *context, struct buf *out); /* what is not the router's own */
    void *metrics_context;
    /* Copies the data into a directory; NULL where there is nothing to copy. */
    enum status (*backup)(void *context, struct op *op, struct slice name, struct slice *made);
    void *backup_context;
    const struct route_snapshots *snapshots; /* NULL: there are none */
    void *snapshots_context;
};

struct router *route_open(const struct route_options *options);
void route_close(struct router *router); /* NULL is welcome */

/* An exchange_handler; the context is the router. */
enum status route_handle(void *router, struct exchange *exchange);

/* An exchange_admission: host, path, signature and rights, of the head alone. */
bool route_admit(void *router, struct exchange *exchange);
