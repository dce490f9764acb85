/* src/source/item_index.c - the index that a container's items have, and what a query may conclude from the scope. */
#include <assert.h>

#include "partition/indexed.h"
#include "source/item_index_private.h"

/* ---- what it has ---- */

static const struct container *container_of(const struct query_index *index)
{
    return ((const struct item_index *)index)->container;
}

static bool lacks_time(const struct query_index *index)
{
    return ((const struct item_index *)index)->lacks_time;
}

static bool is_time(const struct index_path *path)
{
    return path->count == 1 && !path->step[0].element && slice_is(path->step[0].name, "_ts");
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

static bool index_has(const struct query_index *index, const struct index_path *path)
{
    return !(lacks_time(index) && is_time(path)) && container_index_has(container_of(index), path);
}

static bool index_computes(const struct query_index *index, struct slice name, path_id *id)
{
    return container_index_computes(container_of(index), name, id);
}

static bool index_has_composite(const struct query_index *index, path_id id)
{
    return !(lacks_time(index) && has_time(index->policy, id)) &&
           container_index_has_composite(container_of(index), id);
}

static bool index_has_tuple(const struct query_index *index, path_id id)
{
    return container_index_has_tuple(container_of(index), id);
}

static bool index_has_spatial(const struct query_index *index, const struct index_path *path)
{
    return container_index_has_spatial(container_of(index), path);
}

static bool index_has_text(const struct query_index *index, const struct index_path *path,
                           struct index_text *text)
{
    return container_index_has_text(container_of(index), path, text);
}

static const struct query_index index_of_items = { .has = index_has,
                                                   .computes = index_computes,
                                                   .has_composite = index_has_composite,
                                                   .has_tuple = index_has_tuple,
                                                   .has_spatial = index_has_spatial,
                                                   .has_text = index_has_text,
                                                   .vectors = item_vectors,
                                                   .vectors_end = item_vectors_end,
                                                   .words = item_words,
                                                   .tally = item_tally };

struct json item_value_at(struct json document, const struct index_path *path)
{
    struct json value = document;

    for (size_t i = 0; i < path->count; i++)
        value = json_kind(value) == JSON_OBJECT ? json_member(value, path->step[i].name) : json_undefined;
    return value;
}

/* ---- what the scope says ---- */

static struct index_path path_of_key(struct op *op, const struct key_path *path)
{
    struct index_step *step = arena_alloc(&op->arena, path->count * sizeof(*step));

    for (size_t i = 0; i < path->count; i++)
        step[i] = (struct index_step){ .name = path->segment[i] };
    return (struct index_path){ step, path->count };
}

/* Whether only the filter narrows the scope. Points come from the filter; bounds and prefixes do not. */
static bool is_whole(const struct partition_scope *scope)
{
    bool ends_nowhere = scope->max.size == 0 || scope->max.bytes[0] == 0xff;

    return !scope->exact && scope->key.epk.size == 0 && scope->min.size == 0 && ends_nowhere;
}

/* Whether every key that begins with the scope's prefix lies within the scope's bounds. */
static bool bounds_hold_prefix(const struct partition_scope *scope)
{
    struct slice prefix = epk_slice(&scope->key.epk), max = epk_slice(&scope->max);

    if (slice_compare(epk_slice(&scope->min), prefix) > 0)
        return false;
    if (max.size > prefix.size && memcmp(max.data, prefix.data, prefix.size) == 0)
        return scope->max.bytes[prefix.size] == 0xff; /* which no key has there */
    return max.size == 0 || slice_compare(max, prefix) > 0;
}

/*
 * Whether the items with this value in the index are those of the key: an undefined value has no entry there. Keys
 * have numbers as doubles, the index has whole numbers exactly, and up to 2^53 that is the same.
 */
static bool is_in_index(struct json value)
{
    if (json_kind(value) == JSON_NUMBER)
        return json_double(value) > -0x1p53 && json_double(value) < 0x1p53;
    return json_kind(value) != JSON_UNDEFINED;
}

/* Tells the query the values of the key. One that the index does not have as the key has it is not told. */
static void describe_key(struct query_index *index, const struct partition_scan *scan)
{
    const struct partition_key *key = &scan->scope.key.values;

    index->key_value_count = key->count < index->key_count ? key->count : index->key_count;
    index->key_is_scope = index->key_value_count && bounds_hold_prefix(&scan->scope);
    for (size_t i = 0; i < index->key_value_count; i++) {
        struct json value = key->component[i];

        index->key_value[i] = is_in_index(value) ? value : json_undefined;
        index->key_is_scope &= is_in_index(value);
    }
}

static void describe_spans(struct op *op, struct query_index *index, const struct partition_scan *scan)
{
    const struct number_span *of_scan = partition_scan_spans(scan, &index->span_count);
    struct query_span *span = arena_alloc(&op->arena, index->span_count * sizeof(*span));

    for (size_t i = 0; i < index->span_count; i++) {
        assert(i == 0 || of_scan[i - 1].to <= of_scan[i].from); /* the query relies on their order */
        span[i] = (struct query_span){ of_scan[i].from, of_scan[i].to };
    }
    index->span = span;
}

static void describe_scope(struct op *op, struct query_index *index, const struct partition_scan *scan)
{
    const struct container *container = scan->container;

    describe_spans(op, index, scan);
    index->key_count = container->system_key ? 0 : container->key_path_count;
    for (size_t i = 0; i < index->key_count; i++)
        index->key[i] = path_of_key(op, &container->key_path[i]);
    assert(index->key_count <= PARTITION_KEY_PATHS_MAX);
    describe_key(index, scan);
    index->is_whole = is_whole(&scan->scope);
    index->hides = container->default_ttl != TTL_OFF;
}

enum status item_index_offer(struct op *op, const struct partition_scan *scan, struct item_index *index,
                             const struct query_index **offered)
{
    const struct container *container = scan->container;
    struct query_index *base = &index->base;
    bool whole, counted;
    size_t spans;
    enum status st = ST_OK;

    assert(container);
    assert(!*offered);
    partition_scan_spans(scan, &spans);
    if (!container->index || spans == 0)
        return ST_OK;
    *index = (struct item_index){ .base = index_of_items,
                                  .container = container,
                                  .scope = &scan->scope,
                                  .lacks_time = partition_scan_sees_own(scan) };
    base->view = partition_scan_view(scan);
    base->policy = container->index;
    TRY(container_index_is_whole(op, base->view, container, &whole));
    TRY(partition_scan_count(op, scan, &base->documents, &counted));
    if (!counted)
        goto out;
    if (!whole)
        base->left_out = container_index_left_out(op);
    describe_scope(op, base, scan);
    *offered = base;
out:
    return st;
}
