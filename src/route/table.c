/*
 * src/route/table.c - the routes.
 * To add an operation: write it in resource/, add its row, add test/wire/<it>.case. Kinds of small resources have
 * one row in keys/kinds.def, which makes their seven routes.
 */
#include <assert.h>

#include "keys/kind.h"
#include "resource/resource.h"
#include "route/table.h"

#define DB "dbs/x"
#define COLL DB "/colls/x"
#define FILES COLL "/docs/x/attachments"

/* The shape of what a kind belongs to. */
#define BELOW_DATABASE DB
#define BELOW_CONTAINER COLL
#define BELOW_USER DB "/users/x"

/* clang-format off */
#define ROUTE(name, method, marker, shape, run, action, flags) \
    { name, METHOD_##method, MARK_##marker, shape, sizeof(shape) - 1, run, ACTION_##action, flags },

#define ROUTES(name, list, tells) \
    ROUTE(name "_create",  POST,   NONE,   list,      child_create,  NONE, 0) \
    ROUTE(name "_upsert",  POST,   UPSERT, list,      child_upsert,  NONE, 0) \
    ROUTE(name "_query",   POST,   QUERY,  list,      child_query,   NONE, READS | (tells)) \
    ROUTE(name "_list",    GET,    NONE,   list,      child_list,    NONE, tells) \
    ROUTE(name "_read",    GET,    NONE,   list "/x", child_read,    NONE, RUN_INLINE | (tells)) \
    ROUTE(name "_replace", PUT,    NONE,   list "/x", child_replace, NONE, 0) \
    ROUTE(name "_delete",  DELETE, NONE,   list "/x", child_delete,  NONE, 0)

const struct route routes[] = {
    /*    name                  method  marker  shape                 run                action     flags */
    ROUTE("account_read",       GET,    NONE,   "",                   account_read,      METADATA,  RUN_INLINE | FOR_EVERYBODY)
    ROUTE("address_list",       GET,    NONE,   "addresses",          address_list,      METADATA,  RUN_INLINE | FOR_EVERYBODY)

    ROUTE("database_create",    POST,   NONE,   "dbs",                database_create,   NONE,      0)
    ROUTE("database_query",     POST,   QUERY,  "dbs",                database_query,    METADATA,  READS)
    ROUTE("database_list",      GET,    NONE,   "dbs",                database_list,     METADATA,  0)
    ROUTE("database_head",      HEAD,   NONE,   "dbs",                database_head,     METADATA,  RUN_INLINE)
    ROUTE("database_read",      GET,    NONE,   "dbs/x",              database_read,     METADATA,  RUN_INLINE)
    ROUTE("database_delete",    DELETE, NONE,   "dbs/x",              database_delete,   NONE,      0)

    ROUTE("container_create",   POST,   NONE,   "dbs/x/colls",        container_create,  NONE,      0)
    ROUTE("container_query",    POST,   QUERY,  "dbs/x/colls",        container_query,   METADATA,  READS)
    ROUTE("container_list",     GET,    NONE,   "dbs/x/colls",        container_list,    METADATA,  0)
    ROUTE("container_head",     HEAD,   NONE,   COLL,                 container_head,    METADATA,  RUN_INLINE)
    ROUTE("container_read",     GET,    NONE,   COLL,                 container_read,    METADATA,  RUN_INLINE)
    ROUTE("container_replace",  PUT,    NONE,   COLL,                 container_replace, NONE,      0)
    ROUTE("container_delete",   DELETE, NONE,   COLL,                 container_delete,  NONE,      0)
    ROUTE("range_list",         GET,    NONE,   COLL "/pkranges",     range_list,        METADATA,  RUN_INLINE)

    ROUTE("document_plan",      POST,   PLAN,   COLL "/docs",         document_plan,     QUERY,     RUN_INLINE | OF_ITEMS | READS)
    ROUTE("document_batch",     POST,   BATCH,  COLL "/docs",         document_batch,    ITEMS,     OF_ITEMS)
    ROUTE("document_query",     POST,   QUERY,  COLL "/docs",         document_query,    QUERY,     RUN_INLINE | OF_ITEMS | READS)
    ROUTE("document_upsert",    POST,   UPSERT, COLL "/docs",         document_upsert,   UPSERT,    RUN_INLINE | OF_ITEMS)
    ROUTE("document_create",    POST,   NONE,   COLL "/docs",         document_create,   CREATE,    RUN_INLINE | OF_ITEMS)
    ROUTE("document_list",      GET,    NONE,   COLL "/docs",         document_list,     FEED,      OF_ITEMS | SCANS)
    ROUTE("document_read",      GET,    NONE,   COLL "/docs/x",       document_read,     READ,      RUN_INLINE | OF_ITEMS)
    ROUTE("document_replace",   PUT,    NONE,   COLL "/docs/x",       document_replace,  REPLACE,   RUN_INLINE | OF_ITEMS)
    ROUTE("document_patch",     PATCH,  NONE,   COLL "/docs/x",       document_patch,    REPLACE,   RUN_INLINE | OF_ITEMS)
    ROUTE("document_delete",    DELETE, NONE,   COLL "/docs/x",       document_delete,   DELETE,    RUN_INLINE | OF_ITEMS)

    ROUTE("attachment_create",  POST,   NONE,   FILES,                attachment_create, NONE,      OF_ITEMS)
    ROUTE("attachment_upsert",  POST,   UPSERT, FILES,                attachment_upsert, NONE,      OF_ITEMS)
    ROUTE("attachment_query",   POST,   QUERY,  FILES,                attachment_query,  NONE,      OF_ITEMS | READS)
    ROUTE("attachment_list",    GET,    NONE,   FILES,                attachment_feed,   NONE,      OF_ITEMS)
    ROUTE("attachment_read",    GET,    NONE,   FILES "/x",           attachment_read,   NONE,      OF_ITEMS)
    ROUTE("attachment_replace", PUT,    NONE,   FILES "/x",           attachment_replace, NONE,      OF_ITEMS)
    ROUTE("attachment_delete",  DELETE, NONE,   FILES "/x",           attachment_remove, NONE,      OF_ITEMS)
    ROUTE("media_read",         GET,    NONE,   "media/x",            media_read,        NONE,      OF_ITEMS)
    ROUTE("media_replace",      PUT,    NONE,   "media/x",            media_replace,     NONE,      OF_ITEMS)

    ROUTE("transaction_read",   POST,   READ,   "operations/x",       transaction_read,  NONE,      OF_ITEMS | READS | IN_PARTS)
    ROUTE("transaction_write",  POST,   NONE,   "operations/x",       transaction_write, NONE,      OF_ITEMS | IN_PARTS)

#define KIND(type, path, name, below, mark, collective, adds, flags, properties) \
    ROUTES(name, BELOW_##below "/" path, (flags) & KIND_TELLS_TOKENS ? TELLS_TOKENS : 0)
#include "keys/kinds.def"
#undef KIND

    ROUTE("procedure_execute",  POST,   NONE,   COLL "/sprocs/x",     procedure_execute, EXECUTE,   OF_ITEMS | RUNS_SCRIPTS)

    ROUTE("conflict_query",     POST,   QUERY,  COLL "/conflicts",    conflict_query,    CONFLICTS, READS)
    ROUTE("conflict_list",      GET,    NONE,   COLL "/conflicts",    conflict_list,     CONFLICTS, RUN_INLINE)
    ROUTE("conflict_read",      GET,    NONE,   COLL "/conflicts/x",  conflict_read,     CONFLICTS, RUN_INLINE)
    ROUTE("conflict_delete",    DELETE, NONE,   COLL "/conflicts/x",  conflict_read,     CONFLICTS, 0)
    ROUTE("partition_delete",   POST,   NONE,   COLL "/operations/x", partition_delete_items, DELETE,    OF_ITEMS)

    ROUTE("offer_query",        POST,   QUERY,  "offers",             offer_query,       NONE,      READS)
    ROUTE("offer_list",         GET,    NONE,   "offers",             offer_list,        NONE,      0)
    ROUTE("offer_read",         GET,    NONE,   "offers/x",           offer_read,        NONE,      RUN_INLINE)
    ROUTE("offer_replace",      PUT,    NONE,   "offers/x",           offer_replace,     NONE,      0)
};
const size_t route_count = sizeof(routes) / sizeof(routes[0]);
/* clang-format on */

bool route_writes(const struct route *route)
{
    return route->method != METHOD_GET && route->method != METHOD_HEAD && !(route->flags & READS);
}

bool route_changes_definitions(const struct route *route)
{
    return route_writes(route) && !(route->flags & OF_ITEMS);
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

static struct slice shape_of(const struct route *route)
{
    return slice_make(route->shape, route->shape_size);
}

const struct route *route_find(enum method method, enum marker marker, struct slice shape, bool *known_path)
{
    *known_path = false;
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &routes[i];

        if (!slice_equal(shape, shape_of(route)))
            continue;
        *known_path = true;
        if (route->method == method && route->marker == marker)
            return route;
    }
    return NULL;
}

unsigned route_owners(const struct route *route)
{
    struct slice shape = shape_of(route);
    unsigned owners = slice_starts_with(shape, DB) ? OWNER_DATABASE : 0;

    if (slice_starts_with(shape, COLL))
        owners |= OWNER_CONTAINER;
    if (slice_starts_with(shape, BELOW_USER "/"))
        owners |= OWNER_USER;
    return owners;
}

void route_assert_owners(const struct route *route, const struct call *call)
{
    unsigned owners = route_owners(route);

    assert(call->database || !(owners & OWNER_DATABASE));
    assert(call->container || !(owners & OWNER_CONTAINER));
    assert(call->user || !(owners & OWNER_USER));
}
