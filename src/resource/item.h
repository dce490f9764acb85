/* src/resource/item.h - what the operations on items share: bodies in, items out, addresses. */
#pragma once
#include "keys/record.h"
#include "resource/call.h"

/* The body as a document: within limits, with a good id, without system properties of the client's. */
enum status item_read_body(struct op *op, const struct call *call, struct json *document);

/* The same for an object that came as part of a body. */
enum status item_check_document(struct op *op, struct json *document);

/* How many bytes of text a document has; more than it has, but not more than `enough`, where that is sooner told. */
size_t item_text_bytes(struct op *op, struct json document, size_t enough);

/* ST_TOO_LARGE when no item may be so large. */
enum status item_check_size(struct op *op, struct json document);

/* Whether a top-level member of that name is ours to set. */
bool item_is_system_name(struct slice name);

/* The id that the path means: itself, or that of the document whose rid it is. */
enum status item_address(struct op *op, const struct call *call, const struct epk *epk, struct slice *id);

/* dbs/<rid>/colls/<rid>/docs/<rid>/: where an item of the container is, in rids. */
void item_print_self(struct buf *body, const struct container *container, const struct rid *item);

/* The whole item as JSON, system properties last. */
void item_print(struct buf *body, const struct container *container, const struct record *item);

/* The same as the change feed has it. */
void item_print_with_lsn(struct buf *body, const struct container *container, const struct record *item);

/* Body, ETag, session token and status of one item. */
void item_reply(struct reply *reply, const struct call *call, const struct record *item, uint64_t lsn,
                int status);
