/*
 * src/keys/rid.h - resource ids, as bytes and as the text that clients see.
 *
 *     0-3    database
 *     4-7    container (top bit set) or user (clear); zero for a client encryption key
 *     8-15   child, little-endian; below a container the top four bits tell its kind, 0 for a
 *            document; of a client encryption key the number and then its type, four bytes each
 *
 *     16-19  attachment of a document, little-endian
 *
 * An offer's is three bytes of its own.
 *
 * Text is standard base64 with '/' replaced by '-'. Clients order documents by the number
 * in bytes 8-15, so it must be our own order: it is the document's number.
 */
#pragma once
#include "base/buf.h"
#include "base/op.h"

enum rid_kind { RID_DOCUMENT = 0, RID_RANGE = 5, RID_UDF = 6, RID_TRIGGER = 7, RID_PROCEDURE = 8 };

/* What a rid is one of. */
enum rid_type {
    RID_TYPE_NONE, /* nothing of ours */
    RID_TYPE_DATABASE,
    RID_TYPE_CONTAINER,
    RID_TYPE_USER,
    RID_TYPE_PERMISSION,
    RID_TYPE_CLIENT_KEY,
    RID_TYPE_DOCUMENT,
    RID_TYPE_ATTACHMENT,
    RID_TYPE_RANGE,
    RID_TYPE_UDF,
    RID_TYPE_TRIGGER,
    RID_TYPE_PROCEDURE,
    RID_TYPE_OFFER,
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

struct rid rid_attachment(const struct rid *document, uint32_t number);

struct rid rid_user(const struct rid *database, uint32_t user); /* above 0, below 2^31 */
struct rid rid_permission(const struct rid *user, uint64_t number);
struct rid rid_client_key(const struct rid *database, uint32_t number); /* above 0 */
struct rid rid_offer(uint32_t number);                                  /* below 2^24 */

enum rid_type rid_type(const struct rid *rid);

/* What tells it from its siblings, and rises from one to the next. */
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
