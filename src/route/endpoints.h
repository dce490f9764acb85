/* src/route/endpoints.h - the few paths that are not the service's; most need no key. */
#pragma once
#include "base/exchange.h"
#include "route/metrics.h"
#include "route/route.h"

enum endpoint_guard {
    FOR_ALL,
    FOR_METRICS, /* beyond loopback it needs the metrics' token, or a signature */
    FOR_READERS, /* must be signed, with any key of the account */
    FOR_KEYS,    /* must be signed, with a key that may write */
};

struct endpoint {
    const char *path;   /* a * stands for a name */
    enum method method; /* HEAD goes with GET */
    bool waits;         /* asks the disk: not on a loop thread */
    bool outside;       /* of the gate, which it may close */
    enum endpoint_guard guard;
    enum status (*run)(const struct route_options *options, const struct route_metrics *metrics,
                       struct exchange *exchange);
};

/* NULL when the target is none of them. */
const struct endpoint *endpoint_find(const struct route_options *options, const struct request *request);
