/* src/resource/item.c - what the operations on items share. */
#include <assert.h>

#include "base/limits.h"
#include "catalog/definition.h"
#include "partition/partition.h"
#include "resource/item.h"
#include "resource/system.h"

/* The server sets these: what a client sends under these names is dropped. */
static const char *const system_names[] = { "_rid", "_self", "_etag", "_attachments", "_ts" };

bool item_is_system_name(struct slice name)
{
    if (name.size == 0 || name.data[0] != '_')
        return false;
    for (size_t i = 0; i < sizeof(system_names) / sizeof(system_names[0]); i++)
        if (slice_is(name, system_names[i]))
            return true;
    return false;
}

/* Members that are not the server's, behind the first one that is. Of too many to count none is told. */
static uint16_t count_behind(struct json document)
{
    size_t behind = 0;
    bool any = false;

    for (struct json_iter i = json_iter(document); json_next(&i);) {
        bool is_system = item_is_system_name(i.name);

        any |= is_system;
        behind += any && !is_system;
    }
    return behind <= UINT16_MAX ? (uint16_t)behind : 0;
}

static enum status drop_system_names(struct op *op, struct json *document, uint16_t *behind)
{
    struct json_builder out;
    bool any = false;

    *behind = 0;
    for (struct json_iter i = json_iter(*document); json_next(&i);)
        any |= item_is_system_name(i.name);
    if (!any)
        return ST_OK;
    *behind = count_behind(*document);
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    for (struct json_iter i = json_iter(*document); json_next(&i);) {
        if (item_is_system_name(i.name))
            continue;
        json_add_name(&out, i.name);
        json_add(&out, i.value);
    }
    json_end(&out);
    *document = json_built(&out);
    if (json_kind(*document) == JSON_UNDEFINED)
        return op_fail_as(op, ST_TOO_LARGE);
    return ST_OK;
}

static enum status check_id(struct op *op, struct json id)
{
    if (json_kind(id) == JSON_UNDEFINED)
        return op_fail(op, ST_BAD_REQUEST,
                       "The input content is invalid because the required properties - 'id; ' - are missing");
    if (json_kind(id) != JSON_STRING)
        return op_fail_as(op, ST_BAD_REQUEST);
    if (json_string(id).size == 0 || json_string(id).size > ITEM_ID_BYTES_MAX)
        return op_fail(
            op, ST_BAD_REQUEST,
            "The input name '%.*s' is invalid. Ensure to provide a unique non-empty string less than '1024' "
            "characters.",
            json_string(id).size > 300 ? 300 : (int)json_string(id).size, json_string(id).data);
    return ST_OK;
}

enum status item_check_document(struct op *op, struct json *document, uint16_t *behind)
{
    enum status st;

    assert(json_kind(*document) == JSON_OBJECT); /* callers refuse others, each in its own words */
    TRY(check_id(op, json_get(*document, "id")));
    if (json_kind(json_get(*document, "ttl")) != JSON_UNDEFINED)
        TRY(ttl_check(op, json_get(*document, "ttl")));
    TRY(drop_system_names(op, document, behind));
out:
    return st;
}

enum status item_read_body(struct op *op, const struct call *call, size_t bytes_max, struct json *document,
                           uint16_t *behind)
{
    enum status st;

    TRY(call_body(op, call, bytes_max, document));
    TRY(item_check_document(op, document, behind));
out:
    return st;
}

/* One byte of a value becomes at most six bytes of text ("\u0001"). So most documents need not be printed. */
size_t item_text_bytes(struct op *op, struct json document, size_t enough)
{
    struct arena_mark mark = arena_mark(&op->arena);
    struct buf text;
    size_t bytes = 6 * json_size(document);

    if (bytes <= enough)
        return bytes;
    buf_init(&text, &op->arena);
    json_print(&text, document);
    bytes = text.failed ? SIZE_MAX : text.size;
    arena_rewind(&op->arena, mark);
    return bytes;
}

enum status item_check_size(struct op *op, struct json document)
{
    if (item_text_bytes(op, document, ITEM_BYTES_MAX) <= ITEM_BYTES_MAX)
        return ST_OK;
    return op_fail_as(op, ST_TOO_LARGE);
}

static bool is_rid_here(const struct call *call, uint64_t *number)
{
    struct rid rid;

    return call->by_rid && rid_parse(call->id, &rid) && container_item_number(call->container, &rid, number);
}

enum status item_address(struct op *op, const struct call *call, const struct placed_key *key,
                         struct slice *id)
{
    struct slice found = { 0 };
    uint64_t number;
    enum status st = ST_OK;

    if (is_rid_here(call, &number))
        TRY(partition_id_of(op, call->container, key, number, &found));
    *id = found.data ? found : call->id; /* an id may look like a rid, and be none */
out:
    return st;
}

static void print_docs(struct buf *body, const struct container *container)
{
    buf_text(body, "dbs/");
    rid_print(body, &container->database->rid);
    buf_text(body, "/colls/");
    rid_print(body, &container->rid);
    buf_text(body, "/docs/");
}

void item_print_self(struct buf *body, const struct container *container, const struct rid *item)
{
    print_docs(body, container);
    rid_print(body, item);
    buf_byte(body, '/');
}

/* Likewise, of a rid that the buffer has from `rid` on. */
static void print_self_of(struct buf *body, const struct container *container, size_t rid, size_t size)
{
    print_docs(body, container);
    if (buf_reserve(body, size)) /* it may move, but not while it is copied from */
        buf_append(body, body->data + rid, size);
    buf_byte(body, '/');
}

/* Prints the item up to its closing brace; a bare one says neither where it is nor where its attachments are. */
static void print_open(struct buf *body, const struct container *container, const struct record *item,
                       bool bare)
{
    struct rid rid = container_item_rid(container, item->number);
    struct json front, back;
    size_t at, size;

    json_split(body->arena, item->document, item->behind, &front, &back);
    buf_byte(body, '{');
    if (json_print_members(body, front))
        buf_byte(body, ',');
    buf_text(body, "\"_rid\":\"");
    at = body->size;
    rid_print(body, &rid);
    size = body->size - at;
    if (!bare) {
        buf_text(body, "\",\"_self\":\"");
        print_self_of(body, container, at, size);
    }
    buf_text(body, "\",");
    print_etag_member(body, item->etag, item->ts_ms);
    buf_text(body, bare ? "," : ",\"_attachments\":\"attachments/\",");
    print_ts_member(body, item->ts_ms);
    if (json_kind(back) == JSON_OBJECT) {
        buf_byte(body, ',');
        json_print_members(body, back);
    }
}

static void print_whole(struct buf *body, const struct container *container, const struct record *item,
                        bool bare)
{
    print_open(body, container, item, bare);
    buf_byte(body, '}');
}

void item_print(struct buf *body, const struct container *container, const struct record *item)
{
    print_whole(body, container, item, false);
}

void item_print_with_lsn(struct buf *body, const struct container *container, const struct record *item)
{
    print_open(body, container, item, false);
    buf_text(body, ",\"_lsn\":");
    buf_u64(body, item->lsn);
    buf_byte(body, '}');
}

/* What system properties take beside the document, of which `_self` is the longest. */
enum { SYSTEM_BYTES_MAX = 512 };

static size_t begin_text(struct binary_writer *writer, enum binary_known name)
{
    binary_known(writer, name);
    return binary_begin_text(writer);
}

/* `_self` ends in the rid, which was spelt before: `rid` is where. */
static void write_self(struct binary_writer *writer, const struct container *container, size_t rid)
{
    size_t size = writer->out->size - rid, self = begin_text(writer, KNOWN_SELF);

    print_self_of(writer->out, container, rid, size);
    binary_end_text(writer, self);
}

static void write_whole(struct binary_writer *writer, const struct container *container,
                        const struct record *item, bool bare)
{
    struct rid rid = container_item_rid(container, item->number);
    struct binary_frame whole =
        binary_open_object(writer, binary_bytes_max(json_size(item->document)) + SYSTEM_BYTES_MAX);
    struct json front, back;
    size_t text;

    json_split(writer->out->arena, item->document, item->behind, &front, &back);
    binary_members(writer, front);
    text = begin_text(writer, KNOWN_RID);
    rid_print(writer->out, &rid);
    binary_end_text(writer, text);
    if (!bare)
        write_self(writer, container, text);
    text = begin_text(writer, KNOWN_ETAG);
    etag_print(writer->out, item->etag, item->ts_ms);
    binary_end_text(writer, text);
    if (!bare) {
        binary_known(writer, KNOWN_ATTACHMENTS);
        binary_known(writer, KNOWN_ATTACHMENTS_LINK);
    }
    binary_known(writer, KNOWN_TS);
    binary_int(writer, item->ts_ms / 1000);
    if (json_kind(back) == JSON_OBJECT)
        binary_members(writer, back);
    binary_close(writer, whole);
}

void item_write(struct binary_writer *writer, const struct container *container, const struct record *item)
{
    write_whole(writer, container, item, false);
}

static void write_body(struct buf *body, const struct container *container, const struct record *item,
                       bool bare)
{
    struct binary_writer writer;

    binary_begin(&writer, body);
    write_whole(&writer, container, item, bare);
}

void item_reply(struct reply *reply, const struct call *call, const struct record *item, enum form form,
                uint64_t lsn, int status)
{
    bool bare = item->flags & RECORD_BARE && header_is_true(call->request, HEADER_EXCLUDE_SYSTEM);
    struct buf *body = reply_body(reply);

    assert(body->size == 0); /* nothing is told before the item is read or committed */
    if (form == FORM_BINARY)
        write_body(body, call->container, item, bare);
    else
        print_whole(body, call->container, item, bare);
    reply_item(reply, &(struct reply_item){ .etag = item->etag,
                                            .ts_ms = item->ts_ms,
                                            .item_lsn = item->lsn,
                                            .session_lsn = lsn,
                                            .status = status });
}
