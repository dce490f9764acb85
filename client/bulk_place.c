/* client/bulk_place.c - where the operations of a bulk go: their keys, the ranges, and who goes together. */
#include <assert.h>

#include "base/encode.h"
#include "bulk.h"
#include "keys/epk.h"

enum {
    TOGETHER_MAX = 100,           /* operations of one request */
    TOGETHER_BYTES_MAX = 2 << 20, /* and their bodies' */
    KEY_TEXT_MAX = 2048,          /* the service's own limit of a key */
};

/* ---- keys */

static orrery_status hash_key(struct bulk *bulk, const struct definition *definition,
                              struct bulk_entry *entry)
{
    struct partition_key key = { 0 };
    struct json list = json_undefined;
    struct buf text;
    struct epk epk;

    if (entry->key.size > KEY_TEXT_MAX)
        return client_fail(bulk->client, ORRERY_EINVAL, "a partition key has at most %d bytes", KEY_TEXT_MAX);
    if (parse_json(&bulk->arena, entry->key, &list) != ORRERY_OK)
        return client_no_memory(bulk->client);
    for (struct json_iter i = json_iter(list); json_next(&i) && key.count < EPK_COMPONENTS_MAX;)
        key.component[key.count++] = json_kind(i.value) == JSON_OBJECT ? json_undefined : i.value;
    epk_compute((enum epk_version)definition->version, &key, &epk);
    buf_init(&text, &bulk->arena);
    hex_encode_upper(&text, epk_slice(&epk));
    entry->hash = buf_as_slice(&text);
    return text.failed ? client_no_memory(bulk->client) : ORRERY_OK;
}

/* The document is parsed once, to see that it is one and to find its key; `arena` is for that alone. */
static orrery_status find_key(struct bulk *bulk, const struct definition *definition, size_t number,
                              struct arena *arena)
{
    const struct operation *operation = &bulk->operations[number];
    struct bulk_entry *entry = &bulk->entries[number];
    struct json document = json_undefined;
    orrery_status status = ORRERY_OK;
    struct buf text;

    entry->key = operation->key;
    if (operation_has_document(operation))
        status = operation_document(bulk->client, arena, operation, &document);
    else if (!entry->key.data)
        return client_fail(bulk->client, ORRERY_EINVAL, "operation %zu of the bulk needs a key", number);
    if (status == ORRERY_OK && !entry->key.data) {
        buf_init(&text, &bulk->arena);
        status = definition_key(bulk->client, definition, document, &text);
        entry->key = buf_as_slice(&text);
    }
    return status == ORRERY_OK ? hash_key(bulk, definition, entry) : status;
}

orrery_status bulk_find_keys(struct bulk *bulk)
{
    const struct definition *definition = NULL;
    orrery_status status = definition_of(bulk->client, bulk->link, bulk->timeout_ms, &definition);
    struct arena arena;

    if (status != ORRERY_OK)
        return status;
    bulk->entries = memory_list(&bulk->arena, bulk->count, sizeof(*bulk->entries));
    if (!bulk->entries) {
        definition_release(bulk->client, definition);
        return client_no_memory(bulk->client);
    }
    memset(bulk->entries, 0, bulk->count * sizeof(*bulk->entries));
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < bulk->count && status == ORRERY_OK; i++) {
        status = find_key(bulk, definition, i, &arena);
        arena_reset(&arena);
    }
    arena_free(&arena);
    definition_release(bulk->client, definition);
    return status;
}

/* ---- ranges */

static struct slice text_or(struct json value, const char *otherwise)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : slice_of(otherwise);
}

orrery_status bulk_take_ranges(struct bulk *bulk, struct slice text)
{
    struct json body = json_undefined, list;
    orrery_status status = parse_json(&bulk->arena, text, &body);

    list = json_get(body, "PartitionKeyRanges");
    if (status == ORRERY_OK && (json_kind(list) != JSON_ARRAY || json_count(list) == 0))
        status = ORRERY_EJSON;
    if (status != ORRERY_OK)
        return client_fail(bulk->client, status, "the collection's ranges make no sense");
    bulk->ranges = memory_list(&bulk->arena, json_count(list), sizeof(*bulk->ranges));
    bulk->range_count = 0;
    if (!bulk->ranges)
        return client_no_memory(bulk->client);
    for (struct json_iter i = json_iter(list); json_next(&i);)
        bulk->ranges[bulk->range_count++] =
            (struct bulk_range){ text_or(json_get(i.value, "id"), "0"),
                                 text_or(json_get(i.value, "minInclusive"), ""),
                                 text_or(json_get(i.value, "maxExclusive"), "FF") };
    return ORRERY_OK;
}

/* At times a range that was divided still stands beside its parts. The last one that has the key is a part. */
static size_t range_of(const struct bulk *bulk, struct slice hash)
{
    size_t found = 0;

    for (size_t i = 0; i < bulk->range_count; i++)
        if (slice_compare(bulk->ranges[i].min, hash) <= 0 && slice_compare(hash, bulk->ranges[i].max) < 0)
            found = i;
    return found;
}

/* ---- who goes together */

/* The numbers of the operations that are not done yet, range by range, and within a range in their order. */
static size_t *sort_by_range(struct bulk *bulk, size_t *count)
{
    size_t *first = memory_list(&bulk->arena, bulk->range_count + 1, sizeof(*first));
    size_t *numbers = memory_list(&bulk->arena, bulk->count, sizeof(*numbers));

    assert(bulk->range_count > 0); /* bulk_take_ranges() refuses an empty list */
    if (!first || !numbers)
        return NULL;
    memset(first, 0, (bulk->range_count + 1) * sizeof(*first));
    for (size_t i = 0; i < bulk->count; i++)
        if (!bulk->entries[i].is_done) {
            bulk->entries[i].range = range_of(bulk, bulk->entries[i].hash);
            first[bulk->entries[i].range + 1]++;
        }
    for (size_t i = 0; i < bulk->range_count; i++)
        first[i + 1] += first[i];
    *count = first[bulk->range_count];
    for (size_t i = 0; i < bulk->count; i++)
        if (!bulk->entries[i].is_done)
            numbers[first[bulk->entries[i].range]++] = i;
    return numbers;
}

/*
 * How many of the next operations make one request: all are of one range, and they are neither too many nor too
 * large.
 */
static size_t together(const struct bulk *bulk, const size_t *numbers, size_t count)
{
    size_t range = bulk->entries[numbers[0]].range, bytes = 0, at = 0;

    while (at < count && at < TOGETHER_MAX && bulk->entries[numbers[at]].range == range) {
        bytes += bulk->operations[numbers[at]].body.size;
        if (at > 0 && bytes > TOGETHER_BYTES_MAX)
            break;
        at++;
    }
    return at;
}

orrery_status bulk_group(struct bulk *bulk)
{
    size_t count = 0, *numbers = sort_by_range(bulk, &count);

    bulk->groups = numbers ? memory_list(&bulk->arena, count + 1, sizeof(*bulk->groups)) : NULL;
    bulk->group_count = bulk->started = bulk->taken = 0;
    if (!bulk->groups)
        return client_no_memory(bulk->client);
    for (size_t at = 0; at < count;) {
        struct bulk_group *group = &bulk->groups[bulk->group_count++];

        *group =
            (struct bulk_group){ .numbers = &numbers[at], .count = together(bulk, &numbers[at], count - at) };
        at += group->count;
    }
    return ORRERY_OK;
}
