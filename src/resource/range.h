/*
 * src/resource/range.h - the partition key range that a request on items names.
 * How a list or a query uses it:
 *     item_reply_owner(reply, call);                         the reply is about every range
 *     TRY(range_of_header(op, call, reply, &min, &max));     or about the one that the header names
 *     if (key is present)
 *         item_reply_key(reply, call, &prefix);              or about the one that the key lies in
 *     TRY(item_check_session(op, call, reply, lsn));         which reads the token for those ranges
 *     ...
 *     reply_session(reply, lsn);                             and the token that goes out names them
 * A plan needs only the first two: it has no rows, so no bounds, and names no session.
 */
#pragma once
#include "keys/epk.h"
#include "resource/call.h"

/*
 * x-ms-documentdb-partitionkeyrangeid: the keys of that range are [min, max). Without the header
 * both are empty, which partition_scope reads as everything. ST_RANGE_GONE: there is no such range.
 */
enum status range_of_header(struct op *op, const struct call *call, struct reply *reply, struct epk *min,
                            struct epk *max);
