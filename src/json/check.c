/*
 * src/json/check.c - whether bytes from outside are a value.
 * Accepts what the parser and the builder write. It does not look for names that repeat, which they never
 * write: of such names the accessors find the first, and nothing worse happens.
 */
#include "json/scan.h"

static bool is_utf8(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        size_t size = count_plain(at, end);

        if (size == 0)
            size = utf8_sequence(at, end);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

/* Whether the string has the one encoding that its bytes allow. */
static bool check_string(const uint8_t *at)
{
    struct slice text = string_at(at);
    const uint8_t *bytes = (const uint8_t *)text.data;
    bool escaped = count_unescaped(bytes, bytes + text.size) < text.size;
    uint8_t header[STRING_HEADER];

    put_string_header(header, text.size, escaped);
    return header[0] == *at && is_utf8(bytes, bytes + text.size);
}

static bool check_number(const uint8_t *at)
{
    uint8_t shortest[NUMBER_BYTES_MAX];

    if (*at == TAG_F64) {
        double number = load_double(at + 1);

        return isfinite(number) && !double_is_int(number);
    }
    put_int(shortest, int_at(at));
    return *shortest == *at;
}

static const uint8_t *check_value(const uint8_t *at, const uint8_t *end, int depth);

static bool check_container(const uint8_t *at, const uint8_t *end, int depth)
{
    uint32_t count = load_u32(at + 5);
    bool is_object = *at == TAG_OBJECT;

    if (depth == JSON_DEPTH_MAX)
        return false;
    for (at += CONTAINER_HEADER; at && at < end; count--) {
        if (count == 0 || (is_object && !tag_is_string(*at)))
            return false;
        if (is_object)
            at = check_value(at, end, depth + 1);
        if (at)
            at = check_value(at, end, depth + 1);
    }
    return at && count == 0;
}

/* Whether the tag is known, and enough bytes are left to ask for the value's size. */
static bool has_size(const uint8_t *at, const uint8_t *end)
{
    if (at == end || *at == 0 || *at >= TAG_END || (*at > TAG_OBJECT && *at < TAG_SMALL_INT))
        return false;
    return *at < TAG_LONG_STRING || *at > TAG_OBJECT || end - at >= STRING_HEADER;
}

/* The end of a good value; NULL for a bad one. */
static const uint8_t *check_value(const uint8_t *at, const uint8_t *end, int depth)
{
    size_t size;
    bool good = true;

    if (!has_size(at, end))
        return NULL;
    size = size_at(at);
    if (size > (size_t)(end - at))
        return NULL;
    if (tag_is_string(*at))
        good = check_string(at);
    else if (*at == TAG_ARRAY || *at == TAG_OBJECT)
        good = check_container(at, at + size, depth);
    else if (*at > TAG_TRUE)
        good = check_number(at);
    return good ? at + size : NULL;
}

bool json_check(struct slice bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.data, *end = at + bytes.size;

    return bytes.size > 0 && check_value(at, end, 0) == end;
}
