/* src/resource/as_of.c - the header, and one item of the past. */
#include "resource/as_of.h"
#include "resource/places.h"

bool as_of_is_asked(const struct call *call)
{
    return call_header(call, HEADER_AS_OF).data;
}

/* A time is of all buckets. A single LSN is of the only one that the scope lies in. */
static enum status read_moments(struct op *op, const struct call *call, const struct partition_scope *scope,
                                struct moment **moments)
{
    struct slice text = slice_trim(call_header(call, HEADER_AS_OF));
    const struct container *container = call->container;
    bool is_list = places_fit(text, container);
    enum status st = ST_OK;

    *moments = arena_alloc(&op->arena, container->part_count * sizeof(**moments));
    for (uint32_t i = 0; i < container->part_count; i++)
        TRY(history_parse(op, is_list ? places_at(text, i) : text, &(*moments)[i]));
    if (!is_list && !(*moments)[0].is_time && !partition_scope_part(container, scope))
        TRY(op_fail(
            op, ST_BAD_REQUEST,
            "A container of several buckets is read as of a time, of an LSN for each of them, or range by "
            "range."));
out:
    return st;
}

enum status as_of_open(struct op *op, const struct call *call, struct reply *reply,
                       const struct partition_scope *scope, struct past_source **items)
{
    struct moment *moments;
    struct buf lsns;
    enum status st;

    buf_init(&lsns, &op->arena);
    TRY(op_may_take_long(op));
    TRY(read_moments(op, call, scope, &moments));
    TRY(past_source_open(op, call->container, scope, moments, items));
    past_source_print_lsns(*items, &lsns);
    reply_header(reply, "x-orrery-as-of", buf_as_slice(&lsns));
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
