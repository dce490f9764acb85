/* src/resource/listing.c - items by the page: the read feed, queries and their plans. */
#include "base/encode.h"
#include "base/limits.h"
#include "partition/indexed.h"
#include "partition/key.h"
#include "query/plan.h"
#include "reply/feed.h"
#include "resource/feed.h"
#include "resource/function.h"
#include "resource/item.h"
#include "resource/listing.h"
#include "resource/range.h"
#include "resource/resource.h"
#include "resource/search.h"
#include "resource/usage.h"

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

enum status listing_scope(struct op *op, const struct call *call, struct reply *reply,
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

static void print_page(struct reply *reply, const struct call *call, const struct partition_page *page)
{
    struct feed feed;

    feed_begin(&feed, reply, &call->container->rid, "Documents");
    for (size_t i = 0; i < page->count; i++) {
        feed_next(&feed);
        item_print(reply_body(reply), call->container, &page->item[i]);
    }
    feed_end(&feed);
}

enum status document_list(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = container_lsn(call->container);
    struct continuation at;
    struct partition_scope scope;
    struct partition_page page;
    struct partition_key key;
    size_t limit;
    enum status st;

    if (call_header(call, HEADER_A_IM).data)
        return feed_read(op, call, reply);
    item_reply_owner(reply, call);
    TRY(call_page_size(op, call, &limit));
    TRY(listing_scope(op, call, reply, &scope, &key));
    TRY(item_check_session(op, call, reply, lsn));
    TRY(call_continuation(op, call, CONTINUATION_DOCUMENTS, &call->container->rid, &at));
    TRY(partition_list(op, call->container, &scope, at.after_number, limit, &page));
    print_page(reply, call, &page);
    if (page.more) {
        at.container = call->container->rid;
        at.after_number = page.last;
        reply_continuation(reply, &at);
    }
    reply_session(reply, lsn);
    usage_of_items(reply, call);
out:
    return st;
}

/* ---- queries ---- */

static enum status item_next(struct op *op, struct query_source *source, struct query_row *row, bool *found)
{
    struct item_source *items = (struct item_source *)source;
    enum status st = partition_scan_next(op, &items->scan, &items->record, found);

    if (st != ST_OK || !*found)
        return st;
    work_scanned(&op->work, items->record.stored.size);
    row->number = items->record.number;
    row->counter = number_counter(items->record.number);
    row->body = items->record.document;
    return ST_OK;
}

static enum status item_seek(struct op *op, struct query_source *source, uint64_t after)
{
    (void)op;
    partition_scan_seek(&((struct item_source *)source)->scan, after);
    return ST_OK;
}

static enum status item_pick(struct op *op, struct query_source *source, const uint64_t *number, size_t count)
{
    (void)op;
    partition_scan_pick(&((struct item_source *)source)->scan, number, count);
    return ST_OK;
}

static struct json item_system_members(struct query_source *source, const struct query_row *row,
                                       struct arena *memory)
{
    struct item_source *items = (struct item_source *)source;

    (void)row;
    return item_system(memory, items->scan.container, &items->record);
}

/* ---- the index of a container ---- */

static bool is_time(const struct index_path *path)
{
    return path->count == 1 && !path->step[0].element && slice_is(path->step[0].name, "_ts");
}

static bool index_has(const struct query_index *index, const struct index_path *path)
{
    const struct item_index *items = (const struct item_index *)index;

    return !(items->lacks_time && is_time(path)) && container_index_has(items->container, path);
}

static bool has_time(const struct index_policy *policy, path_id id)
{
    size_t count;
    const struct index_joined *joined = index_policy_composites(policy, &count);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; joined[i].id == id && k < joined[i].part_count; k++)
            if (is_time(&joined[i].part[k]))
                return true;
    return false;
}

static bool index_computes(const struct query_index *index, struct slice name, path_id *id)
{
    return container_index_computes(((const struct item_index *)index)->container, name, id);
}

static bool index_has_composite(const struct query_index *index, path_id id)
{
    const struct item_index *items = (const struct item_index *)index;

    return !(items->lacks_time && has_time(index->policy, id)) &&
           container_index_has_composite(items->container, id);
}

static bool index_has_tuple(const struct query_index *index, path_id id)
{
    return container_index_has_tuple(((const struct item_index *)index)->container, id);
}

static bool index_has_spatial(const struct query_index *index, const struct index_path *path)
{
    return container_index_has_spatial(((const struct item_index *)index)->container, path);
}

static const struct query_index index_of_items = { .has = index_has,
                                                   .computes = index_computes,
                                                   .has_composite = index_has_composite,
                                                   .has_tuple = index_has_tuple,
                                                   .has_spatial = index_has_spatial };

static struct index_path path_of_key(struct op *op, const struct key_path *path)
{
    struct index_step *step = arena_alloc(&op->arena, path->count * sizeof(*step));

    for (size_t i = 0; i < path->count; i++)
        step[i] = (struct index_step){ .name = path->segment[i] };
    return (struct index_path){ step, path->count };
}

/* Points come from the filter alone; whatever else narrows the scope, the filter does not know. */
static bool is_whole(const struct partition_scope *scope)
{
    bool ends_nowhere = scope->max.size == 0 || scope->max.bytes[0] == 0xff;

    return !scope->exact && scope->prefix.size == 0 && scope->min.size == 0 && ends_nowhere;
}

/* Whether no key that begins with the scope's prefix lies outside of its bounds. */
static bool bounds_hold_prefix(const struct partition_scope *scope)
{
    struct slice prefix = epk_slice(&scope->prefix), max = epk_slice(&scope->max);

    if (slice_compare(epk_slice(&scope->min), prefix) > 0)
        return false;
    if (max.size > prefix.size && memcmp(max.data, prefix.data, prefix.size) == 0)
        return scope->max.bytes[prefix.size] == 0xff; /* which no key has there */
    return max.size == 0 || slice_compare(max, prefix) > 0;
}

/* A value that shares its EPK is not the only one in the scope, and what is undefined has no entry. */
static void describe_key(struct query_index *index, const struct item_source *items,
                         const struct partition_key *key)
{
    const struct container *container = items->scan.container;

    index->key_value_count = key->count < index->key_count ? key->count : index->key_count;
    index->key_is_scope = index->key_value_count && bounds_hold_prefix(&items->scan.scope);
    for (size_t i = 0; i < index->key_value_count; i++) {
        struct json value = key->component[i];
        bool tells = json_kind(value) != JSON_UNDEFINED && epk_tells_apart(container->epk_version, value);

        index->key_value[i] = tells ? value : json_undefined;
        index->key_is_scope &= tells;
    }
}

static void describe_scope(struct op *op, struct item_source *items, const struct partition_key *key)
{
    struct query_index *index = &items->index.base;
    const struct container *container = items->scan.container;
    struct query_span *span = arena_alloc(&op->arena, items->scan.span_count * sizeof(*span));

    for (size_t i = 0; i < items->scan.span_count; i++)
        span[i] = (struct query_span){ items->scan.span[i].from, items->scan.span[i].to };
    index->span = span;
    index->span_count = items->scan.span_count;
    index->key_count = container->system_key ? 0 : container->key_path_count;
    for (size_t i = 0; i < index->key_count; i++)
        index->key[i] = path_of_key(op, &container->key_path[i]);
    describe_key(index, items, key);
    index->is_whole = is_whole(&items->scan.scope);
    index->hides = container->default_ttl != TTL_OFF;
}

enum status item_source_offer_index(struct op *op, struct item_source *items, const struct partition_key *key)
{
    static const struct partition_key none = { 0 };
    const struct container *container = items->scan.container;
    const struct view *view = partition_scan_view(&items->scan);
    struct query_index *index = &items->index.base;
    bool whole, counted;
    enum status st = ST_OK;

    if (!container->index || items->scan.span_count == 0)
        return ST_OK;
    items->index = (struct item_index){ index_of_items, container, partition_scan_sees_own(&items->scan) };
    TRY(container_index_is_whole(op, view, container, &whole));
    TRY(partition_scan_count(op, &items->scan, &index->documents, &counted));
    if (!counted)
        goto out;
    index->view = view;
    index->policy = container->index;
    if (!whole)
        index->left_out = container_index_left_out(op);
    describe_scope(op, items, key ? key : &none);
    items->base.index = index;
out:
    return st;
}

void item_source_init(struct item_source *items)
{
    *items = (struct item_source){ .base = { item_next, item_seek, item_system_members, item_pick } };
}

static struct query_key key_of(const struct container *container)
{
    struct query_key key = { .version = container->epk_version,
                             .system = container->system_key,
                             .path_count = container->key_path_count };

    for (size_t i = 0; i < key.path_count; i++) {
        key.path[i].segment = container->key_path[i].segment;
        key.path[i].count = container->key_path[i].count;
    }
    return key;
}

/* The service answers a query over many partitions only when it is told that this is meant. */
static enum status check_cross_partition(struct op *op, const struct call *call,
                                         const struct partition_scope *scope)
{
    struct slice header = call_header(call, HEADER_CROSS_PARTITION);

    if (scope->prefix.size || scope->min.size || scope->max.size ||
        (scope->points && scope->point_count <= 1) || call->container->system_key ||
        call_header(call, HEADER_PARTITION_KEY_RANGE_ID).data ||
        (header.data && slice_is_nocase(slice_trim(header), "true")))
        return ST_OK;
    return op_fail(
        op, ST_BAD_REQUEST,
        "Cross partition query is required but disabled. Please set "
        "x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or "
        "revise your query to avoid this exception.");
}

/* What the filter says of the partition key narrows the scan. */
static enum status narrow_scope(struct op *op, const struct call *call, const struct search *search,
                                const struct query_options *options, struct partition_scope *scope)
{
    struct query_key key = key_of(call->container);
    struct query_ranges ranges;
    enum status st;

    TRY(query_ranges(op, query_select(search->query), &key, options, &ranges));
    if (!ranges.all) {
        scope->points = ranges.point ? ranges.point : arena_alloc(&op->arena, sizeof(struct epk));
        scope->point_count = ranges.count;
    }
    TRY(check_cross_partition(op, call, scope));
out:
    return st;
}

enum status document_query(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = container_lsn(call->container);
    struct query_options options = search_options(call);
    struct functions functions = functions_of(call, NULL);
    struct item_source items;
    struct partition_scope scope;
    struct partition_key key;
    struct search search;
    enum status st;

    item_source_init(&items);
    functions_offer(&functions, &options);
    item_reply_owner(reply, call);
    TRY(listing_scope(op, call, reply, &scope, &key));
    TRY(item_check_session(op, call, reply, lsn));
    TRY(search_read(op, call, &search));
    TRY(search_compile(op, &search, &options));
    TRY(narrow_scope(op, call, &search, &options, &scope));
    TRY(partition_scan_open(op, call->container, &scope, &items.scan));
    TRY(item_source_offer_index(op, &items, &key));
    TRY(search_run(op, call, reply, &search, &items.base, &call->container->rid, "Documents"));
    reply_session(reply, lsn);
    usage_of_items(reply, call);
out:
    partition_scan_close(&items.scan);
    functions_end(&functions);
    return st;
}

enum status document_plan(struct op *op, struct call *call, struct reply *reply)
{
    struct query_options options = search_options(call);
    struct functions functions = functions_of(call, NULL);
    struct query_key key = key_of(call->container);
    struct search search;
    enum status st;

    functions_offer(&functions, &options); /* a plan calls none */
    item_reply_owner(reply, call);
    TRY(search_read(op, call, &search));
    TRY(search_compile(op, &search, &options));
    TRY(query_plan(op, query_select(search.query), &key, &options, call_header(call, HEADER_QUERY_FEATURES),
                   reply_body(reply)));
out:
    return st;
}
