/*
 * src/resource/action.h - one action on one item, as a request, a batch or a script asks for it.
 *     struct action action = { .kind = ACTION_REPLACE, .document = ..., .if_match = ... };
 *     action_place(container, &action);              where it belongs
 *     action_take(op, container, txn, &action);      into a transaction that is committed later, or never
 *     action_run(op, call, &action, &stamp);         or in one of its own
 *
 * Ownership. Everything lies in the op's arena.
 */
#pragma once
#include "partition/partition.h"
#include "resource/patch.h"

enum action_kind {
    ACTION_CREATE,
    ACTION_UPSERT,
    ACTION_READ,
    ACTION_REPLACE,
    ACTION_PATCH,
    ACTION_DELETE,
    ACTION_KINDS,
};

struct action {
    enum action_kind kind;
    struct placed_key key;
    struct slice id;                      /* of the item that it is about */
    struct json document;                 /* to be written; a patch makes it from the old one */
    struct item_patch patch;              /* of a patch */
    struct slice if_match, if_none_match; /* ETags; data is NULL where there is no condition */
    enum indexing_wish indexing;          /* of what it writes */
    bool bare;                            /* likewise: RECORD_BARE */
    uint16_t behind;                      /* likewise, of a replace: as in a record */
    bool moves; /* a replace whose document has another key than its item: refused once the item is found */

    struct partition_txn *txn; /* its own, while it is being committed */
    bool found;                /* an item with that id was there when the action was taken: */
    struct record old;         /* this one */
    struct record item; /* as it was read, or as it is to be written: then its LSN is 0 until the commit */
};

/*
 * Takes the partition key and the id from the action's document. A replace may be about an item with another id: its
 * caller sets that id afterwards.
 */
void action_place(const struct container *container, struct action *action);

/* ST_KEY_MISMATCH when the document's partition key is not the one that the client named. */
enum status action_check_key(struct op *op, const struct action *action, const struct partition_key *named);

/* ST_ITEM_NOT_FOUND, in the service's words. */
enum status action_not_found(struct op *op, enum action_kind kind);

/*
 * Does the action in the transaction, which sees its own earlier writes. ST_NOT_MODIFIED: the client of a read has
 * this version already.
 */
enum status action_take(struct op *op, const struct container *container, struct partition_txn *txn,
                        struct action *action);

/*
 * Begins a transaction, takes the action and commits. When another writer came first, it tries again. After
 * ACTION_TRIES it answers ST_RETRY_WITH.
 */
enum status action_run(struct op *op, const struct call *call, struct action *action,
                       struct commit_stamp *stamp);

/*
 * Ends an action_run() that was ST_PENDING. ST_WRITE_CONFLICT: nothing was written, and a thread that may wait has
 * to run the action again.
 */
enum status action_end(struct op *op, struct action *action, struct commit_stamp *stamp);

/*
 * What the op had allocated and counted before an attempt. The next attempt begins from there, so that the client
 * pays for one attempt only.
 */
struct action_attempt {
    struct op_mark mark;
    struct work work;
    size_t noted; /* actions, for the record of the workload */
};

struct action_attempt action_attempt_begin(const struct op *op);
void action_attempt_again(struct op *op, const struct action_attempt *begun);

/* After so many conflicts with other writers a transaction is given up: ST_RETRY_WITH. */
enum { ACTION_TRIES = 5 };

/* After the commit: the item gets the commit's LSN and time, if this action wrote the item. */
void action_stamp(struct action *action, struct commit_stamp stamp);

/* Whether a failure lies in what was asked, and not in the moment. */
bool action_is_to_blame(enum status st);

/* The HTTP status of an action that went well. */
int action_status(const struct action *action);
