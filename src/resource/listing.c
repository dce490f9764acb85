/* src/resource/listing.c - items by the page: the read feed, and the query that means the same. */
#include "base/encode.h"
#include "base/limits.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "query/query.h"
#include "reply/feed.h"
#include "resource/item.h"
#include "resource/resource.h"

/* "0", or "<container rid>,0" as Java and .NET write it. */
static enum status check_range_id(struct op *op, const struct call *call)
{
    struct slice header = slice_trim(call_header(call, HEADER_PARTITION_KEY_RANGE_ID));
    const char *comma;
    uint64_t unused;

    if (!header.data)
        return ST_OK;
    comma = memchr(header.data, ',', header.size);
    if (comma)
        header = slice_after(header, (size_t)(comma - header.data) + 1);
    if (slice_is(header, "0"))
        return ST_OK;
    if (!slice_to_u64(header, &unused))
        return op_fail(op, ST_BAD_HEADER,
                       "x-ms-documentdb-partitionkeyrangeid header contains invalid value '%.*s'.",
                       header.size > 100 ? 100 : (int)header.size, header.data);
    return op_fail(op, ST_RANGE_GONE, "PartitionKeyRange with id '%.*s' in collection '%.*s' doesn't exist.",
                   SLICE_ARGS(header), SLICE_ARGS(call->container->link));
}

static enum status read_epk(struct op *op, struct slice header, struct epk *epk)
{
    size_t size;

    if (!header.data)
        return ST_OK;
    if (!hex_decode(slice_trim(header), epk->bytes, sizeof(epk->bytes), &size))
        return op_fail(op, ST_BAD_HEADER, "The effective partition key '%.*s' is invalid.",
                       header.size > 200 ? 200 : (int)header.size, header.data);
    epk->size = (uint16_t)size;
    return ST_OK;
}

/* Which part of the container the client means: a key, a part of one, a range, or everything. */
static enum status read_scope(struct op *op, const struct call *call, struct partition_scope *scope)
{
    struct partition_key key;
    bool present;
    enum status st;

    *scope = (struct partition_scope){ 0 };
    TRY(check_range_id(op, call));
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_QUERY, &key,
                           &present));
    if (present)
        partition_key_epk(call->container, &key, &scope->prefix);
    TRY(read_epk(op, call_header(call, HEADER_START_EPK), &scope->min));
    TRY(read_epk(op, call_header(call, HEADER_END_EPK), &scope->max));
out:
    return st;
}

static void print_page(struct reply *reply, const struct call *call, const struct partition_page *page)
{
    struct feed feed;

    feed_begin(&feed, reply, &call->container->rid, "Documents");
    for (size_t i = 0; i < page->count; i++) {
        feed_next(&feed);
        item_print(reply_body(reply), call->container, &page->item[i]);
    }
    feed_end(&feed);
}

enum status document_list(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = bucket_lsn(call->container->bucket);
    struct continuation at;
    struct partition_scope scope;
    struct partition_page page;
    size_t limit;
    enum status st;

    item_reply_owner(reply, call);
    if (call_header(call, HEADER_A_IM).data)
        TRY(op_fail(op, ST_NOT_BUILT, "The change feed is not available in this version of the server."));
    TRY(item_check_session(op, call, lsn));
    TRY(call_page_size(op, call, &limit));
    TRY(read_scope(op, call, &scope));
    TRY(call_continuation(op, call, CONTINUATION_DOCUMENTS, &call->container->rid, &at));
    TRY(partition_list(op, call->container, &scope, at.after_number, limit, &page));
    print_page(reply, call, &page);
    if (page.more) {
        at.container = call->container->rid;
        at.after_number = page.last;
        reply_continuation(reply, &at);
    }
    reply_session(reply, lsn);
out:
    return st;
}

/* The query's text: {"query":"...","parameters":[...]} */
static enum status read_query(struct op *op, const struct call *call)
{
    struct json body, text;
    enum status st;

    TRY(call_body(op, call, &body));
    text = json_get(body, "query");
    if (json_kind(text) != JSON_STRING)
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "The input content is invalid because the required properties - 'query; ' - are missing"));
    if (!query_is_everything(json_string(text)))
        TRY(op_fail(
            op, ST_NOT_BUILT,
            "This version of the server answers no query but SELECT * FROM c, which lists every item."));
out:
    return st;
}

enum status document_query(struct op *op, struct call *call, struct reply *reply)
{
    enum status st;

    TRY(read_query(op, call));
    TRY(document_list(op, call, reply));
out:
    return st;
}

/* The plan of a query that needs none: send it as it is to every range, and join the answers. */
enum status document_plan(struct op *op, struct call *call, struct reply *reply)
{
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_query(op, call));
    buf_text(
        reply_body(reply),
        "{\"partitionedQueryExecutionInfoVersion\":2,\"queryInfo\":{\"distinctType\":\"None\",\"top\":null,"
        "\"offset\":null,\"limit\":null,\"orderBy\":[],\"orderByExpressions\":[],\"groupByExpressions\":[],"
        "\"groupByAliases\":[],\"aggregates\":[],\"groupByAliasToAggregateType\":{},\"rewrittenQuery\":\"\","
        "\"hasSelectValue\":false,\"dCountInfo\":null,\"hasNonStreamingOrderBy\":false},"
        "\"queryRanges\":[{\"min\":\"\",\"max\":\"FF\",\"isMinInclusive\":true,\"isMaxInclusive\":false}],"
        "\"hybridSearchQueryInfo\":null}");
out:
    return st;
}
