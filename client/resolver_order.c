/* client/resolver_order.c - the order of keys, whatever their types, and what becomes of a key where another type is wanted. */
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/encode.h"
#include "resolver.h"
#include "json/number.h"

enum { GUID_BYTES = 16 };

/* ---- GUIDs */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "6f9619ff-8b86-d011-b42d-00c04fc964ff", in braces or not, with hyphens or without any. */
static bool guid_read(struct slice text, uint8_t bytes[GUID_BYTES])
{
    bool has_hyphens;
    size_t at = 0;

    if (text.size >= 2 && text.data[0] == '{' && text.data[text.size - 1] == '}')
        text = slice_make(text.data + 1, text.size - 2);
    has_hyphens = text.size == 2 * GUID_BYTES + 4;
    if (!has_hyphens && text.size != (size_t)2 * GUID_BYTES)
        return false;
    for (int i = 0; i < GUID_BYTES; i++) {
        int high, low;

        if (has_hyphens && (i == 4 || i == 6 || i == 8 || i == 10) && text.data[at++] != '-')
            return false;
        high = digit_of(text.data[at++]);
        low = digit_of(text.data[at++]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool guid_is_valid(struct slice text)
{
    uint8_t bytes[GUID_BYTES];

    return guid_read(text, bytes);
}

static int guid_compare(const orrery_key *a, const orrery_key *b)
{
    uint8_t x[GUID_BYTES] = { 0 }, y[GUID_BYTES] = { 0 };

    guid_read(slice_make(a->text, a->size), x);
    guid_read(slice_make(b->text, b->size), y);
    return memcmp(x, y, GUID_BYTES);
}

/* ---- what has an order */

bool key_is_ordered(const orrery_key *key)
{
    switch (key->type) {
    case ORRERY_KEY_NULL:
        return true;
    case ORRERY_KEY_NUMBER:
    case ORRERY_KEY_TIME:
    case ORRERY_KEY_BOOL:
        return !isnan(key->number);
    case ORRERY_KEY_TEXT:
        return key->text;
    case ORRERY_KEY_GUID:
        return key->text && guid_is_valid(slice_make(key->text, key->size));
    case ORRERY_KEY_TUPLE:
        for (size_t i = 0; i < key->count; i++)
            if (!key->items || key->items[i].type == ORRERY_KEY_TUPLE || !key_is_ordered(&key->items[i]))
                return false;
        return true;
    default:
        return false;
    }
}

bool key_is_absent(const orrery_key *key)
{
    return !key || key->type == ORRERY_KEY_NONE || key->type == ORRERY_KEY_NULL;
}

/*
 * Bytes of UTF-8 have the order of code points. UTF-16 units have nearly the same order: only surrogates (a first
 * byte of F0 and up) come before U+E000 to U+FFFF (EE, EF).
 */
int text_compare_utf16(struct slice a, struct slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;

    for (size_t i = 0; i < common; i++) {
        uint8_t x = (uint8_t)a.data[i], y = (uint8_t)b.data[i];

        if (x == y)
            continue;
        if (x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0))
            return x >= 0xf0 ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return a.size < b.size ? -1 : a.size > b.size;
}

/* An integer of 64 bits and a double both fit exactly. */
static long double exact_of(const orrery_key *key)
{
    _Static_assert(__LDBL_MANT_DIG__ >= 64, "as all processors that this runs on have it");
    return key->is_integer ? (long double)key->integer : (long double)key->number;
}

/* Where types differ: null, booleans, numbers, times, texts, GUIDs, tuples. */
static int rank(const orrery_key *key)
{
    static const orrery_key_type order[] = { ORRERY_KEY_NULL, ORRERY_KEY_BOOL, ORRERY_KEY_NUMBER,
                                             ORRERY_KEY_TIME, ORRERY_KEY_TEXT, ORRERY_KEY_GUID,
                                             ORRERY_KEY_TUPLE };
    int at = 0;

    while (at < (int)(sizeof(order) / sizeof(order[0])) && order[at] != key->type)
        at++;
    return at;
}

/* The first part that differs decides; of two of which one is the other's beginning, the shorter is less. */
static int tuple_compare(const orrery_key *a, const orrery_key *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int order = key_compare(&a->items[i], &b->items[i]);

        if (order)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

int key_compare(const orrery_key *a, const orrery_key *b)
{
    if (a->type != b->type)
        return rank(a) < rank(b) ? -1 : 1;
    switch (a->type) {
    case ORRERY_KEY_NUMBER:
    case ORRERY_KEY_TIME:
    case ORRERY_KEY_BOOL:
        return exact_of(a) < exact_of(b) ? -1 : exact_of(a) > exact_of(b);
    case ORRERY_KEY_GUID:
        return guid_compare(a, b);
    case ORRERY_KEY_TUPLE:
        return tuple_compare(a, b);
    case ORRERY_KEY_TEXT:
        return text_compare_utf16(slice_make(a->text, a->size), slice_make(b->text, b->size));
    default:
        return 0;
    }
}

/* ---- conversions, as the .NET SDK's range resolver makes them */

static bool text_to_number(struct arena *arena, struct slice text, orrery_key *to)
{
    struct number_text number;
    const uint8_t *begin, *end;
    int64_t integer;
    double value;

    text = slice_trim(text);
    begin = (const uint8_t *)text.data;
    end = begin + text.size;
    if (slice_to_i64(text, &integer)) {
        *to = orrery_key_int(integer);
        return true;
    }
    if (!number_scan(begin, end, &number) || number.end != end || !number_to_double(&number, arena, &value))
        return false;
    *to = orrery_key_number(value);
    return true;
}

static bool to_number(struct arena *arena, const orrery_key *from, orrery_key *to)
{
    if (from->type == ORRERY_KEY_BOOL)
        *to = orrery_key_int(from->number != 0);
    else if (from->type == ORRERY_KEY_TEXT)
        return text_to_number(arena, slice_make(from->text, from->size), to);
    else
        return false;
    return true;
}

static bool to_text(struct arena *arena, const orrery_key *from, orrery_key *to)
{
    char *text, *end;

    if (from->type == ORRERY_KEY_BOOL) {
        *to = orrery_key_text(from->number != 0 ? "True" : "False");
        return true;
    }
    if (from->type == ORRERY_KEY_GUID) {
        *to = orrery_key_bytes(from->text, from->size);
        return true;
    }
    text = from->type == ORRERY_KEY_NUMBER ? arena_try_alloc(arena, NUMBER_TEXT_MAX) : NULL;
    if (!text)
        return false;
    end = from->is_integer ? number_print_int(text, from->integer) : number_print_double(text, from->number);
    *to = orrery_key_bytes(text, (size_t)(end - text));
    return true;
}

static bool to_bool(const orrery_key *from, orrery_key *to)
{
    struct slice text = slice_trim(slice_make(from->text, from->type == ORRERY_KEY_TEXT ? from->size : 0));

    if (from->type == ORRERY_KEY_NUMBER) {
        *to = orrery_key_bool(from->number != 0);
        return true;
    }
    *to = orrery_key_bool(text.size == 4 && strncasecmp(text.data, "true", 4) == 0);
    return to->number != 0 || (text.size == 5 && strncasecmp(text.data, "false", 5) == 0);
}

bool key_convert(struct arena *arena, const orrery_key *from, orrery_key_type type, orrery_key *to)
{
    int64_t time_ms;

    *to = *from;
    if (from->type == type)
        return true;
    switch (type) {
    case ORRERY_KEY_NUMBER:
        return to_number(arena, from, to);
    case ORRERY_KEY_TEXT:
        return to_text(arena, from, to);
    case ORRERY_KEY_BOOL:
        return to_bool(from, to);
    case ORRERY_KEY_TIME:
        if (from->type != ORRERY_KEY_TEXT || !time_parse(slice_make(from->text, from->size), &time_ms))
            return false;
        *to = orrery_key_time(time_ms);
        return true;
    case ORRERY_KEY_GUID:
        to->type = ORRERY_KEY_GUID;
        return from->type == ORRERY_KEY_TEXT && guid_is_valid(slice_make(from->text, from->size));
    default:
        return false;
    }
}

void key_round(orrery_key *key)
{
    double rounded = key->type == ORRERY_KEY_NUMBER && !key->is_integer ? nearbyint(key->number) : HUGE_VAL;

    if (fabs(rounded) < 9e18)
        *key = orrery_key_int((int64_t)rounded);
}
