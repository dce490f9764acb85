/*
 * src/partition/partition.h - items of one logical partition: the only path that writes documents.
 *     partition_begin(op, locks, container, key, id, &txn);
 *     partition_find(op, txn, id, &item);            what is there now
 *     partition_create | _replace | _delete          into the transaction's write set
 *     ...                                            more of them: each sees what those before it did
 *     partition_commit(op, &txn, &stamp);            durable, all of it or nothing, or ST_WRITE_CONFLICT
 *     partition_abort(txn);                          welcome after commit too: txn is NULL then
 * On a loop thread the commit may be ST_PENDING. Then the transaction is still there, and the caller leaves the op
 * alone until it is resumed (base/op.h). The resumed op ends the transaction with
 *     partition_commit_end(op, &txn, &stamp);
 *
 * Ownership. Everything lies in the op's arena but the lock and the snapshot, which end with commit or abort. An
 *     item's bytes live as long as the op.
 * Threads. A transaction is used by one thread at a time. On a loop thread a call that would have to wait is
 *     ST_WOULD_BLOCK, and nothing has happened. It would wait for an item that the cache lacks, for a large item, and
 *     for a lock that somebody holds.
 *
 * Promises
 * 1. An item, its id entry and its change appear together or not at all.
 * 2. A transaction commits only if nobody changed its items since it began.
 * 3. A number is never given to two documents; a replace keeps it.
 * 5. An item whose time to live is over is nowhere to be seen, swept or not.
 * 6. No two items of a logical partition have the same values of a unique key.
 * 8. An item's attachments go with it.
 * 9. A transaction sees its own writes, and leaves one change of each document in the log.
 * 10. A committed item has exactly the index entries that its policy gives it.
 */
#pragma once
#include "catalog/catalog.h"
#include "keys/record.h"
#include "partition/hints.h"
#include "partition/key.h"
#include "partition/locks.h"
#include "store/view.h"

struct partition_txn;

enum status partition_begin(struct op *op, struct locks *locks, const struct container *container,
                            const struct placed_key *key, struct slice id, struct partition_txn **txn);

/*
 * partition_begin_many() begins a transaction over many items: it takes no lock, and its commit is refused when
 * others have written one of its items. A transaction that was refused is repeated with partition_begin_in_turn(): it
 * waits for the others of its logical partition that began so, and they cannot make it fail again.
 */
enum status partition_begin_many(struct op *op, const struct container *container,
                                 const struct placed_key *key, struct partition_txn **txn);
enum status partition_begin_in_turn(struct op *op, struct locks *locks, const struct container *container,
                                    const struct placed_key *key, struct partition_txn **txn);

/*
 * Transactions of several containers, or parts of them, one each, that see all of them as of one moment. They take no locks. The caller
 * says of which logical partition the next operations on one are (partition_turn_to), ends each with partition_abort(),
 * and before that commits all of them together, or none:
 * `witness` is a batch of another bucket that goes with them (store_commit_together), and holds their stamps. Each has
 * written something.
 */
enum status partition_begin_together(struct op *op, struct container *const *containers, size_t count,
                                     struct partition_txn **txns);
enum status partition_commit_together(struct op *op, struct partition_txn **txns, size_t count,
                                      const struct commit *witness);

/*
 * A transaction that began with no item of its own, as those of several containers and partition_begin_many()'s do, goes
 * on with items of another logical partition. `key` lives as long as the transaction.
 */
void partition_turn_to(struct partition_txn *txn, const struct placed_key *key);

/* The commit will be refused if this item was changed meanwhile. For items that partition_find() did not read. */
void partition_expect(struct partition_txn *txn, struct slice id);

/*
 * Called before a query inside the transaction uses the index: it orders the entries written so far. Its memory stays
 * until the transaction ends.
 */
void partition_order_entries(struct partition_txn *txn);

/* Whether the items that the transaction writes are to be indexed. By default the container's policy decides. */
enum indexing_wish { INDEXING_DEFAULT, INDEXING_INCLUDE, INDEXING_EXCLUDE };

void partition_set_indexing(struct partition_txn *txn, enum indexing_wish wish);

/* Whether the items that the transaction writes are RECORD_BARE. By default they are not. */
void partition_set_bare(struct partition_txn *txn, bool bare);

/* How many members of the items that the transaction writes stand behind the system properties. By default none do. */
void partition_set_behind(struct partition_txn *txn, uint16_t behind);

/*
 * Finds the item with that id, and expects it unchanged from here on. `found` false is an answer, not an error. An
 * expired item is not found, and the transaction removes it. An item of LSN 0 was written by this transaction.
 */
enum status partition_find(struct op *op, struct partition_txn *txn, struct slice id, struct record *item,
                           bool *found);

/*
 * The document has an id that partition_find() did not find, has no system properties, and belongs to this logical
 * partition. Create and replace answer ST_EXISTS when another item has the document's values of a unique key. A call
 * that answers ST_EXISTS or ST_ITEM_EXISTS has left nothing in the transaction, which may go on.
 */
enum status partition_create(struct op *op, struct partition_txn *txn, struct json document,
                             struct record *item);

/* `old` is what partition_find() gave. The new document may have another id, which must be free. */
enum status partition_replace(struct op *op, struct partition_txn *txn, const struct record *old,
                              struct json document, struct record *item);
enum status partition_delete(struct op *op, struct partition_txn *txn, const struct record *old);

/* When the transaction wrote nothing, the stamp has the LSN that the transaction saw, and no time. */
enum status partition_commit(struct op *op, struct partition_txn **txn, struct commit_stamp *stamp);
enum status partition_commit_end(struct op *op, struct partition_txn **txn, struct commit_stamp *stamp);

/* Several transactions of one container. Each commits or fails by itself; mostly those of a bucket share one sync. */
struct partition_ending {
    struct partition_txn *txn; /* NULL afterwards */
    struct commit_stamp stamp;
    enum status status;
    const char *error; /* the reason, where it is not ST_OK */
};

void partition_commit_many(struct op *op, struct partition_ending *endings, size_t count);

void partition_abort(struct partition_txn *txn);

/*
 * Deletes every item of the logical partition that was there when the call began, in steps that each commit. A call
 * that fails may have deleted some of them. `stamp` is the last step's; it is left alone when there was nothing to
 * delete.
 */
enum status partition_clear(struct op *op, const struct container *container, const struct placed_key *key,
                            struct commit_stamp *stamp);

/* One item, outside any transaction. `hints` may be NULL. */
enum status partition_read(struct op *op, struct hints *hints, const struct container *container,
                           const struct placed_key *key, struct slice id, struct record *item, bool *found);

/* The item with that number, of whichever logical partition. */
enum status partition_at(struct op *op, const struct container *container, uint64_t number,
                         struct record *item, bool *found);

/* The id of the item with that number; `id->data` is NULL when the logical partition has no such item. */
enum status partition_id_of(struct op *op, const struct container *container, const struct placed_key *key,
                            uint64_t number, struct slice *id);

/* The same, as the transaction sees it. */
enum status partition_id_in(struct op *op, const struct partition_txn *txn, uint64_t number,
                            struct slice *id);

/* Which items a list visits: those whose key begins with `key`, and whose EPK lies in [min, max). */
struct partition_scope {
    bool exact;            /* the key is whole, though it may be empty */
    struct placed_key key; /* empty: all */
    struct epk min, max;   /* max empty: no end */
    const struct epk
        *points; /* only EPKs that begin with one of these, in their order; NULL: any. A caller who
                                 means values has to look at the items himself, as a filter does */
    size_t point_count;
};

struct partition_page {
    struct record *item;
    size_t count;
    bool more;
    uint64_t last; /* the number after which the next page goes on */
};

/* Up to `limit` items after the number `after`, in number order; fewer when the page has enough bytes. */
enum status partition_list(struct op *op, const struct container *container,
                           const struct partition_scope *scope, uint64_t after, size_t limit,
                           struct partition_page *page);

/*
 * The same in order of creation, if the container's items were few when the first page was made (LIST_BYTES_MAX in
 * list.c); otherwise in number order. `after` is 0 or what the page before it had in `last`, which is no number here.
 */
enum status partition_list_by_creation(struct op *op, const struct container *container,
                                       const struct partition_scope *scope, uint64_t after, size_t limit,
                                       struct partition_page *page);
