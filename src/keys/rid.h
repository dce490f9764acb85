/*
 * src/keys/rid.h - resource ids, as bytes and as the text that clients see.
 *
 *     0-3    database
 *     4-7    container (top bit set) or user (clear); zero for what else lies below a database
 *     8-15   child, little-endian; below a container or a user the top four bits are its mark, below
 *            a database the upper four bytes
 *     16-19  attachment of a document, little-endian
 *
 * An offer's is three bytes of its own. The marks of small resources are in kinds.def.
 *
 * Text is standard base64 with '/' replaced by '-'. Clients order documents by the number in bytes 8-15, so it must be
 * the order of equal rows: it is the document's number by creation (catalog.h, container_item_rid).
 */
#pragma once
#include "base/buf.h"
#include "base/op.h"

/* Marks below a container that belong to no small resource. */
enum rid_kind { RID_DOCUMENT = 0, RID_RANGE = 5 };

/* Stands in kinds.def for a kind without a mark: its rid is as long as a container's. */
enum { RID_UNMARKED = -1 };

/* What kind of resource a rid names. */
enum rid_type {
    RID_TYPE_NONE, /* nothing of ours */
    RID_TYPE_DATABASE,
    RID_TYPE_CONTAINER,
    RID_TYPE_DOCUMENT,
    RID_TYPE_ATTACHMENT,
    RID_TYPE_RANGE,
    RID_TYPE_OFFER,
#define KIND(type, path, name, below, mark, collective, adds, flags, properties) RID_TYPE_##type,
#include "keys/kinds.def"
#undef KIND
};

enum {
    RID_OFFER_BYTES = 3,
    RID_DATABASE_BYTES = 4,
    RID_CONTAINER_BYTES = 8,
    RID_CHILD_BYTES = 16,
    RID_BYTES_MAX = 20,
    RID_TEXT_MAX = 28
};

struct rid {
    uint8_t size;
    uint8_t bytes[RID_BYTES_MAX];
};

struct rid rid_database(uint32_t database);
struct rid rid_container(const struct rid *database, uint32_t container);               /* below 2^31 */
struct rid rid_child(const struct rid *container, enum rid_kind kind, uint64_t number); /* below 2^60 */

/* All of a container's as a number that is not 0: whose turn it is (base/turns.h). */
uint64_t rid_owner(const struct rid *container);

struct rid rid_attachment(const struct rid *document, uint32_t number);

struct rid rid_offer(uint32_t number); /* below 2^24 */

/*
 * The rid of a small resource below its owner. Numbers are above 0. A user's number is below 2^31, that of another
 * resource below 2^32 or 2^60.
 */
struct rid rid_make(enum rid_type type, const struct rid *owner, uint64_t number);

enum rid_type rid_type(const struct rid *rid);

/* The number that tells the resource from its siblings. A later sibling has a higher number. */
uint64_t rid_number(const struct rid *rid);

/* A child's number; false when it is no child of that kind. */
bool rid_child_number(const struct rid *rid, enum rid_kind kind, uint64_t *number);

void rid_print(struct buf *out, const struct rid *rid);
bool rid_parse(struct slice text, struct rid *rid);
bool rid_parse_offer(struct slice text, struct rid *rid); /* which rid_parse() would take for a name */
bool rid_equal(const struct rid *a, const struct rid *b);

static inline struct slice rid_slice(const struct rid *rid)
{
    return slice_make(rid->bytes, rid->size);
}
