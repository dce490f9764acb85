/* src/route/owners.c - what a request's path names: its database, its container, its user. */
#include <assert.h>

#include "resource/reshape.h"
#include "resource/resource.h"
#include "route/routed.h"
#include "route/table.h"

static bool is_about_items(const struct path *path)
{
    return path->count > 4 && slice_is(path->segment[4], "docs");
}

/*
 * The error differs: a resource itself is missing, or the database, container or user above it is; of an item's, Direct mode
 * tells more. `depth` is how many segments lead to what is missing.
 */
static enum status missing(struct op *op, const struct path *path, size_t depth, bool is_direct)
{
    if (path->count == depth)
        return op_fail_as(op, ST_NOT_FOUND);
    return op_fail_as(op, is_about_items(path) && !is_direct ? ST_ITEM_OWNER_NOT_FOUND : ST_OWNER_NOT_FOUND);
}

/* The user whose permissions the path is about. */
static enum status find_user(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    struct call *call = &routed->call;

    assert(call->database);  /* routed_find_owners() comes here with it */
    assert(path->count > 4); /* which the shapes with a user have */
    call->user =
        catalog_find_child(call->service->catalog, RID_TYPE_USER, &call->database->rid, path->segment[3]);
    return call->user ? ST_OK : missing(op, path, 4, call->request->direct);
}

static enum status find_container(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    struct call *call = &routed->call;
    struct rid rid;

    assert(call->database);
    assert(path->count > 3); /* which the shapes with a container have */
    call->container = catalog_find_container(call->service->catalog, call->database, path->segment[3]);
    if (!call->container)
        return missing(op, path, 4, call->request->direct);
    call->by_rid = rid_parse(path->segment[3], &rid) && rid_equal(&rid, &call->container->rid);
    if (path->count > 6)
        call->item = path->segment[5];
    return ST_OK;
}

/* The rid of media contains the rids of its database and its container. If they are not there, nothing is found. */
static void find_media_owners(struct op *op, struct call *call)
{
    struct buf database, container;
    struct rid rid;

    if (!rid_parse(call->id, &rid) || rid_type(&rid) != RID_TYPE_ATTACHMENT)
        return;
    buf_init(&database, &op->arena);
    rid.size = RID_DATABASE_BYTES;
    rid_print(&database, &rid);
    buf_init(&container, &op->arena);
    rid.size = RID_CONTAINER_BYTES;
    rid_print(&container, &rid);
    call->database = catalog_find_database(call->service->catalog, buf_as_slice(&database));
    if (call->database)
        call->container =
            catalog_find_container(call->service->catalog, call->database, buf_as_slice(&container));
    if (call->container && !rid_equal(&call->container->rid, &rid)) { /* an id that looks like it */
        container_release(call->container);
        call->container = NULL;
    }
}

/* The container whose addresses are asked for, by its rid. It may be gone. */
static enum status find_addressed(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    struct call *call = &routed->call;
    struct path owner;
    enum status st;

    call->id = path->range_ids;
    if (!slice_is(path->type, "docs"))
        return ST_OK;
    TRY(path_parse(op, path->resolve_for, &owner));
    if (owner.count < 4)
        TRY(op_fail_as(op, ST_OWNER_NOT_FOUND));
    call->database = catalog_find_database(call->service->catalog, owner.segment[1]);
    if (call->database)
        call->container = catalog_find_container(call->service->catalog, call->database, owner.segment[3]);
    if (!call->container)
        st = op_fail_as(op, ST_OWNER_NOT_FOUND);
out:
    return st;
}

enum status routed_settle_catalog(struct op *op, const struct routed *routed)
{
    struct catalog *catalog = routed->call.service->catalog;
    bool writes = route_writes(routed->route);
    enum status st;

    if (!writes && !catalog_is_writable(catalog))
        return ST_OK;
    st = catalog_settle(op, catalog);
    return writes || st == ST_WOULD_BLOCK ? st : ST_OK;
}

enum status routed_catch_up(struct op *op, const struct routed *routed)
{
    if (routed->route->flags & OF_ITEMS)
        return ST_OK;
    return catalog_catch_up(op, routed->call.service->catalog);
}

enum status routed_find_known_owners(struct op *op, struct routed *routed)
{
    const struct path *path = &routed->path;
    unsigned owners = route_owners(routed->route);
    struct call *call = &routed->call;
    enum status st = ST_OK;

    call->type = path->type;
    if (path->count && path->count % 2 == 0) {
        call->id = path->segment[path->count - 1];
        assert(call->id.size >
               0); /* path_parse() leaves no slash at the end, and decodes nothing to nothing */
    }
    if (slice_is(path->shape, "media/x"))
        find_media_owners(op, call);
    if (routed->route->run == address_list)
        return find_addressed(op, routed);
    if (!(owners & OWNER_DATABASE))
        return ST_OK;
    assert(path->count > 1);
    call->database = catalog_find_database(call->service->catalog, path->segment[1]);
    if (!call->database)
        return missing(op, path, 2, call->request->direct);
    if (owners & OWNER_CONTAINER)
        TRY(find_container(op, routed));
    if (owners & OWNER_USER)
        TRY(find_user(op, routed));
    route_assert_owners(routed->route, call);
out:
    return st;
}

void routed_release_owners(struct call *call)
{
    child_release(call->user);
    container_release(call->container);
    database_release(call->database);
    call->user = NULL;
    call->container = NULL;
    call->database = NULL;
}

/* Another process may have ended the hold meanwhile, and have put another container in its place. */
static bool may_have_another_name(struct op *op, const struct call *call)
{
    return call->container && catalog_is_shared(call->service->catalog) && hold_is_on(op, call->container);
}

enum status routed_find_owners(struct op *op, struct routed *routed)
{
    enum status st;

    routed_release_owners(&routed->call); /* it may have come so far before, and had to wait then */
    st = routed_find_known_owners(op, routed);
    if (st == ST_OK && !may_have_another_name(op, &routed->call))
        goto out;
    TRY(catalog_catch_up(op, routed->call.service->catalog));
    routed_release_owners(&routed->call);
    TRY(routed_find_known_owners(op, routed));
out:
    return st;
}
