/*
 * src/resource/range.c - partition key ranges: which part of the key space is served where.
 * SDKs read them as a change feed, until they are told that nothing is new. The etag is the version of the table. A
 * client with an older version is given the ranges that are newer; their parents say which ranges are gone.
 */
#include <assert.h>

#include "base/encode.h"
#include "catalog/ranges.h"
#include "reply/feed.h"
#include "resource/resource.h"
#include "resource/system.h"

static void print_bounds(struct buf *body, const struct container *container, uint32_t index)
{
    struct epk min, max;

    range_bounds(container, index, &min, &max);
    buf_text(body, ",\"minInclusive\":\"");
    hex_encode_upper(body, epk_slice(&min));
    buf_text(body, "\",\"maxExclusive\":\"");
    hex_encode_upper(body, epk_slice(&max));
    buf_byte(body, '"');
}

static void print_parents(struct buf *body, const struct key_range *range)
{
    buf_text(body, ",\"status\":\"online\",\"parents\":[");
    for (uint32_t i = 0; i < range->ancestor_count; i++)
        buf_printf(body, "%s\"%u\"", i ? "," : "", range->ancestor[i].id);
    buf_text(body, "],");
}

static void print_range(struct buf *body, const struct container *container, uint32_t index)
{
    const struct key_range *range = &container->ranges.range[index];
    struct rid rid = rid_child(&container->rid, RID_RANGE, range->id + 1);

    assert(index < container->ranges.count);
    buf_text(body, "{\"_rid\":\"");
    rid_print(body, &rid);
    buf_printf(body, "\",\"id\":\"%u\",", range->id);
    print_etag_member(body, range->version, range->ts_ms);
    print_bounds(body, container, index);
    buf_printf(body, ",\"ridPrefix\":%u,\"_self\":\"dbs/", range->id);
    rid_print(body, &container->database->rid);
    buf_text(body, "/colls/");
    rid_print(body, &container->rid);
    buf_text(body, "/pkranges/");
    rid_print(body, &rid);
    buf_text(body, "/\",\"throughputFraction\":");
    json_print_double(body, 1.0 / container->ranges.count);
    print_parents(body, range);
    print_ts_member(body, range->ts_ms);
    buf_printf(body, ",\"_lsn\":%llu}", (unsigned long long)range->lsn);
}

/* The version of the table that the client has. 0: it has none, or one that we know too little about. */
static uint64_t version_known(const struct call *call)
{
    const struct range_table *table = &call->container->ranges;
    uint64_t version;

    if (!call_header(call, HEADER_A_IM).data ||
        !etag_parse(call_header(call, HEADER_IF_NONE_MATCH), &version) || version > table->version ||
        version < table->told_since)
        return 0;
    return version;
}

enum status range_list(struct op *op, struct call *call, struct reply *reply)
{
    const struct container *container = call->container;
    const struct range_table *table = &container->ranges;
    uint64_t known = version_known(call);
    struct feed feed;
    enum status st;

    TRY(call_if_none_match(op, call, reply, table->version, container->ts_ms));
    reply_etag(reply, table->version, container->ts_ms);
    feed_begin(&feed, reply, &container->rid, "PartitionKeyRanges");
    for (uint32_t i = 0; i < table->count; i++)
        if (table->range[i].version > known) {
            feed_next(&feed);
            print_range(reply_body(reply), container, i);
        }
    feed_end(&feed);
out:
    return st;
}
