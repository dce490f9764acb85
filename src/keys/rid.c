/* src/keys/rid.c - making, printing and reading resource ids. */
#include <assert.h>

#include "base/encode.h"
#include "keys/bytes.h"
#include "keys/rid.h"

enum { CONTAINER_BIT = 0x80, KIND_SHIFT = 60 };

struct rid rid_database(uint32_t database)
{
    struct rid rid = { .size = RID_DATABASE_BYTES };

    assert(database != 0); /* clients take zero for "no database" */
    put_be(rid.bytes, database, 4);
    return rid;
}

struct rid rid_container(const struct rid *database, uint32_t container)
{
    struct rid rid = *database;

    assert(database->size == RID_DATABASE_BYTES);
    assert(container >> 31 == 0);
    put_be(rid.bytes + RID_DATABASE_BYTES, container | 1u << 31, 4);
    rid.size = RID_CONTAINER_BYTES;
    return rid;
}

struct rid rid_child(const struct rid *container, enum rid_kind kind, uint64_t number)
{
    struct rid rid = *container;

    assert(container->size == RID_CONTAINER_BYTES);
    assert(number >> KIND_SHIFT == 0);
    put_le(rid.bytes + RID_CONTAINER_BYTES, (uint64_t)kind << KIND_SHIFT | number, 8);
    rid.size = RID_CHILD_BYTES;
    return rid;
}

bool rid_child_number(const struct rid *rid, enum rid_kind kind, uint64_t *number)
{
    uint64_t child = get_le(rid->bytes + RID_CONTAINER_BYTES, 8);

    if (rid->size != RID_CHILD_BYTES || !(rid->bytes[RID_DATABASE_BYTES] & CONTAINER_BIT) ||
        child >> KIND_SHIFT != (uint64_t)kind)
        return false;
    *number = child & ((1ull << KIND_SHIFT) - 1);
    return true;
}

/* Puts one character in the place of another. */
static void replace(char *text, size_t size, char from, char to)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == from)
            text[i] = to;
}

void rid_print(struct buf *out, const struct rid *rid)
{
    size_t start = out->size;

    base64_encode(out, rid_slice(rid));
    replace(out->data + start, out->size - start, '/', '-');
}

bool rid_parse(struct slice text, struct rid *rid)
{
    char base64[RID_TEXT_MAX];
    size_t size;

    if (text.size > sizeof(base64) || text.size % 4 != 0 || text.size == 0)
        return false; /* most names end here */
    if (text.data[text.size - 1] != '=' || memchr(text.data, '/', text.size))
        return false; /* no size of a rid is a multiple of three, so all are padded */
    memcpy(base64, text.data, text.size);
    replace(base64, text.size, '-', '/');
    *rid = (struct rid){ 0 };
    if (!base64_decode(slice_make(base64, text.size), rid->bytes, sizeof(rid->bytes), &size))
        return false;
    rid->size = (uint8_t)size;
    return size == RID_DATABASE_BYTES || size == RID_CONTAINER_BYTES || size == RID_CHILD_BYTES ||
           size == RID_BYTES_MAX;
}

bool rid_equal(const struct rid *a, const struct rid *b)
{
    return slice_equal(rid_slice(a), rid_slice(b));
}
