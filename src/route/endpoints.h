/* src/route/endpoints.h - the few paths that are not the service's; most need no key. */
#pragma once
#include "base/exchange.h"
#include "route/metrics.h"
#include "route/route.h"

struct endpoint {
    const char *path;
    enum method method; /* HEAD goes with GET */
    bool waits;         /* asks the disk: not on a loop thread */
    bool is_signed;     /* must be signed, with a key that may write */
    enum status (*run)(const struct route_options *options, const struct route_metrics *metrics,
                       struct exchange *exchange);
};

/* NULL when the target is none of them. */
const struct endpoint *endpoint_find(const struct request *request);
