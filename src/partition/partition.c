/* src/partition/partition.c - transactions over the items of one logical partition. */
#include <assert.h>

#include "base/hash.h"
#include "keys/keys.h"
#include "partition/attachment.h"
#include "partition/expiry.h"
#include "partition/indexed.h"
#include "partition/txn.h"
#include "partition/unique.h"

/* What two writers must not both have read: an item of a container. */
static uint64_t item_scope(const struct container *container, struct slice epk, struct slice id)
{
    struct hash128 key = murmur3_128(epk.data, epk.size), name = murmur3_128(id.data, id.size);
    uint64_t mixed[3] = { bucket_id(container->bucket), key.h1, name.h1 };

    return murmur3_128(mixed, sizeof(mixed)).h1;
}

enum status txn_open(struct op *op, const struct container *container, struct partition_txn **txn)
{
    struct partition_txn *made = arena_alloc(&op->arena, sizeof(*made));
    enum status st;

    *made = (struct partition_txn){ .container = container, .token = env_random_u64(op->env) };
    made->batch = batch_new(op, bucket_id(container->bucket));
    made->lsn = bucket_lsn(container->bucket);
    TRY(view_open(op, container->bucket, made->batch, &made->view));
    *txn = made;
out:
    return st;
}

enum status partition_begin(struct op *op, struct locks *locks, const struct container *container,
                            const struct epk *epk, struct slice id, struct partition_txn **txn)
{
    struct lock *lock = NULL;
    enum status st;

    TRY(locks_acquire(op, locks, item_scope(container, epk_slice(epk), id), &lock));
    TRY(txn_open(op, container, txn));
    (*txn)->epk = epk;
    (*txn)->lock = lock;
    lock = NULL;
    txn_expect_item(*txn, epk_slice(epk), id);
out:
    locks_release(lock);
    return st;
}

enum status partition_begin_many(struct op *op, const struct container *container, const struct epk *epk,
                                 struct partition_txn **txn)
{
    enum status st;

    TRY(txn_open(op, container, txn));
    (*txn)->epk = epk;
out:
    return st;
}

void txn_expect_item(struct partition_txn *txn, struct slice epk, struct slice id)
{
    batch_expect(txn->batch, item_scope(txn->container, epk, id), txn->lsn);
}

void partition_expect(struct partition_txn *txn, struct slice id)
{
    txn_expect_item(txn, epk_slice(txn->epk), id);
}

void partition_set_indexing(struct partition_txn *txn, enum indexing_wish wish)
{
    txn->indexing = wish;
}

void partition_abort(struct partition_txn *txn)
{
    if (!txn)
        return;
    view_close(&txn->view);
    locks_release(txn->lock);
}

/* Two gets: (EPK, id) to number, number to record. */
static enum status find(struct op *op, const struct view *view, const struct container *container,
                        const struct epk *epk, struct slice id, struct record *item, bool *found)
{
    uint64_t bucket = bucket_id(container->bucket);
    struct slice entry, value;
    uint64_t number;
    enum status st;

    *found = false;
    TRY(view_get(op, view, key_id(&op->arena, bucket, epk_slice(epk), id), &entry));
    if (!entry.data)
        goto out;
    TRY(id_entry_decode(op, entry, &number));
    TRY(view_get(op, view, key_document(&op->arena, bucket, number), &value));
    if (!value.data)
        TRY(op_fail(op, ST_CORRUPT, "the entry of an id leads to no document"));
    TRY(record_decode(op, value, item));
    *found = true;
out:
    return st;
}

/* An item that has expired goes with the transaction that met it, which may then have its id. */
enum status partition_find(struct op *op, struct partition_txn *txn, struct slice id, struct record *item,
                           bool *found)
{
    enum status st;

    TRY(find(op, &txn->view, txn->container, txn->epk, id, item, found));
    if (*found && item_is_expired(txn->container, item, op->now_ms)) {
        *found = false;
        TRY(txn_remove_expired(op, txn, item));
    }
    op->work.documents_read += *found;
out:
    return st;
}

/* `ttl` counts only where it is a number of seconds or -1. */
static int32_t ttl_of(struct json document)
{
    struct json ttl = json_get(document, "ttl");

    if (json_kind(ttl) != JSON_NUMBER || !json_is_int(ttl))
        return RECORD_TTL_NONE;
    return json_int(ttl) == -1 || (json_int(ttl) > 0 && json_int(ttl) <= INT32_MAX) ? (int32_t)json_int(ttl)
                                                                                    : RECORD_TTL_NONE;
}

/* `old` is what it takes the place of; NULL for a new one. */
static enum status put_record(struct op *op, struct partition_txn *txn, struct record *item,
                              const struct record *old)
{
    size_t size;
    uint8_t *value = record_encode(op, item, &size);
    struct slice key = key_document(&op->arena, bucket_id(txn->container->bucket), item->number);

    if (!value)
        return op_fail(op, ST_TOO_LARGE, "Request size is too large");
    batch_put_stamped(txn->batch, key, value, size);
    batch_counts(txn->batch, old ? 0 : 1, (int64_t)size - (old ? (int64_t)old->stored.size : 0));
    measure_document(&txn->measure, txn->container, item->document);
    op->work.documents_written++;
    return ST_OK;
}

static void put_id(struct op *op, struct partition_txn *txn, struct slice id, uint64_t number)
{
    uint8_t *value = arena_alloc(&op->arena, ID_ENTRY_BYTES);

    id_entry_encode(number, value);
    batch_put(txn->batch, key_id(&op->arena, bucket_id(txn->container->bucket), epk_slice(txn->epk), id),
              slice_make(value, ID_ENTRY_BYTES));
}

enum status txn_log(struct op *op, struct partition_txn *txn, struct change change, const struct record *old)
{
    size_t size;
    uint8_t *value;

    change.token = txn->token;
    if (old) {
        change.previous_lsn = old->lsn;
        change.old_record = old->stored;
    }
    value = change_encode(op, &change, &size);
    if (!value)
        return op_fail(op, ST_TOO_LARGE, "Request size is too large");
    batch_log(txn->batch, value, size);
    return ST_OK;
}

static void fill(struct op *op, const struct partition_txn *txn, uint64_t number, struct json document,
                 struct record *item)
{
    *item = (struct record){
        .etag = env_random_u64(op->env),
        .number = number,
        .ttl_seconds = ttl_of(document),
        .epk = epk_slice(txn->epk),
        .document = document,
    };
    indexed_mark(txn, item);
}

static struct slice id_of(struct json document)
{
    return json_string(json_get(document, "id"));
}

enum status partition_create(struct op *op, struct partition_txn *txn, struct json document,
                             struct record *item)
{
    const struct container *container = txn->container;
    uint64_t counter = bucket_next_counter(container->bucket);
    uint32_t bits = epk_number_bits(container->epk_version, container->key_path_count, txn->epk);
    uint64_t number = number_make(bits, counter);
    enum status st;

    fill(op, txn, number, document, item);
    TRY(unique_move(op, txn, item->epk, number, json_undefined, document));
    batch_uses_counter(txn->batch, counter);
    TRY(put_record(op, txn, item, NULL));
    put_id(op, txn, id_of(document), number);
    TRY(indexed_change(op, txn, NULL, item));
    TRY(txn_log(op, txn, (struct change){ .kind = CHANGE_CREATE, .number = number }, NULL));
out:
    return st;
}

/* A replace may rename: the new id must be as free at the commit as it is in the view. */
static enum status rename_id(struct op *op, struct partition_txn *txn, const struct record *old,
                             struct slice id)
{
    uint64_t bucket = bucket_id(txn->container->bucket);
    struct record other;
    bool taken;
    enum status st;

    partition_expect(txn, id);
    TRY(partition_find(op, txn, id, &other, &taken));
    if (taken)
        TRY(op_fail(op, ST_ITEM_EXISTS, "Entity with the specified id already exists in the system."));
    batch_delete(txn->batch, key_id(&op->arena, bucket, epk_slice(txn->epk), id_of(old->document)));
    put_id(op, txn, id, old->number);
out:
    return st;
}

enum status partition_replace(struct op *op, struct partition_txn *txn, const struct record *old,
                              struct json document, struct record *item)
{
    struct slice id = id_of(document);
    enum status st;

    fill(op, txn, old->number, document, item);
    item->flags |= old->flags & RECORD_HAS_ATTACHMENTS;
    if (!slice_equal(id, id_of(old->document)))
        TRY(rename_id(op, txn, old, id));
    TRY(unique_move(op, txn, item->epk, old->number, old->document, document));
    TRY(put_record(op, txn, item, old));
    TRY(indexed_change(op, txn, old, item));
    TRY(txn_log(op, txn, (struct change){ .kind = CHANGE_REPLACE, .number = old->number }, old));
out:
    return st;
}

enum status txn_remove(struct op *op, struct partition_txn *txn, const struct record *old, bool expired)
{
    struct change change = { .kind = CHANGE_DELETE, .expired = expired, .number = old->number };
    uint64_t bucket = bucket_id(txn->container->bucket);
    enum status st;

    TRY(unique_move(op, txn, old->epk, old->number, old->document, json_undefined));
    TRY(attachment_remove_all(op, txn, old));
    TRY(indexed_change(op, txn, old, NULL));
    batch_delete(txn->batch, key_document(&op->arena, bucket, old->number));
    batch_counts(txn->batch, -1, -(int64_t)old->stored.size);
    batch_delete(txn->batch, key_id(&op->arena, bucket, old->epk, id_of(old->document)));
    TRY(txn_log(op, txn, change, old));
out:
    return st;
}

enum status txn_remove_expired(struct op *op, struct partition_txn *txn, const struct record *old)
{
    txn->expires = true;
    txn_expect_item(txn, old->epk, id_of(old->document));
    return txn_remove(op, txn, old, true);
}

enum status partition_delete(struct op *op, struct partition_txn *txn, const struct record *old)
{
    op->work.documents_written++;
    return txn_remove(op, txn, old, false);
}

/* Nobody knew whether it was written: the store may know now. If not, the client is told that nobody knows. */
static enum status settle(struct op *op, const struct partition_txn *txn)
{
    bool committed;

    if (store_outcome(op, txn->container->bucket, txn->batch, &committed) == ST_OK)
        return committed ? ST_OK : op_fail(op, ST_UNAVAILABLE, "The write failed. Nothing was written.");
    return op_fail(op, ST_AMBIGUOUS, "The write failed, and it is not known whether it took place.");
}

enum status partition_commit(struct op *op, struct partition_txn **txn, struct commit_stamp *stamp)
{
    struct partition_txn *ended = *txn;
    enum status st;

    if (ended->expires && !container_pin(ended->container)) {
        st = op_fail(op, ST_WRITE_CONFLICT, "The container's definition was changed.");
    } else {
        st = store_commit(op, ended->container->bucket, ended->batch, stamp);
        if (ended->expires)
            container_unpin(ended->container);
    }
    if (st == ST_AMBIGUOUS)
        st = settle(op, ended);
    if (st == ST_OK)
        measure_note(op, &ended->measure, ended->container);
    *txn = NULL;
    partition_abort(ended);
    return st;
}

/* Follows a hint, if there is one; whether it was right, the record itself tells. */
static enum status read_by_hint(struct op *op, const struct container *container, const struct epk *epk,
                                struct slice id, uint64_t number, struct record *item, bool *found)
{
    struct slice value;
    enum status st = ST_OK;

    *found = false;
    if (number == 0)
        goto out;
    TRY(store_get_latest(op, container->bucket,
                         key_document(&op->arena, bucket_id(container->bucket), number), &value));
    if (!value.data)
        goto out;
    TRY(record_decode(op, value, item));
    *found = slice_equal(item->epk, epk_slice(epk)) && slice_equal(id_of(item->document), id) &&
             !item_is_expired(container, item, op->now_ms);
out:
    return st;
}

enum status partition_read(struct op *op, struct hints *hints, const struct container *container,
                           const struct epk *epk, struct slice id, struct record *item, bool *found)
{
    uint64_t hash = item_scope(container, epk_slice(epk), id);
    struct view view = { 0 };
    enum status st;

    TRY(read_by_hint(op, container, epk, id, hints ? hints_find(hints, hash) : 0, item, found));
    if (*found)
        goto out;
    TRY(view_open(op, container->bucket, NULL, &view));
    TRY(find(op, &view, container, epk, id, item, found));
    *found = *found && !item_is_expired(container, item, op->now_ms);
    if (*found && hints)
        hints_put(hints, hash, item->number);
out:
    op->work.documents_read += st == ST_OK && *found;
    view_close(&view);
    return st;
}

enum status partition_at(struct op *op, const struct container *container, uint64_t number,
                         struct record *item, bool *found)
{
    struct slice value;
    enum status st;

    *found = false;
    TRY(store_get_latest(op, container->bucket,
                         key_document(&op->arena, bucket_id(container->bucket), number), &value));
    if (!value.data)
        goto out;
    TRY(record_decode(op, value, item));
    *found = !item_is_expired(container, item, op->now_ms);
out:
    return st;
}

enum status partition_id_of(struct op *op, const struct container *container, const struct epk *epk,
                            uint64_t number, struct slice *id)
{
    struct view view = { 0 };
    struct record item;
    struct slice value;
    enum status st;

    *id = (struct slice){ 0 };
    TRY(view_open(op, container->bucket, NULL, &view));
    TRY(view_get(op, &view, key_document(&op->arena, bucket_id(container->bucket), number), &value));
    if (!value.data)
        goto out;
    TRY(record_decode(op, value, &item));
    if (slice_equal(item.epk, epk_slice(epk)) && !item_is_expired(container, &item, op->now_ms))
        *id = id_of(item.document);
out:
    view_close(&view);
    return st;
}
