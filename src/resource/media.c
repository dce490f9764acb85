/* src/resource/media.c - the media of attachments that are kept here: read and replaced at /media/{rid}. */
#include <assert.h>

#include "resource/attachment_private.h"
#include "resource/resource.h"
#include "resource/scope.h"

/* The path has the attachment's rid and nothing else, so the item is found by its number. */
static enum status read_media_address(struct op *op, const struct call *call, struct reply *reply,
                                      struct attachment_job *job)
{
    struct record item;
    struct rid rid, document;
    uint64_t number;
    bool found = false;
    enum status st = ST_OK;

    *job = (struct attachment_job){
        .call = call, .name = call->id, .if_match = call_header(call, HEADER_IF_MATCH), .by_number = true
    };
    if (!call->container || !rid_parse(call->id, &rid) || rid_type(&rid) != RID_TYPE_ATTACHMENT)
        TRY(attachment_missing(op));
    scope_all(reply, call);
    document = rid;
    document.size = RID_CHILD_BYTES;
    if (container_item_number(call->container, &document, &number))
        TRY(partition_at(op, call->container, number, &item, &found));
    if (!found)
        TRY(attachment_missing(op));
    job->number = (uint32_t)rid_number(&rid);
    job->item_id = json_string(json_get(item.document, "id"));
    partition_key_extract(call->container, item.document, &job->key.values);
    partition_key_place(call->container, &job->key);
    scope_key(reply, call, &job->key);
out:
    return st;
}

enum status media_read(struct op *op, struct call *call, struct reply *reply)
{
    struct partition_txn *txn = NULL;
    struct slice bytes = { 0 };
    struct attachment_job job;
    enum status st;

    TRY(read_media_address(op, call, reply, &job));
    TRY(partition_begin_many(op, call->container, &job.key, &txn));
    TRY(attachment_find(op, txn, &job, call->id));
    if (job.found)
        TRY(attachment_media(op, txn, &job.item, job.number, &bytes));
    if (!bytes.data)
        TRY(attachment_missing(op));
    TRY(call_if_none_match(op, call, reply, job.old.etag, job.old.ts_ms));
    buf_slice(reply_body(reply), bytes);
    reply->content_type = json_string(json_get(job.old.document, "contentType"));
    reply_etag(reply, job.old.etag, job.old.ts_ms);
    reply_session(reply, scope_lsn(call, reply));
out:
    partition_abort(txn);
    return st;
}

/* Only media that are kept here can be replaced: an attachment may also point elsewhere. */
static enum status try_media_replace(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    struct slice bytes;
    enum status st;

    assert(job->by_number); /* the path of media has nothing but a rid */
    TRY(attachment_find_to_change(op, txn, job));
    TRY(attachment_media(op, txn, &job->item, job->number, &bytes));
    if (!bytes.data)
        TRY(attachment_missing(op));
    job->slug = (struct slice){ 0 };
    TRY(attachment_write(op, txn, job));
out:
    return st;
}

enum status media_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct attachment_job job;
    enum status st;

    TRY(read_media_address(op, call, reply, &job));
    TRY(attachment_read_media(op, call, &job));
    TRY(attachment_run(op, &job, try_media_replace));
    attachment_reply_written(reply, &job, 200);
out:
    return st;
}
