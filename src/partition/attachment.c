/* src/partition/attachment.c - attachments of an item, in the item's transactions. */
#include <assert.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "partition/attachment.h"
#include "partition/txn.h"

static uint64_t bucket_of(const struct partition_txn *txn)
{
    return txn->container->bucket_id;
}

static enum status scan(struct op *op, struct partition_txn *txn, const struct record *item,
                        struct rows *rows)
{
    struct range range = { key_attachments_first(&op->arena, bucket_of(txn), item->number),
                           key_attachments_first(&op->arena, bucket_of(txn), item->number + 1), false };

    *rows = (struct rows){ 0 };
    if (!(item->flags & RECORD_HAS_ATTACHMENTS))
        return ST_OK;
    return view_scan(op, &txn->view, range, (struct scan_limit){ ATTACHMENTS_MAX, SIZE_MAX }, rows);
}

enum status attachment_list(struct op *op, struct partition_txn *txn, const struct record *item,
                            struct record **list, size_t *count)
{
    struct rows rows;
    enum status st;

    TRY(scan(op, txn, item, &rows));
    *list = arena_alloc(&op->arena, (rows.count + 1) * sizeof(struct record));
    for (size_t i = 0; i < rows.count; i++) {
        TRY(txn_decode(op, rows.row[i].value, &(*list)[i]));
        work_scanned(&op->work, rows.row[i].value.size);
    }
    *count = rows.count;
out:
    return st;
}

static bool has_number(const struct record *list, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].number == number)
            return true;
    return false;
}

/* Takes the number from the counter of documents. It repeats only after four billion of them. */
enum status attachment_number(struct op *op, struct partition_txn *txn, const struct record *item,
                              uint32_t *number)
{
    struct record *list;
    uint64_t counter;
    size_t count;
    enum status st;

    TRY(attachment_list(op, txn, item, &list, &count));
    if (count >= ATTACHMENTS_MAX)
        TRY(op_fail(op, ST_FORBIDDEN, "An item may have %d attachments.", ATTACHMENTS_MAX));
    do {
        counter = bucket_next_counter(txn->container->bucket);
        *number = (uint32_t)counter;
    } while (*number == 0 || has_number(list, count, *number));
    batch_uses_counter(txn->batch, counter);
out:
    return st;
}

/*
 * Sets the flag in the item's record, which otherwise stays as it was, with its LSN and time. A record that this
 * transaction has written gets both at the commit.
 */
static enum status flag_item(struct op *op, struct partition_txn *txn, const struct record *item)
{
    struct record flagged = *item;
    size_t size;
    struct slice key = key_document(&op->arena, bucket_of(txn), item->number);
    uint8_t *value;

    if (item->flags & RECORD_HAS_ATTACHMENTS)
        return ST_OK;
    flagged.flags |= RECORD_HAS_ATTACHMENTS;
    value = record_encode(op, &flagged, &size);
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    if (item->lsn == 0) {
        batch_put_stamped(txn->batch, key, value, size);
        return ST_OK;
    }
    value_stamp(value, size, item->lsn, item->ts_ms);
    batch_put(txn->batch, key, slice_make(value, size));
    return ST_OK;
}

static enum status put_media(struct op *op, struct partition_txn *txn, const struct record *item,
                             uint32_t number, struct slice media)
{
    struct slice key = key_media(&op->arena, bucket_of(txn), item->number, number);
    uint8_t *value;
    size_t size;

    if (!media.data) {
        batch_delete(txn->batch, key);
        return ST_OK;
    }
    value = media_encode(op, media, &size);
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    batch_put(txn->batch, key, slice_make(value, size));
    op->work.document_bytes_written += size;
    return ST_OK;
}

enum status attachment_put(struct op *op, struct partition_txn *txn, const struct record *item,
                           uint32_t number, struct json document, struct slice media, bool keep_media,
                           struct record *attachment)
{
    uint8_t *value;
    size_t size;
    enum status st;

    assert(number > 0); /* attachment_number() gives no other */
    assert(!txn->key || slice_equal(item->epk, epk_slice(&txn->key->epk)));
    *attachment = (struct record){
        .etag = env_random_u64(op->env), .number = number, .epk = item->epk, .document = document
    };
    value = record_encode(op, attachment, &size);
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    TRY(flag_item(op, txn, item));
    batch_put_stamped(txn->batch, key_attachment(&op->arena, bucket_of(txn), item->number, number), value,
                      size);
    if (!keep_media)
        TRY(put_media(op, txn, item, number, media));
    work_wrote(&op->work, size);
out:
    return st;
}

void attachment_delete(struct op *op, struct partition_txn *txn, const struct record *item, uint32_t number)
{
    batch_delete(txn->batch, key_attachment(&op->arena, bucket_of(txn), item->number, number));
    batch_delete(txn->batch, key_media(&op->arena, bucket_of(txn), item->number, number));
    work_removed(&op->work, 0);
}

enum status attachment_media(struct op *op, struct partition_txn *txn, const struct record *item,
                             uint32_t number, struct slice *bytes)
{
    struct slice value;
    enum status st;

    *bytes = (struct slice){ 0 };
    TRY(view_get(op, &txn->view, key_media(&op->arena, bucket_of(txn), item->number, number), &value));
    if (value.data)
        TRY(media_decode(op, value, bytes));
    work_read(&op->work, value.size);
out:
    return st;
}

enum status attachment_remove_all(struct op *op, struct partition_txn *txn, const struct record *item)
{
    struct key_parts parts;
    struct rows rows;
    uint64_t document;
    uint32_t number;
    enum status st;

    TRY(scan(op, txn, item, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        if (!key_parse(rows.row[i].key, &parts) || !key_parse_attachment(&parts, &document, &number))
            TRY(op_fail(op, ST_CORRUPT, "The key of an attachment is damaged."));
        assert(document == item->number); /* the scan has the keys of no other */
        batch_delete(txn->batch, key_attachment(&op->arena, bucket_of(txn), document, number));
        batch_delete(txn->batch, key_media(&op->arena, bucket_of(txn), document, number));
    }
out:
    return st;
}

static enum status any_in_part(struct op *op, const struct container *container, bool *any)
{
    struct range range = { key_kind_first(&op->arena, container->bucket_id, KEY_ATTACHMENT),
                           key_kind_end(&op->arena, container->bucket_id, KEY_ATTACHMENT), false };
    struct snapshot *snapshot = NULL;
    struct rows rows;
    enum status st;

    TRY(store_snapshot(op, container->bucket, &snapshot));
    TRY(store_scan(op, snapshot, range, (struct scan_limit){ 1, SIZE_MAX }, &rows));
    *any = rows.count > 0;
out:
    store_release(snapshot);
    return st;
}

enum status attachment_any(struct op *op, const struct container *container, bool *any)
{
    enum status st = ST_OK;

    *any = false;
    for (uint32_t i = 0; i < container->part_count && !*any; i++)
        TRY(any_in_part(op, container->part[i], any));
out:
    return st;
}
