/* src/resource/scope.c - which part of its container a request on items is about, and its session token. */
#include <assert.h>

#include "base/encode.h"
#include "catalog/parts.h"
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

static enum status check_lsn(struct op *op, const struct container *part, uint64_t wanted)
{
    uint64_t lsn = container_lsn(part);
    enum status st = ST_OK;

    if (wanted > lsn)
        TRY(container_newest_lsn(op, part, &lsn));
    if (wanted > lsn)
        TRY(op_fail_as(op, ST_SESSION_UNAVAILABLE));
out:
    return st;
}

/* The ids of all ranges that are gone and had keys of these. */
static struct range_ids ancestors_of(struct op *op, const struct container *container,
                                     struct range_ids ranges)
{
    const struct key_range *range = &container->ranges.range[ranges.id - container->ranges.id];
    struct range_ids all = { 0 };
    uint32_t most = 0, *id;

    for (uint32_t i = 0; i < ranges.count; i++)
        most += range[i].ancestor_count;
    all.id = id = arena_alloc(&op->arena, (most + 1) * sizeof(*id));
    for (uint32_t i = 0; i < ranges.count; i++)
        for (uint32_t j = 0; j < range[i].ancestor_count; j++)
            id[all.count++] = range[i].ancestor[j].id;
    return all;
}

enum status scope_check_token(struct op *op, const struct container *part, struct range_ids ranges,
                              struct slice token)
{
    struct session_ranges asked = { .asked = ranges,
                                    .live = ranges_all(part),
                                    .next_id = part->ranges.next_id,
                                    .apart = part->whole->part_count > 1 };
    uint64_t wanted = 0;
    enum status st;

    if (asked.apart)
        asked.ancestors = ancestors_of(op, part, ranges);
    TRY(session_token_lsn(op, token, &asked, &wanted));
    TRY(check_lsn(op, part, wanted));
out:
    return st;
}

enum status scope_check_session(struct op *op, const struct call *call, const struct reply *reply)
{
    struct slice header = call_header(call, HEADER_SESSION_TOKEN);
    const struct container *container = call->container;
    enum status st = ST_OK;

    assert(reply->about.of_items); /* scope_all() came first: the token is read for its ranges */
    if (!header.data || header.size == 0)
        return ST_OK;
    for (uint32_t i = 0; i < container->part_count; i++) {
        struct range_ids ranges = ranges_in_part(container, reply->about.ranges, i);

        if (ranges.count)
            TRY(scope_check_token(op, container->part[i], ranges, header));
    }
out:
    return st;
}

uint64_t scope_lsn(const struct call *call, const struct reply *reply)
{
    const struct container *container = call->container;
    const struct range_table *table = &container->ranges;
    size_t first = reply->about.of_items ? (size_t)(reply->about.ranges.id - table->id) : 0;

    assert(first < table->count);
    return container_lsn(container_part_of(container, table->range[first].min));
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
    if (scope->max.size && slice_compare(epk_slice(&scope->min), epk_slice(&scope->max)) > 0)
        scope->max = scope->min; /* nothing lies in both: an empty scope, and none that is turned round */
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
