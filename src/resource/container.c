/* src/resource/container.c - containers: create, read, replace, list, delete. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/definition.h"
#include "catalog/ranges.h"
#include "query/computed.h"
#include "reply/feed.h"
#include "resource/offer.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/search.h"
#include "resource/figures.h"
#include "resource/system.h"
#include "resource/usage.h"

/* Clients before this version may make containers without a partition key, and are not shown the stand-in. */
enum { VERSION_WITH_KEYS = 20181231 };

static void print_self(struct buf *body, const struct container *container)
{
    buf_text(body, "\"_self\":\"dbs/");
    rid_print(body, &container->database->rid);
    buf_text(body, "/colls/");
    rid_print(body, &container->rid);
    buf_text(body, "/\"");
}

static bool has_keys(const struct call *call)
{
    return call_version(call) >= VERSION_WITH_KEYS;
}

/* The service's order: it differs from that of databases and items. */
static void print_container(struct buf *body, const struct call *call, const struct container *container)
{
    bool hides_key = container->system_key && !has_keys(call);

    buf_byte(body, '{');
    json_print_members(body, hides_key ? json_without(body->arena, container->definition, "partitionKey")
                                       : container->definition);
    buf_text(body, ",\"_rid\":\"");
    rid_print(body, &container->rid);
    buf_text(body, "\",");
    print_ts_member(body, container->ts_ms);
    buf_byte(body, ',');
    print_self(body, container);
    buf_byte(body, ',');
    print_etag_member(body, container->etag, container->ts_ms);
    buf_text(body,
             ",\"_docs\":\"docs/\",\"_sprocs\":\"sprocs/\",\"_triggers\":\"triggers/\",\"_udfs\":\"udfs/\","
             "\"_conflicts\":\"conflicts/\"}");
}

static bool has_offer(const struct call *call, const struct rid *owner)
{
    struct child *offer = catalog_find_offer(call->service->catalog, owner);

    child_release(offer);
    return offer != NULL;
}

/* A container without throughput of its own lives on that of its database. */
static bool shares_throughput(const struct call *call, const struct container *container)
{
    return !has_offer(call, &container->rid) && has_offer(call, &container->database->rid);
}

static bool has_vector_indexes(struct json definition)
{
    struct json list = json_get(json_get(definition, "indexingPolicy"), "vectorIndexes");

    return json_kind(list) == JSON_ARRAY && json_count(list) > 0;
}

static enum status refuse_shared_vectors(struct op *op)
{
    return op_fail(op, ST_BAD_REQUEST, "The Vector Indexing is not supported for shared throughput offer");
}

static bool is_lazy(const struct container *container)
{
    struct json mode = json_get(json_get(container->definition, "indexingPolicy"), "indexingMode");

    return json_kind(mode) == JSON_STRING && slice_is(json_string(mode), "lazy");
}

/* Clients of old are told without asking, and of the mode lazy in two headers. */
static void reply_progress(struct reply *reply, const struct call *call, const struct container *container)
{
    if (has_keys(call) && !header_is_true(call->request, HEADER_POPULATE_QUOTA))
        return;
    reply_header_u64(reply, "x-ms-documentdb-collection-index-transformation-progress",
                     container_indexed_percent(container));
    if (!has_keys(call) && is_lazy(container))
        reply_header_u64(reply, "x-ms-documentdb-collection-lazy-indexing-progress",
                         container_indexed_percent(container));
}

static void reply_container(struct reply *reply, const struct call *call, const struct container *container,
                            int status)
{
    print_container(reply_body(reply), call, container);
    reply_etag(reply, container->etag, container->ts_ms);
    reply_header_link(reply, "x-ms-alt-content-path", container->database->link);
    reply_header_rid(reply, "x-ms-content-path", &container->database->rid);
    reply_progress(reply, call, container);
    if (shares_throughput(call, container))
        reply_header(reply, "x-ms-share-throughput", slice_of("true"));
    reply_session(reply, container_lsn(container->part[0])); /* it names the first range */
    reply_status(reply, status);
}

static enum status read_definition(struct op *op, const struct call *call, struct json old,
                                   struct json *definition)
{
    struct define_options options = { .is_old = !has_keys(call), .old = old };
    struct json body;
    enum status st;

    TRY(call_body(op, call, HTTP_BODY_BYTES_MAX, &body));
    TRY(container_define(op, body, options, definition));
    TRY(computed_check(op, json_get(*definition, "computedProperties")));
out:
    return st;
}

/* How many containers live on their database's throughput; stops counting at the limit. */
static size_t count_sharing(const struct call *call)
{
    struct catalog *catalog = call->service->catalog;
    struct container *list[SHARING_CONTAINERS_MAX];
    struct rid after = { 0 };
    size_t count, sharing = 0;

    assert(call->database); /* the path of a container names one */
    do {
        count =
            catalog_list_containers(catalog, call->database, rid_slice(&after), list, SHARING_CONTAINERS_MAX);
        for (size_t i = 0; i < count; i++) {
            struct child *own = catalog_find_offer(catalog, &list[i]->rid);

            sharing += own == NULL;
            after = list[i]->rid;
            child_release(own);
            container_release(list[i]);
        }
    } while (count == SHARING_CONTAINERS_MAX && sharing < SHARING_CONTAINERS_MAX);
    return sharing;
}

/* A container that asks for no throughput shares its database's. If there is none, it gets the smallest offer. */
static enum status own_throughput(struct op *op, const struct call *call, struct json definition,
                                  struct throughput *wanted)
{
    if (wanted->units)
        return ST_OK;
    if (!has_offer(call, &call->database->rid)) {
        wanted->units = THROUGHPUT_MIN;
        return ST_OK;
    }
    if (has_vector_indexes(definition))
        return refuse_shared_vectors(op);
    if (count_sharing(call) >= SHARING_CONTAINERS_MAX)
        return op_fail(
            op, ST_BAD_REQUEST,
            "At most %d containers can share the throughput of their database. Create the container "
            "with throughput of its own.",
            SHARING_CONTAINERS_MAX);
    return ST_OK;
}

/* The service leaves a new container room to grow: its ranges could serve more than what was bought. */
static uint64_t units_of_new_range(const struct service *service, const struct throughput *throughput)
{
    if (service->range_units)
        return service->range_units;
    return throughput->autoscale ? RANGE_THROUGHPUT_MAX : RANGE_THROUGHPUT_NEW;
}

/* Clients encrypt with keys of the database, each named by its id. */
static enum status check_encryption_keys(struct op *op, const struct call *call, struct json definition)
{
    struct json paths = json_get(json_get(definition, "clientEncryptionPolicy"), "includedPaths");

    for (struct json_iter i = json_iter(paths); json_next(&i);) {
        struct json id = json_get(i.value, "clientEncryptionKeyId");
        struct child *key = NULL;

        if (json_kind(id) != JSON_STRING)
            return op_fail_as(op, ST_BAD_REQUEST);
        key = catalog_find_child(call->service->catalog, RID_TYPE_CLIENT_KEY, &call->database->rid,
                                 json_string(id));
        child_release(key);
        if (!key)
            return op_fail(op, ST_BAD_REQUEST, "ClientEncryptionKey with id '[%.*s]' does not exist.",
                           SLICE_ARGS(json_string(id)));
    }
    return ST_OK;
}

enum status container_create(struct op *op, struct call *call, struct reply *reply)
{
    struct container *container = NULL;
    struct throughput throughput;
    struct json definition;
    enum status st;

    TRY(read_definition(op, call, json_undefined, &definition));
    TRY(check_encryption_keys(op, call, definition));
    TRY(throughput_of_headers(op, call, &throughput));
    TRY(own_throughput(op, call, definition, &throughput));
    TRY(catalog_create_container_with_offer(
        op, call->service->catalog, call->database, definition,
        ranges_for_throughput(throughput.units, units_of_new_range(call->service, &throughput)),
        throughput_offer(op, &throughput), &container));
    work_wrote(&op->work, 0);
    reply_container(reply, call, container, 201);
out:
    container_release(container);
    return st;
}

/* Puts the member behind the last one of the body. */
static enum status add_statistics(struct op *op, const struct call *call, struct buf *body)
{
    enum status st = ST_OK;

    if (body->failed)
        return ST_OK;
    assert(body->data[body->size - 1] == '}');
    body->size--;
    buf_text(body, ",\"statistics\":");
    TRY(figures_print(op, call->container, body));
    buf_byte(body, '}');
out:
    return st;
}

enum status container_read(struct op *op, struct call *call, struct reply *reply)
{
    bool counts = header_is_true(call->request, HEADER_POPULATE_QUOTA);
    bool measures = header_is_true(call->request, HEADER_POPULATE_STATISTICS);
    enum status st;

    if (counts || measures)
        TRY(op_may_take_long(op)); /* counting scripts walks the catalog, counting items the store */
    TRY(call_if_none_match(op, call, reply, call->container->etag, call->container->ts_ms));
    reply_container(reply, call, call->container, 200);
    if (measures)
        TRY(add_statistics(op, call, reply_body(reply)));
    if (counts)
        usage_of_container(reply, call);
out:
    return st;
}

/* How far the container is: clients in Direct mode wait by it for replicas that lag behind. */
enum status container_head(struct op *op, struct call *call, struct reply *reply)
{
    struct epk min, max;
    enum status st;

    TRY(scope_read_range(op, call, reply, &min, &max));
    reply_session(reply, reply->about.of_items ? scope_lsn(call, reply) : container_lsn(call->container));
out:
    return st;
}

/* A container of an earlier version may have some already, and keeps them. */
static enum status check_new_vectors(struct op *op, const struct call *call, struct json definition)
{
    if (has_vector_indexes(definition) && !has_vector_indexes(call->container->definition) &&
        shares_throughput(call, call->container))
        return refuse_shared_vectors(op);
    return ST_OK;
}

enum status container_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct container *replaced = NULL;
    struct json definition;
    enum status st;

    TRY(read_definition(op, call, call->container->definition, &definition));
    TRY(container_check_replace(op, call->container->definition, definition));
    TRY(check_new_vectors(op, call, definition));
    TRY(call_if_match(op, call, call->container->etag, call->container->ts_ms));
    TRY(catalog_replace_container(op, call->service->catalog, call->container, definition, &replaced));
    work_wrote(&op->work, 0);
    work_removed(&op->work, 0);
    reply_container(reply, call, replaced, 200);
out:
    container_release(replaced);
    return st;
}

enum status container_list(struct op *op, struct call *call, struct reply *reply)
{
    struct continuation at;
    struct container **list;
    size_t limit, count;
    struct feed feed;
    enum status st;

    TRY(call_page_size(op, call, &limit));
    TRY(call_continuation(op, call, CONTINUATION_CATALOG, &call->database->rid, &at));
    list = arena_alloc(&op->arena, (limit + 1) * sizeof(struct container *));
    count = catalog_list_containers(call->service->catalog, call->database, rid_slice(&at.after), list,
                                    limit + 1);
    assert(count <= limit + 1);
    feed_begin(&feed, reply, &call->database->rid, "DocumentCollections");
    for (size_t i = 0; i < count && i < limit && reply_body(reply)->size < PAGE_BYTES_MAX; i++) {
        feed_next(&feed);
        print_container(reply_body(reply), call, list[i]);
    }
    feed_end(&feed);
    if (feed.count < count) {
        assert(feed.count > 0); /* the first is printed however large it is */
        at.after = list[feed.count - 1]->rid;
        reply_continuation(reply, &at);
    }
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
out:
    return st;
}

static enum status print_row(struct op *op, struct buf *out, void **resource, const void *context)
{
    (void)op;
    print_container(out, context, *resource);
    return ST_OK;
}

static uint64_t number_of(const void *resource)
{
    return rid_number(&((const struct container *)resource)->rid);
}

static void release(void *resource)
{
    container_release(resource);
}

static const struct search_kind containers = { print_row, number_of, release };

enum status container_query(struct op *op, struct call *call, struct reply *reply)
{
    struct search_list rows = { .kind = &containers,
                                .context = call,
                                .resource = arena_alloc(&op->arena, CATALOG_QUERY_MAX * sizeof(void *)) };

    rows.count = catalog_list_containers(call->service->catalog, call->database, slice_of(""),
                                         (struct container **)rows.resource, CATALOG_QUERY_MAX);
    assert(rows.count <= CATALOG_QUERY_MAX);
    return search_list_run(op, call, reply, &rows, &call->database->rid, "DocumentCollections");
}

enum status container_delete(struct op *op, struct call *call, struct reply *reply)
{
    enum status st;

    TRY(call_if_match(op, call, call->container->etag, call->container->ts_ms));
    TRY(catalog_drop_container(op, call->service->catalog, call->container,
                               call_header(call, HEADER_IF_MATCH).data != NULL));
    work_removed(&op->work, 0);
    reply_status(reply, 204);
out:
    return st;
}
