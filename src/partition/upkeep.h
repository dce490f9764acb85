/*
 * src/partition/upkeep.h - what housekeeping does to items, in transactions that span logical partitions and hold no lock.
 *     upkeep_begin(op, container, &txn);        before the scan: what it expects unchanged, the scan has seen, or newer
 *     upkeep_remove_expired(op, txn, &item);    or upkeep_index_anew(): any number of these
 *     partition_commit(op, &txn, &stamp);       partition.h
 * Every item that is changed is expected unchanged. Whoever wrote one of them meanwhile has it: the commit is ST_WRITE_CONFLICT,
 * and so it is when what has expired goes by a definition that was replaced.
 */
#pragma once
#include "partition/partition.h"

enum status upkeep_begin(struct op *op, const struct container *container, struct partition_txn **txn);

/* With all its entries; in the change log it is a delete that says why. */
enum status upkeep_remove_expired(struct op *op, struct partition_txn *txn, const struct record *item);

/*
 * The item's entries, and the version in its record, by the policy of the transaction's container. LSN, time and etag stay; the
 * change log has how it was, under a kind that no feed shows. `fits` is false, and nothing done, when the transaction has no
 * room for it beside others. One that has none for it `alone` leaves it out of the index, so that the pass can go on.
 */
enum status upkeep_index_anew(struct op *op, struct partition_txn *txn, const struct record *item, bool alone,
                              bool *fits);
