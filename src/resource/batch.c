/*
 * src/resource/batch.c - several operations in one request: runs them, and tells what became of each.
 * A request that is wrong as a whole is refused. When one operation is wrong, its place in the answer says so, and
 * the answer has status 207.
 */
#include <assert.h>

#include "base/limits.h"
#include "partition/key.h"
#include "reply/charge.h"
#include "resource/batch.h"
#include "resource/hybrid_row.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/system.h"
#include "resource/usage.h"
#include "workload/noted.h"

/* ---- partition keys ---- */

static enum status place_key(struct op *op, const struct container *container, struct slice text,
                             struct placed_key *key)
{
    bool present;
    enum status st;

    TRY(partition_key_read(op, container, text, KEY_OF_ITEM, &key->values, &present));
    partition_key_place(container, key);
out:
    return st;
}

/* Every operation must have the key that the header names: a resource token may be good for no other. */
static enum status check_same_key(struct op *op, const struct parts *parts)
{
    assert(parts->has_key);
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->part[i];
        struct partition_key key;
        bool present;

        if (part->key.data && (partition_key_read(op, parts->call->container, part->key, KEY_OF_ITEM, &key,
                                                  &present) != ST_OK ||
                               !partition_key_equal(&key, &parts->key.values)))
            return op_fail(op, ST_BAD_REQUEST,
                           "One or more operations within the batch request have a different partition key "
                           "value than the request.");
    }
    return ST_OK;
}

static enum status read_key(struct op *op, struct parts *parts, bool atomic)
{
    const struct call *call = parts->call;
    struct slice header = call_header(call, HEADER_PARTITION_KEY);
    enum status st = ST_OK;

    parts->has_key = atomic || header.data;
    if (!parts->has_key)
        return ST_OK;
    TRY(place_key(op, call->container, header, &parts->key));
    scope_key(parts->reply, call, &parts->key);
    TRY(check_same_key(op, parts));
out:
    return st;
}

/* ---- each operation by itself ---- */

/* In bulk: refuses an operation that was sent to the wrong range. It may have been the right one before a split. */
static enum status check_range(struct op *op, const struct parts *parts, const struct epk *epk)
{
    struct slice key = epk_slice(epk);

    if (parts->max.size == 0 ||
        (slice_compare(key, epk_slice(&parts->min)) >= 0 && slice_compare(key, epk_slice(&parts->max)) < 0))
        return ST_OK;
    return op_fail(op, ST_RANGE_GONE, "The operation's partition key lies in another partition key range.");
}

/* A replace is about the operation's id; the document may have another, which the item then gets. */
static enum status place_document(struct op *op, const struct parts *parts, struct part *part,
                                  const struct partition_key *named)
{
    struct action *action = &part->action;
    struct slice id = action->id;
    enum status st;

    assert(json_kind(part->body) == JSON_OBJECT); /* batch_read() refuses others */
    action->document = part->body;
    TRY(item_check_document(op, &action->document, &action->behind));
    TRY(item_check_size(op, action->document));
    action_place(parts->call->container, action);
    if (batch_kinds[action->kind].has_id)
        action->id = id;
    if (named)
        TRY(action_check_key(op, action, named));
out:
    return st;
}

/* The key is the request's, or the operation's own, or the document's. Without any it is read as an absent key. */
static enum status place(struct op *op, const struct parts *parts, struct part *part)
{
    bool has_document = batch_kinds[part->action.kind].body == BODY_DOCUMENT;
    struct placed_key named = parts->key;
    bool names = parts->has_key || part->key.data || !has_document;
    enum status st = ST_OK;

    assert(part->action.kind < ACTION_KINDS);
    if (names && !parts->has_key)
        TRY(place_key(op, parts->call->container, part->key, &named));
    part->action.key = named;
    if (has_document)
        TRY(place_document(op, parts, part, names ? &named.values : NULL));
    if (batch_kinds[part->action.kind].body == BODY_PATCH)
        TRY(item_patch_read(op, parts->call, part->body, &part->action.patch));
    TRY(check_range(op, parts, &part->action.key.epk));
out:
    return st;
}

static void place_all(struct op *op, struct parts *parts)
{
    assert(parts->count > 0); /* batch_read() refuses a batch without operations */
    for (size_t i = 0; i < parts->count; i++) {
        parts->part[i].placed = place(op, parts, &parts->part[i]);
        parts->part[i].error = op->error;
    }
}

static bool tells_item(const struct part *part)
{
    return part->action.kind == ACTION_READ || (part->action.kind != ACTION_DELETE && !part->minimal);
}

static enum status too_large(struct op *op)
{
    return op_fail(op, ST_TOO_LARGE, "The response size is too large.");
}

/* Room for what an answer has beside the items: status, charge, ETag, system properties, a message. */
static size_t bare_answer_bytes(const struct parts *parts)
{
    return 1024 * parts->count;
}

/*
 * Takes the room for an operation's answer before the commit. A client that got no answer after the commit would
 * not know what was written. The arena is asked first, because a buffer that fails to grow loses the answers of the
 * others too.
 */
static enum status make_room(struct op *op, struct parts *parts, const struct part *part)
{
    enum { SMALL_TEXT_BYTES = 64 * 1024 };
    struct buf *body = reply_body(parts->reply);
    size_t item = tells_item(part) ? item_text_bytes(op, part->action.item.document, SMALL_TEXT_BYTES) : 0;
    size_t wanted = parts->answer_bytes + item;

    assert(parts->answer_bytes >= bare_answer_bytes(parts));
    if (item > BATCH_ANSWER_BYTES_MAX || wanted > BATCH_ANSWER_BYTES_MAX)
        return too_large(op);
    if (wanted > body->capacity && op->arena.used_bytes + 2 * wanted > op->arena.limit_bytes)
        return too_large(op);
    parts->answer_bytes = wanted;
    return buf_reserve(body, wanted) ? ST_OK : too_large(op);
}

void batch_end_part(struct op *op, struct part *part, enum status status)
{
    assert(status != ST_PENDING);     /* a batch runs on a thread that may wait, */
    assert(status != ST_WOULD_BLOCK); /* so that no operation is left half done */
    part->status = status;
    part->error = op->error;
    part->retry_after_ms = reply_retry_after_ms(op);
}

enum status batch_take_part(struct op *op, struct parts *parts, struct part *part, struct partition_txn *txn)
{
    struct work before = op->work;
    enum status st;

    op->error = part->error;
    TRY(part->placed);
    TRY(action_take(op, parts->call->container, txn, &part->action));
    TRY(make_room(op, parts, part));
out:
    batch_end_part(op, part, st);
    part->charge = charge_since(&op->work, &before);
    return st;
}

/* ---- all or nothing ---- */

static enum status take_all(struct op *op, struct parts *parts, struct partition_txn *txn,
                            struct part **culprit)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < parts->count; i++) {
        st = batch_take_part(op, parts, &parts->part[i], txn);
        if (st == ST_OK || st == ST_NOT_MODIFIED)
            continue;
        *culprit = &parts->part[i];
        return st;
    }
    return ST_OK;
}

/* The first attempt takes no lock, so that batches of one logical partition share a sync. Later attempts line up. */
static enum status attempt(struct op *op, struct parts *parts, bool in_turn, struct part **culprit,
                           struct commit_stamp *stamp)
{
    const struct call *call = parts->call;
    struct partition_txn *txn = NULL;
    enum status st;

    *culprit = NULL; /* an earlier attempt may have named one */
    parts->answer_bytes = bare_answer_bytes(parts);
    if (in_turn)
        TRY(partition_begin_in_turn(op, call->service->locks, call->container, &parts->key, &txn));
    else
        TRY(partition_begin_many(op, call->container, &parts->key, &txn));
    TRY(take_all(op, parts, txn, culprit));
    TRY(partition_commit(op, &txn, stamp));
out:
    partition_abort(txn);
    return st;
}

/* Each attempt begins with the memory that the first had. */
static enum status attempt_until_written(struct op *op, struct parts *parts, struct part **culprit,
                                         struct commit_stamp *stamp)
{
    struct action_attempt begun = action_attempt_begin(op);
    enum status st = attempt(op, parts, false, culprit, stamp);

    for (int tries = 1; st == ST_WRITE_CONFLICT && tries < ACTION_TRIES; tries++) {
        action_attempt_again(op, &begun);
        buf_init(reply_body(parts->reply), &op->arena);
        st = attempt(op, parts, true, culprit, stamp);
    }
    return st == ST_WRITE_CONFLICT ? op_fail_as(op, ST_RETRY_WITH) : st;
}

/*
 * One operation cannot be done. Its answer tells why; the answers of the others tell that they depended on it. What was
 * done until then is charged to it, so that the charges add up to that of the whole answer.
 */
static void blame(const struct op *op, struct parts *parts, struct part *culprit)
{
    assert(culprit >= parts->part);
    assert(culprit < parts->part + parts->count);
    for (size_t i = 0; i < parts->count; i++) {
        if (&parts->part[i] == culprit)
            continue;
        parts->part[i].status = ST_FAILED_DEPENDENCY;
        parts->part[i].charge = 0;
    }
    culprit->charge = charge_of(&op->work);
    reply_hide_owner_rid(parts->reply);
    parts->lsn = scope_lsn(parts->call, parts->reply);
}

static enum status run_atomic(struct op *op, struct parts *parts)
{
    struct part *culprit = NULL;
    struct commit_stamp stamp = { 0 };
    enum status st = attempt_until_written(op, parts, &culprit, &stamp);

    if (culprit && action_is_to_blame(st)) {
        blame(op, parts, culprit);
        noted_rewind(op, 0); /* none of it has happened */
        return ST_OK;
    }
    for (size_t i = 0; st == ST_OK && i < parts->count; i++)
        action_stamp(&parts->part[i].action, stamp);
    parts->lsn = stamp.lsn;
    return st;
}

/* ---- the answer ---- */

static int http_status(const struct part *part)
{
    return part->status == ST_OK ? action_status(&part->action) : error_row(part->status)->http;
}

static bool tells_etag(const struct part *part)
{
    return part->status == ST_NOT_MODIFIED || (part->status == ST_OK && part->action.kind != ACTION_DELETE);
}

static void print_result(struct buf *body, const struct container *container, const struct part *part)
{
    const struct error_row *row = error_row(part->status);
    const struct record *item = &part->action.item;

    buf_printf(body, "{\"statusCode\":%d", http_status(part));
    if (row->sub)
        buf_printf(body, ",\"subStatusCode\":%d", row->sub);
    buf_text(body, ",\"requestCharge\":");
    charge_print(body, part->charge);
    if (tells_etag(part)) {
        assert(item->lsn > 0); /* what is told is committed */
        buf_text(body, ",\"eTag\":");
        print_etag(body, item->etag, item->ts_ms);
    }
    if (part->status == ST_OK && tells_item(part)) {
        buf_text(body, ",\"resourceBody\":");
        item_print(body, container, item);
    }
    if (row->retry)
        buf_printf(body, ",\"retryAfterMilliseconds\":%llu", (unsigned long long)part->retry_after_ms);
    if (part->status != ST_OK && part->status != ST_NOT_MODIFIED && part->status != ST_FAILED_DEPENDENCY) {
        buf_text(body, ",\"message\":");
        reply_print_reason(body, part->error);
    }
    buf_byte(body, '}');
}

/* The same in the binary form, which has no place for a message. */
static void write_result(struct buf *body, const struct container *container, const struct part *part)
{
    const struct error_row *row = error_row(part->status);
    const struct record *item = &part->action.item;
    char text[ETAG_SIZE];
    struct buf etag = { .data = text, .capacity = sizeof(text) };
    struct hybrid_row_result result = {
        http_status(part), row->sub, { 0 }, part->charge, row->retry ? (uint32_t)part->retry_after_ms : 0
    };
    ptrdiff_t start = HYBRID_ROW_NO_BODY;

    if (tells_etag(part)) {
        assert(item->lsn > 0); /* what is told is committed */
        etag_print(&etag, item->etag, item->ts_ms);
        result.etag = buf_as_slice(&etag);
    }
    if (part->status == ST_OK && tells_item(part)) {
        start = (ptrdiff_t)body->size;
        item_print(body, container, item);
    }
    hybrid_row_result(body, &result, start);
}

static void print_results(struct parts *parts, struct buf *body)
{
    for (size_t i = 0; i < parts->count; i++) {
        buf_byte(body, i ? ',' : '[');
        print_result(body, parts->call->container, &parts->part[i]);
    }
    buf_byte(body, ']');
}

static void write_results(struct parts *parts, struct buf *body)
{
    hybrid_row_begin(body);
    for (size_t i = 0; i < parts->count; i++)
        write_result(body, parts->call->container, &parts->part[i]);
}

/* The answer has the form in which the request came. */
static void answer(struct parts *parts)
{
    bool all_well = true;

    assert(reply_body(parts->reply)->size == 0); /* there is room in it, but nothing yet */
    for (size_t i = 0; i < parts->count; i++)
        all_well &= parts->part[i].status == ST_OK;
    if (parts->is_binary)
        write_results(parts, reply_body(parts->reply));
    else
        print_results(parts, reply_body(parts->reply));
    reply_session(parts->reply, parts->lsn);
    usage_of_items(parts->reply, parts->call);
    reply_status(parts->reply, all_well ? 200 : 207);
}

/* Only reads have to see what their client has seen: writes always work on the newest state. */
static enum status check_session(struct op *op, const struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].action.kind == ACTION_READ)
            return scope_check_session(op, parts->call, parts->reply);
    return ST_OK;
}

/* The headers too get their room before anything is written. */
enum { HEAD_BYTES_ENOUGH = 4096 };

enum status document_batch(struct op *op, struct call *call, struct reply *reply)
{
    bool atomic = header_is_true(call->request, HEADER_BATCH_ATOMIC);
    struct parts parts = { .call = call, .reply = reply };
    enum status st;

    assert(op->may_block); /* its route never runs on a loop thread */
    buf_reserve(&reply->answer->head, HEAD_BYTES_ENOUGH);
    scope_all(reply, call);
    TRY(batch_read(op, &parts));
    if (!atomic)
        TRY(scope_read_range(op, call, reply, &parts.min, &parts.max));
    TRY(read_key(op, &parts, atomic));
    TRY(check_session(op, &parts));
    place_all(op, &parts);
    parts.answer_bytes = bare_answer_bytes(&parts);
    if (atomic)
        TRY(run_atomic(op, &parts));
    else
        bulk_run(op, &parts, !header_is_true(call->request, HEADER_BATCH_CONTINUE));
    answer(&parts);
out:
    return st;
}
