/*
 * src/partition/txn.h - what a transaction is made of, for the files of this folder only.
 * Whoever changes an item expects it unchanged since `lsn`, which is taken before the snapshot:
 * what came in between is seen and refused, never missed.
 */
#pragma once
#include "partition/measure.h"
#include "partition/partition.h"

/* What a transaction does to a document: from the version before it to the one after it, one change in the log. */
struct txn_change {
    struct txn_change *next;
    struct change change; /* its old record is that in `value` */
    uint8_t *value;       /* as it goes into the log; NULL when it was created and deleted again */
    size_t size;
};

struct partition_txn {
    const struct container *container;
    const struct epk *epk; /* NULL when it spans logical partitions, as a sweep does */
    struct slice
        id; /* of the item that it began with, and expects already; data is NULL when there is none */
    struct batch *batch;
    struct view view;
    struct txn_change *changes, **changes_end;
    struct lock *lock;
    struct commit *pending; /* once its commit is with the committer, and nobody waits for it */
    enum indexing_wish indexing;
    bool expires;   /* something in it is removed because its time is over */
    uint64_t lsn;   /* not after the snapshot: what has changed since is not in the view */
    uint64_t token; /* tells this transaction's changes apart from others' */
    struct measure measure;
};

/* Without a lock and without expectations. partition_commit() or partition_abort() ends it. */
enum status txn_open(struct op *op, const struct container *container, struct partition_txn **txn);

/* A record of the view: one that the transaction has written itself gets the time of now. */
enum status txn_decode(struct op *op, struct slice value, struct record *item);

void txn_expect_item(struct partition_txn *txn, struct slice epk, struct slice id);

/* The change itself; `old` is the record that it is about, NULL for a create. */
enum status txn_log(struct op *op, struct partition_txn *txn, struct change change, const struct record *old);

/* An expired item goes with all its entries, whichever it is; it is expected unchanged first. */
enum status txn_remove_expired(struct op *op, struct partition_txn *txn, const struct record *old);
