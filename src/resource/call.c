/* src/resource/call.c - what several operations ask of a request. */
#include <assert.h>

#include "base/limits.h"
#include "json/binary_read.h"
#include "resource/call.h"
#include "resource/item.h"

const char *const consistency_names[CONSISTENCY_LEVELS] = { "Strong", "BoundedStaleness", "Session",
                                                            "ConsistentPrefix", "Eventual" };

bool consistency_parse(struct slice name, enum consistency *level)
{
    for (int i = 0; i < CONSISTENCY_LEVELS; i++)
        if (slice_is_nocase(name, consistency_names[i])) {
            *level = (enum consistency)i;
            return true;
        }
    return false;
}

enum status call_json(struct op *op, const struct call *call, size_t bytes_max, struct json *value)
{
    bool is_binary = json_is_binary(call->request->body);
    enum status st;

    if (!is_binary && call->request->body.size > bytes_max)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    TRY(json_parse_body(op, call->request->body, value));
    if (is_binary && item_text_bytes(op, *value, bytes_max) > bytes_max)
        TRY(op_fail_as(op, ST_TOO_LARGE));
out:
    return st;
}

enum status call_body(struct op *op, const struct call *call, size_t bytes_max, struct json *body)
{
    enum status st;

    TRY(call_json(op, call, bytes_max, body));
    if (json_kind(*body) != JSON_OBJECT)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The request payload is invalid. Ensure to provide a valid request payload."));
out:
    return st;
}

enum status call_page_size(struct op *op, const struct call *call, size_t *size)
{
    struct slice header = slice_trim(call_header(call, HEADER_MAX_ITEM_COUNT));
    int64_t wanted = PAGE_ITEMS_DEFAULT;

    if (header.data && (!slice_to_i64(header, &wanted) || (wanted <= 0 && wanted != -1)))
        return op_fail(
            op, ST_BAD_HEADER,
            "The input PageSize %.*s is invalid. Ensure to pass a valid page size which must be a positive "
            "integer or -1 for a dynamic page size.",
            SLICE_ARGS(header));
    if (wanted == -1)
        wanted = 10 * PAGE_ITEMS_DEFAULT;
    assert(wanted > 0); /* lists go on from the last one of a page, so a page has one */
    *size = wanted > PAGE_ITEMS_MAX ? PAGE_ITEMS_MAX : (size_t)wanted;
    return ST_OK;
}

/* {"token":"...","range":{...}}, of a query that walks over ranges; the token is null where one begins. */
static enum status unwrap_token(struct op *op, struct slice *text)
{
    struct json wrapped, token;

    if (text->size == 0 || text->data[0] != '{')
        return ST_OK;
    if (json_parse(op, *text, &wrapped) != ST_OK)
        return continuation_malformed(op);
    token = json_get(wrapped, "token");
    if (json_kind(token) == JSON_NULL) {
        *text = slice_of("");
        return ST_OK;
    }
    if (json_kind(token) != JSON_STRING)
        return continuation_malformed(op);
    *text = json_string(token);
    return ST_OK;
}

enum status call_continuation(struct op *op, const struct call *call, enum continuation_kind kind,
                              const struct rid *owner, struct continuation *continuation)
{
    struct slice header = call_header(call, HEADER_CONTINUATION);
    enum status st;

    assert(owner); /* of size 0 for the account, but there */
    *continuation = (struct continuation){ .kind = kind };
    if (!header.data || header.size == 0)
        return ST_OK;
    header = slice_trim(header);
    TRY(unwrap_token(op, &header));
    if (header.size)
        TRY(continuation_parse(op, header, kind, owner, continuation));
out:
    return st;
}

void reply_continuation(struct reply *reply, const struct continuation *continuation)
{
    struct buf text;

    buf_init(&text, &reply->op->arena);
    continuation_print(&text, continuation);
    reply_header(reply, "x-ms-continuation", buf_as_slice(&text));
}

enum status call_check_rename(struct op *op, const struct call *call, struct slice old_id, struct json body)
{
    if (!call->keeps_id || slice_equal(json_string(json_get(body, "id")), old_id))
        return ST_OK;
    return op_fail_as(op, ST_FORBIDDEN);
}

enum status if_match(struct op *op, struct slice wanted, uint64_t etag, int64_t ts_ms)
{
    if (!wanted.data || etag_matches(wanted, etag, ts_ms))
        return ST_OK;
    return op_fail_as(op, ST_PRECONDITION_FAILED);
}

enum status call_if_match(struct op *op, const struct call *call, uint64_t etag, int64_t ts_ms)
{
    return if_match(op, call_header(call, HEADER_IF_MATCH), etag, ts_ms);
}

enum status call_if_none_match(struct op *op, const struct call *call, struct reply *reply, uint64_t etag,
                               int64_t ts_ms)
{
    struct slice header = call_header(call, HEADER_IF_NONE_MATCH);

    if (!header.data || !etag_matches(header, etag, ts_ms))
        return ST_OK;
    reply_etag(reply, etag, ts_ms); /* clients go on from it */
    return op_fail_as(op, ST_NOT_MODIFIED);
}

bool call_wants_minimal(const struct call *call)
{
    struct slice header = call_header(call, HEADER_PREFER);

    return header.data && slice_is_nocase(slice_trim(header), "return=minimal");
}

uint64_t call_version(const struct call *call)
{
    struct slice header = call_header(call, HEADER_VERSION);
    uint64_t date = 0;

    for (size_t i = 0; i < header.size && i < 10; i++)
        if (header.data[i] >= '0' && header.data[i] <= '9')
            date = 10 * date + (uint64_t)(header.data[i] - '0');
    return date;
}
