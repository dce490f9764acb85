/*
 * src/json/order_hash.c - the hash by which arrays, and objects, are in order. SDKs that merge the ranges of a container
 * compute it too, and name a value by it: every bit of it is theirs.
 * Each value is hashed with a seed that says where it stands: MurmurHash3, whose seed has 128 bits too.
 */
#include "json/format.h"

enum { HASH_BYTES = 16 };

/* h1 is the low half. */
static const struct hash128 root_seed = { 0xbfc2359eafc0e2b7, 0x8846e00284c4cf1f };
static const struct hash128 index_seed = { 0xfe057204216db999, 0x5b1cc3178bd9c593 };
static const struct hash128 name_seed = { 0xc915dde058492a8a, 0x7c8be2eba72e4634 };

static const struct hash128 kind_seed[] = {
    [JSON_NULL] = { 0x1380f68bb3b0cfe4, 0x156c918bf564ee48 },
    [JSON_FALSE] = { 0xc1be517fe893b40c, 0xe9fc8a4c531cd0dd },
    [JSON_TRUE] = { 0xf86d4abf9a412e74, 0x788488365c8a985d },
    [JSON_NUMBER] = { 0x2400e8b894ce9c2a, 0x790be1eabd7b9481 },
    [JSON_STRING] = { 0x61f53f0a44204cfb, 0x09481be8ef4b56dd },
    [JSON_ARRAY] = { 0xfa573b014c4dc18e, 0xa014512c858eb115 },
    [JSON_OBJECT] = { 0x77b285ac511aef30, 0x3dcf187245822449 },
};

static struct hash128 hash_value(struct json value, struct hash128 seed);

static struct hash128 hash_hash(struct hash128 hash, struct hash128 seed)
{
    uint8_t bytes[HASH_BYTES];

    store_u64(bytes, hash.h1);
    store_u64(bytes + 8, hash.h2);
    return murmur3_128_from(seed, bytes, sizeof(bytes));
}

static struct hash128 hash_string(struct slice string, struct hash128 seed)
{
    return murmur3_128_from(hash_hash(kind_seed[JSON_STRING], seed), string.data, string.size);
}

/*
 * An integer that no double has: the double nearest towards 0, and the ten bits that follow its own. 2^63 has one bit, so
 * that no double is missing.
 */
static double cut_integer(int64_t integer, uint16_t *more)
{
    uint64_t size = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;
    int top = size ? 63 - __builtin_clzll(size) : 0;
    uint64_t kept;

    *more = 0;
    if (top <= 52 || top - __builtin_ctzll(size) <= 52)
        return (double)integer;
    *more = (uint16_t)(((size << (62 - top)) & 0x3ff) << 6);
    kept = size >> (top - 52) << (top - 52);
    return integer < 0 ? -(double)kept : (double)kept;
}

static struct hash128 hash_number(struct json value, struct hash128 seed)
{
    uint8_t bytes[8 + 2];
    uint16_t more = 0;
    double number = json_is_int(value) ? cut_integer(int_at(value.at), &more) : load_double(value.at + 1);
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    store_u64(bytes, bits);
    bytes[8] = (uint8_t)more;
    bytes[9] = (uint8_t)(more >> 8);
    return murmur3_128_from(hash_hash(kind_seed[JSON_NUMBER], seed), bytes, sizeof(bytes));
}

static struct hash128 hash_array(struct json array, struct hash128 seed)
{
    struct hash128 hash = hash_hash(kind_seed[JSON_ARRAY], seed), at = index_seed;

    for (struct json_iter i = json_iter(array); json_next(&i);) {
        hash = hash_hash(hash_value(i.value, at), hash);
        at.h1++;
        at.h2 += at.h1 == 0;
    }
    return hash;
}

/* Members in any order. */
static struct hash128 hash_object(struct json object, struct hash128 seed)
{
    struct hash128 hash = hash_hash(kind_seed[JSON_OBJECT], seed), members = { 0 };

    for (struct json_iter i = json_iter(object); json_next(&i);) {
        struct hash128 member = hash_value(i.value, hash_string(i.name, name_seed));

        members.h1 ^= member.h1;
        members.h2 ^= member.h2;
    }
    return members.h1 || members.h2 ? hash_hash(members, hash) : hash;
}

static struct hash128 hash_value(struct json value, struct hash128 seed)
{
    enum json_kind kind = json_kind(value);

    assert(kind != JSON_UNDEFINED);
    switch (kind) {
    case JSON_NUMBER:
        return hash_number(value, seed);
    case JSON_STRING:
        return hash_string(string_at(value.at), seed);
    case JSON_ARRAY:
        return hash_array(value, seed);
    case JSON_OBJECT:
        return hash_object(value, seed);
    default:
        return hash_hash(kind_seed[kind], seed);
    }
}

struct hash128 json_order_hash(struct json value)
{
    return hash_value(value, root_seed);
}

/* By its sixteen bytes, the low half first, each from its least byte. */
int json_order_hash_compare(struct hash128 a, struct hash128 b)
{
    if (a.h1 != b.h1)
        return __builtin_bswap64(a.h1) < __builtin_bswap64(b.h1) ? -1 : 1;
    if (a.h2 != b.h2)
        return __builtin_bswap64(a.h2) < __builtin_bswap64(b.h2) ? -1 : 1;
    return 0;
}
