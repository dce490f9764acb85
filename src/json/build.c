/*
 * src/json/build.c - building a value call by call.
 * While a container is open, `count` is the number of names and values added to it.
 */
#include "json/scan.h"

void json_builder_init(struct json_builder *builder, struct arena *arena)
{
    buf_init(&builder->out, arena);
    builder->depth = 0;
    builder->count[0] = 0;
}

/* Room for one more name or value; NULL past the arena's limit. */
static uint8_t *room(struct json_builder *builder, size_t bytes)
{
    builder->count[builder->depth]++;
    return (uint8_t *)buf_reserve(&builder->out, bytes);
}

static void grow_to(struct json_builder *builder, const uint8_t *end)
{
    builder->out.size = (size_t)(end - (uint8_t *)builder->out.data);
}

static void begin(struct json_builder *builder, enum tag tag)
{
    uint8_t *header = room(builder, CONTAINER_HEADER);

    assert(builder->depth < JSON_DEPTH_MAX);
    builder->depth++;
    builder->count[builder->depth] = 0;
    builder->open[builder->depth] = (uint32_t)builder->out.size;
    if (!header)
        return;
    put_container_header(header, tag, 0, 0);
    grow_to(builder, header + CONTAINER_HEADER);
}

void json_begin_object(struct json_builder *builder)
{
    begin(builder, TAG_OBJECT);
}

void json_begin_array(struct json_builder *builder)
{
    begin(builder, TAG_ARRAY);
}

void json_end(struct json_builder *builder)
{
    uint32_t start = builder->open[builder->depth], count = builder->count[builder->depth];
    uint8_t *header = (uint8_t *)builder->out.data + start;

    assert(builder->depth > 0);
    builder->depth--;
    if (builder->out.failed)
        return;
    if (*header == TAG_OBJECT) {
        assert(count % 2 == 0); /* each name has its value */
        count /= 2;
    }
    put_container_header(header, *header, builder->out.size - start - CONTAINER_HEADER, count);
}

void json_add_null(struct json_builder *builder)
{
    uint8_t *to = room(builder, 1);

    if (!to)
        return;
    *to = TAG_NULL;
    grow_to(builder, to + 1);
}

void json_add_bool(struct json_builder *builder, bool value)
{
    uint8_t *to = room(builder, 1);

    if (!to)
        return;
    *to = value ? TAG_TRUE : TAG_FALSE;
    grow_to(builder, to + 1);
}

void json_add_int(struct json_builder *builder, int64_t number)
{
    uint8_t *to = room(builder, NUMBER_BYTES_MAX);

    if (to)
        grow_to(builder, put_int(to, number));
}

void json_add_double(struct json_builder *builder, double number)
{
    uint8_t *to = room(builder, NUMBER_BYTES_MAX);

    assert(isfinite(number));
    if (to)
        grow_to(builder, put_double(to, number));
}

void json_add_string(struct json_builder *builder, struct slice utf8)
{
    const uint8_t *bytes = (const uint8_t *)utf8.data;
    bool escaped = count_unescaped(bytes, bytes + utf8.size) < utf8.size;
    uint8_t *to = room(builder, STRING_HEADER + utf8.size);

    if (!to)
        return;
    to = put_string_header(to, utf8.size, escaped);
    copy_short(to, bytes, utf8.size);
    grow_to(builder, to + utf8.size);
}

/* A name is a string; the builder's user gives each name once. */
void json_add_name(struct json_builder *builder, struct slice name)
{
    json_add_string(builder, name);
}

void json_add(struct json_builder *builder, struct json value)
{
    size_t size = json_size(value);
    uint8_t *to = room(builder, size);

    assert(value.at);
    if (!to)
        return;
    memcpy(to, value.at, size);
    grow_to(builder, to + size);
}

/* Members lie in an object as they lie in any other. */
static void add_all_members(struct json_builder *builder, struct json object)
{
    size_t size = json_size(object) - CONTAINER_HEADER;
    uint8_t *to = (uint8_t *)buf_reserve(&builder->out, size);

    builder->count[builder->depth] += 2 * (uint32_t)json_count(object);
    if (!to)
        return;
    memcpy(to, object.at + CONTAINER_HEADER, size);
    grow_to(builder, to + size);
}

void json_add_members(struct json_builder *builder, struct json object, const char *but)
{
    if (!but && json_kind(object) == JSON_OBJECT) {
        add_all_members(builder, object);
        return;
    }
    for (struct json_iter i = json_iter(object); json_next(&i);) {
        if (but && slice_is(i.name, but))
            continue;
        json_add_name(builder, i.name);
        json_add(builder, i.value);
    }
}

struct json json_without(struct arena *arena, struct json object, const char *name)
{
    struct json_builder out;

    json_builder_init(&out, arena);
    json_begin_object(&out);
    json_add_members(&out, object, name);
    json_end(&out);
    return json_built(&out);
}

static struct json some_members(struct arena *arena, struct json object, size_t from, size_t to)
{
    struct json_builder out;
    size_t at = 0;

    json_builder_init(&out, arena);
    json_begin_object(&out);
    for (struct json_iter i = json_iter(object); at < to && json_next(&i); at++) {
        if (at < from)
            continue;
        json_add_name(&out, i.name);
        json_add(&out, i.value);
    }
    json_end(&out);
    return json_built(&out);
}

void json_split(struct arena *arena, struct json object, size_t last, struct json *front, struct json *back)
{
    size_t count = json_count(object), first = last < count ? count - last : 0;

    *front = object;
    *back = json_undefined;
    if (last == 0 || count == 0)
        return;
    *back = some_members(arena, object, first, count);
    *front = some_members(arena, object, 0, first);
    if (json_kind(*front) != JSON_OBJECT || json_kind(*back) != JSON_OBJECT) {
        *front = object;
        *back = json_undefined;
    }
}

struct json json_built(const struct json_builder *builder)
{
    assert(builder->depth == 0);
    if (builder->out.failed)
        return json_undefined;
    assert(builder->count[0] == 1);
    return (struct json){ (const uint8_t *)builder->out.data };
}
