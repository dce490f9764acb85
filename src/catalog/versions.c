/* src/catalog/versions.c - which indexing policies a container has, from its record and into it. */
#include <assert.h>

#include "catalog/entry.h"
#include "catalog/versions.h"
#include "text/words.h"

/* No client's definition has these names: container_define() takes over only the properties that it knows. */
#define OLDER "_olderIndexing"
#define SEED "_seed"
#define TEXT "_textRules"

/* OLDER_MAX: how many older policies a container may have while its items are being indexed again. */
enum { OLDER_MAX = 16, FIRST_VERSION = 1 };

/* The properties that decide which entries an item has. */
static const char *const parts[] = { "indexingPolicy", "computedProperties", "geospatialConfig",
                                     "fullTextPolicy" };
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* ---- seeds ---- */

static struct hash_seed new_seed(struct op *op)
{
    struct hash_seed seed = { env_random_u64(op->env), env_random_u64(op->env) };

    seed.k0 |= hash_seed_is_none(seed); /* which stands for none */
    return seed;
}

/* Two whole numbers. Undefined is none. */
static struct hash_seed seed_in(struct json source)
{
    struct json seed = json_get(source, SEED);

    if (json_kind(seed) != JSON_ARRAY || json_count(seed) != 2)
        return (struct hash_seed){ 0 };
    return (struct hash_seed){ (uint64_t)json_int(json_element(seed, 0)),
                               (uint64_t)json_int(json_element(seed, 1)) };
}

static void add_seed(struct json_builder *out, struct hash_seed seed)
{
    if (hash_seed_is_none(seed))
        return;
    json_add_name(out, slice_of(SEED));
    json_begin_array(out);
    json_add_int(out, (int64_t)seed.k0);
    json_add_int(out, (int64_t)seed.k1);
    json_end(out);
}

/* ---- texts ---- */

/* enum text_entries. */
static uint32_t texts_in(struct json source)
{
    struct json texts = json_get(source, TEXT);

    return json_kind(texts) == JSON_NUMBER ? (uint32_t)json_int(texts) : TEXT_ENTRIES_NONE;
}

static void add_texts(struct json_builder *out, uint32_t texts)
{
    if (texts == TEXT_ENTRIES_NONE)
        return;
    json_add_name(out, slice_of(TEXT));
    json_add_int(out, texts);
}

/* ---- from the record ---- */

static enum status read_policy(struct op *op, index_compute *compute, struct arena *arena, struct json from,
                               struct hash_seed seed, uint32_t texts, const struct index_policy **policy)
{
    struct json type = json_get(json_get(from, "geospatialConfig"), "type");
    struct index_policy_source source = {
        .policy = json_get(from, "indexingPolicy"),
        .computed = json_get(from, "computedProperties"),
        .full_text = json_get(from, "fullTextPolicy"),
        .has_texts = texts >= TEXT_ENTRIES_STEMS && texts <= TEXT_ENTRIES_FORMS,
        .has_forms = texts == TEXT_ENTRIES_FORMS,
        .planar = json_kind(type) == JSON_STRING && slice_is(json_string(type), "Geometry"),
        .compute = compute,
        .seed = seed,
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
            TRY(read_policy(op, compute, &container->memory, i.value, seed_in(i.value), texts_in(i.value),
                            &older.policy));
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
                          bool keeps_entries, uint32_t stored_version)
{
    struct json older = json_get(container->definition, OLDER);
    enum status st = ST_OK;

    container->seed = seed_in(container->definition);
    container->texts = texts_in(container->definition);
    if (json_kind(older) == JSON_ARRAY)
        container->definition = json_without(&container->memory, container->definition, OLDER);
    if (container->texts)
        container->definition = json_without(&container->memory, container->definition, TEXT);
    if (!hash_seed_is_none(container->seed))
        container->definition = json_without(&container->memory, container->definition, SEED);
    if (!keeps_entries)
        goto out;
    container->policy_version = stored_version ? stored_version : FIRST_VERSION;
    TRY(read_policy(op, compute, &container->memory, container->definition, container->seed, container->texts,
                    &container->index));
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
    if (!container_usage(latest, &usage) || indexed >= usage.documents)
        return indexed ? 99 : 0;
    return (unsigned)(99 * indexed / usage.documents);
}

/* ---- into the record ---- */

static void add_older(struct json_builder *out, uint32_t version, struct json source, struct hash_seed seed,
                      uint32_t texts)
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
    add_seed(out, seed);
    add_texts(out, texts);
    json_end(out);
}

/* `replaced`: the policy of today becomes an older one. */
static void add_all_older(struct json_builder *out, const struct container *now, bool replaced)
{
    json_add_name(out, slice_of(OLDER));
    json_begin_array(out);
    for (size_t i = 0; i < now->index_older_count; i++)
        add_older(out, now->index_older[i].version, now->index_older[i].source,
                  seed_in(now->index_older[i].source), texts_in(now->index_older[i].source));
    if (replaced)
        add_older(out, now->policy_version, now->definition, now->seed, now->texts);
    json_end(out);
}

/* The definition as it is stored. `now` is NULL where no item is indexed by an older policy. */
static void store(struct op *op, struct json definition, struct hash_seed seed, uint32_t texts,
                  const struct container *now, bool replaced, struct versions *after)
{
    struct json_builder out;

    assert(json_kind(json_get(definition, OLDER)) == JSON_UNDEFINED); /* reading it has taken it out */
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_members(&out, definition, NULL);
    add_seed(&out, seed);
    add_texts(&out, texts);
    if (now && (replaced || now->index_older_count))
        add_all_older(&out, now, replaced);
    json_end(&out);
    after->definition = json_built(&out);
    after->has_seed = !hash_seed_is_none(seed);
}

void versions_first(struct op *op, const struct bucket *bucket, struct json definition,
                    struct versions *versions)
{
    versions->version = bucket_keeps_entries(bucket) ? FIRST_VERSION : 0;
    store(op, definition, new_seed(op), TEXT_ENTRIES_FORMS, NULL, false, versions);
}

static enum status replace(struct op *op, const struct container *now, struct json definition,
                           struct hash_seed seed, bool changed, struct versions *after)
{
    bool keeps_entries = bucket_keeps_entries(now->part[0]->bucket);

    assert(now->index_older_count <= OLDER_MAX);
    if (keeps_entries && changed && now->index_older_count == OLDER_MAX)
        return op_fail(op, ST_TOO_MANY_REQUESTS,
                       "The container's items are still being indexed by its earlier indexing policies.");
    after->version = now->policy_version + (keeps_entries && changed);
    store(op, definition, seed, changed ? TEXT_ENTRIES_FORMS : now->texts, keeps_entries ? now : NULL,
          changed, after);
    return ST_OK;
}

enum status versions_replace(struct op *op, const struct container *now, struct json definition,
                             struct versions *after)
{
    return replace(op, now, definition, now->seed, !same_policy(now->definition, definition), after);
}

enum status versions_give_seed(struct op *op, const struct container *now, struct versions *after)
{
    assert(hash_seed_is_none(now->seed));
    return replace(op, now, now->definition, new_seed(op), true, after);
}

enum status versions_without_older(struct op *op, const struct container *now, struct versions *after)
{
    after->version = now->policy_version;
    store(op, now->definition, now->seed, now->texts, NULL, false, after);
    return ST_OK;
}
