/*
 * src/route/routed.h - a request on its way, for the files of its steps only: route.c has their order.
 *
 * Ownership. What a request has found out lies in its operation's arena. It holds its owners until they are released.
 * Threads. One thread at a time: a loop thread, then one of the pool, then whoever has committed.
 */
#pragma once
#include "route/path.h"
#include "route/route.h"

struct router {
    struct route_options options;
    struct route_metrics *metrics;
};

/* What has been found out about a request; kept while it waits for a pool thread. */
struct routed {
    const struct router *router;
    struct call call;
    struct reply reply;
    struct path path;
    struct auth_who who;
    const struct route *route; /* NULL when there is none */
    bool known_path;           /* another method would have a route */
    bool is_prepared;
    bool is_outside; /* of the gate: the service is not to be looked at */
};

/* ---- owners.c: what the path names ---- */

/*
 * Settles a change of the catalog that is in doubt. A write must wait for it. A read goes on with what is known
 * while the store cannot write; that it cannot may turn out only here.
 */
enum status routed_settle_catalog(struct op *op, const struct routed *routed);

/* What a request about definitions finds is as new as its answer. Of items the store says when a definition is old. */
enum status routed_catch_up(struct op *op, const struct routed *routed);

/* What the route's shape names, as far as it is known here. */
enum status routed_find_known_owners(struct op *op, struct routed *routed);

/*
 * Looks up what the route's shape names. ST_OK means that all of it is there, which route_assert_owners() repeats. What is
 * not there may have been made by another process: then it is looked for again.
 */
enum status routed_find_owners(struct op *op, struct routed *routed);

void routed_release_owners(struct call *call);

/* ---- conditions.c: what the headers say ---- */

enum status routed_check_headers(struct op *op,
                                 const struct routed *routed); /* before the owners are known */
enum status routed_check_claims(struct op *op,
                                const struct routed *routed); /* of the container and the session */

/* ---- running.c ---- */

/* Runs the operation: at once if a loop thread may, else on a pool thread. After its commit, only its end is run. */
enum status routed_run(struct exchange *exchange, struct routed *routed);
