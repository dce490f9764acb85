/*
 * src/partition/txn.h - what a transaction is made of, for the files of this folder only.
 * A transaction that changes an item expects it unchanged since `lsn`. That LSN is taken before the snapshot: a
 * commit in between makes this transaction's commit refused, and is never missed.
 */
#pragma once
#include "partition/measure.h"
#include "partition/partition.h"

/*
 * What a transaction does to one document: from the version before it to the version after it, one change in the log.
 */
struct txn_change {
    struct txn_change *next;
    struct change change; /* its old record points into `value` */
    uint8_t *value;       /* as the log will hold it; NULL when the document was created and deleted again */
    size_t size;
};

struct partition_txn {
    const struct container *container;
    const struct placed_key *key; /* NULL when it spans logical partitions, as a sweep does */
    struct slice id; /* of the item that it began with, and expects unchanged; data is NULL: none */
    struct slice entry_key,
        entry; /* of an id: as partition_find() read it last, or as it was changed since */
    struct batch *batch;
    struct view view;
    struct txn_change *changes, **changes_end;
    struct lock *lock;
    struct commit *pending; /* set once the transaction was handed to the committer */
    enum indexing_wish indexing;
    bool bare;       /* what it writes is RECORD_BARE */
    uint16_t behind; /* of what it writes: as in a record */
    bool expires;    /* it removes an item whose time to live is over */
    uint64_t lsn;    /* of the snapshot, or of a commit before it */
    uint64_t token;  /* tells this transaction's changes apart from others' */
    struct measure measure;
};

/* Without a lock and without expectations. partition_commit() or partition_abort() ends it. */
enum status txn_open(struct op *op, const struct container *container, struct partition_txn **txn);

/* Decodes a record of the view. A record that the transaction has written itself gets the op's time. */
enum status txn_decode(struct op *op, struct slice value, struct record *item);

void txn_expect_item(struct partition_txn *txn, struct slice epk, struct slice id);

/* Notes a change for the log. `old` is the record before it, NULL for a create. */
enum status txn_log(struct op *op, struct partition_txn *txn, struct change change, const struct record *old);

/*
 * Removes an expired item with all its entries, and expects it unchanged. It need not be the item that the txn began
 * with.
 */
enum status txn_remove_expired(struct op *op, struct partition_txn *txn, const struct record *old);
