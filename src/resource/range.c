/*
 * src/resource/range.c - partition key ranges: which part of the key space is served where.
 * SDKs read them as a change feed and go on until they are told that nothing is new.
 */
#include "base/encode.h"
#include "catalog/ranges.h"
#include "reply/feed.h"
#include "resource/range.h"
#include "resource/resource.h"
#include "resource/system.h"

/* A container's ranges never change: neither does their version. */
enum { RANGE_ETAG = 1 };

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

static void print_range(struct buf *body, const struct container *container, uint32_t index)
{
    uint32_t id = container->ranges.id[index];
    struct rid rid = rid_child(&container->rid, RID_RANGE, id + 1);

    buf_text(body, "{\"_rid\":\"");
    rid_print(body, &rid);
    buf_printf(body, "\",\"id\":\"%u\",", id);
    print_etag_member(body, RANGE_ETAG, container->ts_ms);
    print_bounds(body, container, index);
    buf_printf(body, ",\"ridPrefix\":%u,\"_self\":\"dbs/", id);
    rid_print(body, &container->database->rid);
    buf_text(body, "/colls/");
    rid_print(body, &container->rid);
    buf_text(body, "/pkranges/");
    rid_print(body, &rid);
    buf_text(body, "/\",\"throughputFraction\":");
    json_print_double(body, 1.0 / container->ranges.count);
    buf_text(body, ",\"status\":\"online\",\"parents\":[],");
    print_ts_member(body, container->ts_ms);
    buf_text(body, ",\"_lsn\":1}");
}

enum status range_list(struct op *op, struct call *call, struct reply *reply)
{
    const struct container *container = call->container;
    struct feed feed;
    enum status st;

    TRY(call_if_none_match(op, call, reply, RANGE_ETAG, container->ts_ms));
    reply_etag(reply, RANGE_ETAG, container->ts_ms);
    feed_begin(&feed, reply, &container->rid, "PartitionKeyRanges");
    for (uint32_t i = 0; i < container->ranges.count; i++) {
        feed_next(&feed);
        print_range(reply_body(reply), container, i);
    }
    feed_end(&feed);
out:
    return st;
}

enum status range_of_header(struct op *op, const struct call *call, struct reply *reply, struct epk *min,
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
