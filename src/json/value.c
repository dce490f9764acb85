/* src/json/value.c - reading values: kinds, numbers, strings, members, elements. */
#include "json/format.h"

enum json_kind json_kind(struct json value)
{
    static const uint8_t kinds[] = {
        [TAG_NULL] = JSON_NULL,          [TAG_FALSE] = JSON_FALSE,
        [TAG_TRUE] = JSON_TRUE,          [TAG_I8] = JSON_NUMBER,
        [TAG_I16] = JSON_NUMBER,         [TAG_I32] = JSON_NUMBER,
        [TAG_I64] = JSON_NUMBER,         [TAG_F64] = JSON_NUMBER,
        [TAG_LONG_STRING] = JSON_STRING, [TAG_ESCAPED_STRING] = JSON_STRING,
        [TAG_ARRAY] = JSON_ARRAY,        [TAG_OBJECT] = JSON_OBJECT,
    };

    if (!value.at)
        return JSON_UNDEFINED;
    if (*value.at >= TAG_SHORT_STRING)
        return JSON_STRING;
    return *value.at >= TAG_SMALL_INT ? JSON_NUMBER : (enum json_kind)kinds[*value.at];
}

size_t json_size(struct json value)
{
    return value.at ? size_at(value.at) : 0;
}

struct slice json_bytes(struct json value)
{
    return slice_make(value.at, json_size(value));
}

struct json json_from_bytes(struct slice bytes)
{
    return bytes.size ? (struct json){ (const uint8_t *)bytes.data } : json_undefined;
}

bool json_fills(struct slice bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.data;

    return bytes.size >= CONTAINER_HEADER && at[0] == TAG_OBJECT &&
           bytes.size - CONTAINER_HEADER == load_u32(at + 1);
}

bool json_is_int(struct json number)
{
    return *number.at != TAG_F64;
}

int64_t json_int(struct json number)
{
    assert(json_kind(number) == JSON_NUMBER && json_is_int(number));
    return int_at(number.at);
}

struct slice json_name_not_finite(double number)
{
    assert(!isfinite(number));
    if (isnan(number))
        return slice_of("NaN");
    return slice_of(number > 0 ? "Infinity" : "-Infinity");
}

bool json_number(struct json number, int64_t *integer, double *nearest)
{
    assert(json_kind(number) == JSON_NUMBER);
    if (*number.at == TAG_F64) {
        *nearest = load_double(number.at + 1);
        return false;
    }
    *integer = int_at(number.at);
    *nearest = (double)*integer;
    return true;
}

double json_double(struct json number)
{
    assert(json_kind(number) == JSON_NUMBER);
    return json_is_int(number) ? (double)int_at(number.at) : load_double(number.at + 1);
}

struct slice json_string(struct json string)
{
    assert(json_kind(string) == JSON_STRING);
    return string_at(string.at);
}

static bool is_container(struct json value)
{
    return value.at && (*value.at == TAG_ARRAY || *value.at == TAG_OBJECT);
}

size_t json_count(struct json container)
{
    assert(is_container(container));
    return load_u32(container.at + 5);
}

struct json_iter json_iter(struct json container)
{
    struct json_iter iter = { 0 };

    if (is_container(container)) {
        iter.next = container.at + CONTAINER_HEADER;
        iter.end = container.at + size_at(container.at);
        iter.is_object = *container.at == TAG_OBJECT;
    }
    return iter;
}

bool json_next(struct json_iter *iter)
{
    if (iter->next == iter->end)
        return false;
    if (iter->is_object) {
        iter->name = string_at(iter->next);
        iter->next += size_at(iter->next);
    }
    iter->value.at = iter->next;
    iter->next += size_at(iter->next);
    return true;
}

static bool same_bytes(const uint8_t *a, const char *b, size_t size)
{
    uint64_t x, y;

    if (size > 16)
        return memcmp(a, b, size) == 0;
    if (size < 8) {
        for (; size; size--)
            if (a[size - 1] != (uint8_t)b[size - 1])
                return false;
        return true;
    }
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    if (x != y)
        return false;
    memcpy(&x, a + size - sizeof(x), sizeof(x));
    memcpy(&y, b + size - sizeof(y), sizeof(y));
    return x == y;
}

/* The tag of a short string tells its size: most names that are not meant are passed over without a look at them. */
struct json json_member(struct json object, struct slice name)
{
    uint8_t tag = name.size < SHORT_STRING_END ? (uint8_t)(TAG_SHORT_STRING + name.size) : 0;
    const uint8_t *at, *end, *value;

    if (!object.at || *object.at != TAG_OBJECT)
        return json_undefined;
    at = object.at + CONTAINER_HEADER;
    end = object.at + size_at(object.at);
    for (; at < end; at = value + size_at(value)) {
        value = at + size_at(at);
        if (*at == tag ? same_bytes(at + 1, name.data, name.size)
                       : *at < TAG_SHORT_STRING && slice_equal(string_at(at), name))
            return (struct json){ value };
    }
    return json_undefined;
}

struct json json_element(struct json array, size_t index)
{
    if (json_kind(array) != JSON_ARRAY || index >= json_count(array))
        return json_undefined;
    for (struct json_iter i = json_iter(array); json_next(&i); index--)
        if (index == 0)
            return i.value;
    return json_undefined;
}
