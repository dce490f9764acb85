/* src/resource/split.c - splits and merges the ranges of a container, for an operator or for an offer. */
#include <assert.h>

#include "base/encode.h"
#include "base/limits.h"
#include "catalog/split.h"
#include "partition/scan.h"
#include "partition/sample.h"
#include "resource/link.h"
#include "resource/split.h"

/* ---- the answer ---- */

static void print_epk(struct buf *out, const char *name, const struct epk *epk)
{
    buf_printf(out, ",\"%s\":\"", name);
    hex_encode_upper(out, epk_slice(epk));
    buf_byte(out, '"');
}

static void print_ranges(struct buf *out, const struct container *container)
{
    struct epk min, max;

    assert(container->ranges.count > 0); /* no change of ranges leaves a container without one */
    buf_text(out, "{\"ranges\":[");
    for (uint32_t i = 0; i < container->ranges.count; i++) {
        range_bounds(container, i, &min, &max);
        buf_printf(out, "%s{\"id\":\"%u\"", i ? "," : "", container->ranges.id[i]);
        print_epk(out, "minInclusive", &min);
        print_epk(out, "maxExclusive", &max);
        buf_byte(out, '}');
    }
    buf_text(out, "]}");
}

/* ---- where the middle of the items is ---- */

static enum status find_median(struct op *op, const struct container *container, uint32_t index,
                               struct epk *cut)
{
    struct sample sample = { .epk = arena_alloc(&op->arena, SAMPLE_MAX * sizeof(*sample.epk)) };
    struct partition_scope scope = { 0 };
    struct partition_scan scan = { 0 };
    struct record item;
    bool found = true;
    enum status st;

    range_bounds(container, index, &scope.min, &scope.max);
    TRY(partition_scan_open(op, container, &scope, &scan));
    while (found) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        if (found)
            sample_add(op, &sample, item.epk);
    }
    sample_sort(&sample);
    if (!sample_cut(&sample, &scope.min, &scope.max, cut))
        TRY(op_fail(op, ST_BAD_REQUEST, "The range has no items that a split would part."));
out:
    partition_scan_close(&scan);
    return st;
}

/* ---- split ---- */

/* Ids are strings, as in the list of ranges. */
static enum status read_id(struct op *op, struct json id, uint32_t *number)
{
    uint64_t read;

    if (json_kind(id) != JSON_STRING || !slice_to_u64(json_string(id), &read) || read > UINT32_MAX)
        return op_fail(op, ST_BAD_REQUEST, "A range is named by its id, a string of digits.");
    *number = (uint32_t)read;
    return ST_OK;
}

/* The range that is named, or else the one with the largest part of all keys. */
static enum status read_range(struct op *op, const struct container *container, struct json named,
                              uint32_t *id)
{
    double largest = -1, share;
    struct epk min, max;

    if (json_kind(named) != JSON_UNDEFINED)
        return read_id(op, named, id);
    for (uint32_t i = 0; i < container->ranges.count; i++) {
        range_bounds(container, i, &min, &max);
        share = epk_share(container->epk_version, &min, &max);
        if (share > largest) {
            largest = share;
            *id = container->ranges.id[i];
        }
    }
    return ST_OK;
}

static enum status read_cut(struct op *op, const struct container *container, struct json at,
                            struct range_split *split, struct epk *cut)
{
    uint32_t index;
    size_t size;
    enum status st = ST_OK;

    if (json_kind(at) == JSON_UNDEFINED ||
        (json_kind(at) == JSON_STRING && slice_is(json_string(at), "middle")))
        return ST_OK;
    split->cut = cut;
    if (json_kind(at) == JSON_STRING && slice_is(json_string(at), "median")) {
        if (!range_find(&container->ranges, split->id, &index))
            return ST_OK; /* range_split() tells that it is gone, before it looks at the cut */
        TRY(find_median(op, container, index, cut));
        goto out;
    }
    if (json_kind(at) != JSON_STRING || !hex_decode(json_string(at), cut->bytes, RANGE_CUT_BYTES_MAX, &size))
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "\"at\" must be \"middle\", \"median\" or an effective partition key in hexadecimal."));
    cut->size = (uint16_t)size;
out:
    return st;
}

static enum status read_parts(struct op *op, struct json parts, struct range_split *split)
{
    split->parts = 2;
    if (json_kind(parts) == JSON_UNDEFINED)
        return ST_OK;
    if (json_kind(parts) != JSON_NUMBER || !json_is_int(parts) || json_int(parts) < 2 ||
        json_int(parts) > CONTAINER_RANGES_MAX || split->cut)
        return op_fail(op, ST_BAD_REQUEST, "\"parts\" must be a number from 2 to %d, without \"at\".",
                       CONTAINER_RANGES_MAX);
    split->parts = (uint32_t)json_int(parts);
    return ST_OK;
}

enum status split_run(struct op *op, struct service *service, struct json wanted, struct buf *answer)
{
    static const char *const names[] = { "container", "range", "at", "parts", NULL };
    struct container *container = NULL, *after = NULL;
    struct range_split split = { 0 };
    struct epk cut = { 0 };
    enum status st;

    TRY(link_check_names(op, wanted, names));
    TRY(link_find(op, service->catalog, wanted, "container", &container));
    TRY(read_range(op, container, json_get(wanted, "range"), &split.id));
    TRY(read_cut(op, container, json_get(wanted, "at"), &split, &cut));
    TRY(read_parts(op, json_get(wanted, "parts"), &split));
    TRY(catalog_change_ranges(op, service->catalog, container, range_split, &split, &after));
    print_ranges(answer, after);
out:
    container_release(container);
    container_release(after);
    return st;
}

/* ---- merge ---- */

static enum status read_ids(struct op *op, struct json list, struct range_merge *merge)
{
    uint32_t *id;
    enum status st = ST_OK;

    if (json_kind(list) != JSON_ARRAY || json_count(list) > CONTAINER_RANGES_MAX)
        TRY(op_fail(op, ST_BAD_REQUEST, "\"ranges\" must be a list of ids, of neighbours."));
    id = arena_alloc(&op->arena, (json_count(list) + 1) * sizeof(*id));
    for (struct json_iter i = json_iter(list); json_next(&i);)
        TRY(read_id(op, i.value, &id[merge->count++]));
    assert(merge->count == json_count(list));
    merge->id = id;
out:
    return st;
}

enum status merge_run(struct op *op, struct service *service, struct json wanted, struct buf *answer)
{
    static const char *const names[] = { "container", "ranges", NULL };
    struct container *container = NULL, *after = NULL;
    struct range_merge merge = { 0 };
    enum status st;

    TRY(link_check_names(op, wanted, names));
    TRY(link_find(op, service->catalog, wanted, "container", &container));
    TRY(read_ids(op, json_get(wanted, "ranges"), &merge));
    TRY(catalog_change_ranges(op, service->catalog, container, range_merge, &merge, &after));
    print_ranges(answer, after);
out:
    container_release(container);
    container_release(after);
    return st;
}

/* ---- throughput ---- */

static struct slice rid_text(struct op *op, struct rid rid, uint8_t size)
{
    struct buf text;

    rid.size = size;
    buf_init(&text, &op->arena);
    rid_print(&text, &rid);
    return buf_as_slice(&text);
}

/* The container of the offer, if it is to have more ranges. NULL: there is nothing to split. */
static enum status find_to_split(struct op *op, struct catalog *catalog, const struct rid *owner,
                                 uint32_t range_count, struct container **container)
{
    enum status st = ST_OK;

    if (owner->size != RID_CONTAINER_BYTES)
        goto out;
    TRY(link_find_named(op, catalog, rid_text(op, *owner, RID_DATABASE_BYTES),
                        rid_text(op, *owner, RID_CONTAINER_BYTES), container));
    if ((*container)->ranges.count >= range_count || (*container)->system_key) {
        container_release(*container);
        *container = NULL;
    }
out:
    return st;
}

enum status split_with_offer(struct op *op, struct service *service, const struct child *old,
                             struct json body, struct slice if_match, uint64_t units, struct child **offer)
{
    uint32_t count = ranges_for_throughput(units, service->range_units);
    struct container *container = NULL;
    enum status st;

    assert(old->type == RID_TYPE_OFFER);
    assert(count > 0);
    TRY(find_to_split(op, service->catalog, &old->parent, count, &container));
    TRY(catalog_replace_offer(op, service->catalog, old, body, if_match, container, count, offer));
out:
    container_release(container);
    return st;
}
