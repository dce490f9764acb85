/* client/resolver_key.c - keys: copies, order, and how they are found in a document. */
#include <math.h>
#include <stdlib.h>

#include "client.h"
#include "resolver.h"
#include "json/number.h"

orrery_status held_key_new(orrery_held_key **held)
{
    *held = allocator_get(sizeof(**held));
    if (!*held)
        return ORRERY_ENOMEM;
    **held = (struct orrery_held_key){ .key = { .type = ORRERY_KEY_NONE } };
    arena_init(&(*held)->arena, HELD_KEY_BYTES_MAX);
    return ORRERY_OK;
}

void orrery_held_key_free(orrery_held_key *held)
{
    if (!held)
        return;
    arena_free(&held->arena);
    allocator_free(held);
}

const orrery_key *orrery_held_key_get(const orrery_held_key *held)
{
    return held ? &held->key : NULL;
}

orrery_status orrery_held_key_put(orrery_held_key *held, const orrery_key *key)
{
    return held && key ? key_copy(&held->arena, key, &held->key) : ORRERY_EINVAL;
}

static orrery_status copy_at(struct arena *arena, const orrery_key *key, orrery_key *copy, int depth);

static orrery_status copy_items(struct arena *arena, const orrery_key *key, orrery_key *copy, int depth)
{
    orrery_key *items;

    if (depth == KEY_DEPTH_MAX || key->count > HELD_KEY_BYTES_MAX / sizeof(*items) ||
        (key->count && !key->items))
        return ORRERY_EINVAL;
    items = memory_list(arena, key->count, sizeof(*items));
    if (!items)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < key->count; i++) {
        orrery_status status = copy_at(arena, &key->items[i], &items[i], depth + 1);

        if (status != ORRERY_OK)
            return status;
    }
    copy->items = items;
    return ORRERY_OK;
}

static orrery_status copy_at(struct arena *arena, const orrery_key *key, orrery_key *copy, int depth)
{
    orrery_key made = *key;

    made.text = NULL;
    made.items = NULL;
    if (key->type == ORRERY_KEY_TEXT || key->type == ORRERY_KEY_GUID) {
        if (!key->text)
            return ORRERY_EINVAL;
        made.text = memory_text_in(arena, slice_make(key->text, key->size));
        if (!made.text)
            return ORRERY_ENOMEM;
    }
    if (key->type == ORRERY_KEY_RANGE || key->type == ORRERY_KEY_LIST || key->type == ORRERY_KEY_KIND ||
        key->type == ORRERY_KEY_TUPLE) {
        orrery_status status = copy_items(arena, key, &made, depth);

        if (status != ORRERY_OK)
            return status;
    }
    *copy = made;
    return ORRERY_OK;
}

orrery_status key_copy(struct arena *arena, const orrery_key *key, orrery_key *copy)
{
    return copy_at(arena, key, copy, 0);
}

orrery_key orrery_key_time(int64_t unix_ms)
{
    return (orrery_key){ .type = ORRERY_KEY_TIME, .number = (double)unix_ms };
}

orrery_key orrery_key_of_kind(const orrery_key *kind_and_key)
{
    return (orrery_key){ .type = ORRERY_KEY_KIND, .items = kind_and_key, .count = 2 };
}

orrery_key orrery_key_guid(const char *text)
{
    return text ? (orrery_key){ .type = ORRERY_KEY_GUID, .text = text, .size = strlen(text) }
                : orrery_key_null();
}

orrery_key orrery_key_tuple(const orrery_key *parts, size_t count)
{
    return (orrery_key){ .type = ORRERY_KEY_TUPLE, .items = parts, .count = count };
}

/* A tuple is of several properties, and of one nothing else is. */
static bool type_is_known(const orrery_extractor *extractor)
{
    switch (extractor->as) {
    case ORRERY_KEY_NONE:
    case ORRERY_KEY_TEXT:
    case ORRERY_KEY_NUMBER:
    case ORRERY_KEY_TIME:
    case ORRERY_KEY_BOOL:
    case ORRERY_KEY_GUID:
        return true;
    case ORRERY_KEY_TUPLE:
        return extractor->property_count > 0;
    default:
        return false;
    }
}

/* One way to find a key, and not two. */
static bool extractor_is_valid(const orrery_extractor *extractor)
{
    int ways;

    if (!type_is_known(extractor))
        return false;
    ways = (extractor->property != NULL) + (extractor->property_count > 0) + (extractor->extract != NULL);
    if (ways != 1 || (extractor->property_count && !extractor->properties))
        return false;
    for (size_t i = 0; i < extractor->property_count; i++)
        if (!extractor->properties[i])
            return false;
    return true;
}

static orrery_status copy_names(struct arena *arena, orrery_extractor *extractor)
{
    const char **names = memory_list(arena, extractor->property_count, sizeof(*names));

    if (!names)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < extractor->property_count; i++) {
        names[i] = memory_text_in(arena, slice_of(extractor->properties[i]));
        if (!names[i])
            return ORRERY_ENOMEM;
    }
    extractor->properties = names;
    return ORRERY_OK;
}

orrery_status extractor_copy(struct arena *arena, const orrery_extractor *extractor, orrery_extractor *copy)
{
    if (!extractor || !struct_take(copy, sizeof(*copy), extractor) || !extractor_is_valid(copy))
        return ORRERY_EINVAL;
    copy->separator = memory_text_in(arena, slice_of(copy->separator ? copy->separator : "-"));
    if (!copy->separator)
        return ORRERY_ENOMEM;
    if (copy->name && !(copy->name = memory_text_in(arena, slice_of(copy->name))))
        return ORRERY_ENOMEM;
    if (copy->property) {
        copy->property = memory_text_in(arena, slice_of(copy->property));
        return copy->property ? ORRERY_OK : ORRERY_ENOMEM;
    }
    return copy_names(arena, copy);
}

orrery_key key_of_value(struct json value)
{
    switch (json_kind(value)) {
    case JSON_NULL:
        return orrery_key_null();
    case JSON_FALSE:
    case JSON_TRUE:
        return orrery_key_bool(json_kind(value) == JSON_TRUE);
    case JSON_NUMBER:
        return json_is_int(value) ? orrery_key_int(json_int(value)) : orrery_key_number(json_double(value));
    case JSON_STRING:
        return orrery_key_bytes(json_string(value).data, json_string(value).size);
    default:
        return orrery_key_none();
    }
}

/* An array or an object is no key: it becomes an empty list, which has no place either. */
static orrery_key key_of_json(struct json value)
{
    enum json_kind kind = json_kind(value);

    return kind == JSON_ARRAY || kind == JSON_OBJECT ? orrery_key_list(NULL, 0) : key_of_value(value);
}

/* A number as JavaScript spells it, so that every client finds the same text. */
static orrery_status number_to_text(struct arena *arena, struct json value, orrery_key *key)
{
    char *text = arena_try_alloc(arena, NUMBER_TEXT_MAX), *end;

    if (!text)
        return ORRERY_ENOMEM;
    if (json_is_int(value))
        end = number_print_int(text, json_int(value));
    else
        end = number_print_double(text, json_double(value));
    *key = (orrery_key){ .type = ORRERY_KEY_TEXT, .text = text, .size = (size_t)(end - text) };
    return ORRERY_OK;
}

/* Far past the year 9999, and its milliseconds still fit a double exactly. */
#define SECONDS_MAX 1e12

static orrery_status to_time(const orrery_key *key, orrery_key *time)
{
    int64_t time_ms;

    if (key->type == ORRERY_KEY_NUMBER && fabs(key->number) < SECONDS_MAX)
        time_ms = llround(key->number * 1000);
    else if (key->type != ORRERY_KEY_TEXT || !time_parse(slice_make(key->text, key->size), &time_ms))
        return ORRERY_EKEYTYPE;
    *time = orrery_key_time(time_ms);
    return ORRERY_OK;
}

static orrery_status convert(struct arena *arena, orrery_key_type as, struct json value, orrery_key *key)
{
    *key = key_of_json(value);
    if (as == ORRERY_KEY_NONE || key_is_absent(key) || key->type == as)
        return ORRERY_OK;
    if (as == ORRERY_KEY_TEXT && key->type == ORRERY_KEY_NUMBER)
        return number_to_text(arena, value, key);
    if (as == ORRERY_KEY_TIME)
        return to_time(key, key);
    if (as != ORRERY_KEY_GUID || key->type != ORRERY_KEY_TEXT ||
        !guid_is_valid(slice_make(key->text, key->size)))
        return ORRERY_EKEYTYPE;
    key->type = ORRERY_KEY_GUID;
    return ORRERY_OK;
}

/* The parts as one text; a part that is absent leaves the document without a key. */
static orrery_status join(struct arena *arena, const orrery_extractor *extractor, struct json document,
                          orrery_key *key)
{
    struct buf text;

    buf_init(&text, arena);
    for (size_t i = 0; i < extractor->property_count; i++) {
        orrery_key part;
        orrery_status status =
            convert(arena, ORRERY_KEY_TEXT, json_get(document, extractor->properties[i]), &part);

        if (status != ORRERY_OK)
            return status;
        *key = (orrery_key){ .type = ORRERY_KEY_NONE };
        if (key_is_absent(&part))
            return ORRERY_OK;
        buf_text(&text, i ? extractor->separator : "");
        buf_append(&text, part.text, part.size);
    }
    *key = (orrery_key){ .type = ORRERY_KEY_TEXT, .text = buf_as_slice(&text).data, .size = text.size };
    return text.failed ? ORRERY_ENOMEM : ORRERY_OK;
}

/* The parts as they are; a part that is absent leaves the document without a key, and null is a part like others. */
static orrery_status gather(struct arena *arena, const orrery_extractor *extractor, struct json document,
                            orrery_key *key)
{
    orrery_key *parts = memory_list(arena, extractor->property_count, sizeof(*parts));

    if (!parts)
        return ORRERY_ENOMEM;
    *key = orrery_key_none();
    for (size_t i = 0; i < extractor->property_count; i++) {
        parts[i] = key_of_json(json_get(document, extractor->properties[i]));
        if (parts[i].type == ORRERY_KEY_NONE)
            return ORRERY_OK;
        if (!key_is_ordered(&parts[i]))
            return ORRERY_EKEYTYPE;
    }
    *key = orrery_key_tuple(parts, extractor->property_count);
    return ORRERY_OK;
}

orrery_status extractor_run(const orrery_extractor *extractor, orrery_value document, orrery_held_key *key)
{
    struct json root = value_json(document);
    orrery_status status;
    orrery_key found;

    if (json_kind(root) != JSON_OBJECT)
        return ORRERY_EINVAL;
    if (extractor->extract)
        return extractor->extract(extractor->context, document, key);
    if (extractor->property)
        status = convert(&key->arena, extractor->as, json_get(root, extractor->property), &found);
    else if (extractor->as == ORRERY_KEY_TUPLE)
        status = gather(&key->arena, extractor, root, &found);
    else
        status = join(&key->arena, extractor, root, &found);
    return status == ORRERY_OK ? orrery_held_key_put(key, &found) : status;
}
