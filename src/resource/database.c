/* src/resource/database.c - databases: create, read, list, delete. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/definition.h"
#include "reply/feed.h"
#include "resource/offer.h"
#include "resource/resource.h"
#include "resource/search.h"
#include "resource/system.h"

static void print_database(struct buf *body, const struct database *database)
{
    buf_text(body, "{\"id\":");
    json_print_string(body, database->id);
    buf_text(body, ",\"_rid\":\"");
    rid_print(body, &database->rid);
    buf_text(body, "\",\"_self\":\"dbs/");
    rid_print(body, &database->rid);
    buf_text(body, "/\",");
    print_etag_member(body, database->etag, database->ts_ms);
    buf_text(body, ",\"_colls\":\"colls/\",\"_users\":\"users/\",");
    print_ts_member(body, database->ts_ms);
    buf_byte(body, '}');
}

static void reply_database(struct reply *reply, const struct call *call, const struct database *database,
                           int status)
{
    print_database(reply_body(reply), database);
    reply_etag(reply, database->etag, database->ts_ms);
    reply_header(reply, "x-ms-alt-content-path", slice_of(""));
    reply_status(reply, status);
    if (status == 201 && call_wants_minimal(call))
        reply_drop_body(reply);
}

enum status database_create(struct op *op, struct call *call, struct reply *reply)
{
    struct database *database = NULL;
    struct throughput throughput;
    struct json body;
    enum status st;

    TRY(call_body(op, call, HTTP_BODY_BYTES_MAX, &body));
    TRY(resource_id_check(op, json_get(body, "id")));
    TRY(throughput_of_headers(op, call, &throughput));
    TRY(catalog_create_database_with_offer(op, call->service->catalog, json_string(json_get(body, "id")),
                                           throughput_offer(op, &throughput), &database));
    work_wrote(&op->work, 0);
    reply_database(reply, call, database, 201);
out:
    database_release(database);
    return st;
}

/* That the definitions are there, and no more: clients in Direct mode wait by it for replicas that lag behind. */
enum status database_head(struct op *op, struct call *call, struct reply *reply)
{
    (void)op, (void)call, (void)reply;
    return ST_OK;
}

enum status database_read(struct op *op, struct call *call, struct reply *reply)
{
    enum status st = call_if_none_match(op, call, reply, call->database->etag, call->database->ts_ms);

    if (st == ST_OK)
        reply_database(reply, call, call->database, 200);
    return st;
}

enum status database_list(struct op *op, struct call *call, struct reply *reply)
{
    struct continuation at;
    struct rid none = { 0 };
    struct database **list;
    size_t limit, count;
    struct feed feed;
    enum status st;

    TRY(call_page_size(op, call, &limit));
    TRY(call_continuation(op, call, CONTINUATION_CATALOG, &none, &at));
    list = arena_alloc(&op->arena, (limit + 1) * sizeof(struct database *));
    count = catalog_list_databases(call->service->catalog, rid_slice(&at.after), list, limit + 1);
    assert(count <= limit + 1);
    feed_begin(&feed, reply, NULL, "Databases");
    for (size_t i = 0; i < count && i < limit; i++) {
        feed_next(&feed);
        print_database(reply_body(reply), list[i]);
    }
    feed_end(&feed);
    if (count > limit) {
        at.after = list[limit - 1]->rid;
        reply_continuation(reply, &at);
    }
    for (size_t i = 0; i < count; i++)
        database_release(list[i]);
out:
    return st;
}

static enum status print_row(struct op *op, struct buf *out, void **resource, const void *context)
{
    (void)op, (void)context;
    print_database(out, *resource);
    return ST_OK;
}

static uint64_t number_of(const void *resource)
{
    return rid_number(&((const struct database *)resource)->rid);
}

static void release(void *resource)
{
    database_release(resource);
}

static const struct search_kind databases = { print_row, number_of, release };

enum status database_query(struct op *op, struct call *call, struct reply *reply)
{
    struct search_list rows = { .kind = &databases,
                                .resource = arena_alloc(&op->arena, CATALOG_QUERY_MAX * sizeof(void *)) };

    rows.count = catalog_list_databases(call->service->catalog, slice_of(""),
                                        (struct database **)rows.resource, CATALOG_QUERY_MAX);
    assert(rows.count <= CATALOG_QUERY_MAX);
    return search_list_run(op, call, reply, &rows, NULL, "Databases");
}

enum status database_delete(struct op *op, struct call *call, struct reply *reply)
{
    enum status st;

    TRY(call_if_match(op, call, call->database->etag, call->database->ts_ms));
    TRY(catalog_drop_database(op, call->service->catalog, call->database));
    work_removed(&op->work, 0);
    reply_status(reply, 204);
out:
    return st;
}
