/*
 * src/resource/attachment.c - attachments of items: create, upsert, read, replace, list, query, delete; and their media.
 * A body is the attachment as JSON, which names media that lie elsewhere, or it is the media themselves, with the name
 * in the Slug header: those are kept here, and /media/<the attachment's rid> leads to them.
 */
#include "partition/attachment.h"
#include "base/limits.h"
#include "partition/key.h"
#include "reply/feed.h"
#include "resource/item.h"
#include "resource/resource.h"
#include "resource/search.h"
#include "resource/system.h"

enum { CONFLICT_TRIES = 5 };

/* What a request is about, before and after it has happened. */
struct job {
    const struct call *call;
    struct epk epk;
    struct slice item_id;
    bool by_number; /* of media: the attachment is known by its rid alone */
    uint32_t number;

    bool has_media; /* the body is the media; else `body` is the attachment */
    struct slice media, type, slug;
    struct json body;

    struct record item, old, made;
    bool found;
    struct commit_stamp stamp;
};

static struct rid rid_of(const struct job *job, const struct record *attachment)
{
    struct rid item = rid_child(&job->call->container->rid, RID_DOCUMENT, job->item.number);

    return rid_attachment(&item, (uint32_t)attachment->number);
}

static struct slice id_of(const struct record *attachment)
{
    return json_string(json_get(attachment->document, "id"));
}

static enum status not_found(struct op *op)
{
    return op_fail(op, ST_NOT_FOUND, "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found");
}

/* --- printing --- */

static void print_attachment(struct buf *body, const struct job *job, const struct record *attachment)
{
    const struct container *container = job->call->container;
    struct rid item = rid_child(&container->rid, RID_DOCUMENT, job->item.number);
    struct rid rid = rid_of(job, attachment);

    buf_byte(body, '{');
    json_print_members(body, attachment->document);
    buf_text(body, ",\"_rid\":\"");
    rid_print(body, &rid);
    buf_text(body, "\",\"_self\":\"dbs/");
    rid_print(body, &container->database->rid);
    buf_text(body, "/colls/");
    rid_print(body, &container->rid);
    buf_text(body, "/docs/");
    rid_print(body, &item);
    buf_text(body, "/attachments/");
    rid_print(body, &rid);
    buf_text(body, "/\",");
    print_etag_member(body, attachment->etag, attachment->ts_ms);
    buf_byte(body, ',');
    print_ts_member(body, attachment->ts_ms);
    buf_byte(body, '}');
}

static void reply_attachment(struct reply *reply, const struct job *job, const struct record *attachment,
                             uint64_t lsn, int status)
{
    print_attachment(reply_body(reply), job, attachment);
    reply_etag(reply, attachment->etag, attachment->ts_ms);
    reply_session(reply, lsn);
    reply_status(reply, status);
}

static void reply_written(struct reply *reply, struct job *job, int status)
{
    job->made.lsn = job->stamp.lsn;
    job->made.ts_ms = job->stamp.ts_ms;
    reply_attachment(reply, job, &job->made, job->stamp.lsn, status);
    if (call_wants_minimal(job->call))
        reply_drop_body(reply);
}

/* --- reading the request --- */

/* The item that the path names, with the partition key of the header. */
static enum status read_address(struct op *op, const struct call *call, struct reply *reply, struct job *job)
{
    struct call owner = *call;
    struct partition_key key;
    bool present;
    enum status st;

    *job = (struct job){ .call = call };
    item_reply_owner(reply, call);
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_ITEM, &key,
                           &present));
    partition_key_epk(call->container, &key, &job->epk);
    item_reply_key(reply, call, &job->epk);
    owner.id = call->item;
    TRY(item_address(op, &owner, &job->epk, &job->item_id));
out:
    return st;
}

/* It will be a header: a client must not write others with it. */
static enum status check_type(struct op *op, struct slice type)
{
    bool good = type.size > 0 && type.size <= MEDIA_TYPE_BYTES_MAX;

    for (size_t i = 0; good && i < type.size; i++)
        good = type.data[i] >= ' ' && type.data[i] < 0x7f;
    if (!good)
        return op_fail(op, ST_BAD_REQUEST, "The content type of the attachment is invalid.");
    return ST_OK;
}

static bool sends_media(const struct call *call)
{
    struct slice type = slice_trim(call_header(call, HEADER_CONTENT_TYPE));

    return call_header(call, HEADER_SLUG).data ||
           (type.data && type.size && !slice_starts_with(type, "application/json"));
}

static enum status read_media(struct op *op, const struct call *call, struct job *job)
{
    struct slice type = slice_trim(call_header(call, HEADER_CONTENT_TYPE));

    job->has_media = true;
    job->slug = slice_trim(call_header(call, HEADER_SLUG));
    job->media = call->request->body.size ? call->request->body : slice_of("");
    job->type = type.data && type.size ? type : slice_of("application/octet-stream");
    if (job->media.size > MEDIA_BYTES_MAX)
        return op_fail(op, ST_TOO_LARGE, "Request size is too large");
    if (job->slug.size > ITEM_ID_BYTES_MAX)
        return op_fail(op, ST_BAD_REQUEST, "The Slug header is too long for an id.");
    return check_type(op, job->type);
}

static enum status read_json(struct op *op, const struct call *call, struct job *job)
{
    struct json type, media;
    enum status st;

    if (call->request->body.size > ATTACHMENT_BODY_BYTES_MAX)
        TRY(op_fail(op, ST_TOO_LARGE, "Request size is too large"));
    TRY(item_read_body(op, call, &job->body));
    type = json_get(job->body, "contentType");
    media = json_get(job->body, "media");
    if (json_kind(type) != JSON_STRING || json_kind(media) != JSON_STRING)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The input content is invalid because the required properties - 'contentType; media; ' "
                    "- are missing"));
    TRY(check_type(op, json_string(type)));
out:
    return st;
}

static enum status read_body(struct op *op, const struct call *call, struct job *job)
{
    return sends_media(call) ? read_media(op, call, job) : read_json(op, call, job);
}

/* --- inside a transaction --- */

static enum status find_item(struct op *op, struct partition_txn *txn, struct job *job)
{
    bool found;
    enum status st;

    TRY(partition_find(op, txn, job->item_id, &job->item, &found));
    if (!found)
        TRY(not_found(op));
out:
    return st;
}

/* By its id, or by its rid where the whole path is made of rids. */
static bool is_named(const struct job *job, const struct record *attachment, struct slice name)
{
    struct rid rid = rid_of(job, attachment), given;

    if (job->by_number)
        return attachment->number == job->number;
    return slice_equal(id_of(attachment), name) ||
           (job->call->by_rid && rid_parse(name, &given) && rid_equal(&given, &rid));
}

static enum status find(struct op *op, struct partition_txn *txn, struct job *job, struct slice name)
{
    struct record *list;
    size_t count;
    enum status st;

    TRY(find_item(op, txn, job));
    TRY(attachment_list(op, txn, &job->item, &list, &count));
    job->found = false;
    for (size_t i = 0; i < count && !job->found; i++) {
        job->found = is_named(job, &list[i], name);
        job->old = list[i];
    }
out:
    return st;
}

static enum status find_to_change(struct op *op, struct partition_txn *txn, struct job *job)
{
    enum status st;

    TRY(find(op, txn, job, job->call->id));
    if (!job->found)
        TRY(not_found(op));
    TRY(call_if_match(op, job->call, job->old.etag, job->old.ts_ms));
out:
    return st;
}

static void print_media_link(struct buf *out, const struct rid *rid)
{
    buf_text(out, "/media/");
    rid_print(out, rid);
}

/* What an upload is known as. Parsed from text, because a header's bytes may be no UTF-8. */
static enum status describe_media(struct op *op, const struct job *job, struct slice id,
                                  const struct rid *rid, struct json *document)
{
    struct buf text;

    buf_init(&text, &op->arena);
    buf_text(&text, "{\"contentType\":");
    json_print_string(&text, job->type);
    buf_text(&text, ",\"id\":");
    json_print_string(&text, id);
    buf_text(&text, ",\"media\":\"");
    print_media_link(&text, rid);
    buf_text(&text, "\"}");
    return json_parse(op, buf_as_slice(&text), document);
}

static struct slice new_id(struct op *op)
{
    char *text = arena_alloc(&op->arena, ACTIVITY_ID_SIZE + 1);

    env_guid(op->env, text);
    return slice_of(text);
}

/* The id that an upload is to have: the client's, or the one it has already, or a new one. */
static struct slice id_of_upload(struct op *op, const struct job *job)
{
    if (job->slug.size)
        return job->slug;
    return job->found ? id_of(&job->old) : new_id(op);
}

/* Media that are here stay when the attachment still points at them. */
static bool keeps_media(struct op *op, const struct job *job, const struct rid *rid)
{
    struct buf link;

    if (job->has_media || !job->found)
        return false;
    buf_init(&link, &op->arena);
    print_media_link(&link, rid);
    return slice_equal(json_string(json_get(job->body, "media")), buf_as_slice(&link));
}

/* `old` is what it takes the place of, when it was found. */
static enum status put(struct op *op, struct partition_txn *txn, struct job *job)
{
    struct record numbered = job->old;
    struct json document = job->body;
    uint32_t number;
    struct rid rid;
    enum status st;

    if (!job->found) {
        TRY(attachment_number(op, txn, &job->item, &number));
        numbered.number = number;
    }
    rid = rid_of(job, &numbered);
    if (job->has_media)
        TRY(describe_media(op, job, id_of_upload(op, job), &rid, &document));
    TRY(attachment_put(op, txn, &job->item, (uint32_t)numbered.number, document, job->media,
                       keeps_media(op, job, &rid), &job->made));
out:
    return st;
}

static struct slice wanted_id(const struct job *job)
{
    return job->has_media ? job->slug : json_string(json_get(job->body, "id"));
}

static enum status exists(struct op *op)
{
    return op_fail(op, ST_EXISTS, "Resource with specified id or name already exists.");
}

static enum status try_create(struct op *op, struct partition_txn *txn, struct job *job)
{
    enum status st;

    TRY(find(op, txn, job, wanted_id(job)));
    if (job->found)
        TRY(exists(op));
    TRY(put(op, txn, job));
out:
    return st;
}

static enum status try_upsert(struct op *op, struct partition_txn *txn, struct job *job)
{
    enum status st;

    TRY(find(op, txn, job, wanted_id(job)));
    if (job->found)
        TRY(call_if_match(op, job->call, job->old.etag, job->old.ts_ms));
    TRY(put(op, txn, job));
out:
    return st;
}

/* It may be renamed, to a name that no other has. */
static enum status check_rename(struct op *op, struct partition_txn *txn, struct job *job)
{
    struct job other = *job;
    struct slice id = wanted_id(job);
    enum status st = ST_OK;

    if (id.size == 0 || slice_equal(id, id_of(&job->old)))
        goto out;
    other.by_number = false;
    TRY(find(op, txn, &other, id));
    if (other.found && other.old.number != job->old.number)
        TRY(exists(op));
out:
    return st;
}

static enum status try_replace(struct op *op, struct partition_txn *txn, struct job *job)
{
    enum status st;

    TRY(find_to_change(op, txn, job));
    TRY(check_rename(op, txn, job));
    TRY(put(op, txn, job));
out:
    return st;
}

static enum status try_delete(struct op *op, struct partition_txn *txn, struct job *job)
{
    enum status st;

    TRY(find_to_change(op, txn, job));
    attachment_delete(op, txn, &job->item, (uint32_t)job->old.number);
out:
    return st;
}

typedef enum status attempt_function(struct op *op, struct partition_txn *txn, struct job *job);

/* As a write of the item: whoever else writes it waits, or is refused. */
static enum status run(struct op *op, struct job *job, attempt_function *attempt)
{
    const struct call *call = job->call;
    struct partition_txn *txn = NULL;
    enum status st;

    for (int tries = 0; tries < CONFLICT_TRIES; tries++) {
        TRY(partition_begin(op, call->service->locks, call->container, &job->epk, job->item_id, &txn));
        TRY(attempt(op, txn, job));
        st = partition_commit(op, &txn, &job->stamp);
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

/* --- operations that write --- */

enum status attachment_create(struct op *op, struct call *call, struct reply *reply)
{
    struct job job;
    enum status st;

    TRY(read_address(op, call, reply, &job));
    TRY(read_body(op, call, &job));
    TRY(run(op, &job, try_create));
    reply_written(reply, &job, 201);
out:
    return st;
}

enum status attachment_upsert(struct op *op, struct call *call, struct reply *reply)
{
    struct job job;
    enum status st;

    TRY(read_address(op, call, reply, &job));
    TRY(read_body(op, call, &job));
    TRY(run(op, &job, try_upsert));
    reply_written(reply, &job, job.found ? 200 : 201);
out:
    return st;
}

enum status attachment_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct job job;
    enum status st;

    TRY(read_address(op, call, reply, &job));
    TRY(read_body(op, call, &job));
    TRY(run(op, &job, try_replace));
    reply_written(reply, &job, 200);
out:
    return st;
}

enum status attachment_remove(struct op *op, struct call *call, struct reply *reply)
{
    struct job job;
    enum status st;

    TRY(read_address(op, call, reply, &job));
    TRY(run(op, &job, try_delete));
    reply_session(reply, job.stamp.lsn);
    reply_status(reply, 204);
out:
    return st;
}

/* --- operations that read: a transaction that takes no lock and is never committed --- */

enum status attachment_read(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn = bucket_lsn(call->container->bucket);
    struct partition_txn *txn = NULL;
    struct job job;
    enum status st;

    TRY(read_address(op, call, reply, &job));
    TRY(item_check_session(op, call, reply, lsn));
    TRY(partition_begin_many(op, call->container, &job.epk, &txn));
    TRY(find(op, txn, &job, call->id));
    if (!job.found)
        TRY(not_found(op));
    TRY(call_if_none_match(op, call, reply, job.old.etag, job.old.ts_ms));
    reply_attachment(reply, &job, &job.old, lsn, 200);
out:
    partition_abort(txn);
    return st;
}

/* All of an item's: a hundred at most. */
static enum status read_all(struct op *op, const struct call *call, struct reply *reply, struct job *job,
                            struct record **list, size_t *count)
{
    uint64_t lsn = bucket_lsn(call->container->bucket);
    struct partition_txn *txn = NULL;
    enum status st;

    TRY(read_address(op, call, reply, job));
    TRY(item_check_session(op, call, reply, lsn));
    TRY(partition_begin_many(op, call->container, &job->epk, &txn));
    TRY(find_item(op, txn, job));
    TRY(attachment_list(op, txn, &job->item, list, count));
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
    struct job job;
    enum status st;

    TRY(call_page_size(op, call, &limit));
    TRY(read_all(op, call, reply, &job, &list, &count));
    owner = rid_child(&call->container->rid, RID_DOCUMENT, job.item.number);
    TRY(call_continuation(op, call, CONTINUATION_CATALOG, &owner, &at));
    while (at.after.size && next < count && list[next].number <= rid_number(&at.after))
        next++;
    feed_begin(&feed, reply, &owner, "Attachments");
    for (; next < count && feed.count < limit && reply_body(reply)->size < PAGE_BYTES_MAX; next++) {
        feed_next(&feed);
        print_attachment(reply_body(reply), &job, &list[next]);
    }
    feed_end(&feed);
    if (next < count && next > 0) {
        at.after = rid_of(&job, &list[next - 1]);
        reply_continuation(reply, &at);
    }
out:
    return st;
}

static void print_row(struct buf *out, const void *attachment, const void *job)
{
    print_attachment(out, job, attachment);
}

static uint64_t number_of(const void *attachment)
{
    return ((const struct record *)attachment)->number;
}

static const struct search_kind attachments = { print_row, number_of, NULL };

enum status attachment_query(struct op *op, struct call *call, struct reply *reply)
{
    struct search_list rows = { .kind = &attachments };
    struct record *list;
    struct rid owner;
    struct job job;
    enum status st;

    TRY(read_all(op, call, reply, &job, &list, &rows.count));
    owner = rid_child(&call->container->rid, RID_DOCUMENT, job.item.number);
    rows.context = &job;
    rows.resource = arena_alloc(&op->arena, (rows.count + 1) * sizeof(void *));
    for (size_t i = 0; i < rows.count; i++)
        rows.resource[i] = &list[i];
    TRY(search_list_run(op, call, reply, &rows, &owner, "Attachments"));
out:
    return st;
}

/* --- media: the path has the attachment's rid and nothing else, so the item is found by its number --- */

static enum status read_media_address(struct op *op, const struct call *call, struct reply *reply,
                                      struct job *job)
{
    struct record item;
    struct rid rid, document;
    uint64_t number;
    bool found = false;
    enum status st = ST_OK;

    *job = (struct job){ .call = call, .by_number = true };
    if (!call->container || !rid_parse(call->id, &rid) || rid_type(&rid) != RID_TYPE_ATTACHMENT)
        TRY(not_found(op));
    item_reply_owner(reply, call);
    document = rid;
    document.size = RID_CHILD_BYTES;
    if (rid_child_number(&document, RID_DOCUMENT, &number))
        TRY(partition_at(op, call->container, number, &item, &found));
    if (!found)
        TRY(not_found(op));
    job->number = (uint32_t)rid_number(&rid);
    job->item_id = json_string(json_get(item.document, "id"));
    job->epk.size = (uint16_t)item.epk.size;
    memcpy(job->epk.bytes, item.epk.data, item.epk.size);
    item_reply_key(reply, call, &job->epk);
out:
    return st;
}

enum status media_read(struct op *op, struct call *call, struct reply *reply)
{
    struct partition_txn *txn = NULL;
    struct slice bytes = { 0 };
    struct job job;
    enum status st;

    TRY(read_media_address(op, call, reply, &job));
    TRY(partition_begin_many(op, call->container, &job.epk, &txn));
    TRY(find(op, txn, &job, call->id));
    if (job.found)
        TRY(attachment_media(op, txn, &job.item, job.number, &bytes));
    if (!bytes.data)
        TRY(not_found(op));
    TRY(call_if_none_match(op, call, reply, job.old.etag, job.old.ts_ms));
    buf_slice(reply_body(reply), bytes);
    reply->content_type = json_string(json_get(job.old.document, "contentType"));
    reply_etag(reply, job.old.etag, job.old.ts_ms);
    reply_session(reply, bucket_lsn(call->container->bucket));
out:
    partition_abort(txn);
    return st;
}

/* Media that lie elsewhere are not replaced from here. */
static enum status try_media_replace(struct op *op, struct partition_txn *txn, struct job *job)
{
    struct slice bytes;
    enum status st;

    TRY(find_to_change(op, txn, job));
    TRY(attachment_media(op, txn, &job->item, job->number, &bytes));
    if (!bytes.data)
        TRY(not_found(op));
    job->slug = (struct slice){ 0 };
    TRY(put(op, txn, job));
out:
    return st;
}

enum status media_replace(struct op *op, struct call *call, struct reply *reply)
{
    struct job job;
    enum status st;

    TRY(read_media_address(op, call, reply, &job));
    TRY(read_media(op, call, &job));
    TRY(run(op, &job, try_media_replace));
    reply_written(reply, &job, 200);
out:
    return st;
}
