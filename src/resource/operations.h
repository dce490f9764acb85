/*
 * src/resource/operations.h - what a script asks of its container, done in the script's transaction.
 * A script sees one logical partition and its own writes. When an operation itself is wrong, the script is told,
 * and may go on. Any other failure ends the script.
 */
#pragma once
#include "partition/partition.h"
#include "query/query.h"
#include "resource/call.h"
#include "script/script.h"

struct operations {
    const struct call *call;
    const struct placed_key *key;
    struct partition_txn *txn;
    struct script_session *session;
};

/* A script_operate, with a struct operations as its context. */
enum status operations_run(struct op *op, void *context, struct json operations, struct buf *answers,
                           bool *accept);

/* ---- for what else scripts may ask, in files of this folder only ---- */

/* Does an operation on the attachments of an item. One that is refused has left nothing in the transaction. */
enum status attachment_operate(struct op *op, const struct operations *work, struct json asked,
                               struct buf *answers);

/* The string; absent when the value is none. */
struct slice operations_text(struct json value);

/* Gives the document an id of ours, unless it has one or the script wants none. */
enum status operations_give_id(struct op *op, struct json options, struct json *document);

/* The id of the item that a link leads to. */
enum status operations_item(struct op *op, const struct operations *work, struct json asked,
                            struct slice *id);

/* Runs the query or the list that a script asks for over a source. Its continuation is bound to `owner`. */
enum status operations_search(struct op *op, const struct operations *work, struct json asked,
                              struct query_source *source, const struct rid *owner, struct buf *answers);

/* {"self":...,"alt":...}: how a script addresses its container. */
void operations_print_collection(struct buf *out, const struct container *container);
