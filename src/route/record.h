/* src/route/record.h - tells the record of the workload of requests on items, when they have their answers. */
#pragma once
#include "base/exchange.h"
#include "route/table.h"

/* The operation may note what it does, if anything is recorded. */
void record_begin(struct op *op, const struct service *service);

/* Before each attempt. */
void record_again(struct op *op);

/* How it ended. */
struct request_end {
    enum status status;
    double charge;
    int64_t began_us, took_us; /* on the monotonic clock */
};

/* The route may be NULL. */
void record_request(struct exchange *exchange, const struct call *call, const struct reply *reply,
                    const struct route *route, struct request_end end);
