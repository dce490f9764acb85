/*
 * src/partition/attachment.h - attachments of an item: small records below it, some with bytes of their own.
 * They lie in the item's bucket and are written by the item's transactions. A transaction that writes an attachment
 * expects the item unchanged, and one that removes the item removes its attachments. An attachment is stored as a
 * record: its number is the attachment's, its EPK the item's, and its document holds the properties. A flag in the
 * item's record says whether the item ever had an attachment; without the flag nobody looks for one.
 *
 * `item` is what partition_find() gave in the same transaction.
 */
#pragma once
#include "partition/partition.h"

/* All attachments of the item, in the order of their numbers. */
enum status attachment_list(struct op *op, struct partition_txn *txn, const struct record *item,
                            struct record **list, size_t *count);

/* A number for a new attachment; ST_FORBIDDEN when the item has as many as it may have. */
enum status attachment_number(struct op *op, struct partition_txn *txn, const struct record *item,
                              uint32_t *number);

/*
 * Creates the attachment, or replaces the one of that number. `media` with data NULL means that it has no bytes here.
 */
enum status attachment_put(struct op *op, struct partition_txn *txn, const struct record *item,
                           uint32_t number, struct json document, struct slice media, bool keep_media,
                           struct record *attachment);
void attachment_delete(struct op *op, struct partition_txn *txn, const struct record *item, uint32_t number);

/* `bytes->data` is NULL when the attachment has no bytes here. */
enum status attachment_media(struct op *op, struct partition_txn *txn, const struct record *item,
                             uint32_t number, struct slice *bytes);

/* Removes the attachments of an item that is being removed, by a client or because it has expired. */
enum status attachment_remove_all(struct op *op, struct partition_txn *txn, const struct record *item);

/* Whether any item of the container has one. */
enum status attachment_any(struct op *op, const struct container *container, bool *any);
