/*
 * src/resource/offer.h - throughput that a client asks for, as it is stored: {"content":{...}}, fixed or autoscale.
 */
#pragma once
#include "resource/call.h"

struct throughput {
    bool autoscale;
    uint64_t units;       /* fixed, or at most; 0 when the client asks for none */
    struct json settings; /* of autoscale, as they came */
    struct slice level;   /* S1, S2 or S3, as containers were sold once; data is NULL otherwise */
};

/* What the headers of a create ask for. ST_BAD_REQUEST for what no offer can have. */
enum status throughput_of_headers(struct op *op, const struct call *call, struct throughput *throughput);

/* Request units a second: the fixed number, or the most that autoscale goes to. */
uint64_t throughput_of_offer(const struct child *offer);

/* The offer's body; undefined when no throughput was asked for. */
struct json throughput_offer(struct op *op, const struct throughput *throughput);
