/* src/catalog/versions.c - which indexing policies a container has, from its record and into it. */
#include <assert.h>

#include "catalog/entry.h"
#include "catalog/versions.h"

/* No client's definition has this name: container_define() takes over only the properties that it knows. */
#define OLDER "_olderIndexing"

/* OLDER_MAX: how many older policies a container may have while its items are being indexed again. */
enum { OLDER_MAX = 16, FIRST_VERSION = 1 };

/* The properties that decide which entries an item has. */
static const char *const parts[] = { "indexingPolicy", "computedProperties", "geospatialConfig" };
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

uint32_t versions_first(const struct bucket *bucket)
{
    return bucket_keeps_entries(bucket) ? FIRST_VERSION : 0;
}

static enum status read_policy(struct op *op, index_compute *compute, struct arena *arena, struct json from,
                               const struct index_policy **policy)
{
    struct json type = json_get(json_get(from, "geospatialConfig"), "type");
    struct index_policy_source source = {
        .policy = json_get(from, "indexingPolicy"),
        .computed = json_get(from, "computedProperties"),
        .planar = json_kind(type) == JSON_STRING && slice_is(json_string(type), "Geometry"),
        .compute = compute,
    };
    struct index_policy *read;
    enum status st;

    TRY(index_policy_read(op, arena, &source, &read));
    *policy = read;
out:
    return st;
}

static enum status read_older(struct op *op, index_compute *compute, struct container *container,
                              struct json list)
{
    enum status st = ST_OK;

    container->index_older =
        arena_alloc(&container->memory, (json_count(list) + 1) * sizeof(*container->index_older));
    for (struct json_iter i = json_iter(list); json_next(&i);) {
        struct container_policy older = { .version = (uint32_t)json_int(json_get(i.value, "version")),
                                          .source = i.value };

        if (older.version)
            TRY(read_policy(op, compute, &container->memory, i.value, &older.policy));
        container->index_older[container->index_older_count++] = older;
    }
out:
    return st;
}

/* An older program wrote the items, without entries: all of them are to be indexed. */
static void begin_with_none(struct container *container)
{
    container->index_older = arena_alloc(&container->memory, sizeof(*container->index_older));
    container->index_older[0] = (struct container_policy){ .source = json_undefined };
    container->index_older_count = 1;
}

enum status versions_read(struct op *op, index_compute *compute, struct container *container,
                          uint32_t stored_version)
{
    struct json older = json_get(container->definition, OLDER);
    enum status st = ST_OK;

    if (json_kind(older) == JSON_ARRAY)
        container->definition = json_without(&container->memory, container->definition, OLDER);
    if (!bucket_keeps_entries(container->bucket))
        goto out;
    container->policy_version = stored_version ? stored_version : FIRST_VERSION;
    TRY(read_policy(op, compute, &container->memory, container->definition, &container->index));
    if (!stored_version)
        begin_with_none(container);
    else if (json_kind(older) == JSON_ARRAY)
        TRY(read_older(op, compute, container, older));
out:
    return st;
}

/* A part that both definitions lack counts as the same. */
static bool same_policy(struct json a, struct json b)
{
    for (size_t i = 0; i < PARTS; i++) {
        struct json in_a = json_get(a, parts[i]), in_b = json_get(b, parts[i]);
        bool defined = json_kind(in_a) != JSON_UNDEFINED;

        if (defined != (json_kind(in_b) != JSON_UNDEFINED) || (defined && !json_equal(in_a, in_b)))
            return false;
    }
    return true;
}

void container_note_indexed(const struct container *container, uint64_t items)
{
    atomic_store_explicit(&container->life->indexed, items, memory_order_relaxed);
}

unsigned container_indexed_percent(const struct container *container)
{
    const struct container *latest = container_latest(container);
    uint64_t indexed = atomic_load_explicit(&latest->life->indexed, memory_order_relaxed);
    struct bucket_usage usage;

    if (latest->index_older_count == 0)
        return 100;
    if (!bucket_usage(latest->bucket, &usage) || indexed >= usage.documents)
        return indexed ? 99 : 0;
    return (unsigned)(99 * indexed / usage.documents);
}

static void add_older(struct json_builder *out, uint32_t version, struct json source)
{
    json_begin_object(out);
    json_add_name(out, slice_of("version"));
    json_add_int(out, version);
    for (size_t i = 0; i < PARTS; i++) {
        struct json part = json_get(source, parts[i]);

        if (json_kind(part) == JSON_UNDEFINED)
            continue;
        json_add_name(out, slice_of(parts[i]));
        json_add(out, part);
    }
    json_end(out);
}

static struct json with_older(struct op *op, const struct container *now, struct json definition,
                              bool changed)
{
    struct json_builder out;

    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_members(&out, definition, NULL);
    json_add_name(&out, slice_of(OLDER));
    json_begin_array(&out);
    for (size_t i = 0; i < now->index_older_count; i++)
        add_older(&out, now->index_older[i].version, now->index_older[i].source);
    if (changed)
        add_older(&out, now->policy_version, now->definition);
    json_end(&out);
    json_end(&out);
    return json_built(&out);
}

enum status versions_replace(struct op *op, const struct container *now, struct json definition,
                             struct versions *after)
{
    bool changed = !same_policy(now->definition, definition);

    assert(json_kind(json_get(definition, OLDER)) == JSON_UNDEFINED); /* reading it has taken it out */
    assert(now->index_older_count <= OLDER_MAX);
    *after = (struct versions){ now->policy_version, definition };
    if (!bucket_keeps_entries(now->bucket))
        return ST_OK;
    after->version += changed;
    if (!changed && !now->index_older_count)
        return ST_OK;
    if (changed && now->index_older_count == OLDER_MAX)
        return op_fail(op, ST_TOO_MANY_REQUESTS,
                       "The container's items are still being indexed by its earlier indexing policies.");
    after->definition = with_older(op, now, definition, changed);
    return ST_OK;
}
