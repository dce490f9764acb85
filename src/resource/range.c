/*
 * src/resource/range.c - partition key ranges: which part of the key space is served where.
 * SDKs read them as a change feed and go on until they are told that nothing is new.
 */
#include "reply/feed.h"
#include "resource/resource.h"
#include "resource/system.h"

/* There is one range, and it never changes: neither does its version. */
enum { RANGE_ETAG = 1 };

static void print_range(struct buf *body, const struct container *container)
{
    struct rid rid = rid_child(&container->rid, RID_RANGE, 1);

    buf_text(body, "{\"_rid\":\"");
    rid_print(body, &rid);
    buf_text(body, "\",\"id\":\"0\",");
    print_etag_member(body, RANGE_ETAG, container->ts_ms);
    buf_text(body, ",\"minInclusive\":\"\",\"maxExclusive\":\"FF\",\"ridPrefix\":0,\"_self\":\"dbs/");
    rid_print(body, &container->database->rid);
    buf_text(body, "/colls/");
    rid_print(body, &container->rid);
    buf_text(body, "/pkranges/");
    rid_print(body, &rid);
    buf_text(body, "/\",\"throughputFraction\":1,\"status\":\"online\",\"parents\":[],");
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
    feed_next(&feed);
    print_range(reply_body(reply), container);
    feed_end(&feed);
out:
    return st;
}
