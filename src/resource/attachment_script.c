/* src/resource/attachment_script.c - attachments as scripts ask for them, in the script's transaction. */
#include <assert.h>

#include "base/limits.h"
#include "resource/attachment_private.h"
#include "resource/operations.h"
#include "resource/search.h"

/* ST_NOT_MODIFIED when the script has this version already. */
static enum status try_read(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    enum status st;

    TRY(attachment_find(op, txn, job, job->name));
    if (!job->found)
        TRY(attachment_missing(op));
    if (etag_matches(job->if_none_match, job->old.etag, job->old.ts_ms))
        TRY(op_fail_as(op, ST_NOT_MODIFIED));
    job->made = job->old;
out:
    return st;
}

static const struct way {
    const char *name;
    attachment_attempt *attempt;
    bool has_body, on_attachment;
} ways[] = {
    { "create", attachment_try_create, true, false },
    { "upsert", attachment_try_upsert, true, false },
    { "read", try_read, false, true },
    { "replace", attachment_try_replace, true, true },
    { "delete", attachment_try_delete, false, true },
};

static const struct way *find_way(struct slice name)
{
    for (size_t i = 0; name.data && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (slice_is(name, ways[i].name))
            return &ways[i];
    return NULL;
}

/* ---- one ---- */

/* The attachment is known by its name, or by its number below the item where the link is made of rids. */
static enum status read_name(struct op *op, struct json asked, struct attachment_job *job)
{
    struct slice item = operations_text(json_get(asked, "rid"));
    struct rid rid, owner;

    job->name = operations_text(json_get(asked, "attachment"));
    if (item.data) {
        if (!rid_parse(job->name, &rid) || rid_type(&rid) != RID_TYPE_ATTACHMENT ||
            !rid_parse(item, &owner) || memcmp(rid.bytes, owner.bytes, owner.size) != 0)
            return attachment_missing(op);
        job->by_number = true;
        job->number = (uint32_t)rid_number(&rid);
    }
    return job->name.data ? ST_OK : attachment_missing(op);
}

/* Only a new attachment is given an id. */
static enum status read_body(struct op *op, const struct way *way, struct json asked,
                             struct attachment_job *job)
{
    uint16_t behind; /* attachments have what the server sets last */
    enum status st = ST_OK;

    job->body = json_get(asked, "body");
    if (json_kind(job->body) != JSON_OBJECT)
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    if (!way->on_attachment)
        TRY(operations_give_id(op, json_get(asked, "options"), &job->body));
    if (json_size(job->body) > ATTACHMENT_BODY_BYTES_MAX)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    TRY(item_check_document(op, &job->body, &behind));
    TRY(attachment_check_body(op, job));
out:
    return st;
}

static void print_answer(struct op *op, const struct way *way, struct attachment_job *job,
                         struct buf *answers)
{
    if (way->attempt == attachment_try_delete) {
        buf_text(answers, "{\"status\":204,\"options\":{}}");
        return;
    }
    if (job->made.lsn == 0)
        job->made.ts_ms = op->now_ms;
    buf_printf(answers, "{\"status\":%d,\"body\":", job->found ? 200 : 201);
    attachment_print(answers, job, &job->made);
    buf_text(answers, ",\"options\":{}}");
}

/* Every attempt refuses before it writes. So the script may be told what was wrong, and go on. */
static enum status act(struct op *op, const struct operations *work, const struct way *way, struct json asked,
                       struct attachment_job *job, struct buf *answers)
{
    struct json options = json_get(asked, "options");
    enum status st = ST_OK;

    assert(job->item_id.data); /* operations_item() has found it, or refused */
    job->if_match = operations_text(json_get(options, "etag"));
    job->if_none_match = operations_text(json_get(options, "ifNoneMatch"));
    if (way->on_attachment)
        TRY(read_name(op, asked, job));
    if (way->has_body)
        TRY(read_body(op, way, asked, job));
    TRY(way->attempt(op, work->txn, job));
    print_answer(op, way, job, answers);
out:
    return st;
}

/* ---- all of an item's ---- */

static enum status list(struct op *op, const struct operations *work, struct json asked,
                        struct attachment_job *job, struct buf *answers)
{
    struct search_list rows = { .kind = &attachment_rows, .context = job };
    struct record *records;
    struct search_rows source;
    struct rid owner;
    enum status st;

    search_rows_init(op, &source, &rows);
    TRY(attachment_find_item(op, work->txn, job));
    TRY(attachment_list(op, work->txn, &job->item, &records, &rows.count));
    owner = rid_child(&work->call->container->rid, RID_DOCUMENT, job->item.number);
    rows.resource = arena_alloc(&op->arena, (rows.count + 1) * sizeof(void *));
    for (size_t i = 0; i < rows.count; i++)
        rows.resource[i] = &records[i];
    TRY(operations_search(op, work, asked, &source.base, &owner, answers));
out:
    search_rows_free(&source);
    return st;
}

enum status attachment_operate(struct op *op, const struct operations *work, struct json asked,
                               struct buf *answers)
{
    struct attachment_job job = { .call = work->call, .key = *work->key };
    struct slice name = operations_text(json_get(asked, "op"));
    const struct way *way = find_way(name);
    enum status st;

    assert(work->txn); /* scripts run inside one */
    TRY(operations_item(op, work, asked, &job.item_id));
    if (way)
        TRY(act(op, work, way, asked, &job, answers));
    else if (name.data && (slice_is(name, "readAll") || slice_is(name, "query")))
        TRY(list(op, work, asked, &job, answers));
    else
        TRY(op_fail_as(op, ST_BAD_REQUEST));
out:
    return st;
}
