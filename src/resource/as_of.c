/* src/resource/as_of.c - the header, and one item of the past. */
#include "resource/as_of.h"

bool as_of_is_asked(const struct call *call)
{
    return call_header(call, HEADER_AS_OF).data;
}

enum status as_of_open(struct op *op, const struct call *call, struct reply *reply,
                       const struct partition_scope *scope, struct past_source **items)
{
    struct moment moment;
    enum status st;

    TRY(op_may_take_long(op));
    TRY(history_parse(op, call_header(call, HEADER_AS_OF), &moment));
    TRY(past_source_open(op, call->container, scope, &moment, items));
    reply_header_u64(reply, "x-orrery-as-of", past_source_lsn(*items));
out:
    return st;
}

static bool is_named(const struct call *call, const struct record *item)
{
    struct json id = json_get(item->document, "id");
    uint64_t number;
    struct rid rid;

    if (call->by_rid && rid_parse(call->id, &rid) && container_item_number(call->container, &rid, &number))
        return number == item->number;
    return json_kind(id) == JSON_STRING && slice_equal(json_string(id), call->id);
}

enum status as_of_find(struct op *op, const struct call *call, struct past_source *items, struct record *item,
                       bool *found)
{
    enum status st;

    do {
        TRY(past_source_next(op, items, item, found));
    } while (*found && !is_named(call, item));
out:
    return st;
}
