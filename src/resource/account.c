/* src/resource/account.c - the account: who this server says it is, and where clients should go. */
#include "resource/resource.h"

/* What client-side planners need to know; a member left out switches a feature off in some of them. */
#define QUERY_ENGINE                                                                                        \
    "{\\\"allowNewKeywords\\\":true,\\\"maxJoinsPerSqlQuery\\\":10,\\\"maxQueryRequestTimeoutFraction\\\":" \
    "0.9,"                                                                                                  \
    "\\\"maxSqlQueryInputLength\\\":524288,\\\"maxUdfRefPerSqlQuery\\\":10,"                                \
    "\\\"queryMaxInMemorySortDocumentCount\\\":-1000,\\\"spatialMaxGeometryPointCount\\\":256,"             \
    "\\\"sqlAllowNonFiniteNumbers\\\":false,\\\"sqlDisableOptimizationFlags\\\":0,"                         \
    "\\\"enableSpatialIndexing\\\":true,"                                                                   \
    "\\\"maxInExpressionItemsCount\\\":2147483647,\\\"maxLogicalAndPerSqlQuery\\\":2147483647,"             \
    "\\\"maxLogicalOrPerSqlQuery\\\":2147483647,\\\"maxSpatialQueryCells\\\":2147483647,"                   \
    "\\\"sqlAllowAggregateFunctions\\\":true,\\\"sqlAllowGroupByClause\\\":true,\\\"sqlAllowLike\\\":true," \
    "\\\"sqlAllowSubQuery\\\":true,\\\"sqlAllowScalarSubQuery\\\":true,\\\"sqlAllowTop\\\":true,"           \
    "\\\"queryEnableFullText\\\":true}"

/*
 * Clients go on with the endpoint they read here, so it is the one they came by: port mappings, addresses and container
 * names then work. route/ has checked the Host header. Behind a proxy that ends TLS, the operator says what it is.
 */
static void print_location(struct buf *body, const struct call *call, const char *name)
{
    struct slice host = slice_trim(call_header(call, HEADER_HOST)), endpoint = call->service->public_endpoint;

    buf_printf(body, "\"%s\":[{\"name\":\"South Central US\",\"databaseAccountEndpoint\":\"", name);
    if (endpoint.data)
        buf_slice(body, endpoint);
    else
        buf_printf(body, "%s://%.*s", call->request->tls ? "https" : "http", SLICE_ARGS(host));
    buf_text(body, "/\"}],");
}

static void print_consistency(struct buf *body, const struct service *service)
{
    buf_printf(body, "\"userConsistencyPolicy\":{\"defaultConsistencyLevel\":\"%s\"%s},",
               consistency_names[service->consistency],
               service->consistency == CONSISTENCY_BOUNDED
                   ? ",\"maxStalenessPrefix\":100,\"maxStalenessIntervalInSeconds\":5"
                   : "");
}

enum status account_read(struct op *op, struct call *call, struct reply *reply)
{
    struct buf *body = reply_body(reply);
    struct slice account = call->service->account;

    (void)op;
    buf_printf(body, "{\"_self\":\"\",\"id\":\"%.*s\",\"_rid\":\"%.*s.orrery.local\",", SLICE_ARGS(account),
               SLICE_ARGS(account));
    buf_text(body, "\"media\":\"//media/\",\"addresses\":\"//addresses/\",\"_dbs\":\"//dbs/\",");
    print_location(body, call, "writableLocations");
    print_location(body, call, "readableLocations");
    buf_text(body, "\"enableMultipleWriteLocations\":false,\"continuousBackupEnabled\":false,"
                   "\"enableNRegionSynchronousCommit\":false,\"enablePerPartitionFailoverBehavior\":false,"
                   "\"userReplicationPolicy\":{\"asyncReplication\":false,\"minReplicaSetSize\":1,"
                   "\"maxReplicasetSize\":1},");
    print_consistency(body, call->service);
    buf_text(body, "\"systemReplicationPolicy\":{\"minReplicaSetSize\":1,\"maxReplicasetSize\":1},"
                   "\"readPolicy\":{\"primaryReadCoefficient\":1,\"secondaryReadCoefficient\":1},"
                   "\"queryEngineConfiguration\":\"" QUERY_ENGINE "\"}");
    reply_header_u64(reply, "x-ms-max-media-storage-usage-mb", 2048);
    reply_header_u64(reply, "x-ms-media-storage-usage-mb", 0);
    return ST_OK;
}
