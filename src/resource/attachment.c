/* src/resource/attachment.c - attachments of items: create, upsert, read, replace, list, query, delete. */
#include <assert.h>

#include "base/limits.h"
#include "reply/feed.h"
#include "resource/attachment_private.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/search.h"

/* --- operations that write --- */

static enum status exists(struct op *op)
{
    return op_fail(op, ST_EXISTS, "Resource with specified id or name already exists.");
}

/* Writes the attachment under its body's id. If another attachment has this id, it is replaced, or it is an error. */
static enum status put_named(struct op *op, struct partition_txn *txn, struct attachment_job *job,
                             bool replaces)
{
    enum status st;

    TRY(attachment_find(op, txn, job, attachment_wanted_id(job)));
    if (job->found)
        TRY(replaces ? if_match(op, job->if_match, job->old.etag, job->old.ts_ms) : exists(op));
    TRY(attachment_write(op, txn, job));
out:
    return st;
}

enum status attachment_try_create(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    return put_named(op, txn, job, false);
}

enum status attachment_try_upsert(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    return put_named(op, txn, job, true);
}

/* A replace may rename the attachment, to a name that no other has. */
static enum status check_rename(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    struct attachment_job other = *job;
    struct slice id = attachment_wanted_id(job);
    enum status st = ST_OK;

    assert(job->found); /* attachment_find_to_change() came first */
    if (id.size == 0 || slice_equal(id, json_string(json_get(job->old.document, "id"))))
        goto out;
    other.by_number = false;
    TRY(attachment_find(op, txn, &other, id));
    if (other.found && other.old.number != job->old.number)
        TRY(exists(op));
out:
    return st;
}

enum status attachment_try_replace(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    enum status st;

    TRY(attachment_find_to_change(op, txn, job));
    TRY(check_rename(op, txn, job));
    TRY(attachment_write(op, txn, job));
out:
    return st;
}

enum status attachment_try_delete(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    enum status st;

    TRY(attachment_find_to_change(op, txn, job));
    attachment_delete(op, txn, &job->item, (uint32_t)job->old.number);
out:
    return st;
}

/* Operations that have a body: reads the body, writes, and answers with the attachment. */
static enum status write_body(struct op *op, const struct call *call, struct reply *reply,
                              attachment_attempt *attempt)
{
    struct attachment_job job;
    enum status st;

    TRY(attachment_read_address(op, call, reply, &job));
    TRY(attachment_read_body(op, call, &job));
    TRY(attachment_run(op, &job, attempt));
    attachment_reply_written(reply, &job, job.found ? 200 : 201);
out:
    return st;
}

enum status attachment_create(struct op *op, struct call *call, struct reply *reply)
{
    return write_body(op, call, reply, attachment_try_create);
}

enum status attachment_upsert(struct op *op, struct call *call, struct reply *reply)
{
    return write_body(op, call, reply, attachment_try_upsert);
}

enum status attachment_replace(struct op *op, struct call *call, struct reply *reply)
{
    return write_body(op, call, reply, attachment_try_replace);
}

enum status attachment_remove(struct op *op, struct call *call, struct reply *reply)
{
    struct attachment_job job;
    enum status st;

    TRY(attachment_read_address(op, call, reply, &job));
    TRY(attachment_run(op, &job, attachment_try_delete));
    reply_session(reply, job.stamp.lsn);
    reply_status(reply, 204);
out:
    return st;
}

/* --- operations that read: a transaction that takes no lock and is never committed --- */

enum status attachment_read(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn;
    struct partition_txn *txn = NULL;
    struct attachment_job job;
    enum status st;

    TRY(attachment_read_address(op, call, reply, &job));
    TRY(scope_check_session(op, call, reply));
    lsn = scope_lsn(call, reply); /* before the read, which sees at least this */
    TRY(partition_begin_many(op, call->container, &job.key, &txn));
    TRY(attachment_find(op, txn, &job, call->id));
    if (!job.found)
        TRY(attachment_missing(op));
    TRY(call_if_none_match(op, call, reply, job.old.etag, job.old.ts_ms));
    attachment_reply(reply, &job, &job.old, lsn, 200);
out:
    partition_abort(txn);
    return st;
}

/* All attachments of an item: ATTACHMENTS_MAX at most. */
static enum status read_all(struct op *op, const struct call *call, struct reply *reply,
                            struct attachment_job *job, struct record **list, size_t *count)
{
    uint64_t lsn;
    struct partition_txn *txn = NULL;
    enum status st;

    TRY(attachment_read_address(op, call, reply, job));
    TRY(scope_check_session(op, call, reply));
    lsn = scope_lsn(call, reply); /* before the read, which sees at least this */
    TRY(partition_begin_many(op, call->container, &job->key, &txn));
    TRY(attachment_find_item(op, txn, job));
    TRY(attachment_list(op, txn, &job->item, list, count));
    assert(*count <= ATTACHMENTS_MAX);
    reply_session(reply, lsn);
out:
    partition_abort(txn);
    return st;
}

enum status attachment_feed(struct op *op, struct call *call, struct reply *reply)
{
    struct continuation at;
    struct record *list;
    struct rid owner;
    size_t limit, count, next = 0;
    struct feed feed;
    struct attachment_job job;
    enum status st;

    TRY(call_page_size(op, call, &limit));
    TRY(read_all(op, call, reply, &job, &list, &count));
    owner = container_item_rid(call->container, job.item.number);
    TRY(call_continuation(op, call, CONTINUATION_CATALOG, &owner, &at));
    while (at.after.size && next < count && list[next].number <= rid_number(&at.after))
        next++;
    feed_begin(&feed, reply, &owner, "Attachments");
    for (; next < count && feed.count < limit && reply_body(reply)->size < PAGE_BYTES_MAX; next++) {
        assert(next == 0 || list[next - 1].number < list[next].number); /* continuations rely on the order */
        feed_next(&feed);
        attachment_print(reply_body(reply), &job, &list[next]);
    }
    feed_end(&feed);
    if (next < count && next > 0) {
        at.after = attachment_rid(&job, &list[next - 1]);
        reply_continuation(reply, &at);
    }
out:
    return st;
}

static enum status print_row(struct op *op, struct buf *out, void **attachment, const void *job)
{
    (void)op;
    attachment_print(out, job, *attachment);
    return ST_OK;
}

static uint64_t number_of(const void *attachment)
{
    return ((const struct record *)attachment)->number;
}

const struct search_kind attachment_rows = { print_row, number_of, NULL };

enum status attachment_query(struct op *op, struct call *call, struct reply *reply)
{
    struct search_list rows = { .kind = &attachment_rows };
    struct record *list;
    struct rid owner;
    struct attachment_job job;
    enum status st;

    TRY(read_all(op, call, reply, &job, &list, &rows.count));
    owner = container_item_rid(call->container, job.item.number);
    rows.context = &job;
    rows.resource = arena_alloc(&op->arena, (rows.count + 1) * sizeof(void *));
    for (size_t i = 0; i < rows.count; i++)
        rows.resource[i] = &list[i];
    TRY(search_list_run(op, call, reply, &rows, &owner, "Attachments"));
out:
    return st;
}
