/* client/state_shape.c - a template of collections as JSON, and back: part of the state of resolvers that make collections. */
#include "resolver_managed.h"
#include "state.h"

/* Texts of a container's definition. */
static const struct {
    const char *name;
    size_t at;
} texts[] = {
    { "IndexingPolicy", offsetof(orrery_container, indexing_policy) },
    { "UniqueKeyPolicy", offsetof(orrery_container, unique_key_policy) },
    { "ConflictResolutionPolicy", offsetof(orrery_container, conflict_resolution_policy) },
    { "ComputedProperties", offsetof(orrery_container, computed_properties) },
    { "VectorEmbeddingPolicy", offsetof(orrery_container, vector_embedding_policy) },
    { "ChangeFeedPolicy", offsetof(orrery_container, change_feed_policy) },
};

static const char **text_at(orrery_container *container, size_t row)
{
    return (const char **)((char *)container + texts[row].at);
}

/* Lists of scripts. */
static const struct {
    const char *name;
    size_t at;
} lists[] = {
    { "Procedures", offsetof(orrery_template, procedures) },
    { "Triggers", offsetof(orrery_template, triggers) },
    { "Functions", offsetof(orrery_template, functions) },
};

static const char *const **list_at(orrery_template *shape, size_t row)
{
    return (const char *const **)((char *)shape + lists[row].at);
}

/* ---- writing */

static void print_texts(struct state_writer *writer, const char *name, const char *const *list)
{
    state_name(writer, name);
    buf_byte(&writer->out, '[');
    for (size_t i = 0; list[i]; i++) {
        buf_text(&writer->out, i ? "," : "");
        json_print_string(&writer->out, slice_of(list[i]));
    }
    buf_byte(&writer->out, ']');
}

void state_shape(struct state_writer *writer, const char *name, const orrery_template *given)
{
    orrery_template shape = *given;
    const char *paths[4] = { shape.container.partition_key[0], shape.container.partition_key[1],
                             shape.container.partition_key[2], NULL };

    state_name(writer, name);
    buf_printf(&writer->out, "{\"DefaultTimeToLive\":%d", shape.container.default_ttl);
    state_number(writer, "Throughput", shape.throughput);
    state_number(writer, "ThroughputMax", shape.throughput_max);
    print_texts(writer, "PartitionKey", paths);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*text_at(&shape.container, i))
            state_text(writer, texts[i].name, slice_of(*text_at(&shape.container, i)));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (*list_at(&shape, i))
            print_texts(writer, lists[i].name, *list_at(&shape, i));
    buf_byte(&writer->out, '}');
}

/* ---- reading */

/* NULL where there is none; what is no text, or has a NUL in it, is a mistake. */
static const char *read_text(struct arena *arena, struct json value, orrery_status *status)
{
    struct slice text = json_kind(value) == JSON_STRING ? json_string(value) : slice_of("");
    char *copy;

    if (json_kind(value) == JSON_UNDEFINED)
        return NULL;
    if (json_kind(value) != JSON_STRING || (text.size && memchr(text.data, '\0', text.size))) {
        *status = ORRERY_ESTATE;
        return NULL;
    }
    copy = memory_text_in(arena, text);
    if (!copy)
        *status = ORRERY_ENOMEM;
    return copy;
}

static const char *const *read_list(struct arena *arena, struct json list, orrery_status *status)
{
    const char **copy;
    size_t count = 0;

    if (json_kind(list) == JSON_UNDEFINED)
        return NULL;
    copy = memory_list(arena, json_count(list) + 1, sizeof(*copy));
    if (!copy || json_kind(list) != JSON_ARRAY) {
        *status = copy ? ORRERY_ESTATE : ORRERY_ENOMEM;
        return NULL;
    }
    for (struct json_iter i = json_iter(list); *status == ORRERY_OK && json_next(&i);)
        copy[count++] = read_text(arena, i.value, status);
    copy[count] = NULL;
    return copy;
}

static int read_number(struct json value, orrery_status *status)
{
    if (json_kind(value) == JSON_UNDEFINED)
        return 0;
    if (json_kind(value) != JSON_NUMBER || !json_is_int(value) || json_int(value) < -1 ||
        json_int(value) > INT32_MAX) {
        *status = ORRERY_ESTATE;
        return 0;
    }
    return (int)json_int(value);
}

orrery_status state_shape_of(struct arena *arena, struct json state, orrery_template *shape)
{
    struct json paths = json_get(state, "PartitionKey");
    orrery_status status = json_kind(state) == JSON_OBJECT && json_kind(paths) == JSON_ARRAY &&
                                   json_count(paths) >= 1 && json_count(paths) <= 3
                               ? ORRERY_OK
                               : ORRERY_ESTATE;

    *shape = (orrery_template){ .size = sizeof(*shape), .container.size = sizeof(shape->container) };
    shape->container.default_ttl = read_number(json_get(state, "DefaultTimeToLive"), &status);
    shape->throughput = read_number(json_get(state, "Throughput"), &status);
    shape->throughput_max = read_number(json_get(state, "ThroughputMax"), &status);
    for (size_t i = 0; i < 3 && status == ORRERY_OK && i < json_count(paths); i++)
        shape->container.partition_key[i] = read_text(arena, json_element(paths, i), &status);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && status == ORRERY_OK; i++)
        *text_at(&shape->container, i) = read_text(arena, json_get(state, texts[i].name), &status);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && status == ORRERY_OK; i++)
        *list_at(shape, i) = read_list(arena, json_get(state, lists[i].name), &status);
    return status;
}
