/*
 * src/resource/action.h - one action on one item: what a request asks for, and an operation of a batch as well.
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
    struct epk epk;
    struct slice id;                      /* of the item that it is about */
    struct json document;                 /* to be written; a patch makes it from the old one */
    struct item_patch patch;              /* of a patch */
    struct slice if_match, if_none_match; /* ETags; data is NULL where there is no condition */
    enum indexing_wish indexing;          /* of what it writes */

    struct partition_txn *txn; /* its own, while it is being committed */
    bool found;                /* what was there when it was taken: */
    struct record old;         /* if found */
    struct record item;        /* as it was read or is to be written; its LSN is 0 until that is committed */
};

/* The partition key and the id of its document; a replace is about another id where the client says so. */
void action_place(const struct container *container, struct action *action);

/* ST_KEY_MISMATCH when its document belongs under another key than the one that the client names. */
enum status action_check_key(struct op *op, const struct action *action, const struct epk *named);

/* Does it in the transaction, which sees what was done in it before. ST_NOT_MODIFIED: a read had nothing new to tell. */
enum status action_take(struct op *op, const struct container *container, struct partition_txn *txn,
                        struct action *action);

/* Begins, takes, commits; again when another writer came first, and ST_RETRY_WITH when many did. */
enum status action_run(struct op *op, const struct call *call, struct action *action,
                       struct commit_stamp *stamp);

/* After an action_run() that was ST_PENDING. ST_WRITE_CONFLICT: nothing was written; it is for a thread that may wait. */
enum status action_end(struct op *op, struct action *action, struct commit_stamp *stamp);

/* What an attempt in vain has allocated and counted is given back before the next one: the client pays for one. */
struct action_attempt {
    struct op_mark mark;
    struct work work;
};

struct action_attempt action_attempt_begin(const struct op *op);
void action_attempt_again(struct op *op, const struct action_attempt *begun);

/* A transaction that met others a few times is given up: ST_RETRY_WITH. */
enum { ACTION_TRIES = 5 };

/* After the commit: its LSN and time are the item's, if the item was written by it. */
void action_stamp(struct action *action, struct commit_stamp stamp);

/* Whether a failure lies in what was asked, and not in the moment. */
bool action_is_to_blame(enum status st);

/* The HTTP status of one that went well. */
int action_status(const struct action *action);
