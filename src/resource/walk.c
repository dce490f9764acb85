/* src/resource/walk.c - queries that go from range to range, as the service's gateway does it. */
#include "base/encode.h"
#include "catalog/ranges.h"
#include "resource/walk.h"

static bool read_bound(struct json bound, struct epk *epk)
{
    size_t size;

    if (json_kind(bound) != JSON_STRING ||
        !hex_decode(json_string(bound), epk->bytes, sizeof(epk->bytes), &size))
        return false;
    epk->size = (uint16_t)size;
    return true;
}

static enum status read_keys(struct op *op, struct slice token, struct walk *walk)
{
    struct json wrapped, range;

    if (json_parse(op, token, &wrapped) != ST_OK)
        return continuation_malformed(op);
    range = json_get(wrapped, "range");
    if (!read_bound(json_get(range, "min"), &walk->min) || !read_bound(json_get(range, "max"), &walk->max) ||
        slice_compare(epk_slice(&walk->min), epk_slice(&walk->max)) >= 0)
        return continuation_malformed(op);
    return ST_OK;
}

/* The first range from `index` on in which keys of the scope lie. */
static bool find_range(const struct container *container, const struct partition_scope *scope, uint32_t index,
                       uint32_t *found)
{
    *found = index;
    for (size_t i = 0; scope->points && i < scope->point_count; i++) {
        struct range_ids ids = ranges_of_prefix(container, &scope->points[i]);
        uint32_t first = (uint32_t)(ids.id - container->ranges.id);

        if (first + ids.count <= index)
            continue;
        *found = first > index ? first : index;
        return true;
    }
    return !scope->points;
}

static bool is_end(const struct epk *max)
{
    return max->size > 0 && max->bytes[0] == 0xFF;
}

/* The range behind the keys of this page. */
static void find_next(const struct container *container, const struct partition_scope *scope,
                      struct walk *walk)
{
    uint32_t index;

    walk->goes_on =
        !is_end(&walk->max) && find_range(container, scope, range_of_epk(container, &walk->max), &index);
    if (!walk->goes_on)
        return;
    range_bounds(container, index, &walk->next_min, &walk->next_max);
    if (slice_compare(epk_slice(&walk->next_min), epk_slice(&walk->max)) < 0)
        walk->next_min = walk->max; /* a merge has put it in the middle of a range */
}

enum status walk_begin(struct op *op, const struct call *call, struct reply *reply,
                       struct partition_scope *scope, struct walk *walk)
{
    struct slice token = slice_trim(call_header(call, HEADER_CONTINUATION));
    uint32_t index;
    enum status st = ST_OK;

    walk->is_on = token.size == 0 || token.data[0] == '{';
    if (!walk->is_on)
        return ST_OK;
    if (token.size) {
        TRY(read_keys(op, token, walk));
    } else {
        if (!find_range(call->container, scope, 0, &index)) /* no key can match: the first range says so */
            index = 0;
        range_bounds(call->container, index, &walk->min, &walk->max);
    }
    find_next(call->container, scope, walk);
    reply_ranges(reply, range_at(call->container, range_of_epk(call->container, &walk->min)));
    if (walk->min.size || !is_end(&walk->max)) {
        scope->min = walk->min;
        scope->max = walk->max;
    }
out:
    return st;
}

void walk_reply(struct reply *reply, const struct walk *walk, const struct continuation *at)
{
    struct buf token, text;

    if (!at && !walk->goes_on)
        return;
    buf_init(&token, &reply->op->arena);
    buf_init(&text, &reply->op->arena);
    buf_text(&text, "{\"token\":");
    if (at) {
        continuation_print(&token, at);
        json_print_string(&text, buf_as_slice(&token));
    } else {
        buf_text(&text, "null");
    }
    buf_text(&text, ",\"range\":{\"min\":\"");
    hex_encode_upper(&text, epk_slice(at ? &walk->min : &walk->next_min));
    buf_text(&text, "\",\"max\":\"");
    hex_encode_upper(&text, epk_slice(at ? &walk->max : &walk->next_max));
    buf_text(&text, "\"}}");
    reply_header(reply, "x-ms-continuation", buf_as_slice(&text));
}
