/*
 * src/partition/upkeep.h - what housekeeping does to items, in transactions that span logical partitions and hold no
 * lock.
 *     upkeep_begin(op, container, &txn);        before the scan, so that the scan sees what the txn expects, or newer
 *     upkeep_remove_expired(op, txn, &item);    or upkeep_index_anew(): any number of these
 *     partition_commit(op, &txn, &stamp);       partition.h
 * The transaction expects every item that it changes to be unchanged until its commit. When somebody else has written
 * one of them meanwhile, the commit is ST_WRITE_CONFLICT. So it is when the transaction removes expired items and the
 * container's definition, which decides what has expired, was replaced meanwhile.
 */
#pragma once
#include "partition/partition.h"

enum status upkeep_begin(struct op *op, const struct container *container, struct partition_txn **txn);

/* Removes the item with all its entries. The change log gets a delete that says why. */
enum status upkeep_remove_expired(struct op *op, struct partition_txn *txn, const struct record *item);

/*
 * Gives the item the entries, and its record the version, of the policy that the transaction's container has. LSN,
 * time and etag stay. The change log gets the item as it was, under a kind that no feed shows. `fits` is false, and
 * nothing is done, when the transaction has no room for the item beside others. An item that does not fit even
 * `alone` is left out of the index, so that the pass can go on.
 */
enum status upkeep_index_anew(struct op *op, struct partition_txn *txn, const struct record *item, bool alone,
                              bool *fits);
