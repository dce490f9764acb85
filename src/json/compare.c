/* src/json/compare.c - equality, order and hash of values. */
#include <stdlib.h>

#include "base/allocator.h"
#include "json/format.h"

enum { HASH_BYTES = 16, LOOKUP_MAX = 64 };

static int compare_ints(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_doubles(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Exact: neither side is rounded to the other's type. */
static int compare_int_double(int64_t a, double b)
{
    double whole = trunc(b);

    if (b >= 0x1p63)
        return -1;
    if (b < -0x1p63)
        return 1;
    if (a != (int64_t)whole)
        return compare_ints(a, (int64_t)whole);
    return compare_doubles(whole, b);
}

static int compare_numbers(struct json a, struct json b)
{
    if (json_is_int(a) && json_is_int(b))
        return compare_ints(int_at(a.at), int_at(b.at));
    if (json_is_int(a))
        return compare_int_double(int_at(a.at), load_double(b.at + 1));
    if (json_is_int(b))
        return -compare_int_double(int_at(b.at), load_double(a.at + 1));
    return compare_doubles(load_double(a.at + 1), load_double(b.at + 1));
}

int json_compare(struct json a, struct json b)
{
    enum json_kind kind = json_kind(a), other = json_kind(b);

    if (kind != other)
        return kind < other ? -1 : 1;
    switch (kind) {
    case JSON_NUMBER:
        return compare_numbers(a, b);
    case JSON_STRING:
        return slice_compare(string_at(a.at), string_at(b.at));
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_order_hash_compare(json_order_hash(a), json_order_hash(b));
    default:
        return 0;
    }
}

static bool equal_arrays(struct json a, struct json b)
{
    struct json_iter i = json_iter(a), j = json_iter(b);

    while (json_next(&i) && json_next(&j))
        if (!json_equal(i.value, j.value))
            return false;
    return true;
}

static bool same_hash(struct hash128 a, struct hash128 b)
{
    return a.h1 == b.h1 && a.h2 == b.h2;
}

/* ---- many members, in another order ---- */

struct member {
    struct slice name;
    struct json value;
};

static int by_name(const void *a, const void *b)
{
    return slice_compare(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void sort_members(struct json object, struct member *member)
{
    size_t count = 0;

    for (struct json_iter i = json_iter(object); json_next(&i);)
        member[count++] = (struct member){ i.name, i.value };
    qsort(member, count, sizeof(*member), by_name);
}

static bool equal_sorted(const struct member *a, const struct member *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!slice_equal(a[i].name, b[i].name) || !json_equal(a[i].value, b[i].value))
            return false;
    return true;
}

/* Slow, and needs no memory. */
static bool equal_looked_up(struct json a, struct json b)
{
    for (struct json_iter i = json_iter(a); json_next(&i);)
        if (!json_equal(i.value, json_member(b, i.name)))
            return false;
    return true;
}

/* Different hashes tell that they differ. Equal ones tell nothing: somebody may have made them equal. */
static bool equal_many(struct json a, struct json b)
{
    size_t count = json_count(a);
    struct member *member;
    bool same;

    if (!same_hash(json_hash(a), json_hash(b)))
        return false;
    member = allocator_get(2 * count * sizeof(*member));
    if (!member)
        return equal_looked_up(a, b);
    sort_members(a, member);
    sort_members(b, member + count);
    same = equal_sorted(member, member + count, count);
    allocator_free(member);
    return same;
}

/*
 * Two equal objects mostly have their members in the same order. Where they do not, each member is looked up, or, with
 * so many members that this would take long, the members of both are sorted.
 */
static bool equal_objects(struct json a, struct json b)
{
    struct json_iter i = json_iter(a), j = json_iter(b);

    while (json_next(&i) && json_next(&j)) {
        struct json other = j.value;

        if (!slice_equal(i.name, j.name)) {
            if (json_count(a) > LOOKUP_MAX)
                return equal_many(a, b);
            other = json_member(b, i.name);
        }
        if (!json_equal(i.value, other))
            return false;
    }
    return true;
}

/* Equal bytes mean equal values; of scalars also the other way round, because a scalar has one encoding. */
bool json_equal(struct json a, struct json b)
{
    enum json_kind kind = json_kind(a);

    if (kind != json_kind(b))
        return false;
    if (slice_equal(json_bytes(a), json_bytes(b)))
        return true;
    if (kind < JSON_ARRAY || json_count(a) != json_count(b))
        return false;
    return kind == JSON_ARRAY ? equal_arrays(a, b) : equal_objects(a, b);
}

/* The hash is written out as bytes, so that it is the same on every machine. */
static struct hash128 hash_pair(struct hash128 a, struct hash128 b)
{
    uint8_t bytes[2 * HASH_BYTES];

    store_u64(bytes, a.h1);
    store_u64(bytes + 8, a.h2);
    store_u64(bytes + 16, b.h1);
    store_u64(bytes + 24, b.h2);
    return murmur3_128(bytes, sizeof(bytes));
}

/* An array begins with its head and adds to that; an object adds to 0, so that the order of members does not matter. */
struct json_hasher json_hasher(struct json container)
{
    bool is_object = json_kind(container) == JSON_OBJECT;
    struct hash128 head = { is_object ? JSON_OBJECT : JSON_ARRAY, json_count(container) };

    return (struct json_hasher){ is_object ? (struct hash128){ 0 } : head, head, is_object };
}

void json_hasher_element(struct json_hasher *hasher, struct hash128 value)
{
    hasher->so_far = hash_pair(hasher->so_far, value);
}

void json_hasher_member(struct json_hasher *hasher, struct hash128 name, struct hash128 value)
{
    struct hash128 member = hash_pair(name, value);

    hasher->so_far.h1 += member.h1;
    hasher->so_far.h2 += member.h2;
}

struct hash128 json_hasher_end(const struct json_hasher *hasher)
{
    return hasher->is_object ? hash_pair(hasher->head, hasher->so_far) : hasher->so_far;
}

static struct hash128 hash_container(struct json container)
{
    struct json_hasher hasher = json_hasher(container);

    for (struct json_iter i = json_iter(container); json_next(&i);) {
        if (hasher.is_object)
            json_hasher_member(&hasher, murmur3_128(i.name.data, i.name.size), json_hash(i.value));
        else
            json_hasher_element(&hasher, json_hash(i.value));
    }
    return json_hasher_end(&hasher);
}

struct hash128 json_hash(struct json value)
{
    struct slice bytes = json_bytes(value);

    switch (json_kind(value)) {
    case JSON_ARRAY:
    case JSON_OBJECT:
        return hash_container(value);
    default:
        return murmur3_128(bytes.data, bytes.size);
    }
}
