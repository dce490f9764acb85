/* src/keys/ordered.c - values as bytes that sort, and back. The header shows the layout. */
#include <assert.h>
#include <math.h>

#include "base/hash.h"
#include "keys/bytes.h"
#include "keys/ordered.h"

/* The kind byte is one more than enum json_kind, so that 00 is left for ends. */
enum {
    KIND_UNDEFINED = JSON_UNDEFINED + 1,
    KIND_NULL = JSON_NULL + 1,
    KIND_TRUE = JSON_TRUE + 1,
    KIND_NUMBER = JSON_NUMBER + 1,
    KIND_STRING = JSON_STRING + 1,
    KIND_ARRAY = JSON_ARRAY + 1,
    KIND_OBJECT = JSON_OBJECT + 1,
};

enum { EXACT = 0, WITH_DIFFERENCE = 1 }; /* behind a number's double */
enum { END = 0, CUT = 1 };               /* behind a string's bytes */
enum { HASH_BYTES = 16 };

static const double int64_end = 9223372036854775808.0; /* 2^63: a double, and the first that is no int64 */

static void put_hash(uint8_t *to, struct hash128 hash)
{
    put_be(to, hash.h1, 8);
    put_be(to + 8, hash.h2, 8);
}

/* Negative numbers sort backwards by their bits, and before the others. */
static uint64_t sortable(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static double from_sortable(uint64_t bits)
{
    double number;

    bits = bits >> 63 ? bits & ~(1ull << 63) : ~bits;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* The largest double not above it. INT64_MAX is rounded to 2^63, which is no int64 any more. */
static double floor_double(int64_t number)
{
    double nearest = (double)number;

    if (nearest >= int64_end || (int64_t)nearest > number)
        return nextafter(nearest, -INFINITY);
    return nearest;
}

static size_t put_number(uint8_t *to, struct json number)
{
    double below = json_is_int(number) ? floor_double(json_int(number)) : json_double(number);
    int64_t difference = json_is_int(number) ? json_int(number) - (int64_t)below : 0;

    put_be(to, sortable(below), 8);
    to[8] = difference ? WITH_DIFFERENCE : EXACT;
    if (!difference)
        return 9;
    put_be(to + 9, (uint64_t)difference, 2); /* below 1024: 63 bits in a mantissa of 53 */
    return 11;
}

/* UTF-8 has no byte FF, so plus one never wraps, and eight bytes are added to as one number. */
static void put_plus_one(uint8_t *to, const char *from, size_t size)
{
    uint64_t word;
    size_t i = 0;

    for (; i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, from + i, sizeof(word));
        word += 0x0101010101010101u;
        memcpy(to + i, &word, sizeof(word));
    }
    for (; i < size; i++)
        to[i] = (uint8_t)(from[i] + 1);
}

static size_t put_string(uint8_t *to, struct slice text)
{
    size_t kept = text.size <= ORDERED_STRING_BYTES ? text.size : ORDERED_STRING_BYTES;

    put_plus_one(to, text.data, kept);
    to[kept] = kept == text.size ? END : CUT;
    if (kept == text.size)
        return kept + 1;
    put_hash(to + kept + 1, murmur3_128(text.data, text.size));
    return kept + 1 + HASH_BYTES;
}

size_t ordered_encode_hashed(enum json_kind kind, struct hash128 hash, uint8_t out[ORDERED_HASHED_BYTES])
{
    out[0] = (uint8_t)(kind + 1);
    put_hash(out + 1, hash);
    return ORDERED_HASHED_BYTES;
}

size_t ordered_encode(struct json value, uint8_t out[ORDERED_BYTES_MAX])
{
    enum json_kind kind = json_kind(value);

    out[0] = (uint8_t)(kind + 1);
    switch (kind) {
    case JSON_NUMBER:
        return 1 + put_number(out + 1, value);
    case JSON_STRING:
        return 1 + put_string(out + 1, json_string(value));
    case JSON_ARRAY:
    case JSON_OBJECT:
        return ordered_encode_hashed(kind, json_hash(value), out);
    default:
        return 1;
    }
}

void ordered_put_time(uint8_t out[ORDERED_TIME_BYTES], int64_t ts_ms, bool descending)
{
    int64_t seconds = ts_ms / 1000;

    out[0] = KIND_NUMBER;
    put_be(out + 1, sortable((double)seconds), 8);
    out[9] = EXACT;
    for (size_t i = 0; descending && i < ORDERED_TIME_BYTES; i++)
        out[i] = (uint8_t)~out[i];
}

static size_t number_size(struct slice bytes)
{
    if (bytes.size >= 10 && bytes.data[9] == EXACT)
        return 10;
    return bytes.size >= 12 && bytes.data[9] == WITH_DIFFERENCE ? 12 : 0;
}

static size_t string_size(struct slice bytes)
{
    size_t room = bytes.size - 1 < ORDERED_STRING_BYTES + 1 ? bytes.size - 1 : ORDERED_STRING_BYTES + 1;
    const char *end = memchr(bytes.data + 1, END, room);

    if (end)
        return (size_t)(end - bytes.data) + 1;
    return bytes.size >= ORDERED_BYTES_MAX && bytes.data[1 + ORDERED_STRING_BYTES] == CUT ? ORDERED_BYTES_MAX
                                                                                          : 0;
}

size_t ordered_size(struct slice bytes)
{
    uint8_t kind = bytes.size ? (uint8_t)bytes.data[0] : 0;

    if (kind == 0 || kind > KIND_OBJECT)
        return 0;
    if (kind < KIND_NUMBER)
        return 1;
    if (kind == KIND_NUMBER)
        return number_size(bytes);
    if (kind == KIND_STRING)
        return string_size(bytes);
    return bytes.size >= 1 + HASH_BYTES ? 1 + HASH_BYTES : 0;
}

bool ordered_is_hashed(struct slice bytes)
{
    size_t size = ordered_size(bytes);

    return size && (bytes.data[0] >= KIND_ARRAY || size == ORDERED_BYTES_MAX);
}

/* False for bytes that no encoder made. */
static bool add_number(struct json_builder *builder, struct slice bytes)
{
    double number = from_sortable(get_be(bytes.data + 1, 8));
    int64_t whole;

    if (bytes.data[9] == EXACT && isfinite(number)) {
        json_add_double(builder, number);
        return true;
    }
    if (bytes.data[9] == EXACT || !(number >= -int64_end && number < int64_end) ||
        __builtin_add_overflow((int64_t)number, (int64_t)get_be(bytes.data + 10, 2), &whole))
        return false;
    json_add_int(builder, whole);
    return true;
}

static void add_string(struct json_builder *builder, struct slice bytes, size_t size)
{
    char text[ORDERED_STRING_BYTES];

    for (size_t i = 0; i < size; i++)
        text[i] = (char)(bytes.data[1 + i] - 1);
    json_add_string(builder, slice_make(text, size));
}

struct json ordered_decode(struct op *op, struct slice bytes)
{
    struct json_builder builder;
    size_t size = ordered_size(bytes);

    if (size == 0 || bytes.data[0] == KIND_UNDEFINED || ordered_is_hashed(bytes))
        return json_undefined;
    json_builder_init(&builder, &op->arena);
    switch (bytes.data[0]) {
    case KIND_NUMBER:
        if (!add_number(&builder, bytes))
            return json_undefined;
        break;
    case KIND_STRING:
        add_string(&builder, bytes, size - 2);
        break;
    case KIND_NULL:
        json_add_null(&builder);
        break;
    default:
        json_add_bool(&builder, bytes.data[0] == KIND_TRUE);
    }
    return json_built(&builder);
}
