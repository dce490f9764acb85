/*
 * src/resource/attachment_job.c - what the operations on attachments share: reading, writing, answering.
 * A body is one of two things. It is the attachment as JSON, which names media that lie elsewhere. Or it is the
 * media, with the name in the Slug header: these are kept here, and /media/<the attachment's rid> leads to them.
 */
#include <assert.h>

#include "base/limits.h"
#include "resource/attachment_private.h"
#include "resource/scope.h"
#include "resource/system.h"

enum { CONFLICT_TRIES = 5 };

struct rid attachment_rid(const struct attachment_job *job, const struct record *attachment)
{
    struct rid item = rid_child(&job->call->container->rid, RID_DOCUMENT, job->item.number);

    assert(attachment->number <= UINT32_MAX); /* a rid has four bytes for it */
    return rid_attachment(&item, (uint32_t)attachment->number);
}

static struct slice id_of(const struct record *attachment)
{
    return json_string(json_get(attachment->document, "id"));
}

/* --- printing --- */

void attachment_print(struct buf *body, const struct attachment_job *job, const struct record *attachment)
{
    const struct container *container = job->call->container;
    struct rid item = rid_child(&container->rid, RID_DOCUMENT, job->item.number);
    struct rid rid = attachment_rid(job, attachment);

    buf_byte(body, '{');
    json_print_members(body, attachment->document);
    buf_text(body, ",\"_rid\":\"");
    rid_print(body, &rid);
    buf_text(body, "\",\"_self\":\"");
    item_print_self(body, container, &item);
    buf_text(body, "attachments/");
    rid_print(body, &rid);
    buf_text(body, "/\",");
    print_etag_member(body, attachment->etag, attachment->ts_ms);
    buf_byte(body, ',');
    print_ts_member(body, attachment->ts_ms);
    buf_byte(body, '}');
}

void attachment_reply(struct reply *reply, const struct attachment_job *job, const struct record *attachment,
                      uint64_t lsn, int status)
{
    attachment_print(reply_body(reply), job, attachment);
    reply_etag(reply, attachment->etag, attachment->ts_ms);
    reply_session(reply, lsn);
    reply_status(reply, status);
}

void attachment_reply_written(struct reply *reply, struct attachment_job *job, int status)
{
    assert(job->made.lsn == 0); /* made by this request, */
    assert(job->stamp.lsn > 0); /* which attachment_run() has committed */
    job->made.lsn = job->stamp.lsn;
    job->made.ts_ms = job->stamp.ts_ms;
    attachment_reply(reply, job, &job->made, job->stamp.lsn, status);
    if (call_wants_minimal(job->call))
        reply_drop_body(reply);
}

/* --- reading the request --- */

enum status attachment_read_address(struct op *op, const struct call *call, struct reply *reply,
                                    struct attachment_job *job)
{
    struct call owner = *call;
    enum status st;

    *job = (struct attachment_job){ .call = call,
                                    .name = call->id,
                                    .if_match = call_header(call, HEADER_IF_MATCH) };
    scope_all(reply, call);
    TRY(scope_read_key(op, call, reply, &job->key));
    owner.id = call->item;
    TRY(item_address(op, &owner, &job->key, &job->item_id));
out:
    return st;
}

/* The type becomes a header of an answer: a client must not write other headers with it. */
static enum status check_type(struct op *op, struct slice type)
{
    bool good = type.size > 0 && type.size <= MEDIA_TYPE_BYTES_MAX;

    for (size_t i = 0; good && i < type.size; i++)
        good = type.data[i] >= ' ' && type.data[i] < 0x7f;
    if (!good)
        return op_fail(op, ST_BAD_REQUEST, "The content type of the attachment is invalid.");
    return ST_OK;
}

/* Before the slash stands one of the few known kinds: the service takes "application/text", and not "junk/text". */
static enum status check_media_type(struct op *op, struct slice type)
{
    static const char *const kinds[] = { "application", "audio",     "font", "image", "message",
                                         "model",       "multipart", "text", "video" };
    const char *slash = memchr(type.data, '/', type.size);
    struct slice kind = slice_make(type.data, slash ? (size_t)(slash - type.data) : 0);

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (slice_is_nocase(kind, kinds[i]))
            return check_type(op, type);
    return op_fail(op, ST_BAD_REQUEST, "The content type of the attachment is invalid.");
}

static bool is_json(struct slice type)
{
    const char *parameters = memchr(type.data, ';', type.size);

    if (parameters)
        type.size = (size_t)(parameters - type.data);
    return slice_is_nocase(slice_trim(type), "application/json");
}

static bool sends_media(const struct call *call)
{
    struct slice type = slice_trim(call_header(call, HEADER_CONTENT_TYPE));

    return call_header(call, HEADER_SLUG).data || (type.data && type.size && !is_json(type));
}

enum status attachment_read_media(struct op *op, const struct call *call, struct attachment_job *job)
{
    struct slice type = slice_trim(call_header(call, HEADER_CONTENT_TYPE));

    job->has_media = true;
    job->slug = slice_trim(call_header(call, HEADER_SLUG));
    job->media = call->request->body.size ? call->request->body : slice_of("");
    job->type = type.data && type.size ? type : slice_of("application/octet-stream");
    if (job->media.size > MEDIA_BYTES_MAX)
        return op_fail_as(op, ST_TOO_LARGE);
    if (job->slug.size > ITEM_ID_BYTES_MAX)
        return op_fail(op, ST_BAD_REQUEST, "The Slug header is too long for an id.");
    return check_media_type(op, job->type);
}

static enum status read_json(struct op *op, const struct call *call, struct attachment_job *job)
{
    uint16_t behind; /* attachments have what the server sets last */
    enum status st;

    TRY(item_read_body(op, call, ATTACHMENT_BODY_BYTES_MAX, &job->body, &behind));
    TRY(attachment_check_body(op, job));
out:
    return st;
}

enum status attachment_check_body(struct op *op, const struct attachment_job *job)
{
    struct json type = json_get(job->body, "contentType"), media = json_get(job->body, "media");
    enum status st = ST_OK;

    if (json_kind(type) != JSON_STRING || json_kind(media) != JSON_STRING)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The input content is invalid because the required properties - 'contentType; media; ' "
                    "- are missing"));
    TRY(check_type(op, json_string(type)));
out:
    return st;
}

enum status attachment_read_body(struct op *op, const struct call *call, struct attachment_job *job)
{
    return sends_media(call) ? attachment_read_media(op, call, job) : read_json(op, call, job);
}

/* --- inside a transaction --- */

enum status attachment_find_item(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    bool found;
    enum status st;

    assert(txn);
    assert(job->item_id.data);
    TRY(partition_find(op, txn, job->item_id, &job->item, &found));
    if (!found)
        TRY(attachment_missing(op));
out:
    return st;
}

/* An attachment is named by its id, or by its rid where the whole path is made of rids. */
static bool is_named(const struct attachment_job *job, const struct record *attachment, struct slice name)
{
    struct rid rid = attachment_rid(job, attachment), given;

    if (job->by_number)
        return attachment->number == job->number;
    return slice_equal(id_of(attachment), name) ||
           (job->call->by_rid && rid_parse(name, &given) && rid_equal(&given, &rid));
}

enum status attachment_find(struct op *op, struct partition_txn *txn, struct attachment_job *job,
                            struct slice name)
{
    struct record *list;
    size_t count;
    enum status st;

    TRY(attachment_find_item(op, txn, job));
    TRY(attachment_list(op, txn, &job->item, &list, &count));
    job->found = false;
    for (size_t i = 0; i < count && !job->found; i++) {
        job->found = is_named(job, &list[i], name);
        job->old = list[i];
    }
out:
    return st;
}

enum status attachment_find_to_change(struct op *op, struct partition_txn *txn, struct attachment_job *job)
{
    enum status st;

    TRY(attachment_find(op, txn, job, job->name));
    if (!job->found)
        TRY(attachment_missing(op));
    TRY(if_match(op, job->if_match, job->old.etag, job->old.ts_ms));
out:
    return st;
}

static void print_media_link(struct buf *out, const struct rid *rid)
{
    buf_text(out, "/media/");
    rid_print(out, rid);
}

/* The JSON of uploaded media. It is parsed from text, because the bytes of a header need not be UTF-8. */
static enum status describe_media(struct op *op, const struct attachment_job *job, struct slice id,
                                  const struct rid *rid, struct json *document)
{
    struct buf text;

    assert(job->has_media);
    assert(id.size > 0); /* id_of_upload() makes one where there is none */
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

struct slice attachment_wanted_id(const struct attachment_job *job)
{
    return job->has_media ? job->slug : json_string(json_get(job->body, "id"));
}

/* The id of an upload: the one in the Slug header, else the one that it has already, else a new one. */
static struct slice id_of_upload(struct op *op, const struct attachment_job *job)
{
    if (job->slug.size)
        return job->slug;
    return job->found ? id_of(&job->old) : new_id(op);
}

/* Media that are kept here stay if the new attachment still points at them. */
static bool keeps_media(struct op *op, const struct attachment_job *job, const struct rid *rid)
{
    struct buf link;

    if (job->has_media || !job->found)
        return false;
    buf_init(&link, &op->arena);
    print_media_link(&link, rid);
    return slice_equal(json_string(json_get(job->body, "media")), buf_as_slice(&link));
}

enum status attachment_write(struct op *op, struct partition_txn *txn, struct attachment_job *job)
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
    rid = attachment_rid(job, &numbered);
    if (job->has_media)
        TRY(describe_media(op, job, id_of_upload(op, job), &rid, &document));
    TRY(attachment_put(op, txn, &job->item, (uint32_t)numbered.number, document, job->media,
                       keeps_media(op, job, &rid), &job->made));
out:
    return st;
}

enum status attachment_run(struct op *op, struct attachment_job *job, attachment_attempt *attempt)
{
    const struct call *call = job->call;
    struct partition_txn *txn = NULL;
    enum status st;

    assert(call->container); /* attachments have an item, and items a container */
    for (int tries = 0; tries < CONFLICT_TRIES; tries++) {
        TRY(partition_begin(op, call->service->locks, call->container, &job->key, job->item_id, &txn));
        TRY(attempt(op, txn, job));
        st = partition_commit(op, &txn, &job->stamp);
        if (st != ST_WRITE_CONFLICT)
            break;
    }
    if (st == ST_WRITE_CONFLICT)
        st = op_fail_as(op, ST_RETRY_WITH);
out:
    partition_abort(txn);
    return st;
}
