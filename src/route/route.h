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
#include "route/metrics.h"
#include "reply/reply.h"
#include "resource/call.h"

struct router;

/* A request that has its answer, for those who watch. */
struct observed {
    const char *operation; /* its route's name; "none" */
    const struct request *request;
    const struct answer *answer;
    const struct reply *reply; /* with the ranges that it is about and, of a query, text and plan */
    struct slice link;         /* dbs/shop/colls/orders/docs/1, decoded */
    double charge;
    int sub_status;
    int64_t took_us;
};

/* Of the trace that a request is a part of, as hexadecimal digits; empty: of none. */
enum { TRACE_ID_SIZE = 32 };
struct trace_id {
    char text[TRACE_ID_SIZE + 1];
};

/* Called on the thread that has made the answer, before it is sent. It must not wait. */
typedef struct trace_id route_observer(void *context, struct op *op, const struct observed *observed);

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

/* An operator's command: what the body asks for is done, and the answer printed. */
typedef enum status route_command(struct op *op, struct service *service, struct json wanted,
                                  struct buf *answer);

struct route_options {
    struct service *service;
    struct gate
        *gate; /* a request passes it before it uses the service, and leaves it with its answer; NULL: none */
    struct auth *auth;
    bool trusts_all;         /* whoever asks is the program itself: no host, no signature, every right */
    bool guards_metrics;     /* they need a token or a signature */
    struct audit *audit;     /* NULL: none is kept */
    route_observer *observe; /* NULL: nobody watches, which costs nothing */
    void *observe_context;
    int64_t observe_after_us;      /* requests that took less are not told of */
    bool emulator;                 /* it stands in for the Cosmos DB emulators, which have some paths more */
    const char *const *host_names; /* names besides loopback's that a Host header may have; "*" is any */
    size_t host_name_count;
    const char *const *cors_origins; /* web pages that may ask; "*" is any */
    size_t cors_origin_count;
    const char *certificate_file; /* served to clients that want to trust it; NULL without TLS */
    bool serves_explorer;         /* the web page at /_explorer/ */
    void (*print_metrics)(void *context, struct buf *out); /* what is not the router's own */
    void *metrics_context;
    /* The figures of the last hour, from the sample of that number on, as members of an object. NULL: none are kept. */
    void (*print_now)(void *context, struct op *op, uint64_t since, struct buf *out);
    void *now_context;
    /* Copies the data into a directory; NULL where there is nothing to copy. */
    enum status (*backup)(void *context, struct op *op, struct slice name, struct slice *made);
    void *backup_context;
    /* Has a command done while no request is inside the gate; it is called outside of it. NULL: nobody can. */
    enum status (*run_alone)(void *context, struct op *op, route_command *command, struct json wanted,
                             struct buf *answer);
    void *alone_context;
    const struct route_snapshots *snapshots; /* NULL: there are none */
    void *snapshots_context;
};

struct router *route_open(const struct route_options *options);
void route_close(struct router *router); /* NULL is welcome */

/* What all requests since the start add up to. */
void route_totals(const struct router *router, struct request_totals *totals);

/* An exchange_handler; the context is the router. */
enum status route_handle(void *router, struct exchange *exchange);

/* An exchange_admission: host, path, signature and rights, of the head alone. */
bool route_admit(void *router, struct exchange *exchange);
