/*
 * src/resource/child.c - users, permissions, scripts, client encryption keys: create, upsert, read, replace, list,
 * query, delete. The path's type names the kind, and keys/kinds.def says what the kind has.
 */
#include <assert.h>

#include "base/limits.h"
#include "resource/child_feed.h"
#include "resource/child_kind.h"
#include "resource/permission.h"
#include "resource/resource.h"
#include "resource/system.h"
#include "resource/usage.h"

/* Where the path leads: the kind and the parent. The rest is for printing. */
struct place {
    const struct kind *kind;
    const struct rid *parent;
    struct slice link; /* the parent's; absent where the parent is a user: clients do not ask for that one */
    const struct call *call;
    int64_t now_ms, token_seconds;
};

static enum status find_place(struct op *op, const struct call *call, struct place *place)
{
    *place = (struct place){ .kind = kind_of_path(call->type), .call = call, .now_ms = op->now_ms };
    assert(place->kind); /* route/ sends no other type this way */
    if (place->kind->below == RID_TYPE_CONTAINER) {
        place->parent = &call->container->rid;
        place->link = call->container->link;
    } else if (place->kind->below == RID_TYPE_USER) {
        place->parent = &call->user->rid;
    } else {
        place->parent = &call->database->rid;
        place->link = call->database->link;
    }
    assert(rid_type(place->parent) == place->kind->below);
    return permission_token_seconds(op, call, &place->token_seconds);
}

/* --- printing --- */

static void print_self(struct buf *body, const struct place *place, const struct child *child)
{
    struct rid database = child->rid;

    database.size = RID_DATABASE_BYTES;
    buf_text(body, "\"_self\":\"dbs/");
    rid_print(body, &database);
    if (place->kind->below != RID_TYPE_DATABASE) {
        buf_text(body, place->kind->below == RID_TYPE_USER ? "/users/" : "/colls/");
        rid_print(body, &child->parent);
    }
    buf_printf(body, "/%s/", place->kind->path);
    rid_print(body, &child->rid);
    buf_text(body, "/\"");
}

static void print_child(struct buf *out, const struct place *place, const struct child *child,
                        struct json body)
{
    buf_byte(out, '{');
    json_print_members(out, body);
    buf_text(out, ",\"_rid\":\"");
    rid_print(out, &child->rid);
    buf_text(out, "\",");
    print_ts_member(out, child->ts_ms);
    buf_byte(out, ',');
    print_self(out, place, child);
    buf_byte(out, ',');
    print_etag_member(out, child->etag, child->ts_ms);
    child_print_added(out, place->kind,
                      &(struct child_printing){ child, place->call, place->now_ms, place->token_seconds });
    buf_byte(out, '}');
}

static void reply_child(struct reply *reply, const struct call *call, const struct place *place,
                        const struct child *child, struct json body, int status)
{
    assert(child->type == place->kind->type);
    print_child(reply_body(reply), place, child, body);
    reply_etag(reply, child->etag, child->ts_ms);
    if (place->link.data)
        reply_header_link(reply, "x-ms-alt-content-path", place->link);
    reply_header_rid(reply, "x-ms-content-path", place->parent);
    if (place->kind->below == RID_TYPE_CONTAINER)
        usage_of_items(reply, call);
    reply_status(reply, status);
    if (call->request->method != METHOD_GET && call_wants_minimal(call))
        reply_drop_body(reply);
}

/* --- one of them --- */

static enum status find(struct op *op, const struct call *call, const struct place *place,
                        struct child **child)
{
    *child = catalog_find_child(call->service->catalog, place->kind->type, place->parent, call->id);
    if (*child)
        return ST_OK;
    return op_fail_as(op, ST_NOT_FOUND);
}

/* When the old one was made, which the new one tells as well. Undefined where that is not known. */
static enum status read_creation(struct op *op, const struct call *call, const struct place *place,
                                 struct child **old, struct json *made)
{
    struct json body;
    enum status st = ST_OK;

    *made = json_undefined;
    if (!(place->kind->flags & KIND_TELLS_CREATION) || !*old)
        return ST_OK;
    TRY(child_read_body(op, call->service->catalog, old, &body));
    *made = json_get(body, "_cts");
out:
    return st;
}

/* Adds when it was made: now, or when the old one was that it replaces. */
static enum status add_creation(struct op *op, const struct place *place, const struct child *old,
                                struct json made, struct json *body)
{
    struct json_builder out;

    if (!(place->kind->flags & KIND_TELLS_CREATION) || (old && json_kind(made) != JSON_NUMBER))
        return ST_OK;
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_members(&out, *body, NULL);
    json_add_name(&out, slice_of("_cts"));
    json_add_int(&out, old ? json_int(made) : op->now_ms / 1000);
    json_end(&out);
    *body = json_built(&out);
    return json_kind(*body) == JSON_UNDEFINED ? op_fail_as(op, ST_TOO_LARGE) : ST_OK;
}

static enum status read_body(struct op *op, const struct call *call, const struct place *place,
                             struct json *defined)
{
    struct json body;
    enum status st;

    TRY(call_body(op, call, ITEM_BYTES_MAX, &body));
    TRY(child_define(op, call, place->kind, body, defined));
out:
    return st;
}

enum status child_create(struct op *op, struct call *call, struct reply *reply)
{
    struct place place;
    struct child *child = NULL;
    struct json body;
    enum status st;

    TRY(find_place(op, call, &place));
    TRY(read_body(op, call, &place, &body));
    TRY(add_creation(op, &place, NULL, json_undefined, &body));
    TRY(catalog_create_child(op, call->service->catalog, place.kind->type, place.parent, body, &child));
    work_wrote(&op->work, 0);
    reply_child(reply, call, &place, child, body, 201);
out:
    child_release(child);
    return st;
}

enum status child_upsert(struct op *op, struct call *call, struct reply *reply)
{
    struct place place;
    struct child *old = NULL, *child = NULL;
    struct json body, made;
    bool created;
    enum status st;

    TRY(find_place(op, call, &place));
    TRY(read_body(op, call, &place, &body));
    old = catalog_find_child(call->service->catalog, place.kind->type, place.parent,
                             json_string(json_get(body, "id")));
    TRY(read_creation(op, call, &place, &old, &made));
    TRY(add_creation(op, &place, old, made, &body));
    TRY(catalog_upsert_child(op, call->service->catalog, place.kind->type, place.parent, body,
                             call_header(call, HEADER_IF_MATCH), &child, &created));
    work_wrote(&op->work, 0);
    if (!created)
        work_removed(&op->work, 0);
    reply_child(reply, call, &place, child, body, created ? 201 : 200);
out:
    child_release(child);
    child_release(old);
    return st;
}

enum status child_read(struct op *op, struct call *call, struct reply *reply)
{
    struct place place;
    struct child *child = NULL;
    struct json body;
    enum status st;

    TRY(find_place(op, call, &place));
    TRY(find(op, call, &place, &child));
    TRY(call_if_none_match(op, call, reply, child->etag, child->ts_ms));
    TRY(child_read_body(op, call->service->catalog, &child, &body));
    reply_child(reply, call, &place, child, body, 200);
out:
    child_release(child);
    return st;
}

enum status child_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct place place;
    struct child *old = NULL, *child = NULL;
    struct json body, made;
    enum status st;

    TRY(find_place(op, call, &place));
    TRY(find(op, call, &place, &old));
    TRY(read_creation(op, call, &place, &old, &made));
    TRY(read_body(op, call, &place, &body));
    TRY(add_creation(op, &place, old, made, &body));
    TRY(call_check_rename(op, call, old->id, body));
    TRY(catalog_replace_child(op, call->service->catalog, old, body, call_header(call, HEADER_IF_MATCH),
                              &child));
    work_wrote(&op->work, 0);
    work_removed(&op->work, 0);
    reply_child(reply, call, &place, child, body, 200);
out:
    child_release(child);
    child_release(old);
    return st;
}

enum status child_delete(struct op *op, struct call *call, struct reply *reply)
{
    struct place place;
    struct child *child = NULL;
    enum status st;

    TRY(find_place(op, call, &place));
    TRY(find(op, call, &place, &child));
    TRY(catalog_drop_child(op, call->service->catalog, child, call_header(call, HEADER_IF_MATCH)));
    work_removed(&op->work, 0);
    reply_status(reply, 204);
out:
    child_release(child);
    return st;
}

/* --- many of them --- */

static void print_row(struct buf *out, const struct child *child, struct json body, const void *place)
{
    print_child(out, place, child, body);
}

static struct child_feed feed_of(const struct place *place)
{
    return (struct child_feed){ .type = place->kind->type,
                                .parent = place->parent,
                                .collective = place->kind->collective,
                                .print = print_row,
                                .context = place };
}

enum status child_list(struct op *op, struct call *call, struct reply *reply)
{
    struct child_feed feed;
    struct place place;
    enum status st;

    TRY(find_place(op, call, &place));
    feed = feed_of(&place);
    TRY(child_feed_list(op, call, reply, &feed));
out:
    return st;
}

enum status child_query(struct op *op, struct call *call, struct reply *reply)
{
    struct child_feed feed;
    struct place place;
    enum status st;

    TRY(find_place(op, call, &place));
    feed = feed_of(&place);
    TRY(child_feed_query(op, call, reply, &feed, CATALOG_CHILDREN_MAX));
out:
    return st;
}
