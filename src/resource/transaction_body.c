/*
 * src/resource/transaction_body.c - reads the operations of a transaction, and finds out where their items lie.
 * A mistake in the body refuses the request as a whole. What is wrong with an operation alone, such as a container that
 * is not there, is told in its place.
 */
#include <assert.h>

#include "base/limits.h"
#include "catalog/parts.h"
#include "catalog/ranges.h"
#include "json/binary_read.h"
#include "resource/batch.h"
#include "resource/item.h"
#include "resource/scope.h"
#include "resource/transaction.h"

/* ---- the body ---- */

static enum status bad_operation(struct op *op, size_t index, const char *member)
{
    return op_fail(op, ST_TXN_BAD_OPERATION, "'%s' of operation %zu is missing or invalid.", member, index);
}

static bool read_text(struct json asked, const char *member, struct slice *text)
{
    struct json value = json_get(asked, member);

    if (json_kind(value) == JSON_STRING)
        *text = json_string(value);
    return json_kind(value) == JSON_STRING || json_kind(value) == JSON_UNDEFINED ||
           json_kind(value) == JSON_NULL;
}

static bool read_kind(struct json asked, bool reads, enum action_kind *kind)
{
    struct slice name = { 0 };

    if (!read_text(asked, "operationType", &name))
        return false;
    for (*kind = 0; *kind < ACTION_KINDS; ++*kind)
        if (slice_is(name, batch_kinds[*kind].name))
            return (*kind == ACTION_READ) == reads;
    return false;
}

/* The place in the array counts; SDKs name it too. */
static bool has_index(struct json asked, size_t index)
{
    struct json value = json_get(asked, "index");

    return json_kind(value) == JSON_UNDEFINED ||
           (json_kind(value) == JSON_NUMBER && json_is_int(value) && json_int(value) == (int64_t)index);
}

static bool is_of_items(struct json asked)
{
    struct slice type = { 0 };

    return read_text(asked, "resourceType", &type) && (!type.data || slice_is(type, "Document"));
}

static bool has_body(enum action_kind kind, struct json body)
{
    return batch_kinds[kind].body == BODY_NONE || json_kind(body) == JSON_OBJECT ||
           (batch_kinds[kind].body == BODY_PATCH && json_kind(body) == JSON_ARRAY);
}

static enum status read_operation(struct op *op, struct json value, size_t index, bool reads,
                                  struct txn_part *part)
{
    struct action *action = &part->action;
    enum status st = ST_OK;

    *part =
        (struct txn_part){ .key = json_get(value, "partitionKey"), .body = json_get(value, "resourceBody") };
    if (!read_kind(value, reads, &action->kind))
        TRY(bad_operation(op, index, "operationType"));
    if (!is_of_items(value))
        TRY(bad_operation(op, index, "resourceType"));
    if (!has_index(value, index))
        TRY(bad_operation(op, index, "index"));
    if (!read_text(value, "databaseName", &part->database) || !part->database.size)
        TRY(bad_operation(op, index, "databaseName"));
    if (!read_text(value, "collectionName", &part->container) || !part->container.size)
        TRY(bad_operation(op, index, "collectionName"));
    if (!read_text(value, "collectionResourceId", &part->container_rid))
        TRY(bad_operation(op, index, "collectionResourceId"));
    if (!read_text(value, "id", &action->id) || !action->id.size)
        TRY(bad_operation(op, index, "id"));
    if (json_kind(part->key) != JSON_ARRAY)
        TRY(bad_operation(op, index, "partitionKey"));
    if (!has_body(action->kind, part->body))
        TRY(bad_operation(op, index, "resourceBody"));
    if (!read_text(value, "sessionToken", &part->session))
        TRY(bad_operation(op, index, "sessionToken"));
    if (!read_text(value, reads ? "ifNoneMatch" : "ifMatch",
                   reads ? &action->if_none_match : &action->if_match))
        TRY(bad_operation(op, index, reads ? "ifNoneMatch" : "ifMatch"));
out:
    return st;
}

static enum status parse(struct op *op, struct slice text, struct json *operations)
{
    struct json body;
    enum status st;

    if (text.size > TRANSACTION_BYTES_MAX)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    st = json_parse_body(op, text, &body);
    if (st == ST_BAD_REQUEST)
        TRY(op_fail(op, ST_TXN_MALFORMED, "%s", op->error));
    TRY(st);
    *operations = json_get(body, "operations");
    if (json_kind(*operations) != JSON_ARRAY || json_count(*operations) == 0)
        TRY(op_fail(op, ST_TXN_MALFORMED, "The body is no object with an array of 'operations'."));
    if (json_count(*operations) > TRANSACTION_OPERATIONS_MAX)
        TRY(op_fail(op, ST_TXN_TOO_MANY, "A transaction has at most %d operations.",
                    TRANSACTION_OPERATIONS_MAX));
out:
    return st;
}

enum status transaction_read_body(struct op *op, struct call *call, bool reads,
                                  struct transaction *transaction)
{
    struct json operations;
    size_t count;
    enum status st;

    if (!slice_is(call->id, "dtc"))
        TRY(op_fail(op, ST_BAD_HEADER, "The account has no such operation."));
    if (!ledger_token_parse(call_header(call, HEADER_IDEMPOTENCY_TOKEN), &transaction->token))
        TRY(op_fail(op, ST_TXN_NO_TOKEN, "The header 'x-ms-cosmos-idempotency-token' must have a UUID."));
    TRY(parse(op, call->request->body, &operations));
    transaction->reads = reads;
    count = json_count(operations);
    transaction->part = arena_alloc(&op->arena, count * sizeof(*transaction->part));
    transaction->container = arena_alloc(&op->arena, count * sizeof(struct container *));
    transaction->txn = arena_alloc(&op->arena, count * sizeof(struct partition_txn *));
    /* A part counts once it is read: transaction_leave() looks at those that count. */
    for (struct json_iter i = json_iter(operations); json_next(&i); transaction->count++)
        TRY(read_operation(op, i.value, transaction->count, reads, &transaction->part[transaction->count]));
out:
    return st;
}

/* ---- its owners ---- */

static void find_known(struct txn_part *part)
{
    struct catalog *catalog = part->call.service->catalog;

    if (!part->call.database)
        part->call.database = catalog_find_database(catalog, part->database);
    if (part->call.database)
        part->call.container = catalog_find_container(catalog, part->call.database, part->container);
}

/* What is not there may have been made by another process. */
static enum status find_owners(struct op *op, const struct transaction *transaction, struct txn_part *part)
{
    struct service *service = transaction->call->service;
    enum status st = ST_OK;

    part->call = (struct call){ .service = service,
                                .request = transaction->call->request,
                                .type = slice_of("docs"),
                                .id = part->action.id };
    part->home = LEDGER_NOWHERE;
    find_known(part);
    if (part->call.container)
        goto out;
    TRY(catalog_catch_up(op, service->catalog));
    find_known(part);
out:
    return st;
}

/* The operation as a request of its own: what a token or a role must allow. */
static enum status check_rights(struct op *op, const struct transaction *transaction, struct txn_part *part)
{
    static const enum method methods[ACTION_KINDS] = {
        [ACTION_CREATE] = METHOD_POST, [ACTION_UPSERT] = METHOD_POST, [ACTION_READ] = METHOD_GET,
        [ACTION_REPLACE] = METHOD_PUT, [ACTION_PATCH] = METHOD_PATCH, [ACTION_DELETE] = METHOD_DELETE,
    };
    const struct call *whole = transaction->call;
    struct request request = { .method = methods[part->action.kind], .target = whole->request->target };
    struct slice names[] = { part->database, part->container };
    struct buf key;
    enum status st;

    buf_init(&key, &op->arena);
    json_print(&key, part->key);
    request.header[HEADER_PARTITION_KEY] = buf_as_slice(&key);
    if (part->action.kind == ACTION_UPSERT)
        request.header[HEADER_IS_UPSERT] = slice_of("true");
    part->call.request = &request;
    st = whole->check_part(op, whole, &part->call, names);
    part->call.request = whole->request;
    return st;
}

/* A client that names another container than the one of that name has an old one in mind. */
static enum status check_owners(struct op *op, const struct txn_part *part)
{
    struct rid rid;

    if (!part->call.container)
        return op_fail_as(op, ST_ITEM_OWNER_NOT_FOUND);
    if (part->container_rid.data &&
        (!rid_parse(part->container_rid, &rid) || !rid_equal(&rid, &part->call.container->rid)))
        return op_fail_as(op, ST_CONTAINER_MISMATCH);
    return ST_OK;
}

static void add_home(struct transaction *transaction, struct container *container)
{
    assert(transaction->container_count < transaction->count);
    transaction->txn[transaction->container_count] = NULL;
    transaction->container[transaction->container_count++] = container;
}

static size_t home_of(struct transaction *transaction, struct container *container)
{
    size_t home = 0;

    while (home < transaction->container_count &&
           transaction->container[home]->bucket_id != container->bucket_id)
        home++;
    if (home == transaction->container_count)
        add_home(transaction, container);
    return home;
}

/* ---- an operation by itself ---- */

static enum status read_key(struct op *op, struct txn_part *part)
{
    struct buf text;
    bool present;
    enum status st;

    buf_init(&text, &op->arena);
    json_print(&text, part->key);
    TRY(partition_key_read(op, part->call.container, buf_as_slice(&text), KEY_OF_ITEM,
                           &part->action.key.values, &present));
    partition_key_place(part->call.container, &part->action.key);
out:
    return st;
}

static enum status place_document(struct op *op, struct txn_part *part)
{
    struct action *action = &part->action;
    struct partition_key named = action->key.values;
    struct slice id = action->id;
    enum status st;

    action->document = part->body;
    TRY(item_check_document(op, &action->document, &action->behind));
    TRY(item_check_size(op, action->document));
    action_place(part->call.container, action);
    if (!slice_equal(action->id, id))
        TRY(op_fail(op, ST_BAD_REQUEST, "The operation's id is not that of its item."));
    TRY(action_check_key(op, action, &named));
out:
    return st;
}

/* Reads must see what their client has seen. Writes need only that the token is one. */
static enum status check_session(struct op *op, const struct txn_part *part)
{
    const struct container *container = part->call.container;

    if (!part->session.size)
        return ST_OK;
    if (part->action.kind != ACTION_READ)
        return session_token_check(op, part->session);
    return scope_check_token(op, container, ranges_of_prefix(container, &part->action.key.epk),
                             part->session);
}

static enum status place(struct op *op, struct transaction *transaction, struct txn_part *part)
{
    enum status st;

    TRY(check_owners(op, part));
    st = read_key(op, part);
    part->call.container = part->call.container->part[container_part_index(
        part->call.container, st == ST_OK ? epk_slice(&part->action.key.epk) : slice_of(""))];
    part->home = home_of(transaction, part->call.container);
    TRY(st);
    if (batch_kinds[part->action.kind].body == BODY_DOCUMENT)
        TRY(place_document(op, part));
    if (batch_kinds[part->action.kind].body == BODY_PATCH)
        TRY(item_patch_read(op, &part->call, part->body, &part->action.patch));
    TRY(check_session(op, part));
out:
    return st;
}

enum status transaction_place(struct op *op, struct transaction *transaction)
{
    enum status st = ST_OK;

    transaction->container_count = 0;
    for (size_t i = 0; i < transaction->count; i++)
        TRY(find_owners(op, transaction, &transaction->part[i]));
    for (size_t i = 0; i < transaction->count; i++)
        TRY(check_rights(op, transaction, &transaction->part[i]));
    for (size_t i = 0; i < transaction->count; i++) {
        struct txn_part *part = &transaction->part[i];

        part->placed = place(op, transaction, part);
        part->error = op->error;
    }
out:
    return st;
}

void transaction_leave(struct transaction *transaction)
{
    for (size_t i = 0; i < transaction->count; i++) {
        container_release(transaction->part[i].call.container);
        database_release(transaction->part[i].call.database);
        transaction->part[i].call.container = NULL;
        transaction->part[i].call.database = NULL;
    }
}
