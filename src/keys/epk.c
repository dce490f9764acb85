/*
 * src/keys/epk.c - the service's hashes of partition keys.
 * A component is hashed as its type byte and its value. V2 hashes all components together to 128
 * bits, EPK_MULTI each by itself. V1 hashes them to 32 bits, and the EPK is that hash written as
 * a number, followed by the components themselves, in bytes that sort as the values do.
 */
#include <assert.h>

#include "base/hash.h"
#include "keys/bytes.h"
#include "keys/epk.h"

enum { TYPE_UNDEFINED = 0, TYPE_NULL = 1, TYPE_FALSE = 2, TYPE_TRUE = 3, TYPE_NUMBER = 5, TYPE_STRING = 8 };

enum {
    V1_STRING_UNITS = 100, /* V1 hashes so many UTF-16 units of a string */
    V1_STRING_BYTES = 100, /* a V1 EPK cuts a string behind so many bytes of UTF-8 */
    HASH_BYTES = EPK_LEVEL_BYTES,
    V1_INPUT_BYTES = 2 + 3 * V1_STRING_UNITS,
};

/* Arrays and objects cannot be keys and count as undefined. */
static uint8_t type_byte(struct json component)
{
    static const uint8_t types[] = {
        [JSON_UNDEFINED] = TYPE_UNDEFINED, [JSON_NULL] = TYPE_NULL,        [JSON_FALSE] = TYPE_FALSE,
        [JSON_TRUE] = TYPE_TRUE,           [JSON_NUMBER] = TYPE_NUMBER,    [JSON_STRING] = TYPE_STRING,
        [JSON_ARRAY] = TYPE_UNDEFINED,     [JSON_OBJECT] = TYPE_UNDEFINED,
    };

    return types[json_kind(component)];
}

static size_t character_bytes(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/*
 * How many bytes V1 hashes of a string: its first 100 UTF-16 units. `halved` tells that this
 * cuts a surrogate pair; the half that is left is hashed as a question mark, as Java encodes it.
 */
static size_t v1_string_bytes(struct slice text, bool *halved)
{
    size_t at = 0, units = 0;

    *halved = false;
    while (at < text.size && units < V1_STRING_UNITS) {
        size_t bytes = character_bytes((uint8_t)text.data[at]);

        units += bytes == 4 ? 2 : 1;
        if (units > V1_STRING_UNITS) {
            *halved = true;
            break;
        }
        at += bytes;
    }
    return at;
}

/* A string as V1 sees it: at most 100 units, in `room`. */
static struct slice v1_string(struct json component, char room[3 * V1_STRING_UNITS])
{
    struct slice text = json_string(component);
    bool halved;
    size_t size = v1_string_bytes(text, &halved);

    memcpy(room, text.data, size);
    if (halved)
        room[size++] = '?';
    return slice_make(room, size);
}

static uint64_t double_bits(struct json number)
{
    double value = json_double(number);
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* V1: the bytes of one component that are hashed; returns how many. */
static size_t v1_put_hash_input(uint8_t *to, struct json component)
{
    struct slice text;

    to[0] = type_byte(component);
    if (to[0] == TYPE_NUMBER) {
        put_le(to + 1, double_bits(component), 8);
        return 9;
    }
    if (to[0] != TYPE_STRING)
        return 1;
    text = v1_string(component, (char *)to + 1);
    to[1 + text.size] = 0x00;
    return text.size + 2;
}

/* The 32 bits of the hash, in the first four bytes. */
static void v1_hash_components(const struct partition_key *key, uint8_t hash[HASH_BYTES])
{
    uint8_t input[EPK_COMPONENTS_MAX * V1_INPUT_BYTES];
    size_t size = 0;

    for (size_t i = 0; i < key->count; i++)
        size += v1_put_hash_input(input + size, key->component[i]);
    put_be(hash, murmur3_32(input, size), 4);
}

/* Piece by piece: a string may be as long as an item. */
static void add_hash_input(struct murmur3 *murmur3, struct json component)
{
    uint8_t type = type_byte(component), bits[8], end = 0xff;
    struct slice text;

    murmur3_add(murmur3, &type, 1);
    if (type == TYPE_NUMBER) {
        put_le(bits, double_bits(component), sizeof(bits));
        murmur3_add(murmur3, bits, sizeof(bits));
    } else if (type == TYPE_STRING) {
        text = json_string(component);
        murmur3_add(murmur3, text.data, text.size);
        murmur3_add(murmur3, &end, 1);
    }
}

/* 16 bytes, the top two bits clear. */
static void hash_components(const struct json *component, size_t count, uint8_t hash[HASH_BYTES])
{
    struct murmur3 murmur3 = { 0 };
    struct hash128 both;

    for (size_t i = 0; i < count; i++)
        add_hash_input(&murmur3, component[i]);
    both = murmur3_end(&murmur3);
    put_be(hash, both.h2, 8);
    put_be(hash + 8, both.h1, 8);
    hash[0] &= 0x3f;
}

/*
 * V1's form of a number: eight bits of its order-preserving form, then seven in each byte, whose
 * lowest bit tells whether another byte follows.
 */
static size_t v1_put_number(uint8_t *to, uint64_t bits)
{
    uint64_t rest = bits >> 63 ? -bits : bits ^ 1ull << 63;
    size_t size = 2;

    to[0] = TYPE_NUMBER;
    to[1] = (uint8_t)(rest >> 56);
    rest <<= 8;
    do {
        to[size++] = (uint8_t)(rest >> 56 | 1);
        rest <<= 7;
    } while (rest);
    to[size - 1] &= 0xfe;
    return size;
}

/* Writes each byte plus one, so that 00 can end the string. A string that is cut has no end mark. */
static size_t v1_put_string(uint8_t *to, struct slice text)
{
    size_t kept = text.size <= V1_STRING_BYTES ? text.size : V1_STRING_BYTES + 1;

    to[0] = TYPE_STRING;
    for (size_t i = 0; i < kept; i++)
        to[1 + i] = (uint8_t)(text.data[i] + 1);
    if (text.size > V1_STRING_BYTES)
        return 1 + kept;
    to[1 + kept] = 0;
    return 2 + kept;
}

static size_t v1_put_component(uint8_t *to, struct json component)
{
    char room[3 * V1_STRING_UNITS];

    to[0] = type_byte(component);
    if (to[0] == TYPE_NUMBER)
        return v1_put_number(to, double_bits(component));
    if (to[0] == TYPE_STRING)
        return v1_put_string(to, v1_string(component, room));
    return 1;
}

/* A hash as V1 writes it: as a number. */
static size_t v1_put_hash(uint8_t *to, uint32_t hash)
{
    double number = (double)hash;
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return v1_put_number(to, bits);
}

static void compute_v1(const struct partition_key *key, struct epk *epk)
{
    uint8_t hash[HASH_BYTES];
    size_t size;

    v1_hash_components(key, hash);
    size = v1_put_hash(epk->bytes, (uint32_t)get_be(hash, 4));
    for (size_t i = 0; i < key->count; i++)
        size += v1_put_component(epk->bytes + size, key->component[i]);
    epk->size = (uint16_t)size;
}

void epk_compute(enum epk_version version, const struct partition_key *key, struct epk *epk)
{
    assert(key->count <= EPK_COMPONENTS_MAX);
    epk->size = 0;
    if (key->count == 0)
        return;
    switch (version) {
    case EPK_V1:
        compute_v1(key, epk);
        break;
    case EPK_V2:
        hash_components(key->component, key->count, epk->bytes);
        epk->size = HASH_BYTES;
        break;
    case EPK_MULTI:
        for (size_t i = 0; i < key->count; i++, epk->size += HASH_BYTES)
            hash_components(&key->component[i], 1, epk->bytes + epk->size);
        break;
    }
}

void epk_cut(enum epk_version version, uint32_t index, uint32_t count, struct epk *cut)
{
    unsigned __int128 greatest = ((unsigned __int128)1 << 126) - 1, at;

    assert(index > 0 && index < count);
    if (version == EPK_V1) {
        cut->size = (uint16_t)v1_put_hash(cut->bytes, UINT32_MAX / count * index);
        return;
    }
    at = greatest / count *
         index; /* as the service does it, of both versions: what is left over is the last part's */
    put_be(cut->bytes, (uint64_t)(at >> 64), 8);
    put_be(cut->bytes + 8, (uint64_t)at, 8);
    cut->size = HASH_BYTES;
}

/* The hash is the number at the front of a V1 EPK. Bytes that the EPK lacks count as zero. */
static uint32_t v1_hash(const struct epk *epk)
{
    const uint64_t above = 0x41f0000000000000; /* 2^32 as a double; greater bits may be no number */
    uint64_t bits = epk->size > 1 ? (uint64_t)epk->bytes[1] << 56 : 0;
    double number;

    if (epk->bytes[0] != TYPE_NUMBER) /* a bound that is above every key, or below */
        return epk->bytes[0] > TYPE_NUMBER ? UINT32_MAX : 0;
    for (int at = 2, shift = 49; at < epk->size && shift >= 0; at++, shift -= 7) {
        bits |= (uint64_t)(epk->bytes[at] >> 1) << shift;
        if (!(epk->bytes[at] & 1))
            break;
    }
    bits ^= 1ull << 63;
    if (bits >> 63) /* below zero */
        return 0;
    if (bits >= above)
        return UINT32_MAX;
    memcpy(&number, &bits, sizeof(number));
    return (uint32_t)number;
}

/* The hash of a level. Bytes that the EPK lacks count as zero, and a bound above every key as the greatest hash. */
static unsigned __int128 level_hash(const struct epk *epk, size_t level)
{
    const unsigned __int128 greatest = ((unsigned __int128)1 << 126) - 1;
    unsigned __int128 hash = 0;

    for (size_t i = 0; i < HASH_BYTES; i++)
        hash = hash << 8 | (level * HASH_BYTES + i < epk->size ? epk->bytes[level * HASH_BYTES + i] : 0);
    return hash > greatest ? greatest : hash;
}

static bool lies_between(const struct epk *min, const struct epk *epk, const struct epk *max)
{
    return slice_compare(epk_slice(min), epk_slice(epk)) < 0 &&
           slice_compare(epk_slice(epk), epk_slice(max)) < 0;
}

/*
 * Cuts at one level: the levels above are those of `min`. At this level the cut lies between the hash of `min` and
 * that of `max` or, when the levels above differ in `max`, the greatest hash.
 */
static bool divide_level(const struct epk *min, const struct epk *max, size_t level, uint32_t index,
                         uint32_t count, struct epk *cut)
{
    static const struct epk above = { .size = 1, .bytes = { 0xff } };
    size_t before = level * HASH_BYTES;
    bool same = max->size >= before && min->size >= before && memcmp(min->bytes, max->bytes, before) == 0;
    unsigned __int128 low = level_hash(min, level),
                      high = same ? level_hash(max, level) : level_hash(&above, 0), at;

    if (high <= low)
        return false;
    at = low + (high - low) / count * index + (high - low) % count * index / count;
    memset(cut->bytes, 0, before);
    memcpy(cut->bytes, min->bytes, min->size < before ? min->size : before);
    put_be(cut->bytes + before, (uint64_t)(at >> 64), 8);
    put_be(cut->bytes + before + 8, (uint64_t)at, 8);
    cut->size = (uint16_t)(before + HASH_BYTES);
    return lies_between(min, cut, max);
}

bool epk_divide(enum epk_version version, size_t levels, const struct epk *min, const struct epk *max,
                uint32_t index, uint32_t count, struct epk *cut)
{
    assert(index > 0 && index < count);
    if (version == EPK_V1) {
        uint64_t low = min->size ? v1_hash(min) : 0, high = v1_hash(max);

        cut->size = (uint16_t)v1_put_hash(cut->bytes, (uint32_t)(low + (high - low) * index / count));
        return high > low && lies_between(min, cut, max);
    }
    for (size_t level = 0; level < (version == EPK_MULTI ? levels : 1); level++)
        if (divide_level(min, max, level, index, count, cut))
            return true;
    return false;
}

double epk_share(enum epk_version version, const struct epk *min, const struct epk *max)
{
    if (version == EPK_V1)
        return ((double)v1_hash(max) - (min->size ? (double)v1_hash(min) : 0)) / UINT32_MAX;
    return ((double)level_hash(max, 0) - (double)level_hash(min, 0)) / 0x1p126;
}

/*
 * The first `bits` of the hash at `at`, without the two top bits, which are clear in every key. When one is set, the
 * EPK is a bound above every key: `above` becomes true, and this level's bits and all that follow are ones.
 */
static uint32_t hash_bits(const struct epk *epk, size_t at, int bits, bool *above)
{
    uint32_t top = 0;

    for (size_t i = 0; i < 3; i++)
        top = top << 8 | (at + i < epk->size ? epk->bytes[at + i] : 0);
    if (top >> 22 != 0)
        *above = true;
    return *above ? (1u << bits) - 1 : top >> (22 - bits);
}

uint32_t epk_number_bits(enum epk_version version, size_t levels, const struct epk *epk)
{
    static const int shares[PARTITION_KEY_PATHS_MAX][PARTITION_KEY_PATHS_MAX] = { { 20 },
                                                                                  { 12, 8 },
                                                                                  { 10, 6, 4 } };
    uint32_t number = 0;
    bool above = false;

    if (epk->size == 0)
        return 0;
    if (version == EPK_V1)
        return v1_hash(epk) >> (32 - NUMBER_EPK_BITS);
    if (version == EPK_V2)
        return hash_bits(epk, 0, NUMBER_EPK_BITS, &above);
    assert(levels >= 1 && levels <= PARTITION_KEY_PATHS_MAX);
    for (size_t i = 0; i < levels; i++)
        number =
            number << shares[levels - 1][i] | hash_bits(epk, i * HASH_BYTES, shares[levels - 1][i], &above);
    return number;
}
