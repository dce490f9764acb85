/* src/keys/rid.c - making, printing and reading resource ids. */
#include <assert.h>

#include "base/encode.h"
#include "keys/bytes.h"
#include "keys/kind.h"
#include "keys/rid.h"

enum { CONTAINER_BIT = 0x80, MARK_SHIFT = 60, MARK_SHIFT_IN_DATABASE = 32 };

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

uint64_t rid_owner(const struct rid *container)
{
    uint64_t number;

    assert(container->size == RID_CONTAINER_BYTES);
    memcpy(&number, container->bytes, sizeof(number));
    return number;
}

struct rid rid_child(const struct rid *container, enum rid_kind kind, uint64_t number)
{
    struct rid rid = *container;

    assert(container->size == RID_CONTAINER_BYTES);
    assert(number >> MARK_SHIFT == 0);
    put_le(rid.bytes + RID_CONTAINER_BYTES, (uint64_t)kind << MARK_SHIFT | number, 8);
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

struct rid rid_offer(uint32_t number)
{
    struct rid rid = { .size = RID_OFFER_BYTES };

    assert(number >> 24 == 0);
    put_be(rid.bytes, number, RID_OFFER_BYTES);
    return rid;
}

/* What a rid of a container's length or longer is, or lies below: a container, a user, or the database itself. */
static enum rid_type owner_of(const struct rid *rid)
{
    if (rid->bytes[RID_DATABASE_BYTES] & CONTAINER_BIT)
        return RID_TYPE_CONTAINER;
    return get_be(rid->bytes + RID_DATABASE_BYTES, 4) ? RID_TYPE_USER : RID_TYPE_DATABASE;
}

/* In bytes 8-15 the number takes the bits below this one, and the mark those above. */
static unsigned mark_shift(enum rid_type owner)
{
    return owner == RID_TYPE_DATABASE ? MARK_SHIFT_IN_DATABASE : MARK_SHIFT;
}

struct rid rid_make(enum rid_type type, const struct rid *owner, uint64_t number)
{
    const struct kind *kind = kind_of_type(type);
    struct rid rid = *owner;

    assert(kind);
    assert(rid_type(owner) == kind->below);
    assert(number != 0);
    if (kind->mark == RID_UNMARKED) {
        assert(number >> 31 == 0);
        put_be(rid.bytes + RID_DATABASE_BYTES, number, 4);
        rid.size = RID_CONTAINER_BYTES;
        return rid;
    }
    assert(number >> mark_shift(kind->below) == 0);
    if (kind->below == RID_TYPE_DATABASE)
        put_be(rid.bytes + RID_DATABASE_BYTES, 0, 4);
    put_le(rid.bytes + RID_CONTAINER_BYTES, (uint64_t)kind->mark << mark_shift(kind->below) | number, 8);
    rid.size = RID_CHILD_BYTES;
    return rid;
}

static enum rid_type type_of_child(const struct rid *rid)
{
    enum rid_type owner = owner_of(rid);
    int64_t mark = (int64_t)(get_le(rid->bytes + RID_CONTAINER_BYTES, 8) >> mark_shift(owner));
    const struct kind *kind = kind_of_mark(owner, mark);

    if (owner == RID_TYPE_CONTAINER && mark == RID_DOCUMENT)
        return RID_TYPE_DOCUMENT;
    if (owner == RID_TYPE_CONTAINER && mark == RID_RANGE)
        return RID_TYPE_RANGE;
    return kind ? kind->type : RID_TYPE_NONE;
}

enum rid_type rid_type(const struct rid *rid)
{
    switch (rid->size) {
    case RID_OFFER_BYTES:
        return RID_TYPE_OFFER;
    case RID_DATABASE_BYTES:
        return RID_TYPE_DATABASE;
    case RID_CONTAINER_BYTES:
        return owner_of(rid) == RID_TYPE_DATABASE ? RID_TYPE_NONE : owner_of(rid);
    case RID_CHILD_BYTES:
        return type_of_child(rid);
    case RID_BYTES_MAX:
        return type_of_child(rid) == RID_TYPE_DOCUMENT ? RID_TYPE_ATTACHMENT : RID_TYPE_NONE;
    default:
        return RID_TYPE_NONE;
    }
}

uint64_t rid_number(const struct rid *rid)
{
    if (rid_type(rid) == RID_TYPE_NONE)
        return 0;
    switch (rid->size) {
    case RID_OFFER_BYTES:
        return get_be(rid->bytes, RID_OFFER_BYTES);
    case RID_DATABASE_BYTES:
        return get_be(rid->bytes, RID_DATABASE_BYTES);
    case RID_CONTAINER_BYTES:
        return get_be(rid->bytes + RID_DATABASE_BYTES, 4) & INT32_MAX;
    case RID_BYTES_MAX:
        return get_le(rid->bytes + RID_CHILD_BYTES, 4);
    default:
        return get_le(rid->bytes + RID_CONTAINER_BYTES, 8) & ((1ull << mark_shift(owner_of(rid))) - 1);
    }
}

bool rid_child_number(const struct rid *rid, enum rid_kind kind, uint64_t *number)
{
    uint64_t child = get_le(rid->bytes + RID_CONTAINER_BYTES, 8);

    if (rid->size != RID_CHILD_BYTES || !(rid->bytes[RID_DATABASE_BYTES] & CONTAINER_BIT) ||
        child >> MARK_SHIFT != (uint64_t)kind)
        return false;
    *number = child & ((1ull << MARK_SHIFT) - 1);
    return true;
}

/* Replaces one character by another, everywhere in the text. */
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
