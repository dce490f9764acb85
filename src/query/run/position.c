/* src/query/run/position.c - positions as bytes. */
#include "query/run/position.h"

enum { FRONT_BYTES = 1 + 8 + 4 + 8 + 8 + 16, CUT = 0x80, DOUBLE = 0x40 };

static void put(struct buf *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_byte(out, (char)(number >> 8 * i));
}

static bool get(struct slice *in, uint64_t *number, int bytes)
{
    if (in->size < (size_t)bytes)
        return false;
    *number = 0;
    for (int i = 0; i < bytes; i++)
        *number |= (uint64_t)(uint8_t)in->data[i] << 8 * i;
    *in = slice_after(*in, (size_t)bytes);
    return true;
}

/* Containers are told apart, and ordered, by their hashes. */
void position_put_hash(struct buf *out, struct hash128 hash)
{
    put(out, hash.h1, 8);
    put(out, hash.h2, 8);
}

static void put_key(struct buf *out, struct value key, size_t room)
{
    uint64_t bits;
    size_t size;

    switch (key.kind) {
    case JSON_NUMBER:
        memcpy(&bits, key.is_int ? (const void *)&key.integer : (const void *)&key.number, sizeof(bits));
        put(out, key.kind | (key.is_int ? 0 : DOUBLE), 1);
        put(out, bits, 8);
        break;
    case JSON_STRING:
        size = key.string.size < room - 3 ? key.string.size : room - 3;
        put(out, key.kind | (size < key.string.size ? CUT : 0), 1);
        put(out, size, 2);
        buf_append(out, key.string.data, size);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        put(out, key.kind, 1);
        position_put_hash(out, json_order_hash(key.json));
        break;
    default:
        put(out, key.kind, 1);
    }
}

struct slice position_print(struct arena *arena, const struct position *position)
{
    size_t room = position->key_count ? (QUERY_POSITION_BYTES_MAX - FRONT_BYTES) / position->key_count : 0;
    struct buf out;

    buf_init(&out, arena);
    put(&out, position->order, 1);
    put(&out, position->number, 8);
    put(&out, position->index, 4);
    put(&out, position->skip, 8);
    put(&out, position->take, 8);
    position_put_hash(&out, position->hash);
    for (size_t i = 0; i < position->key_count; i++)
        put_key(&out, position->key[i], room);
    return buf_as_slice(&out);
}

static bool get_number(struct slice *in, bool is_double, struct value *key)
{
    uint64_t bits;
    double number;

    if (!get(in, &bits, 8))
        return false;
    memcpy(&number, &bits, sizeof(number));
    *key = is_double ? value_double(number) : value_int((int64_t)bits);
    return true;
}

/* A hash stands for the array or object: it is kept as its bytes. */
static bool get_bytes(struct slice *in, size_t size, struct value *key)
{
    if (in->size < size)
        return false;
    key->string = slice_make(in->data, size);
    *in = slice_after(*in, size);
    return true;
}

static bool get_key(struct slice *in, struct position *position)
{
    struct value *key = &position->key[position->key_count];
    uint64_t tag, size;

    if (position->key_count == POSITION_KEYS_MAX || !get(in, &tag, 1))
        return false;
    *key = (struct value){ .kind = tag & 0x0f };
    position->key_count++;
    if ((tag & CUT && key->kind != JSON_STRING) || (tag & DOUBLE && key->kind != JSON_NUMBER) || tag & 0x30)
        return false;
    position->cut[position->key_count - 1] = tag & CUT;
    position->any_cut |= (tag & CUT) != 0;
    switch (key->kind) {
    case JSON_NUMBER:
        return get_number(in, tag & DOUBLE, key);
    case JSON_STRING:
        return get(in, &size, 2) && get_bytes(in, size, key);
    case JSON_ARRAY:
    case JSON_OBJECT:
        return get_bytes(in, POSITION_HASH_BYTES, key);
    default:
        return key->kind < JSON_NUMBER;
    }
}

bool position_parse(struct slice bytes, struct position *position)
{
    uint64_t order, index;

    *position = (struct position){ 0 };
    if (!get(&bytes, &order, 1) || !get(&bytes, &position->number, 8) || !get(&bytes, &index, 4) ||
        !get(&bytes, &position->skip, 8) || !get(&bytes, &position->take, 8) ||
        !get(&bytes, &position->hash.h1, 8) || !get(&bytes, &position->hash.h2, 8))
        return false;
    position->order = (enum row_order)order;
    position->index = (uint32_t)index;
    if (order < ORDER_NUMBER || order > ORDER_RANKED || (order != ORDER_SORTED && bytes.size))
        return false;
    while (bytes.size)
        if (!get_key(&bytes, position))
            return false;
    return true;
}

static struct hash128 hash_in(struct slice bytes)
{
    struct hash128 hash = { 0 };

    get(&bytes, &hash.h1, 8);
    get(&bytes, &hash.h2, 8);
    return hash;
}

int position_compare_key(const struct position *position, size_t i, struct value key)
{
    struct value at = position->key[i];

    if (key.kind != at.kind)
        return key.kind < at.kind ? -1 : 1;
    if (key.kind >= JSON_ARRAY)
        return json_order_hash_compare(json_order_hash(key.json), hash_in(at.string));
    if (position->cut[i] && key.string.size > at.string.size)
        key.string.size = at.string.size; /* the position's is cut: as far as it goes they must be equal */
    return value_compare(key, at);
}

int position_compare_keys(const struct position *a, const struct position *b, size_t i)
{
    struct value key = a->key[i], other = b->key[i];

    if (key.kind == other.kind && key.kind >= JSON_ARRAY)
        return json_order_hash_compare(hash_in(key.string), hash_in(other.string));
    return value_compare(key, other);
}
