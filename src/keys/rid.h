/*
 * src/keys/rid.h - resource ids, as bytes and as the text that clients see.
 *
 *     0-3    database
 *     4-7    container (top bit set) or user (clear)
 *     8-15   child, little-endian; the top four bits tell its kind, 0 for a document
 *
 * Text is standard base64 with '/' replaced by '-'. Clients order documents by the number
 * in bytes 8-15, so it must be our own order: it is the document's number.
 */
#pragma once
#include "base/buf.h"
#include "base/op.h"

enum rid_kind { RID_DOCUMENT = 0, RID_RANGE = 5, RID_UDF = 6, RID_TRIGGER = 7, RID_PROCEDURE = 8 };

enum {
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

/* A child's number; false when it is no child of that kind. */
bool rid_child_number(const struct rid *rid, enum rid_kind kind, uint64_t *number);

void rid_print(struct buf *out, const struct rid *rid);
bool rid_parse(struct slice text, struct rid *rid);
bool rid_equal(const struct rid *a, const struct rid *b);

static inline struct slice rid_slice(const struct rid *rid)
{
    return slice_make(rid->bytes, rid->size);
}
