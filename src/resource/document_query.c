/* src/resource/document_query.c - queries over items, and the plans of them that SDKs ask for. */
#include "resource/function.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/search.h"
#include "resource/usage.h"
#include "source/items.h"
#include "source/narrow.h"

/* The service answers a query over many partitions only when it is told that this is meant. */
static enum status check_cross_partition(struct op *op, const struct call *call,
                                         const struct partition_scope *scope)
{
    struct slice header = call_header(call, HEADER_CROSS_PARTITION);

    if (scope->key.epk.size || scope->min.size || scope->max.size ||
        (scope->points && scope->point_count <= 1) || call->container->system_key ||
        call_header(call, HEADER_PARTITION_KEY_RANGE_ID).data ||
        (header.data && slice_is_nocase(slice_trim(header), "true")))
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "Cross partition query is required but disabled. Please set "
        "x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or "
        "revise your query to avoid this exception.");
}

enum status document_query(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = container_lsn(call->container);
    struct query_options options = search_options(call);
    struct functions functions = functions_of(call, NULL);
    struct item_source *items = NULL;
    struct partition_scope scope;
    struct search search;
    enum status st;

    functions_offer(&functions, &options);
    scope_all(reply, call);
    TRY(scope_read(op, call, reply, &scope));
    TRY(scope_check_session(op, call, reply, lsn));
    TRY(search_read(op, call, &search));
    TRY(search_compile(op, &search, &options));
    TRY(narrow_scope(op, call->container, search.query, &scope));
    TRY(check_cross_partition(op, call, &scope));
    TRY(item_source_open(op, call->container, &scope, &items));
    TRY(search_run(op, call, reply, &search, item_source_rows(items), &call->container->rid, "Documents"));
    reply_session(reply, lsn);
    usage_of_items(reply, call);
out:
    item_source_close(items);
    functions_end(&functions);
    return st;
}

enum status document_plan(struct op *op, struct call *call, struct reply *reply)
{
    struct query_options options = search_options(call);
    struct functions functions = functions_of(call, NULL);
    struct query_key key = narrow_key(call->container);
    struct search search;
    enum status st;

    functions_offer(&functions, &options); /* a plan calls none */
    scope_all(reply, call);
    TRY(search_read(op, call, &search));
    TRY(search_compile(op, &search, &options));
    TRY(query_plan(op, query_select(search.query), &key, call_header(call, HEADER_QUERY_FEATURES),
                   reply_body(reply)));
out:
    return st;
}
