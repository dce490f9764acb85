/* src/resource/permission.c - permissions: the link to what they are for, and their tokens. */
#include <assert.h>

#include "base/limits.h"
#include "resource/permission.h"

/* --- links, by names or by rids, with or without slashes around them --- */

static struct slice take_segment(struct slice *rest)
{
    const char *slash = rest->size ? memchr(rest->data, '/', rest->size) : NULL;
    size_t size = slash ? (size_t)(slash - rest->data) : rest->size;
    struct slice segment = slice_make(rest->data, size);

    *rest = slice_after(*rest, slash ? size + 1 : size);
    return segment;
}

static bool is_below_container(struct slice type)
{
    const struct kind *kind = kind_of_path(type);

    return slice_is(type, "docs") || (kind && kind->below == RID_TYPE_CONTAINER);
}

bool resource_link_parse(struct slice text, struct resource_link *link)
{
    if (text.size && text.data[0] == '/')
        text = slice_after(text, 1);
    *link = (struct resource_link){ 0 };
    if (!slice_is(take_segment(&text), "dbs"))
        return false;
    link->database = take_segment(&text);
    if (text.size == 0)
        return link->database.size > 0;
    if (!slice_is(take_segment(&text), "colls"))
        return false;
    link->container = take_segment(&text);
    if (text.size == 0)
        return link->container.size > 0;
    link->type = take_segment(&text);
    link->id = take_segment(&text);
    return is_below_container(link->type) && link->id.size > 0 && text.size == 0;
}

/* What the link names or leads through: a reference each. `container` is NULL when the link names a database. */
struct target {
    struct database *database;
    struct container *container;
};

static bool find_target(struct catalog *catalog, const struct resource_link *link, struct target *target)
{
    *target = (struct target){ .database = catalog_find_database(catalog, link->database) };
    if (target->database && link->container.data)
        target->container = catalog_find_container(catalog, target->database, link->container);
    return link->container.data ? target->container != NULL : target->database != NULL;
}

static void release_target(struct target *target)
{
    container_release(target->container);
    database_release(target->database);
}

/* Of size 0 when it is not there. */
static struct rid rid_of(struct catalog *catalog, const struct resource_link *link)
{
    struct target target;
    struct rid rid = { 0 };

    if (find_target(catalog, link, &target))
        rid = target.container ? target.container->rid : target.database->rid;
    release_target(&target);
    return rid;
}

/* --- checks --- */

static bool is_component(struct json value)
{
    if (json_kind(value) == JSON_OBJECT)
        return json_count(value) == 0; /* {} stands for a key that is absent */
    if (json_kind(value) == JSON_STRING)
        return json_string(value).size <= PARTITION_KEY_BYTES_MAX;
    return json_kind(value) != JSON_ARRAY;
}

static bool is_key(struct json key)
{
    if (json_kind(key) == JSON_UNDEFINED || json_kind(key) == JSON_NULL)
        return true;
    if (json_count(key) == 0 || json_count(key) > PARTITION_KEY_PATHS_MAX)
        return false;
    for (struct json_iter i = json_iter(key); json_next(&i);)
        if (!is_component(i.value))
            return false;
    return true;
}

/* Whether items of the container can have that key. Containers of a database have each their own paths. */
static bool fits(const struct container *container, struct json key)
{
    return !container || json_kind(key) != JSON_ARRAY || json_count(key) <= container->key_path_count;
}

enum status permission_token_seconds(struct op *op, const struct call *call, int64_t *seconds)
{
    struct slice header = slice_trim(call_header(call, HEADER_EXPIRY_SECONDS));

    *seconds = TOKEN_SECONDS_DEFAULT;
    if (!header.data)
        return ST_OK;
    if (slice_to_i64(header, seconds) && *seconds >= TOKEN_SECONDS_MIN && *seconds <= TOKEN_SECONDS_MAX)
        return ST_OK;
    *seconds = TOKEN_SECONDS_DEFAULT;
    return op_fail(
        op, ST_BAD_HEADER,
        "Value '%.*s' specified for the header 'x-ms-documentdb-expiry-seconds' is invalid. It must "
        "be between %d and %d.",
        header.size > 100 ? 100 : (int)header.size, header.data, TOKEN_SECONDS_MIN, TOKEN_SECONDS_MAX);
}

enum status permission_check(struct op *op, const struct call *call, struct json body)
{
    struct json key = json_get(body, "resourcePartitionKey");
    struct target target = { 0 };
    struct resource_link link;
    enum status st = ST_OK;

    if (!resource_link_parse(json_string(json_get(body, "resource")), &link) || !is_key(key))
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    /* What it is for may be made later. Until then its token is good for nothing. */
    (void)find_target(call->service->catalog, &link, &target);
    if (!fits(target.container, key))
        TRY(op_fail_as(op, ST_BAD_REQUEST));
out:
    release_target(&target);
    return st;
}

/* --- tokens --- */

void permission_print_token(struct buf *out, const struct child_printing *printing)
{
    const struct child *permission = printing->child;
    const struct service *service = printing->call->service;
    struct grant grant = { .permission = permission->rid,
                           .etag = permission->etag,
                           .issued_ms = printing->now_ms,
                           .expires_ms = printing->now_ms + 1000 * printing->token_seconds };
    struct resource_link link;

    assert(permission->type == RID_TYPE_PERMISSION);
    assert(printing->token_seconds >= TOKEN_SECONDS_MIN);
    assert(printing->token_seconds <= TOKEN_SECONDS_MAX);
    if (!resource_link_parse(json_string(json_get(permission->body, "resource")), &link))
        return;
    grant.resource = rid_of(service->catalog, &link);
    buf_text(out, ",\"_token\":\"");
    service->print_token(service->token_context, &grant, out);
    buf_byte(out, '"');
}
