/* src/reply/reply.c - status and counted work to the answer a client sees. */
#include <assert.h>

#include "base/log.h"
#include "json/scan.h"
#include "reply/charge.h"
#include "reply/reply.h"

static void begin_answer(struct reply *reply)
{
    *reply->answer = (struct answer){ .status = 200 };
    buf_init(&reply->answer->head, &reply->op->arena);
    buf_init(&reply->answer->body, &reply->op->arena);
}

void reply_begin(struct reply *reply, struct op *op, struct answer *answer)
{
    static const uint32_t first = 0;

    *reply = (struct reply){
        .op = op, .answer = answer, .about.ranges = { &first, 1 }, .began_us = env_monotonic_us(op->env)
    };
    begin_answer(reply);
}

void reply_resume(struct reply *reply)
{
    assert(reply->answer->head.size == 0);
    assert(reply->answer->body.size == 0);
    assert(!reply_has_session(reply)); /* the LSN is that of the commit that it waited for */
    begin_answer(reply);
}

void reply_header(struct reply *reply, const char *name, struct slice value)
{
    struct buf *head = &reply->answer->head;

    buf_text(head, name);
    buf_append(head, ": ", 2);
    buf_slice(head, value);
    buf_append(head, "\r\n", 2);
}

void reply_header_u64(struct reply *reply, const char *name, uint64_t value)
{
    struct buf *head = &reply->answer->head;

    buf_text(head, name);
    buf_append(head, ": ", 2);
    buf_u64(head, value);
    buf_append(head, "\r\n", 2);
}

/* How many of its first bytes a header can have as they are. */
static size_t count_printable(struct slice text)
{
    size_t size = 0;

    while (size < text.size && (unsigned char)text.data[size] - 0x20u < 0x7f - 0x20)
        size++;
    return size;
}

void reply_header_link(struct reply *reply, const char *name, struct slice link)
{
    struct buf *head = &reply->answer->head;

    buf_text(head, name);
    buf_append(head, ": ", 2);
    while (link.size) {
        size_t plain = count_printable(link);

        buf_append(head, link.data, plain);
        link = slice_after(link, plain);
        if (link.size) {
            buf_printf(head, "%%%02X", (unsigned char)link.data[0]);
            link = slice_after(link, 1);
        }
    }
    buf_append(head, "\r\n", 2);
}

void reply_header_rid(struct reply *reply, const char *name, const struct rid *rid)
{
    struct buf *head = &reply->answer->head;

    buf_text(head, name);
    buf_append(head, ": ", 2);
    rid_print(head, rid);
    buf_append(head, "\r\n", 2);
}

void reply_etag(struct reply *reply, uint64_t etag, int64_t ts_ms)
{
    struct buf *head = &reply->answer->head;

    buf_text(head, "etag: ");
    etag_print(head, etag, ts_ms);
    buf_append(head, "\r\n", 2);
}

/* ---- what it is about ---- */

void reply_owner(struct reply *reply, struct slice link, const struct rid *rid, struct range_ids ranges)
{
    assert(!reply->about.link.data);
    assert(link.data); /* an owner without a link would look as if none had been noted */
    reply->about.link = link;
    reply->about.rid = rid;
    reply_ranges(reply, ranges);
}

void reply_ranges(struct reply *reply, struct range_ids ranges)
{
    assert(ranges.count > 0); /* ranges have no gap between them: every key lies in one */
    reply->about.ranges = ranges;
    reply->about.of_items = true;
}

void reply_session(struct reply *reply, uint64_t lsn)
{
    assert(!reply->about.has_lsn);
    reply->about.lsn = lsn;
    reply->about.has_lsn = true;
}

void reply_hide_owner_rid(struct reply *reply)
{
    reply->about.hides_rid = true;
}

/* Of what was not found, the service tells the owner's name and not its rid. */
static void print_owner(struct reply *reply, const struct about *about, enum status status)
{
    bool missing = status != ST_OK && error_row(status)->http == 404;

    reply_header_link(reply, "x-ms-alt-content-path", about->link);
    if (!missing && !about->hides_rid)
        reply_header_rid(reply, "x-ms-content-path", about->rid);
}

static void print_session(struct reply *reply, const struct about *about)
{
    struct buf *head = &reply->answer->head;

    buf_text(head, "x-ms-session-token: ");
    session_token_print(head, about->ranges.id[0], about->lsn, reply->plain_session);
    buf_append(head, "\r\n", 2);
    if (about->of_items && about->ranges.count == 1)
        reply_header_u64(reply, "x-ms-documentdb-partitionkeyrangeid", about->ranges.id[0]);
    reply_header_u64(reply, "lsn", about->lsn);
}

static void print_about(struct reply *reply, enum status status)
{
    if (reply->about.link.data)
        print_owner(reply, &reply->about, status);
    if (reply->about.has_lsn)
        print_session(reply, &reply->about);
}

/* ---- status and body ---- */

void reply_status(struct reply *reply, int http_status)
{
    assert(http_status >= 200);
    assert(http_status < 600);
    reply->answer->status = http_status;
}

void reply_item(struct reply *reply, const struct reply_item *item)
{
    reply_etag(reply, item->etag, item->ts_ms);
    reply_header_u64(reply, "x-ms-item-lsn", item->item_lsn);
    reply_session(reply, item->session_lsn);
    reply_status(reply, item->status);
}

void reply_drop_body(struct reply *reply)
{
    reply->answer->body.size = 0;
}

/* Reasons quote what clients sent, which need not be UTF-8: a question mark stands for each byte that is not. */
static struct slice reason_text(const char *known, struct arena *arena)
{
    const char *reason = known ? known : "The request could not be completed.";
    const uint8_t *at = (const uint8_t *)reason, *end = at + strlen(reason);
    struct buf text;

    buf_init(&text, arena);
    while (at < end) {
        size_t size = utf8_sequence(at, end);

        buf_append(&text, size ? (const char *)at : "?", size ? size : 1);
        at += size ? size : 1;
    }
    return buf_as_slice(&text);
}

void reply_print_reason(struct buf *out, const char *reason)
{
    json_print_string(out, reason_text(reason, out->arena));
}

/* After the reason, the service tells which request it was and who answered it. */
static void print_message(struct buf *body, const struct op *op, const struct error_row *row)
{
    struct slice text = reason_text(op->error, body->arena);
    struct buf message;

    buf_init(&message, body->arena);
    if (row->wrapped)
        buf_text(&message, "Message: ");
    if (row->wrapped == 1) {
        buf_text(&message, "{\"Errors\":[");
        json_print_string(&message, text);
        buf_text(&message, "]}");
    } else {
        buf_slice(&message, text);
    }
    buf_printf(&message, "\r\nActivityId: %s, Orrery/%s", op->activity_id, ORRERY_VERSION);
    json_print_string(body, buf_as_slice(&message));
}

uint64_t reply_retry_after_ms(const struct op *op)
{
    return op->retry_after_ms > 0 ? (uint64_t)op->retry_after_ms : RETRY_AFTER_MS;
}

/* Whether the failure lies in the moment. */
static bool is_passing(const struct error_row *row)
{
    return row->retry || row->http == 408 || row->http == 503;
}

static void write_failure(struct reply *reply, enum status status)
{
    const struct error_row *row = error_row(status);
    int sub = status == ST_SCRIPT_FAILED ? reply->op->sub_status : row->sub;
    struct buf *body = reply_body(reply);

    reply_status(reply, row->http);
    reply->content_type = (struct slice){ 0 };
    body->size = 0;
    if (row->http == 304)
        return;
    buf_printf(body, "{\"code\":\"%s\",\"message\":", row->code);
    print_message(body, reply->op, row);
    if (reply->op->error_info.data) {
        buf_text(body, ",\"additionalErrorInfo\":");
        json_print_string(body, reply->op->error_info);
    }
    if (reply->tells_retriable)
        buf_printf(body, ",\"isRetriable\":%s", is_passing(row) ? "true" : "false");
    buf_byte(body, '}');
    if (sub)
        reply_header_u64(reply, "x-ms-substatus", (uint64_t)sub);
    if (row->retry)
        reply_header_u64(reply, "x-ms-retry-after-ms", reply_retry_after_ms(reply->op));
}

/* The answer would not fit into the operation's memory: say so in what is left of it. */
static void replace_with_too_large(struct reply *reply)
{
    reply->op->arena.limit_bytes += 64 * 1024;
    reply->op->claim.is_owed = true;
    buf_init(&reply->answer->head, &reply->op->arena);
    buf_init(&reply->answer->body, &reply->op->arena);
    reply->op->error = "The response size is too large.";
    reply->op->error_info = (struct slice){ 0 };
    write_failure(reply, op_explain_memory(reply->op, ST_TOO_LARGE));
}

/* Every answer has these, whatever was asked. */
#define SAME_HEADERS                            \
    "x-ms-gatewayversion: version=2.14.0\r\n"   \
    "x-ms-serviceversion: version=2.14.0.0\r\n" \
    "x-ms-schemaversion: 1.19\r\n"              \
    "cache-control: no-store, no-cache\r\n"

/* Milliseconds, with three decimals. */
static void print_duration(struct reply *reply)
{
    int64_t us = env_monotonic_us(reply->op->env) - reply->began_us;
    uint64_t spent_us = us > 0 ? (uint64_t)us : 0;
    char decimals[] = { '.', (char)('0' + spent_us / 100 % 10), (char)('0' + spent_us / 10 % 10),
                        (char)('0' + spent_us % 10) };
    struct buf *head = &reply->answer->head;

    buf_text(head, "x-ms-request-duration-ms: ");
    buf_u64(head, spent_us / 1000);
    buf_append(head, decimals, sizeof(decimals));
    buf_append(head, "\r\n", 2);
}

double reply_finish(struct reply *reply, enum status status)
{
    struct op *op = reply->op;
    double charge = status == ST_TOO_MANY_REQUESTS ? charge_refused : charge_of(&op->work);
    struct buf *head = &reply->answer->head;

    op->claim.is_owed |= status != ST_OK; /* a refusal is told, however little memory is left */
    print_about(reply, status);
    if (status != ST_OK)
        write_failure(reply, status);
    if (status == ST_CORRUPT || status == ST_INTERNAL)
        log_line(LOG_ERROR, "%s: %s", op->activity_id, op->error ? op->error : error_row(status)->name);
    if (reply->answer->head.failed || reply->answer->body.failed)
        replace_with_too_large(reply);
    if (reply->answer->body.size)
        reply_header(reply, "content-type",
                     reply->content_type.data ? reply->content_type : slice_of("application/json"));
    reply_header(reply, "x-ms-activity-id", slice_of(op->activity_id));
    print_duration(reply);
    buf_text(head, "x-ms-request-charge: ");
    charge_print(head, charge);
    buf_text(head, "\r\n" SAME_HEADERS);
    return charge;
}

bool reply_tells_retriable(const struct request *request)
{
    return slice_starts_with(request->target, "/operations/");
}

void reply_write_error(struct exchange *exchange, enum status status, const char *message)
{
    struct reply reply;

    reply_begin(&reply, &exchange->op, &exchange->answer);
    reply.tells_retriable = reply_tells_retriable(&exchange->request);
    if (!exchange->op.activity_id[0])
        env_guid(exchange->op.env, exchange->op.activity_id);
    reply_finish(&reply, op_fail(&exchange->op, status, "%s", message));
}
