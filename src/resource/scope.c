/* src/resource/scope.c - which part of its container a request on items is about. */
#include "base/encode.h"
#include "resource/item.h"
#include "resource/range.h"
#include "resource/scope.h"

/* A bound of the client's own; it leaves alone a range's that is nearer (`order` is the sign of nearer). */
static enum status read_epk(struct op *op, struct slice header, int order, struct epk *epk)
{
    struct epk given;
    size_t size;

    if (!header.data)
        return ST_OK;
    if (!hex_decode(slice_trim(header), given.bytes, sizeof(given.bytes), &size))
        return op_fail(op, ST_BAD_HEADER, "The effective partition key '%.*s' is invalid.",
                       header.size > 200 ? 200 : (int)header.size, header.data);
    given.size = (uint16_t)size;
    if (size && (epk->size == 0 || order * slice_compare(epk_slice(&given), epk_slice(epk)) > 0))
        *epk = given;
    return ST_OK;
}

enum status scope_read(struct op *op, const struct call *call, struct reply *reply,
                       struct partition_scope *scope, struct partition_key *key)
{
    bool present;
    enum status st;

    *scope = (struct partition_scope){ 0 };
    TRY(range_of_header(op, call, reply, &scope->min, &scope->max));
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_QUERY, key,
                           &present));
    if (!present)
        key->count = 0;
    if (present) {
        partition_key_epk(call->container, key, &scope->prefix);
        scope->exact = call->container->system_key; /* where an item without a key has an empty one */
        if (scope->max.size == 0)                   /* else the range that was named answers, and no other */
            item_reply_key(reply, call, &scope->prefix);
    }
    TRY(read_epk(op, call_header(call, HEADER_START_EPK), 1, &scope->min));
    TRY(read_epk(op, call_header(call, HEADER_END_EPK), -1, &scope->max));
out:
    return st;
}
