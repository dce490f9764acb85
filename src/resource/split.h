/*
 * src/resource/split.h - splits and merges ranges, for an operator or for more throughput.
 * An operator sends POST /_orrery/split or POST /_orrery/merge with a JSON body. The answer lists the container's
 * ranges after the change. docs/ranges.md describes both.
 */
#pragma once
#include "resource/call.h"

/* {"container":"dbs/d/colls/c","range":"0","at":"middle"|"median"|"<effective partition key>","parts":2} */
enum status split_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);

/* {"container":"dbs/d/colls/c","ranges":["1","2"]} */
enum status merge_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);

/* Replaces the offer. In the same commit its container is split if it has too few ranges for the throughput. */
enum status split_with_offer(struct op *op, struct service *service, const struct child *old,
                             struct json body, struct slice if_match, uint64_t units, struct child **offer);
