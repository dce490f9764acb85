/* src/resource/scope.c - which part of its container a request on items is about, and its session token. */
#include <assert.h>

#include "base/encode.h"
#include "catalog/ranges.h"
#include "resource/scope.h"
#include "workload/noted.h"

/* ---- what the answer is about ---- */

void scope_all(struct reply *reply, const struct call *call)
{
    assert(call->container); /* the path of items names one */
    reply_owner(reply, call->container->link, &call->container->rid, ranges_all(call->container));
}

void scope_key(struct reply *reply, const struct call *call, const struct placed_key *key)
{
    reply_ranges(reply, ranges_of_prefix(call->container, &key->epk));
    noted_name_key(reply->op, &key->values);
}

enum status scope_check_lsn(struct op *op, const struct container *container, uint64_t wanted)
{
    uint64_t lsn = container_lsn(container);
    enum status st = ST_OK;

    if (wanted > lsn)
        TRY(container_newest_lsn(op, container, &lsn));
    if (wanted > lsn)
        TRY(op_fail_as(op, ST_SESSION_UNAVAILABLE));
out:
    return st;
}

enum status scope_check_session(struct op *op, const struct call *call, const struct reply *reply)
{
    struct slice header = call_header(call, HEADER_SESSION_TOKEN);
    struct session_ranges ranges = { reply->about.ranges, ranges_all(call->container),
                                     call->container->ranges.next_id };
    uint64_t wanted = 0;
    enum status st = ST_OK;

    assert(reply->about.of_items); /* scope_all() came first: the token is read for its ranges */
    if (!header.data || header.size == 0)
        return ST_OK;
    TRY(session_token_lsn(op, header, &ranges, &wanted));
    TRY(scope_check_lsn(op, call->container, wanted));
out:
    return st;
}

/* ---- what the headers name ---- */

enum status scope_read_key(struct op *op, const struct call *call, struct reply *reply,
                           struct placed_key *key)
{
    bool present;
    enum status st;

    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_ITEM,
                           &key->values, &present));
    partition_key_place(call->container, key);
    scope_key(reply, call, key);
out:
    return st;
}

enum status scope_read_range(struct op *op, const struct call *call, struct reply *reply, struct epk *min,
                             struct epk *max)
{
    struct slice header = call_header(call, HEADER_PARTITION_KEY_RANGE_ID);
    uint32_t index;
    enum status st = ST_OK;

    min->size = max->size = 0;
    if (!header.data)
        return ST_OK;
    TRY(range_parse(op, call->container, header, &index));
    range_bounds(call->container, index, min, max);
    reply_ranges(reply, range_at(call->container, index));
out:
    return st;
}

/* Reads a bound of the client's. It replaces a range's bound if it is narrower: `order` is the sign of that. */
static enum status read_epk(struct op *op, struct slice header, int order, struct epk *epk)
{
    struct epk given;
    size_t size;

    assert(order == 1 || order == -1);
    if (!header.data)
        return ST_OK;
    if (!hex_decode(slice_trim(header), given.bytes, sizeof(given.bytes), &size))
        return op_fail(op, ST_BAD_HEADER, "The effective partition key '%.*s' is invalid.",
                       header.size > 200 ? 200 : (int)header.size, header.data);
    given.size = (uint16_t)size;
    if (size && (epk->size == 0 || order * slice_compare(epk_slice(&given), epk_slice(epk)) > 0))
        *epk = given;
    return ST_OK;
}

enum status scope_read(struct op *op, const struct call *call, struct reply *reply,
                       struct partition_scope *scope)
{
    bool present;
    enum status st;

    *scope = (struct partition_scope){ 0 };
    TRY(scope_read_range(op, call, reply, &scope->min, &scope->max));
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_QUERY,
                           &scope->key.values, &present));
    if (present) {
        partition_key_place(call->container, &scope->key);
        scope->exact = call->container->system_key; /* an item without a key has an empty one there */
        if (scope->max.size == 0)                   /* else the range that the header names answers */
            scope_key(reply, call, &scope->key);
    }
    TRY(read_epk(op, call_header(call, HEADER_START_EPK), 1, &scope->min));
    TRY(read_epk(op, call_header(call, HEADER_END_EPK), -1, &scope->max));
out:
    return st;
}

enum status scope_check_crossing(struct op *op, const struct call *call)
{
    if (call->container->system_key || call_header(call, HEADER_PARTITION_KEY_RANGE_ID).data ||
        header_is_true(call->request, HEADER_CROSS_PARTITION))
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "Cross partition query is required but disabled. Please set "
        "x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or "
        "revise your query to avoid this exception.");
}
