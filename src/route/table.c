/*
 * src/route/table.c - the routes.
 * To add an operation: write it in resource/, add its row, add test/wire/<it>.case. A row without
 * an operation is a gap, answered with 501 and listed in docs/compat.md.
 */
#include "resource/resource.h"
#include "route/table.h"

#define GET METHOD_GET
#define POST METHOD_POST
#define PUT METHOD_PUT
#define PATCH METHOD_PATCH
#define DELETE METHOD_DELETE

#define COLL "dbs/x/colls/x"
#define GRANTS "dbs/x/users/x/permissions"
#define FILES COLL "/docs/x/attachments"
#define KEYS "dbs/x/clientencryptionkeys"

/* clang-format off */
const struct route routes[] = {
    /* name                 method  marker       shape                  run                flags */
    { "account_read",       GET,    MARK_NONE,   "",                    account_read,      RUN_INLINE },

    { "database_create",    POST,   MARK_NONE,   "dbs",                 database_create,   0 },
    { "database_query",     POST,   MARK_QUERY,  "dbs",                 database_query,    READS },
    { "database_list",      GET,    MARK_NONE,   "dbs",                 database_list,     0 },
    { "database_read",      GET,    MARK_NONE,   "dbs/x",               database_read,     RUN_INLINE },
    { "database_delete",    DELETE, MARK_NONE,   "dbs/x",               database_delete,   0 },

    { "container_create",   POST,   MARK_NONE,   "dbs/x/colls",         container_create,  0 },
    { "container_query",    POST,   MARK_QUERY,  "dbs/x/colls",         container_query,   READS },
    { "container_list",     GET,    MARK_NONE,   "dbs/x/colls",         container_list,    0 },
    { "container_read",     GET,    MARK_NONE,   COLL,                  container_read,    RUN_INLINE },
    { "container_replace",  PUT,    MARK_NONE,   COLL,                  container_replace, 0 },
    { "container_delete",   DELETE, MARK_NONE,   COLL,                  container_delete,  0 },
    { "range_list",         GET,    MARK_NONE,   COLL "/pkranges",      range_list,        RUN_INLINE },

    { "document_plan",      POST,   MARK_PLAN,   COLL "/docs",          document_plan,     OF_ITEMS | READS },
    { "document_batch",     POST,   MARK_BATCH,  COLL "/docs",          document_batch,    OF_ITEMS },
    { "document_query",     POST,   MARK_QUERY,  COLL "/docs",          document_query,    OF_ITEMS | READS },
    { "document_upsert",    POST,   MARK_UPSERT, COLL "/docs",          document_upsert,   RUN_INLINE | OF_ITEMS },
    { "document_create",    POST,   MARK_NONE,   COLL "/docs",          document_create,   RUN_INLINE | OF_ITEMS },
    { "document_list",      GET,    MARK_NONE,   COLL "/docs",          document_list,     OF_ITEMS | SCANS },
    { "document_read",      GET,    MARK_NONE,   COLL "/docs/x",        document_read,     RUN_INLINE | OF_ITEMS },
    { "document_replace",   PUT,    MARK_NONE,   COLL "/docs/x",        document_replace,  RUN_INLINE | OF_ITEMS },
    { "document_patch",     PATCH,  MARK_NONE,   COLL "/docs/x",        document_patch,    RUN_INLINE | OF_ITEMS },
    { "document_delete",    DELETE, MARK_NONE,   COLL "/docs/x",        document_delete,   RUN_INLINE | OF_ITEMS },

    { "attachment_create",  POST,   MARK_NONE,   FILES,                 attachment_create, OF_ITEMS },
    { "attachment_upsert",  POST,   MARK_UPSERT, FILES,                 attachment_upsert, OF_ITEMS },
    { "attachment_query",   POST,   MARK_QUERY,  FILES,                 attachment_query,  OF_ITEMS | READS },
    { "attachment_list",    GET,    MARK_NONE,   FILES,                 attachment_feed,   OF_ITEMS },
    { "attachment_read",    GET,    MARK_NONE,   FILES "/x",            attachment_read,   OF_ITEMS },
    { "attachment_replace", PUT,    MARK_NONE,   FILES "/x",            attachment_replace, OF_ITEMS },
    { "attachment_delete",  DELETE, MARK_NONE,   FILES "/x",            attachment_remove, OF_ITEMS },
    { "media_read",         GET,    MARK_NONE,   "media/x",             media_read,        OF_ITEMS },
    { "media_replace",      PUT,    MARK_NONE,   "media/x",             media_replace,     OF_ITEMS },

    { "procedure_create",   POST,   MARK_NONE,   COLL "/sprocs",        child_create,      0 },
    { "procedure_upsert",   POST,   MARK_UPSERT, COLL "/sprocs",        child_upsert,      0 },
    { "procedure_query",    POST,   MARK_QUERY,  COLL "/sprocs",        child_query,       READS },
    { "procedure_list",     GET,    MARK_NONE,   COLL "/sprocs",        child_list,        0 },
    { "procedure_read",     GET,    MARK_NONE,   COLL "/sprocs/x",      child_read,        RUN_INLINE },
    { "procedure_replace",  PUT,    MARK_NONE,   COLL "/sprocs/x",      child_replace,     0 },
    { "procedure_delete",   DELETE, MARK_NONE,   COLL "/sprocs/x",      child_delete,      0 },
    { "procedure_execute",  POST,   MARK_NONE,   COLL "/sprocs/x",      procedure_execute, OF_ITEMS | RUNS_SCRIPTS },

    { "trigger_create",     POST,   MARK_NONE,   COLL "/triggers",      child_create,      0 },
    { "trigger_upsert",     POST,   MARK_UPSERT, COLL "/triggers",      child_upsert,      0 },
    { "trigger_query",      POST,   MARK_QUERY,  COLL "/triggers",      child_query,       READS },
    { "trigger_list",       GET,    MARK_NONE,   COLL "/triggers",      child_list,        0 },
    { "trigger_read",       GET,    MARK_NONE,   COLL "/triggers/x",    child_read,        RUN_INLINE },
    { "trigger_replace",    PUT,    MARK_NONE,   COLL "/triggers/x",    child_replace,     0 },
    { "trigger_delete",     DELETE, MARK_NONE,   COLL "/triggers/x",    child_delete,      0 },

    { "udf_create",         POST,   MARK_NONE,   COLL "/udfs",          child_create,      0 },
    { "udf_upsert",         POST,   MARK_UPSERT, COLL "/udfs",          child_upsert,      0 },
    { "udf_query",          POST,   MARK_QUERY,  COLL "/udfs",          child_query,       READS },
    { "udf_list",           GET,    MARK_NONE,   COLL "/udfs",          child_list,        0 },
    { "udf_read",           GET,    MARK_NONE,   COLL "/udfs/x",        child_read,        RUN_INLINE },
    { "udf_replace",        PUT,    MARK_NONE,   COLL "/udfs/x",        child_replace,     0 },
    { "udf_delete",         DELETE, MARK_NONE,   COLL "/udfs/x",        child_delete,      0 },

    { "conflict_query",     POST,   MARK_QUERY,  COLL "/conflicts",     conflict_query,    READS },
    { "conflict_list",      GET,    MARK_NONE,   COLL "/conflicts",     conflict_list,     RUN_INLINE },
    { "conflict_read",      GET,    MARK_NONE,   COLL "/conflicts/x",   conflict_read,     RUN_INLINE },
    { "conflict_delete",    DELETE, MARK_NONE,   COLL "/conflicts/x",   conflict_read,     0 },
    { "partition_delete",   POST,   MARK_NONE,   COLL "/operations/x",  partition_delete_items, OF_ITEMS },

    { "user_create",        POST,   MARK_NONE,   "dbs/x/users",         child_create,      0 },
    { "user_upsert",        POST,   MARK_UPSERT, "dbs/x/users",         child_upsert,      0 },
    { "user_query",         POST,   MARK_QUERY,  "dbs/x/users",         child_query,       READS },
    { "user_list",          GET,    MARK_NONE,   "dbs/x/users",         child_list,        0 },
    { "user_read",          GET,    MARK_NONE,   "dbs/x/users/x",       child_read,        RUN_INLINE },
    { "user_replace",       PUT,    MARK_NONE,   "dbs/x/users/x",       child_replace,     0 },
    { "user_delete",        DELETE, MARK_NONE,   "dbs/x/users/x",       child_delete,      0 },
    { "permission_create",  POST,   MARK_NONE,   GRANTS,                child_create,      0 },
    { "permission_upsert",  POST,   MARK_UPSERT, GRANTS,                child_upsert,      0 },
    { "permission_query",   POST,   MARK_QUERY,  GRANTS,                child_query,       READS | TELLS_TOKENS },
    { "permission_list",    GET,    MARK_NONE,   GRANTS,                child_list,        TELLS_TOKENS },
    { "permission_read",    GET,    MARK_NONE,   GRANTS "/x",           child_read,        RUN_INLINE | TELLS_TOKENS },
    { "permission_replace", PUT,    MARK_NONE,   GRANTS "/x",           child_replace,     0 },
    { "permission_delete",  DELETE, MARK_NONE,   GRANTS "/x",           child_delete,      0 },
    { "key_create",         POST,   MARK_NONE,   KEYS,                  child_create,      0 },
    { "key_upsert",         POST,   MARK_UPSERT, KEYS,                  child_upsert,      0 },
    { "key_query",          POST,   MARK_QUERY,  KEYS,                  child_query,       READS },
    { "key_list",           GET,    MARK_NONE,   KEYS,                  child_list,        0 },
    { "key_read",           GET,    MARK_NONE,   KEYS "/x",             child_read,        RUN_INLINE },
    { "key_replace",        PUT,    MARK_NONE,   KEYS "/x",             child_replace,     0 },
    { "key_delete",         DELETE, MARK_NONE,   KEYS "/x",             child_delete,      0 },

    { "offer_query",        POST,   MARK_QUERY,  "offers",              offer_query,       READS },
    { "offer_list",         GET,    MARK_NONE,   "offers",              offer_list,        0 },
    { "offer_read",         GET,    MARK_NONE,   "offers/x",            offer_read,        RUN_INLINE },
    { "offer_replace",      PUT,    MARK_NONE,   "offers/x",            offer_replace,     0 },
    { "address_list",       GET,    MARK_NONE,   "addresses",           NULL,              0 },
};
const size_t route_count = sizeof(routes) / sizeof(routes[0]);
/* clang-format on */

bool route_writes(const struct route *route)
{
    return route->method != METHOD_GET && route->method != METHOD_HEAD && !(route->flags & READS);
}

/* Writes of single items run the triggers that they name. */
static bool runs_scripts(const struct route *route, const struct request *request)
{
    return route->flags & RUNS_SCRIPTS ||
           (route->flags & OF_ITEMS &&
            (request->header[HEADER_PRE_TRIGGER].size > 0 || request->header[HEADER_POST_TRIGGER].size > 0));
}

enum exchange_class route_class(const struct route *route, const struct request *request)
{
    if (route->marker == MARK_QUERY || route->marker == MARK_PLAN || route->flags & SCANS)
        return CLASS_SCANS;
    return runs_scripts(route, request) ? CLASS_SCRIPTS : CLASS_QUICK;
}

bool route_wants_full_key(const struct route *route)
{
    return route_writes(route) || route->flags & TELLS_TOKENS;
}

const struct route *route_find(enum method method, enum marker marker, struct slice shape, bool *known_path)
{
    *known_path = false;
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &routes[i];

        if (!slice_is(shape, route->shape))
            continue;
        *known_path = true;
        if (route->method == method && route->marker == marker)
            return route;
    }
    return NULL;
}
