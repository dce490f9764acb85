/* src/partition/upkeep.c - removes expired items and indexes items anew, in the transactions of housekeeping. */
#include <assert.h>

#include "keys/keys.h"
#include "partition/indexed.h"
#include "partition/txn.h"
#include "partition/upkeep.h"

enum status upkeep_begin(struct op *op, const struct container *container, struct partition_txn **txn)
{
    return txn_open(op, container, txn);
}

enum status upkeep_remove_expired(struct op *op, struct partition_txn *txn, const struct record *item)
{
    assert(!txn->key); /* upkeep_begin() has begun it */
    return txn_remove_expired(op, txn, item);
}

/* Writes the record with its new policy version and flags. LSN and time stay. */
static enum status put_record(struct op *op, struct partition_txn *txn, const struct record *old,
                              const struct record *new)
{
    struct slice key = key_document(&op->arena, txn->container->bucket_id, old->number);
    size_t size;
    uint8_t *value = record_encode(op, new, &size);

    assert(new->number == old->number);
    assert(old->lsn > 0); /* a version that was committed, and keeps its LSN */
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    value_stamp(value, size, old->lsn, old->ts_ms);
    batch_put(txn->batch, key, slice_make(value, size));
    return ST_OK;
}

/*
 * An item that an earlier policy left out is indexed now, unless the policy leaves that to the writer. `leaves_out`
 * is for an item whose entries do not fit into the memory of a step: it is left out, so that the pass goes on.
 */
static enum status index_anew(struct op *op, struct partition_txn *txn, const struct record *old,
                              bool leaves_out, struct record *new)
{
    const struct container *container = txn->container;

    assert(!txn->key);        /* upkeep_begin() has begun it */
    assert(container->index); /* where nothing is indexed there is nothing to index anew */
    assert(old->policy_version != container->policy_version);
    *new = *old;
    new->policy_version = container->policy_version;
    if (!index_policy_is_manual(container->index))
        new->flags &= (uint8_t)~RECORD_UNINDEXED;
    if (leaves_out)
        new->flags |= RECORD_UNINDEXED;
    return indexed_change(op, txn, old, new);
}

enum status upkeep_index_anew(struct op *op, struct partition_txn *txn, const struct record *item, bool alone,
                              bool *fits)
{
    struct record new;
    enum status st = index_anew(op, txn, item, false, &new);

    *fits = alone || st != ST_TOO_LARGE;
    if (!*fits)
        return ST_OK;
    if (st == ST_TOO_LARGE)
        st = index_anew(op, txn, item, true, &new);
    TRY(st);
    txn_expect_item(txn, item->epk, json_string(json_get(item->document, "id")));
    TRY(put_record(op, txn, item, &new));
    TRY(txn_log(op, txn, (struct change){ .kind = CHANGE_REINDEX, .number = item->number }, item));
out:
    return st;
}
