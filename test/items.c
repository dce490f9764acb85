/* test/items.c - short ways to write and read items. */
#include "items.h"
#include "keys/keys.h"
#include "partition/verify.h"
#include "partition/unique.h"

struct placed_key *key_of_document(struct op *op, const struct container *container, struct json document)
{
    struct placed_key *key = arena_alloc(&op->arena, sizeof(*key));

    partition_key_extract(container, document, &key->values);
    partition_key_place(container, key);
    return key;
}

struct placed_key *key_of_header(struct op *op, const struct container *container, const char *header)
{
    struct placed_key *key = arena_alloc(&op->arena, sizeof(*key));
    bool present;

    CHECK(partition_key_read(op, container, rig_quoted(op, header), KEY_OF_QUERY, &key->values, &present) ==
              ST_OK &&
          present);
    partition_key_place(container, key);
    return key;
}

enum status item_create(struct rig *rig, const struct container *container, const char *document,
                        struct record *item)
{
    struct json parsed = rig_json(rig->op, document);
    struct slice id = json_string(json_get(parsed, "id"));
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record existing;
    bool found;
    enum status st;

    TRY(partition_begin(rig->op, rig->locks, container, key_of_document(rig->op, container, parsed), id,
                        &txn));
    TRY(partition_find(rig->op, txn, id, &existing, &found));
    if (found)
        TRY(op_fail(rig->op, ST_ITEM_EXISTS, "exists"));
    TRY(partition_create(rig->op, txn, parsed, item));
    TRY(partition_commit(rig->op, &txn, &stamp));
    item->lsn = stamp.lsn;
    item->ts_ms = stamp.ts_ms;
out:
    partition_abort(txn);
    return st;
}

/* Begins on an item that must be there. */
static enum status begin_on(struct rig *rig, const struct container *container, const struct placed_key *key,
                            const char *id, struct partition_txn **txn, struct record *old)
{
    bool found;
    enum status st;

    TRY(partition_begin(rig->op, rig->locks, container, key, slice_of(id), txn));
    TRY(partition_find(rig->op, *txn, slice_of(id), old, &found));
    if (!found)
        TRY(op_fail(rig->op, ST_ITEM_NOT_FOUND, "absent"));
out:
    return st;
}

enum status item_replace(struct rig *rig, const struct container *container, const char *id,
                         const char *document, struct record *item)
{
    struct json parsed = rig_json(rig->op, document);
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record old;
    enum status st;

    TRY(begin_on(rig, container, key_of_document(rig->op, container, parsed), id, &txn, &old));
    TRY(partition_replace(rig->op, txn, &old, parsed, item));
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

enum status item_delete(struct rig *rig, const struct container *container, const char *key, const char *id)
{
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    struct record old;
    enum status st;

    TRY(begin_on(rig, container, key_of_header(rig->op, container, key), id, &txn, &old));
    TRY(partition_delete(rig->op, txn, &old));
    TRY(partition_commit(rig->op, &txn, &stamp));
out:
    partition_abort(txn);
    return st;
}

bool item_read(struct rig *rig, const struct container *container, const char *key, const char *id,
               struct record *item)
{
    bool found = false;

    CHECK(partition_read(rig->op, NULL, container, key_of_header(rig->op, container, key), slice_of(id), item,
                         &found) == ST_OK);
    return found;
}

struct rows rows_of_kind(struct rig *rig, const struct container *container, char kind)
{
    uint64_t bucket = bucket_id(container->bucket);
    struct range range = { key_kind_first(&rig->op->arena, bucket, (enum key_kind)kind),
                           key_kind_end(&rig->op->arena, bucket, (enum key_kind)kind), false };
    struct snapshot *snapshot = NULL;
    struct rows rows = { 0 };

    CHECK(store_snapshot(rig->op, container->bucket, &snapshot) == ST_OK);
    CHECK(store_scan(rig->op, snapshot, range, (struct scan_limit){ 1000000, SIZE_MAX }, &rows) == ST_OK);
    store_release(snapshot);
    return rows;
}

/* How often the item's number stands in the entries of its values. */
static size_t count_in_entries(struct rig *rig, const struct container *container, const struct record *item)
{
    size_t count = 0;

    for (size_t i = 0; i < container->unique_key_count; i++) {
        struct slice key = unique_key_of(&rig->op->arena, container, item->epk, i, item->document), entry;

        CHECK(store_get_latest(rig->op, container->bucket, key, &entry) == ST_OK &&
              holders_check(rig->op, entry) == ST_OK);
        for (size_t k = 0; k < holders_count(entry); k++)
            count += holders_at(entry, k) == item->number;
    }
    return count;
}

static bool item_is_whole(struct rig *rig, const struct container *container, struct slice stored)
{
    struct record item, found;
    bool is_there = false;

    if (record_decode(rig->op, stored, &item) != ST_OK)
        return false;
    return partition_read(rig->op, NULL, container, key_of_document(rig->op, container, item.document),
                          json_string(json_get(item.document, "id")), &found, &is_there) == ST_OK &&
           is_there && found.number == item.number &&
           count_in_entries(rig, container, &item) == container->unique_key_count;
}

static uint64_t count_lsns(struct rig *rig, const struct container *container)
{
    struct rows changes = rows_of_kind(rig, container, KEY_LOG);
    uint64_t count = 0, last = 0;

    for (size_t i = 0; i < changes.count; i++) {
        struct change change = { 0 };

        CHECK(change_decode(rig->op, changes.row[i].value, &change) == ST_OK);
        count += change.lsn != last;
        last = change.lsn;
    }
    return count;
}

bool container_counts(const struct container *container, const struct rows *documents)
{
    struct bucket_usage usage;
    uint64_t bytes = 0;

    for (size_t i = 0; i < documents->count; i++)
        bytes += documents->row[i].value.size;
    return bucket_usage(container->bucket, &usage) && usage.documents == documents->count &&
           usage.bytes == bytes;
}

static bool index_is_whole(struct rig *rig, const struct container *container)
{
    struct verify_result result = { .missing = 1 };
    struct view view = { 0 };
    bool read = view_open(rig->op, container->bucket, NULL, &view) == ST_OK &&
                verify_index(rig->op, container, &view, &result) == ST_OK;

    view_close(&view);
    return read && result.missing == 0 && result.extra == 0;
}

/* The documents that the entries of a kind lead to. */
static size_t count_holders(struct rig *rig, const struct container *container, char kind)
{
    struct rows entries = rows_of_kind(rig, container, kind);
    size_t count = 0;

    for (size_t i = 0; i < entries.count; i++)
        count += holders_count(entries.row[i].value);
    return count;
}

bool container_is_whole(struct rig *rig, const struct container *container)
{
    struct rows documents = rows_of_kind(rig, container, KEY_DOCUMENT);
    bool whole = documents.count == count_holders(rig, container, KEY_ID) &&
                 count_holders(rig, container, KEY_UNIQUE) == documents.count * container->unique_key_count &&
                 container_counts(container, &documents) &&
                 CONTAINER_FIRST_LSN + count_lsns(rig, container) == bucket_lsn(container->bucket);

    for (size_t i = 0; whole && i < documents.count; i++)
        whole = item_is_whole(rig, container, documents.row[i].value);
    return whole && index_is_whole(rig, container);
}
