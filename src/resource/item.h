/* src/resource/item.h - what the operations on items share: bodies in, items out, addresses, sessions. */
#pragma once
#include "keys/record.h"
#include "resource/call.h"

/* The body as a document: within limits, with a good id, without system properties of the client's. */
enum status item_read_body(struct op *op, const struct call *call, struct json *document);

/* The id that the path means: itself, or that of the document whose rid it is. */
enum status item_address(struct op *op, const struct call *call, const struct epk *epk, struct slice *id);

/* The whole item as JSON, system properties last. */
void item_print(struct buf *body, const struct container *container, const struct record *item);

/* Body, ETag, session token and status of one item. */
void item_reply(struct reply *reply, const struct call *call, const struct record *item, uint64_t lsn,
                int status);

/* x-ms-content-path and its like: SDKs keep session tokens by them, from failures too. */
void item_reply_owner(struct reply *reply, const struct call *call);

/* ST_SESSION_UNAVAILABLE when the client has seen a later LSN than we have given out. */
enum status item_check_session(struct op *op, const struct call *call, uint64_t lsn);
