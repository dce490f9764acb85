/* src/resource/document.c - items: create, upsert, read, replace, patch, delete. */
#include "base/limits.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "resource/item.h"
#include "resource/patch.h"
#include "resource/resource.h"
#include "resource/usage.h"

/* How often a write that met another is tried again before the client is asked to. */
enum { CONFLICT_TRIES = 5 };

/* One write as the client asked for it, before and after it has happened. */
struct write {
    struct json document;
    const struct item_patch *patch; /* what makes the document from the old one; NULL in other operations */
    struct epk epk;
    struct slice id; /* of the item to be written: in the path, or in the document */
    struct record old, item;
    bool found;
    struct commit_stamp stamp;
};

typedef enum status attempt_function(struct op *op, const struct call *call, struct partition_txn *txn,
                                     struct write *write);

/* x-ms-indexing-directive, which route/ has checked. */
static enum indexing_wish indexing_wish_of(const struct call *call)
{
    struct slice directive = slice_trim(call_header(call, HEADER_INDEXING_DIRECTIVE));

    if (directive.data && slice_is_nocase(directive, "Include"))
        return INDEXING_INCLUDE;
    if (directive.data && slice_is_nocase(directive, "Exclude"))
        return INDEXING_EXCLUDE;
    return INDEXING_DEFAULT;
}

/* Begins, does what the operation wants, commits; again when another writer came first. */
static enum status run(struct op *op, const struct call *call, attempt_function *attempt, struct write *write)
{
    struct partition_txn *txn = NULL;
    enum status st;

    for (int tries = 0; tries < CONFLICT_TRIES; tries++) {
        TRY(partition_begin(op, call->service->locks, call->container, &write->epk, write->id, &txn));
        partition_set_indexing(txn, indexing_wish_of(call));
        TRY(attempt(op, call, txn, write));
        st = partition_commit(op, &txn, &write->stamp);
        if (st != ST_WRITE_CONFLICT)
            break;
    }
    if (st == ST_WRITE_CONFLICT)
        st = op_fail(op, ST_RETRY_WITH,
                     "Conflicting request to resource has been attempted. Retry to avoid conflicts.");
out:
    partition_abort(txn);
    return st;
}

/* Reads the document and its key, which must be the one in the header. */
static enum status read_document(struct op *op, const struct call *call, struct reply *reply,
                                 struct write *write)
{
    struct partition_key in_header, in_document;
    struct epk epk;
    bool present;
    enum status st;

    TRY(item_read_body(op, call, &write->document));
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_ITEM,
                           &in_header, &present));
    partition_key_extract(call->container, write->document, &in_document);
    partition_key_epk(call->container, &in_document, &write->epk);
    item_reply_key(reply, call, &write->epk);
    partition_key_epk(call->container, &in_header, &epk);
    if (present && !slice_equal(epk_slice(&epk), epk_slice(&write->epk)))
        TRY(op_fail(
            op, ST_KEY_MISMATCH,
            "PartitionKey extracted from document doesn't match the one specified in the header. Learn more: "
            "https://aka.ms/CosmosDB/sql/errors/wrong-pk-value"));
    write->id = json_string(json_get(write->document, "id"));
out:
    return st;
}

/* For operations without a document: the key is in the header, the id in the path. */
static enum status read_address(struct op *op, const struct call *call, struct reply *reply, struct epk *epk)
{
    struct partition_key key;
    bool present;
    enum status st;

    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_ITEM, &key,
                           &present));
    partition_key_epk(call->container, &key, epk);
    item_reply_key(reply, call, epk);
out:
    return st;
}

static enum status not_found(struct op *op)
{
    return op_fail(op, ST_ITEM_NOT_FOUND,
                   "Entity with the specified id does not exist in the system. More info: "
                   "https://aka.ms/cosmosdb-tsg-not-found");
}

static void reply_written(struct reply *reply, const struct call *call, struct write *write, int status)
{
    write->item.lsn = write->stamp.lsn;
    write->item.ts_ms = write->stamp.ts_ms;
    item_reply(reply, call, &write->item, write->stamp.lsn, status);
    usage_of_items(reply, call);
    if (call_wants_minimal(call))
        reply_drop_body(reply);
}

/* --- create --- */

static enum status try_create(struct op *op, const struct call *call, struct partition_txn *txn,
                              struct write *write)
{
    enum status st;

    (void)call;
    TRY(partition_find(op, txn, write->id, &write->old, &write->found));
    if (write->found)
        TRY(op_fail(op, ST_ITEM_EXISTS, "Entity with the specified id already exists in the system."));
    TRY(partition_create(op, txn, write->document, &write->item));
out:
    return st;
}

enum status document_create(struct op *op, struct call *call, struct reply *reply)
{
    struct write write = { 0 };
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_document(op, call, reply, &write));
    TRY(run(op, call, try_create, &write));
    reply_written(reply, call, &write, 201);
out:
    return st;
}

/* --- upsert: a replace where there is one, else a create; If-Match then has nothing to compare --- */

static enum status try_upsert(struct op *op, const struct call *call, struct partition_txn *txn,
                              struct write *write)
{
    enum status st;

    TRY(partition_find(op, txn, write->id, &write->old, &write->found));
    if (write->found) {
        TRY(call_if_match(op, call, write->old.etag, write->old.ts_ms));
        TRY(partition_replace(op, txn, &write->old, write->document, &write->item));
    } else {
        TRY(partition_create(op, txn, write->document, &write->item));
    }
out:
    return st;
}

enum status document_upsert(struct op *op, struct call *call, struct reply *reply)
{
    struct write write = { 0 };
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_document(op, call, reply, &write));
    TRY(run(op, call, try_upsert, &write));
    reply_written(reply, call, &write, write.found ? 200 : 201);
out:
    return st;
}

/* --- replace, patch and delete --- */

static enum status find_to_change(struct op *op, const struct call *call, struct partition_txn *txn,
                                  struct write *write)
{
    enum status st;

    TRY(partition_find(op, txn, write->id, &write->old, &write->found));
    if (!write->found)
        TRY(not_found(op));
    TRY(call_if_match(op, call, write->old.etag, write->old.ts_ms));
out:
    return st;
}

static enum status try_replace(struct op *op, const struct call *call, struct partition_txn *txn,
                               struct write *write)
{
    enum status st;

    TRY(find_to_change(op, call, txn, write));
    TRY(partition_replace(op, txn, &write->old, write->document, &write->item));
out:
    return st;
}

enum status document_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct write write = { 0 };
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_document(op, call, reply, &write));
    TRY(item_address(op, call, &write.epk, &write.id));
    TRY(run(op, call, try_replace, &write));
    reply_written(reply, call, &write, 200);
out:
    return st;
}

static enum status try_patch(struct op *op, const struct call *call, struct partition_txn *txn,
                             struct write *write)
{
    enum status st;

    TRY(find_to_change(op, call, txn, write));
    TRY(item_patch_apply(op, call->container, write->patch, &write->old, &write->document));
    TRY(partition_replace(op, txn, &write->old, write->document, &write->item));
out:
    return st;
}

static enum status read_patch(struct op *op, const struct call *call, struct item_patch *patch)
{
    struct json body;
    enum status st;

    if (call->request->body.size > ITEM_BYTES_MAX)
        TRY(op_fail(op, ST_TOO_LARGE, "Request size is too large"));
    TRY(json_parse(op, call->request->body, &body));
    TRY(item_patch_read(op, call, body, patch));
out:
    return st;
}

enum status document_patch(struct op *op, struct call *call, struct reply *reply)
{
    struct item_patch patch;
    struct write write = { .patch = &patch };
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_address(op, call, reply, &write.epk));
    TRY(read_patch(op, call, &patch));
    TRY(item_address(op, call, &write.epk, &write.id));
    TRY(run(op, call, try_patch, &write));
    reply_written(reply, call, &write, 200);
out:
    return st;
}

static enum status try_delete(struct op *op, const struct call *call, struct partition_txn *txn,
                              struct write *write)
{
    enum status st;

    TRY(find_to_change(op, call, txn, write));
    TRY(partition_delete(op, txn, &write->old));
out:
    return st;
}

enum status document_delete(struct op *op, struct call *call, struct reply *reply)
{
    struct write write = { 0 };
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_address(op, call, reply, &write.epk));
    TRY(item_address(op, call, &write.epk, &write.id));
    TRY(run(op, call, try_delete, &write));
    reply_session(reply, write.stamp.lsn);
    usage_of_items(reply, call);
    reply_status(reply, 204);
out:
    return st;
}

/* --- read --- */

enum status document_read(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = bucket_lsn(call->container->bucket); /* before the read, which sees at least this */
    struct record item;
    struct slice id;
    struct epk epk;
    bool found;
    enum status st;

    item_reply_owner(reply, call);
    TRY(read_address(op, call, reply, &epk));
    TRY(item_check_session(op, call, reply, lsn));
    TRY(item_address(op, call, &epk, &id));
    TRY(partition_read(op, call->service->hints, call->container, &epk, id, &item, &found));
    if (!found)
        TRY(not_found(op));
    TRY(call_if_none_match(op, call, reply, item.etag, item.ts_ms));
    item_reply(reply, call, &item, lsn, 200);
out:
    return st;
}
