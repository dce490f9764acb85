/*
 * src/partition/attachment.h - attachments of an item: small records below it, some with bytes of their own.
 * They lie in the item's bucket and are written by the item's transactions: whoever writes one expects the item
 * unchanged, and whoever removes the item removes them. Names follow in the record's document; the record's
 * number is the attachment's, its EPK the item's. An item that never had one pays nothing: a flag in its record tells.
 *
 * `item` is what partition_find() gave in the same transaction.
 */
#pragma once
#include "partition/partition.h"

/* All of them, in the order in which they were made. */
enum status attachment_list(struct op *op, struct partition_txn *txn, const struct record *item,
                            struct record **list, size_t *count);

/* A number for one more; ST_FORBIDDEN when the item has as many as it may. */
enum status attachment_number(struct op *op, struct partition_txn *txn, const struct record *item,
                              uint32_t *number);

/* `media` with data NULL is none. The attachment may be there already, under its number. */
enum status attachment_put(struct op *op, struct partition_txn *txn, const struct record *item,
                           uint32_t number, struct json document, struct slice media, bool keep_media,
                           struct record *attachment);
void attachment_delete(struct op *op, struct partition_txn *txn, const struct record *item, uint32_t number);

/* `bytes->data` is NULL when it has none here. */
enum status attachment_media(struct op *op, struct partition_txn *txn, const struct record *item,
                             uint32_t number, struct slice *bytes);

/* With the item, whichever way it goes. */
enum status attachment_remove_all(struct op *op, struct partition_txn *txn, const struct record *item);
