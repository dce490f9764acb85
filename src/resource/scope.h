/*
 * src/resource/scope.h - which part of its container a request on items is about. The answer names the ranges of that
 * part, and the client's session token is read for them. How an operation says so:
 *     scope_all(reply, call);                                the answer is about the container and all its ranges
 *     TRY(scope_read_key(op, call, reply, &key));            or about the range of the header's key
 *     TRY(scope_read_range(op, call, reply, &min, &max));    or about the range that the header names
 *     TRY(scope_read(op, call, reply, &scope));        or whichever of them there is: a list or a query
 *     TRY(scope_check_session(op, call, reply));             reads the client's token for those ranges
 *     ...
 *     reply_session(reply, lsn);                             and the token that goes out names them
 * A plan needs only the first: it has no rows, so no bounds, and names no session.
 */
#pragma once
#include "partition/key.h"
#include "partition/partition.h"
#include "resource/call.h"

/* Once, before anything can fail: SDKs keep the session tokens of failures too. */
void scope_all(struct reply *reply, const struct call *call);

/* From here on the answer is about the range in which this key lies; a part of a key is welcome. */
void scope_key(struct reply *reply, const struct call *call, const struct placed_key *key);

/* For operations without a document: reads the partition key from the header, which must have all of it. */
enum status scope_read_key(struct op *op, const struct call *call, struct reply *reply,
                           struct placed_key *key);

/*
 * x-ms-documentdb-partitionkeyrangeid: the keys of that range are [min, max). Without the header
 * both are empty, which partition_scope reads as everything. ST_RANGE_GONE: there is no such range.
 */
enum status scope_read_range(struct op *op, const struct call *call, struct reply *reply, struct epk *min,
                             struct epk *max);

/*
 * Reads what a list or a query is about: a key, a part of one, a range, bounds of the client's own, or everything.
 */
enum status scope_read(struct op *op, const struct call *call, struct reply *reply,
                       struct partition_scope *scope);

/*
 * ST_SESSION_UNAVAILABLE when the client's token has a later LSN than the container, for a range that the answer is about.
 * The second is about some ranges that lie in one part of the container, and any token.
 */
enum status scope_check_session(struct op *op, const struct call *call, const struct reply *reply);
enum status scope_check_token(struct op *op, const struct container *part, struct range_ids ranges,
                              struct slice token);

/* How far the client has seen what the answer is about, once it has read what is there now: the LSN of its first range. */
uint64_t scope_lsn(const struct call *call, const struct reply *reply);

/*
 * For a query that is not about one key or range: the service answers it only when the request says that this is meant.
 */
enum status scope_check_crossing(struct op *op, const struct call *call);
