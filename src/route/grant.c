/* src/route/grant.c - resource tokens against requests. */
#include <assert.h>

#include "keys/kind.h"
#include "resource/permission.h"
#include "route/grant.h"

static bool is_read(const struct route *route)
{
    return route->method == METHOD_GET || route->method == METHOD_HEAD || route->marker == MARK_QUERY ||
           route->marker == MARK_PLAN;
}

/* SDKs read the container's definition and its ranges before they can ask for an item. */
static bool is_preparation(const struct call *call, const struct route *route)
{
    return route->method == METHOD_GET && call->container &&
           (slice_is(call->type, "colls") || slice_is(call->type, "pkranges"));
}

/* A token for a database does not reach users and permissions below it. */
static bool is_about_rights(const struct call *call)
{
    const struct kind *kind = kind_of_path(call->type);

    return kind && kind->flags & KIND_OF_RIGHTS;
}

/* Whether both name the same document in the same way: an id may look like a rid. */
static bool is_this(const struct resource_link *link, const struct call *call)
{
    struct rid rid;
    bool by_rid;

    assert(call->container); /* is_within() has compared it */
    by_rid = rid_parse(link->container, &rid) && rid_equal(&rid, &call->container->rid);

    if (by_rid != call->by_rid)
        return false;
    if (slice_is(call->type, "attachments")) /* a token for an item is good for its attachments */
        return slice_is(link->type, "docs") && slice_equal(link->id, call->item);
    return slice_equal(link->type, call->type) && slice_equal(link->id, call->id);
}

/* The rid in the grant decides: a new container with an old name is another one. */
static bool is_within(const struct grant *grant, const struct resource_link *link, const struct call *call,
                      const struct route *route)
{
    if (!link->container.data)
        return call->database && rid_equal(&call->database->rid, &grant->resource) && !is_about_rights(call);
    if (!call->container || !rid_equal(&call->container->rid, &grant->resource))
        return false;
    return !link->type.data || is_this(link, call) || is_preparation(call, route);
}

/* Whether the header's key is the granted one, or lies below it where keys have levels. */
static bool has_key(struct op *op, struct json granted, const struct call *call)
{
    struct slice header = call_header(call, HEADER_PARTITION_KEY);
    struct json key;

    if (!header.data || json_parse(op, header, &key) != ST_OK || json_kind(key) != JSON_ARRAY ||
        json_count(key) < json_count(granted))
        return false;
    for (size_t i = 0; i < json_count(granted); i++)
        if (!json_equal(json_element(granted, i), json_element(key, i)))
            return false;
    return true;
}

/* A grant for one partition key is good for items, and for procedures, which run within the key of their request. */
static bool is_in_key(struct op *op, struct json granted, const struct call *call, const struct route *route)
{
    bool runs = slice_is(call->type, "sprocs") && route->method == METHOD_POST && call->id.data;

    if (json_kind(granted) != JSON_ARRAY || route->marker == MARK_PLAN || is_preparation(call, route))
        return true;
    return (slice_is(call->type, "docs") || slice_is(call->type, "attachments") || runs) &&
           has_key(op, granted, call);
}

static bool allows(struct op *op, const struct grant *grant, const struct child *permission,
                   struct call *call, const struct route *route)
{
    struct json mode = json_get(permission->body, "permissionMode");
    struct resource_link link;

    if (permission->etag != grant->etag || (!slice_is_nocase(json_string(mode), "All") && !is_read(route)))
        return false;
    if (!resource_link_parse(json_string(json_get(permission->body, "resource")), &link))
        return false;
    call->keeps_id =
        link.type.size && slice_equal(link.type, call->type); /* attachments have names of their own */
    return is_within(grant, &link, call, route) &&
           is_in_key(op, json_get(permission->body, "resourcePartitionKey"), call, route);
}

enum status grant_check(struct op *op, const struct grant *grant, struct call *call,
                        const struct route *route)
{
    struct catalog *catalog = call->service->catalog;
    struct child *permission = catalog_find_child_at(catalog, &grant->permission);
    bool allowed;
    enum status st = ST_OK;

    assert(grant->permission.size > 0); /* size 0 stands for a master key, which needs no grant */
    if (!permission) {
        TRY(catalog_catch_up(op, catalog)); /* another process may have made it */
        permission = catalog_find_child_at(catalog, &grant->permission);
    }
    allowed = permission && permission->type == RID_TYPE_PERMISSION &&
              (route->flags & FOR_EVERYBODY || allows(op, grant, permission, call, route));
    if (!allowed)
        TRY(op_fail_as(op, ST_FORBIDDEN));
out:
    child_release(permission);
    return st;
}
