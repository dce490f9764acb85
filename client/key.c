/* client/key.c - partition keys: made, and written as the header has them. */
#include <math.h>

#include "client.h"

orrery_key orrery_key_none(void)
{
    return (orrery_key){ .type = ORRERY_KEY_NONE };
}

orrery_key orrery_key_null(void)
{
    return (orrery_key){ .type = ORRERY_KEY_NULL };
}

orrery_key orrery_key_text(const char *text)
{
    return text ? orrery_key_bytes(text, strlen(text)) : orrery_key_null();
}

orrery_key orrery_key_bytes(const char *text, size_t size)
{
    return (orrery_key){ .type = ORRERY_KEY_TEXT, .text = text, .size = size };
}

orrery_key orrery_key_number(double number)
{
    return (orrery_key){ .type = ORRERY_KEY_NUMBER, .number = number };
}

orrery_key orrery_key_int(int64_t number)
{
    return (orrery_key){
        .type = ORRERY_KEY_NUMBER, .number = (double)number, .integer = number, .is_integer = 1
    };
}

orrery_key orrery_key_bool(int value)
{
    return (orrery_key){ .type = ORRERY_KEY_BOOL, .number = value != 0 };
}

orrery_key orrery_key_list(const orrery_key *items, size_t count)
{
    return (orrery_key){ .type = ORRERY_KEY_LIST, .items = items, .count = count };
}

orrery_key orrery_key_range(const orrery_key *low_and_high)
{
    return (orrery_key){ .type = ORRERY_KEY_RANGE, .items = low_and_high, .count = 2 };
}

static bool print_one(struct buf *out, const orrery_key *key)
{
    switch (key->type) {
    case ORRERY_KEY_NONE:
        buf_text(out, "{}");
        return true;
    case ORRERY_KEY_NULL:
        buf_text(out, "null");
        return true;
    case ORRERY_KEY_BOOL:
        buf_text(out, key->number != 0 ? "true" : "false");
        return true;
    case ORRERY_KEY_NUMBER:
        if (key->is_integer)
            buf_printf(out, "%lld", (long long)key->integer);
        else
            json_print_double(out, key->number);
        return isfinite(key->number);
    case ORRERY_KEY_TEXT:
        json_print_string(out, slice_make(key->text ? key->text : "", key->size));
        return true;
    default:
        return false;
    }
}

static uint32_t utf8_code(const uint8_t **at, const uint8_t *end)
{
    uint32_t lead = *(*at)++, code = lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0x0f : lead & 0x07;

    while (*at < end && (**at & 0xc0) == 0x80)
        code = code << 6 | (*(*at)++ & 0x3f);
    return code;
}

/* Headers are ASCII: all else is written as \uXXXX, and above U+FFFF as a pair of them. */
static void print_ascii(struct buf *out, struct slice text)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;

    while (at < end) {
        uint32_t code;

        if (*at < 0x80) {
            buf_byte(out, (char)*at++);
            continue;
        }
        code = utf8_code(&at, end);
        if (code > 0xffff)
            buf_printf(out, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10 & 0x3ff));
        buf_printf(out, "\\u%04x", code > 0xffff ? 0xdc00 + (code & 0x3ff) : code);
    }
}

bool key_print(struct buf *out, const orrery_key *key)
{
    const orrery_key *items = key->type == ORRERY_KEY_LIST ? key->items : key;
    size_t count = key->type == ORRERY_KEY_LIST ? key->count : 1;
    struct buf plain;

    buf_init(&plain, out->arena);
    buf_byte(&plain, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(&plain, ',');
        if (!print_one(&plain, &items[i]))
            return false;
    }
    buf_byte(&plain, ']');
    print_ascii(out, buf_as_slice(&plain));
    out->failed = out->failed || plain.failed;
    return true;
}
