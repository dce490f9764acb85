/* src/partition/unique.c - unique keys: which items have which values, kept in the item's own transaction. */
#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"
#include "keys/bytes.h"
#include "keys/keys.h"
#include "partition/expiry.h"
#include "partition/unique.h"

/* One entry that a write changes. */
struct step {
    const struct unique_key *unique;
    bool adds; /* true: the item joins the entry; false: it leaves it */
    struct slice key;
    struct slice entry; /* as it was read */
};

/* An item leaves one entry and joins another, for each unique key. */
enum { STEPS_MAX = 2 * UNIQUE_KEYS_MAX };

static struct json value_at(const struct key_path *path, struct json document)
{
    struct json value = document;

    for (size_t i = 0; i < path->count; i++)
        value = json_member(value, path->segment[i]);
    return value;
}

static bool is_null(struct json value)
{
    return json_kind(value) == JSON_UNDEFINED || json_kind(value) == JSON_NULL;
}

bool unique_equal(const struct unique_key *key, struct json a, struct json b)
{
    for (size_t i = 0; i < key->path_count; i++) {
        struct json in_a = value_at(&key->path[i], a), in_b = value_at(&key->path[i], b);

        if (is_null(in_a) != is_null(in_b) || (!is_null(in_a) && !json_equal(in_a, in_b)))
            return false;
    }
    return true;
}

struct slice unique_key_of(struct arena *arena, const struct container *container, struct slice epk,
                           size_t which, struct json document)
{
    const struct unique_key *unique = &container->unique_key[which];
    uint8_t hashes[16 * UNIQUE_KEY_PATHS_MAX] = { 0 };

    assert(which < container->unique_key_count);
    assert(unique->path_count <= UNIQUE_KEY_PATHS_MAX);
    for (size_t i = 0; i < unique->path_count; i++) {
        struct json value = value_at(&unique->path[i], document);
        struct hash128 hash;

        if (is_null(value)) /* its place stays zero, whether it is there or missing */
            continue;
        hash = json_hash(value);
        put_be(hashes + 16 * i, hash.h1, 8);
        put_be(hashes + 16 * i + 8, hash.h2, 8);
    }
    return key_unique(arena, container->bucket_id, epk, (uint8_t)which,
                      murmur3_128(hashes, 16 * unique->path_count));
}

static bool is_document(struct json document)
{
    return json_kind(document) != JSON_UNDEFINED;
}

/* When the values stay the same, the entry stays too: it is neither read nor expected unchanged. */
static size_t plan(struct op *op, const struct partition_txn *txn, struct slice epk, struct json from,
                   struct json to, struct step steps[STEPS_MAX])
{
    const struct container *container = txn->container;
    size_t count = 0;

    assert(container->unique_key_count <= UNIQUE_KEYS_MAX); /* each is two steps at most */
    for (size_t i = 0; i < container->unique_key_count; i++) {
        const struct unique_key *unique = &container->unique_key[i];

        if (is_document(from) && is_document(to) && unique_equal(unique, from, to))
            continue;
        if (is_document(from))
            steps[count++] =
                (struct step){ unique, false, unique_key_of(&op->arena, container, epk, i, from), { 0 } };
        if (is_document(to))
            steps[count++] =
                (struct step){ unique, true, unique_key_of(&op->arena, container, epk, i, to), { 0 } };
    }
    return count;
}

/* All entries in one round trip. */
static enum status read_entries(struct op *op, struct partition_txn *txn, struct step *steps, size_t count)
{
    struct slice keys[STEPS_MAX], values[STEPS_MAX];
    enum status st;

    for (size_t i = 0; i < count; i++) {
        keys[i] = steps[i].key;
        batch_expect(txn->batch, murmur3_128(keys[i].data, keys[i].size).h1, txn->lsn);
    }
    TRY(view_get_many(op, &txn->view, keys, count, values));
    for (size_t i = 0; i < count; i++) {
        TRY(holders_check(op, values[i]));
        steps[i].entry = values[i];
    }
out:
    return st;
}

/* The entry as the transaction has it by now: earlier steps and removals of expired items may have changed it. */
static struct slice entry_now(const struct partition_txn *txn, const struct step *step)
{
    const struct batch_entry *written = batch_find(txn->batch, step->key);

    return written ? written->value : step->entry;
}

static enum status check_holder(struct op *op, struct partition_txn *txn, const struct step *step,
                                uint64_t number, struct json document)
{
    struct record holder;
    struct slice value;
    enum status st;

    TRY(view_get(op, &txn->view, key_document(&op->arena, txn->container->bucket_id, number), &value));
    if (!value.data)
        TRY(op_fail(op, ST_CORRUPT, "the entry of a unique key leads to no document"));
    TRY(txn_decode(op, value, &holder));
    if (item_is_expired(txn->container, &holder, op->now_ms))
        TRY(txn_remove_expired(op, txn, &holder));
    else if (partition_key_shared(txn->container, holder.document, document) &&
             unique_equal(step->unique, holder.document, document))
        TRY(op_fail(op, ST_EXISTS, "Unique index constraint violation."));
out:
    return st;
}

/*
 * Refuses values that another item has. The item itself may be in the entry, when its old and its new values share a
 * hash; these values differ, because plan() leaves out values that stay the same.
 */
static enum status check_step(struct op *op, struct partition_txn *txn, const struct step *step,
                              struct json document)
{
    struct slice entry = entry_now(txn, step);
    enum status st = ST_OK;

    for (size_t i = 0; i < holders_count(entry); i++)
        TRY(check_holder(op, txn, step, holders_at(entry, i), document));
out:
    return st;
}

static void take_step(struct op *op, struct partition_txn *txn, const struct step *step, uint64_t number)
{
    struct slice entry = holders_without(&op->arena, entry_now(txn, step), number);

    if (step->adds)
        entry = holders_with(&op->arena, entry, number);
    if (entry.data)
        batch_put(txn->batch, step->key, entry);
    else
        batch_delete(txn->batch, step->key);
    op->work.entries_written++;
}

enum status unique_move(struct op *op, struct partition_txn *txn, struct slice epk, uint64_t number,
                        struct json from, struct json to)
{
    struct step steps[STEPS_MAX];
    size_t count = plan(op, txn, epk, from, to, steps);
    enum status st = ST_OK;

    assert(is_document(from) || is_document(to));
    assert(!txn->key || slice_equal(epk, epk_slice(&txn->key->epk)));
    if (count == 0)
        return ST_OK;
    TRY(read_entries(op, txn, steps, count));
    for (size_t i = 0; i < count; i++)
        if (steps[i].adds)
            TRY(check_step(op, txn, &steps[i], to));
    for (size_t i = 0; i < count; i++)
        take_step(op, txn, &steps[i], number);
out:
    return st;
}
