/* src/resource/item.h - what the operations on items share: bodies in, items out, addresses. */
#pragma once
#include "json/binary_write.h"
#include "keys/record.h"
#include "partition/key.h"
#include "resource/call.h"
#include "resource/form.h"

/*
 * Reads the body as a document: of so many bytes of text at most, with a good id. System properties that the client sent
 * are dropped; `behind` tells how many members stood behind the first of them.
 */
enum status item_read_body(struct op *op, const struct call *call, size_t bytes_max, struct json *document,
                           uint16_t *behind);

/* The same for an object that came as part of a body. The caller has checked that it is an object. */
enum status item_check_document(struct op *op, struct json *document, uint16_t *behind);

/*
 * How many bytes of text a document has. Where a higher number is cheaper to tell, and is not above `enough`, it is
 * that number.
 */
size_t item_text_bytes(struct op *op, struct json document, size_t enough);

/* ST_TOO_LARGE when the document is larger than an item may be. */
enum status item_check_size(struct op *op, struct json document);

/* Whether the server, and no client, sets the top-level member of that name. */
bool item_is_system_name(struct slice name);

/* The id of the item that the path names, by its id or by its rid. */
enum status item_address(struct op *op, const struct call *call, const struct placed_key *key,
                         struct slice *id);

/* dbs/<rid>/colls/<rid>/docs/<rid>/: where an item of the container is, in rids. */
void item_print_self(struct buf *body, const struct container *container, const struct rid *item);

/* The whole item as JSON, system properties where its writer had them, or last. */
void item_print(struct buf *body, const struct container *container, const struct record *item);

/* The same as binary JSON. */
void item_write(struct binary_writer *writer, const struct container *container, const struct record *item);

/* The same as text as the change feed has it. */
void item_print_with_lsn(struct buf *body, const struct container *container, const struct record *item);

/* Body, ETag, session token and status of one item. */
void item_reply(struct reply *reply, const struct call *call, const struct record *item, enum form form,
                uint64_t lsn, int status);
