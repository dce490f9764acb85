/* src/json/seeded_hash.c - hashes that stand for their values, because nobody outside knows their seed. */
#include "json/json.h"

static struct hash128 hash_pair(struct hash_seed seed, struct hash128 a, struct hash128 b)
{
    struct hash128 pair[2] = { a, b };

    return siphash_128(seed, pair, sizeof(pair));
}

static struct hash128 hash_array(struct hash_seed seed, struct json array)
{
    struct hash128 hash = { JSON_ARRAY, json_count(array) };

    for (struct json_iter i = json_iter(array); json_next(&i);)
        hash = hash_pair(seed, hash, json_hash_seeded(seed, i.value));
    return hash;
}

/* Members are added up, so that their order does not matter. */
static struct hash128 hash_object(struct hash_seed seed, struct json object)
{
    struct hash128 head = { JSON_OBJECT, json_count(object) }, sum = { 0 };

    for (struct json_iter i = json_iter(object); json_next(&i);) {
        struct hash128 name = siphash_128(seed, i.name.data, i.name.size);
        struct hash128 member = hash_pair(seed, name, json_hash_seeded(seed, i.value));

        sum.h1 += member.h1;
        sum.h2 += member.h2;
    }
    return hash_pair(seed, head, sum);
}

struct hash128 json_hash_seeded(struct hash_seed seed, struct json value)
{
    struct slice bytes = json_bytes(value);

    switch (json_kind(value)) {
    case JSON_ARRAY:
        return hash_array(seed, value);
    case JSON_OBJECT:
        return hash_object(seed, value);
    default:
        return siphash_128(seed, bytes.data, bytes.size);
    }
}
