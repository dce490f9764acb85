/*
 * src/index/term.c - ids of paths, and values as the bytes of a term. The header shows the layout; docs/keys.md too.
 */
#include "base/hash.h"
#include "index/term.h"
#include "keys/bytes.h"

/* Steps differ in their lowest bit: it is clear for an element, and set for a member. */
enum { STEP_ELEMENT = 0, STEP_MEMBER = 1 };

/*
 * This function is part of the format: every later version looks for the ids that this one wrote. Each operation on
 * the sum can be undone, so different steps under one parent have different ids.
 */
static path_id mix(path_id parent, uint64_t step)
{
    uint64_t id = parent * 0x9e3779b97f4a7c15u + step;

    id = (id ^ id >> 33) * 0xff51afd7ed558ccdu;
    id = (id ^ id >> 33) * 0xc4ceb9fe1a85ec53u;
    return id ^ id >> 33;
}

path_id path_root(enum term_kind kind)
{
    return mix(0, kind);
}

path_id path_member(struct hash_seed seed, path_id parent, struct slice name)
{
    struct hash128 hash =
        hash_seed_is_none(seed) ? murmur3_128(name.data, name.size) : siphash_128(seed, name.data, name.size);

    return mix(parent, hash.h1 | STEP_MEMBER);
}

path_id path_element(path_id parent)
{
    return mix(parent, STEP_ELEMENT);
}

path_id path_join(path_id so_far, path_id part, bool descending)
{
    return mix(mix(so_far, part), descending);
}

/* A cell of one map means nothing on another, so each map has ids of its own. */
path_id path_spatial(path_id range, const double *plane)
{
    path_id id = path_join(path_root(TERM_SPATIAL), range, plane != NULL);

    for (size_t i = 0; plane && i < 4; i++) {
        uint64_t bits;

        memcpy(&bits, &plane[i], sizeof(bits));
        id = mix(id, bits);
    }
    return id;
}

/* Words of one language mean nothing in another. */
path_id path_text(path_id range, uint32_t rules, uint32_t language)
{
    return mix(path_join(path_root(TERM_TEXT), range, false), (uint64_t)rules << 8 | language);
}

path_id path_forms(path_id range, uint32_t rules, uint32_t language)
{
    return mix(path_text(range, rules, language), 1);
}

static void turn_over(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)~bytes[i];
}

size_t term_value_size(struct slice bytes, bool descending)
{
    uint8_t turned[ORDERED_BYTES_MAX];
    size_t size = bytes.size < sizeof(turned) ? bytes.size : sizeof(turned);

    if (!descending || size == 0)
        return ordered_size(bytes);
    memcpy(turned, bytes.data, size);
    turn_over(turned, size);
    return ordered_size(slice_make(turned, size));
}

size_t term_put_value(uint8_t *out, struct json value, bool descending)
{
    size_t size = ordered_encode(value, out);

    if (descending)
        turn_over(out, size);
    return size;
}

size_t term_put_hashed(uint8_t *out, enum json_kind kind, struct hash128 hash, bool descending)
{
    size_t size = ordered_encode_hashed(kind, hash, out);

    if (descending)
        turn_over(out, size);
    return size;
}

size_t term_put_time(uint8_t *out, int64_t ts_ms, bool descending)
{
    if (ts_ms != TERM_TIME_UNKNOWN) {
        ordered_put_time(out, ts_ms, descending);
        return TERM_TIME_BYTES;
    }
    memset(out, 0xff, TERM_TIME_BYTES); /* the double is above all others */
    out[0] = JSON_NUMBER + 1;
    out[TERM_TIME_BYTES - 1] = 0;
    if (descending)
        turn_over(out, TERM_TIME_BYTES);
    return TERM_TIME_BYTES;
}

void term_put_path(uint8_t out[TERM_PATH_BYTES], path_id path)
{
    put_be(out, path, TERM_PATH_BYTES);
}
