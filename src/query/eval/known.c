/* src/query/eval/known.c - the value that was hashed last of those with one quick sum, and its hash. */
#include <assert.h>

#include "query/eval/known.h"

enum { KNOWN_COUNT = 256, KNOWN_BYTES = 76 };

struct known_hash {
    struct hash128 hash;
    uint8_t kind; /* JSON_UNDEFINED where there is none */
    bool is_int;
    uint16_t size;
    char bytes[KNOWN_BYTES];
};

/* What tells the value from others of its kind. */
static struct slice bytes_of(const struct value *value)
{
    switch (value->kind) {
    case JSON_NUMBER:
        return value->is_int ? slice_make(&value->integer, sizeof(value->integer))
                             : slice_make(&value->number, sizeof(value->number));
    case JSON_STRING:
        return value->string;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_bytes(value->json);
    default:
        return (struct slice){ 0 };
    }
}

static bool has_table(struct known_hashes *known)
{
    if (!known->table) {
        known->table = arena_try_alloc(known->memory, KNOWN_COUNT * sizeof(*known->table));
        if (known->table)
            memset(known->table, 0, KNOWN_COUNT * sizeof(*known->table));
    }
    return known->table;
}

static bool is_of(const struct known_hash *entry, const struct value *value, struct slice bytes)
{
    return entry->kind == value->kind && entry->is_int == value->is_int &&
           slice_equal(slice_make(entry->bytes, entry->size), bytes);
}

struct hash128 known_hash(struct op *op, struct known_hashes *known, struct value value)
{
    struct slice bytes = bytes_of(&value);
    struct known_hash *entry;

    assert(!value.is_row);
    if (value.kind == JSON_UNDEFINED || bytes.size > KNOWN_BYTES || !has_table(known))
        return value_hash(op, value);
    entry = &known->table[crc32c(value.kind, bytes.data, bytes.size) % KNOWN_COUNT];
    if (is_of(entry, &value, bytes))
        return entry->hash;
    *entry = (struct known_hash){ .hash = value_hash(op, value),
                                  .kind = value.kind,
                                  .is_int = value.is_int,
                                  .size = (uint16_t)bytes.size };
    if (bytes.size)
        memcpy(entry->bytes, bytes.data, bytes.size);
    return entry->hash;
}
