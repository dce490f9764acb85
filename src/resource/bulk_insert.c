/*
 * src/resource/bulk_insert.c - __.sys.commonBulkInsert: many documents written in one transaction, of one key or of a
 * whole range. The bulk executors of .NET and Java send their items by it, from before SDKs had bulk of their own.
 *     [documents, options]            each document is an object, or the text of one
 *     {"count":4,"errorCode":0}       so many were written; behind them stands what kept the next one out
 */
#include <assert.h>

#include "partition/key.h"
#include "resource/action.h"
#include "resource/bulk_insert.h"
#include "resource/item.h"
#include "resource/operations.h"
#include "resource/scope.h"
#include "resource/usage.h"

struct insert {
    const struct call *call;
    struct reply *reply;
    struct placed_key key; /* the header's, */
    bool has_key;          /* if it has one: */
    struct epk min, max;   /* else the range's that it names */
    struct json options;
    bool stops;            /* at a document that is there already, with what was written until then */
    struct action *action; /* one for each document */
    size_t count, taken;
    int error; /* HTTP status of the document behind those that were taken; 0: none */
    struct commit_stamp stamp;
};

bool bulk_insert_is(struct slice procedure)
{
    return slice_is(procedure, "__.sys.commonBulkInsert");
}

/* ---- what is asked ---- */

static enum status read_scope(struct op *op, struct insert *insert)
{
    const struct call *call = insert->call;
    enum status st;

    insert->has_key = call_header(call, HEADER_PARTITION_KEY).data;
    if (insert->has_key)
        TRY(scope_read_key(op, call, insert->reply, &insert->key));
    else
        TRY(scope_read_range(op, call, insert->reply, &insert->min, &insert->max));
    if (!insert->has_key && insert->max.size == 0)
        TRY(op_fail(op, ST_BAD_REQUEST, "PartitionKey value must be supplied for this operation."));
out:
    return st;
}

static bool is_set(const struct insert *insert, const char *option)
{
    return json_kind(json_get(insert->options, option)) == JSON_TRUE;
}

static enum status malformed(struct op *op, const char *why)
{
    return op_fail(op, ST_BAD_REQUEST, "The request payload is invalid. %s", why);
}

/* The two options that belong to another API change what is stored. */
static enum status read_options(struct op *op, struct json options, struct insert *insert)
{
    enum json_kind kind = json_kind(options);

    if (kind != JSON_OBJECT && kind != JSON_NULL && kind != JSON_UNDEFINED)
        return malformed(op, "The options of a bulk insert are an object.");
    insert->options = kind == JSON_OBJECT ? options : json_undefined;
    insert->stops = is_set(insert, "softStopOnConflict");
    if (is_set(insert, "enableBsonSchema") ||
        json_kind(json_get(insert->options, "systemCollectionId")) == JSON_STRING)
        return op_fail(op, ST_NOT_BUILT, "enableBsonSchema and systemCollectionId are not taken.");
    return ST_OK;
}

static enum status read_document(struct op *op, struct json given, struct json *document)
{
    enum status st = ST_OK;

    *document = given;
    if (json_kind(given) == JSON_STRING)
        TRY(json_parse(op, json_string(given), document));
    if (json_kind(*document) != JSON_OBJECT)
        TRY(malformed(op, "The documents of a bulk insert are objects."));
out:
    return st;
}

/* A document that was sent to the wrong range may have been sent to the right one before a split. */
static enum status check_place(struct op *op, const struct insert *insert, const struct action *action)
{
    struct slice epk = epk_slice(&action->key.epk);

    if (insert->has_key)
        return action_check_key(op, action, &insert->key.values);
    if (slice_compare(epk, epk_slice(&insert->min)) >= 0 && slice_compare(epk, epk_slice(&insert->max)) < 0)
        return ST_OK;
    return op_fail(op, ST_RANGE_GONE, "A document's partition key lies in another partition key range.");
}

static enum status read_action(struct op *op, const struct insert *insert, struct json given,
                               struct action *action)
{
    enum status st;

    action->kind = is_set(insert, "enableUpsert") ? ACTION_UPSERT : ACTION_CREATE;
    TRY(read_document(op, given, &action->document));
    TRY(operations_give_id(op, insert->options, &action->document));
    TRY(item_check_document(op, &action->document, &action->behind));
    TRY(item_check_size(op, action->document));
    action_place(insert->call->container, action);
    TRY(check_place(op, insert, action));
out:
    return st;
}

static enum status read_documents(struct op *op, struct json documents, struct insert *insert)
{
    enum status st = ST_OK;

    if (json_kind(documents) != JSON_ARRAY)
        TRY(malformed(op, "The first argument of a bulk insert is an array of documents."));
    insert->action = arena_try_alloc(&op->arena, (json_count(documents) + 1) * sizeof(*insert->action));
    if (!insert->action)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    for (struct json_iter i = json_iter(documents); json_next(&i); insert->count++) {
        insert->action[insert->count] = (struct action){ 0 };
        TRY(read_action(op, insert, i.value, &insert->action[insert->count]));
    }
out:
    return st;
}

static enum status read_args(struct op *op, struct insert *insert)
{
    struct json args;
    enum status st;

    TRY(call_json(op, insert->call, ITEM_BYTES_MAX, &args));
    if (json_kind(args) != JSON_ARRAY)
        TRY(malformed(op, "The arguments of a stored procedure are a JSON array."));
    TRY(read_options(op, json_element(args, 1), insert));
    TRY(read_documents(op, json_element(args, 0), insert));
out:
    return st;
}

/* ---- writing ---- */

static enum status take_all(struct op *op, struct insert *insert, struct partition_txn *txn)
{
    enum status st = ST_OK;

    for (; insert->taken < insert->count; insert->taken++) {
        struct action *action = &insert->action[insert->taken];

        partition_turn_to(txn, &action->key);
        st = action_take(op, insert->call->container, txn, action);
        if (insert->stops && error_row(st)->http == 409) {
            insert->error = 409;
            return ST_OK;
        }
        TRY(st);
    }
out:
    return st;
}

static enum status attempt(struct op *op, struct insert *insert)
{
    struct partition_txn *txn = NULL;
    enum status st;

    assert(insert->count > 0);
    insert->taken = 0;
    insert->error = 0;
    TRY(partition_begin_many(op, insert->call->container, &insert->action[0].key, &txn));
    TRY(take_all(op, insert, txn));
    if (insert->taken)
        TRY(partition_commit(op, &txn, &insert->stamp));
out:
    partition_abort(txn);
    return st;
}

/* Its items have many locks, so that it does not line up: it tries, and says so where others always come first. */
static enum status insert_until_written(struct op *op, struct insert *insert)
{
    struct action_attempt begun = action_attempt_begin(op);
    enum status st = attempt(op, insert);

    for (int tries = 1; st == ST_WRITE_CONFLICT && tries < ACTION_TRIES; tries++) {
        action_attempt_again(op, &begun);
        st = attempt(op, insert);
    }
    return st == ST_WRITE_CONFLICT ? op_fail_as(op, ST_RETRY_WITH) : st;
}

/* Whoever may run procedures may not insert by this one what requests of their own may not create, or upsert. */
static enum status check_rights(struct op *op, const struct insert *insert)
{
    const struct call *whole = insert->call;
    struct request request = { .method = METHOD_POST, .target = whole->request->target };
    struct slice names[] = { whole->container->database->id, whole->container->id };
    struct call part = *whole;

    request.header[HEADER_PARTITION_KEY] = call_header(whole, HEADER_PARTITION_KEY);
    if (is_set(insert, "enableUpsert"))
        request.header[HEADER_IS_UPSERT] = slice_of("true");
    part.request = &request;
    return whole->check_part(op, whole, &part, names);
}

enum status bulk_insert_execute(struct op *op, struct call *call, struct reply *reply)
{
    struct insert insert = { .call = call, .reply = reply };
    struct buf *body = reply_body(reply);
    enum status st;

    TRY(read_scope(op, &insert));
    TRY(scope_check_session(op, call, reply));
    TRY(read_args(op, &insert));
    TRY(check_rights(op, &insert));
    buf_init(body, &op->arena);
    if (!buf_reserve(body, 64)) /* before anything is written */
        TRY(op_fail_as(op, ST_TOO_LARGE));
    if (insert.count)
        TRY(insert_until_written(op, &insert));
    buf_printf(body, "{\"count\":%zu,\"errorCode\":%d}", insert.taken, insert.error);
    reply_session(reply, insert.stamp.lsn ? insert.stamp.lsn : scope_lsn(call, reply));
    reply_status(reply, 200);
    usage_of_items(reply, call);
out:
    return st;
}
