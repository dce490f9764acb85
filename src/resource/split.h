/*
 * src/resource/split.h - ranges that are split and merged: by an operator, by more throughput.
 * An operator's wishes are JSON, as POST /_orrery/split and POST /_orrery/merge have them in their bodies; the answer
 * is the container's ranges as they are then. docs/ranges.md has both.
 */
#pragma once
#include "resource/call.h"

/* {"container":"dbs/d/colls/c","range":"0","at":"middle"|"median"|"<effective partition key>","parts":2} */
enum status split_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);

/* {"container":"dbs/d/colls/c","ranges":["1","2"]} */
enum status merge_run(struct op *op, struct service *service, struct json wanted, struct buf *answer);

/* Replaces the offer; in the same commit its container gets as many ranges as the throughput wants, if it has fewer. */
enum status split_with_offer(struct op *op, struct service *service, const struct child *old,
                             struct json body, struct slice if_match, uint64_t units, struct child **offer);
