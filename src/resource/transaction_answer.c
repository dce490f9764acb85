/*
 * src/resource/transaction_answer.c - what a client is told of a transaction.
 * Status and sub-status of the answer: 200, or 452/5421 when a write was aborted. Of a read the operations decide.
 */
#include <assert.h>

#include "base/limits.h"
#include "catalog/ranges.h"
#include "reply/charge.h"
#include "resource/item.h"
#include "resource/system.h"
#include "resource/transaction.h"

/* Sub-status of 200 when every item of a read is as the client knows it: an answer 304 would have no body. */
enum { ALL_NOT_MODIFIED = 5425 };

static void echo_token(const struct transaction *transaction)
{
    reply_header(transaction->reply, "x-ms-cosmos-idempotency-token",
                 slice_trim(call_header(transaction->call, HEADER_IDEMPOTENCY_TOKEN)));
}

static void begin_answer(const struct transaction *transaction, int status, uint32_t sub_status)
{
    struct buf *body = reply_body(transaction->reply);

    assert(body->size == 0);
    echo_token(transaction);
    reply_status(transaction->reply, status);
    if (sub_status)
        reply_header_u64(transaction->reply, "x-ms-substatus", sub_status);
    buf_printf(body, "{\"isRetriable\":false,\"statusCode\":%d,\"subStatusCode\":%u,\"operationResponses\":[",
               status, sub_status);
}

static void begin_part(struct buf *body, size_t index, int status, int sub_status, double charge)
{
    buf_printf(body,
               "%s{\"index\":%zu,\"statusCode\":%d,\"subStatusCode\":%d,\"requestCharge\":", index ? "," : "",
               index, status, sub_status);
    charge_print(body, charge);
}

static void print_session(struct buf *body, uint32_t range, uint64_t lsn)
{
    buf_text(body, ",\"sessionToken\":\"");
    session_token_print(body, range, lsn, false);
    buf_printf(body, "\",\"partitionKeyRangeId\":\"%u\"", range);
}

static void end_answer(struct buf *body)
{
    buf_text(body, "]}");
}

/* ---- writes ---- */

static void print_part(struct buf *body, size_t index, const struct ledger_part *part,
                       const struct ledger_container *container)
{
    begin_part(body, index, part->status, (int)part->sub_status, part->charge);
    if (container && part->etag && container->stamp.ts_ms) {
        buf_text(body, ",\"Etag\":");
        print_etag(body, part->etag, container->stamp.ts_ms);
    }
    if (container)
        print_session(body, part->range, container->stamp.lsn);
    buf_byte(body, '}');
}

void transaction_answer(const struct transaction *transaction, const struct ledger_record *record)
{
    const struct error_row *aborted = error_row(ST_TXN_ABORTED);
    struct buf *body = reply_body(transaction->reply);

    begin_answer(transaction, record->committed ? 200 : aborted->http,
                 record->committed ? 0 : (uint32_t)aborted->sub);
    for (size_t i = 0; i < record->part_count; i++) {
        const struct ledger_part *part = &record->part[i];

        print_part(body, i, part,
                   part->container == LEDGER_NOWHERE ? NULL : &record->container[part->container]);
    }
    end_answer(body);
}

/* ---- reads ---- */

static int http_of(enum status st)
{
    return st == ST_OK ? 200 : error_row(st)->http;
}

static bool has_failed(const struct txn_part *part)
{
    return part->status != ST_OK && part->status != ST_NOT_MODIFIED;
}

/* What the parts have in common is told by the whole: one status of all that failed, or 207. */
static void envelope_of(const struct transaction *transaction, int *status, uint32_t *sub_status,
                        bool *failed)
{
    bool any_new = false, any_old = false;

    *failed = false;
    *status = 200;
    *sub_status = 0;
    for (size_t i = 0; i < transaction->count; i++) {
        const struct txn_part *part = &transaction->part[i];
        int http = http_of(part->status);

        any_new |= part->status == ST_OK;
        any_old |= part->status == ST_NOT_MODIFIED;
        if (!has_failed(part))
            continue;
        if (!*failed)
            *sub_status = (uint32_t)error_row(part->status)->sub;
        *status = !*failed || *status == http ? http : 207;
        *failed = true;
    }
    if (*failed)
        *sub_status = *status == 207 ? 0 : *sub_status;
    else if (any_old)
        *status = any_new ? 207 : 200;
    if (!*failed && any_old && !any_new)
        *sub_status = ALL_NOT_MODIFIED;
}

/* When a part has failed, the others show nothing: the client asked for all or none of them. */
static void print_read(struct buf *body, size_t index, const struct txn_part *part, bool failed)
{
    enum status st = failed && !has_failed(part) ? ST_FAILED_DEPENDENCY : part->status;
    const struct record *item = &part->action.item;

    begin_part(body, index, http_of(st), st == ST_OK ? 0 : error_row(st)->sub, part->charge);
    if (st == ST_OK || st == ST_NOT_MODIFIED) {
        buf_text(body, ",\"Etag\":");
        print_etag(body, item->etag, item->ts_ms);
    }
    if (part->home != LEDGER_NOWHERE && st != ST_FAILED_DEPENDENCY)
        print_session(body, *ranges_of_prefix(part->call.container, &part->action.key.epk).id,
                      container_lsn(part->call.container));
    if (st == ST_OK) {
        buf_text(body, ",\"resourceBody\":");
        item_print(body, part->call.container, item);
    }
    buf_byte(body, '}');
}

enum status transaction_answer_read(struct op *op, const struct transaction *transaction)
{
    struct buf *body = reply_body(transaction->reply);
    uint32_t sub_status;
    bool failed;
    int status;

    envelope_of(transaction, &status, &sub_status, &failed);
    begin_answer(transaction, status, sub_status);
    for (size_t i = 0; i < transaction->count; i++) {
        print_read(body, i, &transaction->part[i], failed);
        if (body->failed || body->size > BATCH_ANSWER_BYTES_MAX)
            return op_fail(op, ST_TOO_LARGE, "The response size is too large.");
    }
    end_answer(body);
    return ST_OK;
}
