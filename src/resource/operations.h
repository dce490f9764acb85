/*
 * src/resource/operations.h - what a script asks of its container, done in the script's transaction.
 * A script sees one logical partition and its own writes. What is wrong with an operation it is told, and may go on;
 * what is wrong with the moment ends it.
 */
#pragma once
#include "partition/partition.h"
#include "query/query.h"
#include "resource/call.h"
#include "script/script.h"

struct operations {
    const struct call *call;
    const struct epk *epk;
    const struct partition_key *key; /* the same as values, where they are known; or NULL */
    struct partition_txn *txn;
    struct script_session *session;
};

/* A script_operate, with a struct operations as its context. */
enum status operations_run(struct op *op, void *context, struct json operations, struct buf *answers,
                           bool *accept);

/* ---- for what else scripts may ask, in files of this folder only ---- */

/* On the attachments of an item. What it refuses has left nothing in the transaction. */
enum status attachment_operate(struct op *op, const struct operations *work, struct json asked,
                               struct buf *answers);

/* Absent when it is no string. */
struct slice operations_text(struct json value);

/* The document with an id of ours, unless it has one or the script wants none. */
enum status operations_give_id(struct op *op, struct json options, struct json *document);

/* The id of the item that a link leads to. */
enum status operations_item(struct op *op, const struct operations *work, struct json asked,
                            struct slice *id);

/* The query or list that is asked for, over a source; `owner` is what its continuation is bound to. */
enum status operations_search(struct op *op, const struct operations *work, struct json asked,
                              struct query_source *source, const struct rid *owner, struct buf *answers);

/* {"self":...,"alt":...}: how a script addresses its container. */
void operations_print_collection(struct buf *out, const struct container *container);
