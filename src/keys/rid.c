/* src/keys/rid.c - making, printing and reading resource ids. */
#include <assert.h>

#include "base/encode.h"
#include "keys/bytes.h"
#include "keys/rid.h"

enum { CONTAINER_BIT = 0x80, KIND_SHIFT = 60, USER_BYTES = RID_CONTAINER_BYTES };

/* A client encryption key's type, where a permission has the upper half of its number. */
enum { TYPE_SHIFT = 32, TYPE_CLIENT_KEY = 2 };

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

struct rid rid_attachment(const struct rid *document, uint32_t number)
{
    struct rid rid = *document;

    assert(document->size == RID_CHILD_BYTES);
    put_le(rid.bytes + RID_CHILD_BYTES, number, 4);
    rid.size = RID_BYTES_MAX;
    return rid;
}

struct rid rid_user(const struct rid *database, uint32_t user)
{
    struct rid rid = *database;

    assert(database->size == RID_DATABASE_BYTES);
    assert(user != 0 && user >> 31 == 0);
    put_be(rid.bytes + RID_DATABASE_BYTES, user, 4);
    rid.size = USER_BYTES;
    return rid;
}

struct rid rid_permission(const struct rid *user, uint64_t number)
{
    struct rid rid = *user;

    assert(user->size == USER_BYTES);
    put_le(rid.bytes + USER_BYTES, number, 8);
    rid.size = RID_CHILD_BYTES;
    return rid;
}

struct rid rid_client_key(const struct rid *database, uint32_t number)
{
    struct rid rid = *database;

    assert(database->size == RID_DATABASE_BYTES);
    assert(number != 0);
    put_be(rid.bytes + RID_DATABASE_BYTES, 0, 4);
    put_le(rid.bytes + USER_BYTES, (uint64_t)TYPE_CLIENT_KEY << TYPE_SHIFT | number, 8);
    rid.size = RID_CHILD_BYTES;
    return rid;
}

struct rid rid_offer(uint32_t number)
{
    struct rid rid = { .size = RID_OFFER_BYTES };

    assert(number >> 24 == 0);
    put_be(rid.bytes, number, RID_OFFER_BYTES);
    return rid;
}

static enum rid_type type_below_container(const struct rid *rid)
{
    switch ((enum rid_kind)(rid->bytes[RID_CHILD_BYTES - 1] >> 4)) {
    case RID_DOCUMENT:
        return RID_TYPE_DOCUMENT;
    case RID_RANGE:
        return RID_TYPE_RANGE;
    case RID_UDF:
        return RID_TYPE_UDF;
    case RID_TRIGGER:
        return RID_TYPE_TRIGGER;
    case RID_PROCEDURE:
        return RID_TYPE_PROCEDURE;
    }
    return RID_TYPE_NONE;
}

enum rid_type rid_type(const struct rid *rid)
{
    bool in_container = rid->bytes[RID_DATABASE_BYTES] & CONTAINER_BIT;
    bool in_user = !in_container && get_be(rid->bytes + RID_DATABASE_BYTES, 4) != 0;

    switch (rid->size) {
    case RID_OFFER_BYTES:
        return RID_TYPE_OFFER;
    case RID_DATABASE_BYTES:
        return RID_TYPE_DATABASE;
    case RID_CONTAINER_BYTES:
        return in_container ? RID_TYPE_CONTAINER : in_user ? RID_TYPE_USER : RID_TYPE_NONE;
    case RID_CHILD_BYTES:
        if (in_container || in_user)
            return in_container ? type_below_container(rid) : RID_TYPE_PERMISSION;
        return get_le(rid->bytes + USER_BYTES, 8) >> TYPE_SHIFT == TYPE_CLIENT_KEY ? RID_TYPE_CLIENT_KEY
                                                                                   : RID_TYPE_NONE;
    case RID_BYTES_MAX:
        return in_container && type_below_container(rid) == RID_TYPE_DOCUMENT ? RID_TYPE_ATTACHMENT
                                                                              : RID_TYPE_NONE;
    default:
        return RID_TYPE_NONE;
    }
}

uint64_t rid_number(const struct rid *rid)
{
    uint64_t last = get_le(rid->bytes + RID_CONTAINER_BYTES, 8);

    switch (rid_type(rid)) {
    case RID_TYPE_NONE:
        return 0;
    case RID_TYPE_OFFER:
        return get_be(rid->bytes, RID_OFFER_BYTES);
    case RID_TYPE_DATABASE:
        return get_be(rid->bytes, RID_DATABASE_BYTES);
    case RID_TYPE_CONTAINER:
    case RID_TYPE_USER:
        return get_be(rid->bytes + RID_DATABASE_BYTES, 4) & INT32_MAX;
    case RID_TYPE_PERMISSION:
        return last;
    case RID_TYPE_CLIENT_KEY:
        return (uint32_t)last;
    case RID_TYPE_ATTACHMENT:
        return get_le(rid->bytes + RID_CHILD_BYTES, 4);
    default:
        return last & ((1ull << KIND_SHIFT) - 1);
    }
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

bool rid_parse_offer(struct slice text, struct rid *rid)
{
    char base64[4];
    size_t size;

    if (text.size != sizeof(base64) || memchr(text.data, '/', text.size))
        return false;
    memcpy(base64, text.data, sizeof(base64));
    replace(base64, sizeof(base64), '-', '/');
    *rid = (struct rid){ .size = RID_OFFER_BYTES };
    return base64_decode(slice_make(base64, sizeof(base64)), rid->bytes, RID_OFFER_BYTES, &size) &&
           size == RID_OFFER_BYTES;
}

bool rid_equal(const struct rid *a, const struct rid *b)
{
    return slice_equal(rid_slice(a), rid_slice(b));
}
