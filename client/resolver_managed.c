/* client/resolver_managed.c - a hash resolver over collections that are made to a template where they are missing. */
#include <stdlib.h>

#include "resolver_managed.h"

static const char *copy_or_null(struct arena *arena, const char *text, bool *failed)
{
    char *copy = text ? memory_text_in(arena, slice_of(text)) : NULL;

    *failed |= text && !copy;
    return copy;
}

static const char *const *copy_list(struct arena *arena, const char *const *list, bool *failed)
{
    const char **copy;
    size_t count = 0;

    if (!list)
        return NULL;
    while (list[count])
        count++;
    copy = memory_list(arena, count + 1, sizeof(*copy));
    *failed |= !copy;
    for (size_t i = 0; copy && i <= count; i++)
        copy[i] = copy_or_null(arena, list[i], failed);
    return copy;
}

/* In an older program's template the container may be shorter, and what follows it then stands nearer. */
static bool template_take(const orrery_template *from, orrery_template *to)
{
    size_t behind = sizeof(to->size) + sizeof(to->container), rest = sizeof(*to) - behind,
           given = sizeof(to->size) + from->container.size;

    _Static_assert(offsetof(orrery_template, throughput) == sizeof(size_t) + sizeof(orrery_container),
                   "nothing lies between them");
    if (from->size < given || !struct_take(&to->container, sizeof(to->container), &from->container))
        return false;
    if (rest > from->size - given)
        rest = from->size - given;
    memcpy((char *)to + behind, (const char *)from + given, rest);
    return true;
}

orrery_status template_copy(struct arena *arena, const orrery_template *from, orrery_template *to)
{
    bool failed = false;
    orrery_container *shape = &to->container;

    *to = (orrery_template){ .size = sizeof(*to),
                             .container = { .size = sizeof(*shape), .partition_key = { "/id" } } };
    if (!from)
        return ORRERY_OK;
    if (!template_take(from, to))
        return ORRERY_EINVAL;
    for (int i = 0; i < 3; i++)
        shape->partition_key[i] = copy_or_null(arena, shape->partition_key[i], &failed);
    if (!shape->partition_key[0])
        shape->partition_key[0] = "/id";
    shape->indexing_policy = copy_or_null(arena, shape->indexing_policy, &failed);
    shape->unique_key_policy = copy_or_null(arena, shape->unique_key_policy, &failed);
    shape->conflict_resolution_policy = copy_or_null(arena, shape->conflict_resolution_policy, &failed);
    shape->computed_properties = copy_or_null(arena, shape->computed_properties, &failed);
    shape->vector_embedding_policy = copy_or_null(arena, shape->vector_embedding_policy, &failed);
    shape->change_feed_policy = copy_or_null(arena, shape->change_feed_policy, &failed);
    to->procedures = copy_list(arena, to->procedures, &failed);
    to->triggers = copy_list(arena, to->triggers, &failed);
    to->functions = copy_list(arena, to->functions, &failed);
    return failed ? ORRERY_ENOMEM : ORRERY_OK;
}

static void print_policy(struct buf *out, const char *name, const char *json)
{
    if (json)
        buf_printf(out, ",\"%s\":%s", name, json);
}

static void print_definition(struct buf *out, const char *id, const orrery_container *shape)
{
    bool is_hierarchical = shape->partition_key[1];

    buf_text(out, "{\"id\":");
    json_print_string(out, slice_of(id));
    buf_text(out, ",\"partitionKey\":{\"paths\":[");
    for (int i = 0; i < 3 && shape->partition_key[i]; i++) {
        buf_text(out, i ? "," : "");
        json_print_string(out, slice_of(shape->partition_key[i]));
    }
    buf_printf(out, "],\"kind\":\"%s\",\"version\":2}", is_hierarchical ? "MultiHash" : "Hash");
    print_policy(out, "indexingPolicy", shape->indexing_policy);
    print_policy(out, "uniqueKeyPolicy", shape->unique_key_policy);
    print_policy(out, "conflictResolutionPolicy", shape->conflict_resolution_policy);
    print_policy(out, "computedProperties", shape->computed_properties);
    print_policy(out, "vectorEmbeddingPolicy", shape->vector_embedding_policy);
    print_policy(out, "changeFeedPolicy", shape->change_feed_policy);
    if (shape->default_ttl)
        buf_printf(out, ",\"defaultTtl\":%d", shape->default_ttl);
    buf_append(out, "}", 2); /* the NUL with it */
}

char *collection_link(struct arena *arena, const char *database_link, const char *id)
{
    struct slice database = link_trim(database_link);
    struct buf link;

    buf_init(&link, arena);
    buf_slice(&link, database);
    buf_text(&link, "/colls/");
    buf_append(&link, id, strlen(id) + 1);
    return link.failed ? NULL : link.data;
}

/* Puts the scripts of one kind. One that another client has put there meanwhile is welcome. */
static orrery_status put_scripts(const struct remote *remote, struct arena *arena, const char *link,
                                 const char *kind, const char *const *scripts)
{
    orrery_status status = ORRERY_OK;
    struct buf feed;

    buf_init(&feed, arena);
    buf_printf(&feed, "%s/%s", link, kind);
    buf_append(&feed, "", 1);
    if (feed.failed)
        return ORRERY_ENOMEM;
    for (size_t i = 0; scripts && scripts[i] && (status == ORRERY_OK || status == ORRERY_ECONFLICT); i++)
        status = remote->calls->create(remote->self, feed.data, scripts[i], NULL);
    return status == ORRERY_ECONFLICT ? ORRERY_OK : status;
}

static orrery_status put_all_scripts(const struct remote *remote, struct arena *arena, const char *link,
                                     const orrery_template *shape)
{
    orrery_status status = put_scripts(remote, arena, link, "sprocs", shape->procedures);

    if (status == ORRERY_OK)
        status = put_scripts(remote, arena, link, "triggers", shape->triggers);
    if (status == ORRERY_OK)
        status = put_scripts(remote, arena, link, "udfs", shape->functions);
    return status;
}

static orrery_status make(const struct remote *remote, struct arena *arena, const char *database_link,
                          const char *id, const orrery_template *shape)
{
    orrery_options options = { .size = sizeof(options),
                               .throughput = shape->throughput,
                               .throughput_max = shape->throughput_max };
    char *link = collection_link(arena, database_link, id);
    struct buf feed, definition;
    orrery_status status;

    buf_init(&feed, arena);
    buf_init(&definition, arena);
    buf_slice(&feed, link_trim(database_link));
    buf_append(&feed, "/colls", sizeof("/colls"));
    print_definition(&definition, id, &shape->container);
    if (!link || feed.failed || definition.failed)
        return ORRERY_ENOMEM;
    status = remote->calls->create(remote->self, feed.data, definition.data, &options);
    if (status == ORRERY_ECONFLICT) /* it is there, with scripts of its own */
        return ORRERY_OK;
    return status == ORRERY_OK ? put_all_scripts(remote, arena, link, shape) : status;
}

orrery_status collection_make(const struct remote *remote, const char *database_link, const char *id,
                              const orrery_template *shape)
{
    struct arena arena;
    orrery_status status;

    arena_init(&arena, SCRATCH_BYTES_MAX);
    status = make(remote, &arena, database_link, id, shape);
    arena_free(&arena);
    return status;
}

orrery_status key_paths_read(const struct remote *remote, struct arena *arena, const char *link,
                             struct key_paths *paths)
{
    struct remote_answer answer;
    struct json list;
    orrery_status status = remote->calls->read(remote->self, arena, link, &answer);

    *paths = (struct key_paths){ .count = 0 };
    if (status != ORRERY_OK)
        return status;
    list = json_get(json_get(answer.body, "partitionKey"), "paths");
    for (struct json_iter i = json_iter(list); json_next(&i) && paths->count < 3;)
        if (json_kind(i.value) == JSON_STRING)
            paths->path[paths->count++] = json_string(i.value);
    return ORRERY_OK;
}

/* One name of "/a/"b c"/d": a name in quotes may hold slashes. */
static struct slice next_name(struct slice *path)
{
    struct slice rest = slice_after(*path, 1), name; /* behind the slash */
    bool is_quoted = rest.size > 1 && rest.data[0] == '"';
    const char *end;

    if (is_quoted)
        rest = slice_after(rest, 1);
    end = rest.size ? memchr(rest.data, is_quoted ? '"' : '/', rest.size) : NULL;
    name = slice_make(rest.data, end ? (size_t)(end - rest.data) : rest.size);
    rest = slice_after(rest, name.size);
    *path = is_quoted && rest.size ? slice_after(rest, 1) : rest;
    return name;
}

static orrery_key key_at(struct slice path, struct json item)
{
    struct json value = item;

    while (path.size > 0)
        value = json_member(value, next_name(&path));
    return key_of_value(value);
}

orrery_status key_paths_key(const struct key_paths *paths, struct arena *arena, struct json item,
                            orrery_key *key)
{
    orrery_key *items;

    *key = orrery_key_none();
    if (paths->count == 0)
        return ORRERY_OK;
    if (paths->count == 1) {
        *key = key_at(paths->path[0], item);
        return ORRERY_OK;
    }
    items = memory_list(arena, paths->count, sizeof(*items));
    if (!items)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < paths->count; i++)
        items[i] = key_at(paths->path[i], item);
    *key = orrery_key_list(items, paths->count);
    return ORRERY_OK;
}

struct maker {
    struct remote remote;
    struct arena arena;
    const char *database_link;
    const orrery_managed_options *options;
    orrery_template shape;
    const char **links;
};

/* The link that goes into the ring: the server's own, if that is asked for, as the .NET sample did. */
static orrery_status link_of(struct maker *maker, const char *id, const char **link)
{
    struct remote_answer answer;
    orrery_status status;

    *link = collection_link(&maker->arena, maker->database_link, id);
    if (!*link)
        return ORRERY_ENOMEM;
    if (!maker->options->self_links)
        return ORRERY_OK;
    status = maker->remote.calls->read(maker->remote.self, &maker->arena, *link, &answer);
    if (status != ORRERY_OK)
        return status;
    if (json_kind(json_get(answer.body, "_self")) != JSON_STRING)
        return ORRERY_EIO;
    *link = memory_text_in(&maker->arena, json_string(json_get(answer.body, "_self")));
    return *link ? ORRERY_OK : ORRERY_ENOMEM;
}

static orrery_status make_one(struct maker *maker, size_t number)
{
    const char *prefix = maker->options->prefix ? maker->options->prefix : "ManagedHashCollection.";
    struct buf id;
    orrery_status status;

    buf_init(&id, &maker->arena);
    buf_printf(&id, "%s%zu", prefix, number);
    buf_append(&id, "", 1);
    if (id.failed)
        return ORRERY_ENOMEM;
    status = collection_make(&maker->remote, maker->database_link, id.data, &maker->shape);
    return status == ORRERY_OK ? link_of(maker, id.data, &maker->links[number]) : status;
}

static orrery_status make_all(struct maker *maker, const orrery_extractor *extractor,
                              orrery_resolver **resolver)
{
    size_t count = maker->options->count;
    orrery_status status = template_copy(&maker->arena, maker->options->collection, &maker->shape);

    maker->links = memory_list(&maker->arena, count, sizeof(*maker->links));
    if (!maker->links)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        status = make_one(maker, i);
    if (status != ORRERY_OK)
        return status;
    return orrery_resolver_hash(extractor, maker->links, count, maker->options->hash, resolver);
}

orrery_status managed_with(struct remote remote, const char *database_link, const orrery_extractor *extractor,
                           const orrery_managed_options *options, orrery_resolver **resolver)
{
    orrery_managed_options known;
    struct maker maker = { .remote = remote, .database_link = database_link, .options = &known };
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!options || !struct_take(&known, sizeof(known), options) || known.count < 1 ||
        known.count > RESOLVER_LINKS_MAX)
        return ORRERY_EINVAL;
    if (!link_is_database(database_link))
        return ORRERY_ELINK;
    arena_init(&maker.arena, SCRATCH_BYTES_MAX);
    status = make_all(&maker, extractor, resolver);
    arena_free(&maker.arena);
    return status;
}

orrery_status orrery_resolver_managed(orrery_client *client, const char *database_link,
                                      const orrery_extractor *extractor,
                                      const orrery_managed_options *options, orrery_resolver **resolver)
{
    if (resolver)
        *resolver = NULL;
    return client ? managed_with(remote_of_client(client), database_link, extractor, options, resolver)
                  : ORRERY_EINVAL;
}
