/* src/resource/operations.c - create, read, replace, upsert, delete and queries of a script. */
#include <assert.h>

#include "resource/operations.h"
#include "base/limits.h"
#include "partition/key.h"
#include "resource/action.h"
#include "resource/function.h"
#include "resource/item.h"
#include "resource/search.h"
#include "source/items.h"

enum { PAGE_ITEMS_DYNAMIC = 1000 };

void operations_print_collection(struct buf *out, const struct container *container)
{
    buf_text(out, "{\"self\":\"dbs/");
    rid_print(out, &container->database->rid);
    buf_text(out, "/colls/");
    rid_print(out, &container->rid);
    buf_text(out, "/\",\"alt\":");
    json_print_string(out, container->link);
    buf_byte(out, '}');
}

/* ---- documents ---- */

static const struct way {
    const char *name;
    enum action_kind kind;
    bool has_body, on_document;
    const char *condition; /* the option with an ETag */
} ways[] = {
    { "create", ACTION_CREATE, true, false, NULL },      { "upsert", ACTION_UPSERT, true, false, "etag" },
    { "read", ACTION_READ, false, true, "ifNoneMatch" }, { "replace", ACTION_REPLACE, true, true, "etag" },
    { "delete", ACTION_DELETE, false, true, "etag" },
};

struct slice operations_text(struct json value)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : (struct slice){ 0 };
}

/* The service writes these in small letters. */
static enum status read_wish(struct op *op, struct json options, enum indexing_wish *wish)
{
    struct slice action = operations_text(json_get(options, "indexAction"));

    *wish = INDEXING_DEFAULT;
    if (!action.data || slice_is_nocase(action, "default"))
        return ST_OK;
    if (slice_is_nocase(action, "include"))
        *wish = INDEXING_INCLUDE;
    else if (slice_is_nocase(action, "exclude"))
        *wish = INDEXING_EXCLUDE;
    else
        return op_fail(op, ST_BAD_REQUEST, "The indexAction '%.*s' is invalid.",
                       action.size > 100 ? 100 : (int)action.size, action.data);
    return ST_OK;
}

/* What JavaScript takes for nothing. */
static bool is_falsy(struct json value)
{
    switch (json_kind(value)) {
    case JSON_UNDEFINED:
    case JSON_NULL:
    case JSON_FALSE:
        return true;
    case JSON_NUMBER:
        return json_double(value) == 0;
    case JSON_STRING:
        return json_string(value).size == 0;
    default:
        return false;
    }
}

enum status operations_give_id(struct op *op, struct json options, struct json *document)
{
    char guid[GUID_SIZE + 1];
    struct json_builder out;

    if (json_kind(json_get(options, "disableAutomaticIdGeneration")) == JSON_TRUE ||
        !is_falsy(json_get(*document, "id")))
        return ST_OK;
    env_guid(op->env, guid);
    json_builder_init(&out, &op->arena);
    json_begin_object(&out);
    json_add_members(&out, *document, "id");
    json_add_name(&out, slice_of("id"));
    json_add_string(&out, slice_make(guid, GUID_SIZE));
    json_end(&out);
    *document = json_built(&out);
    return json_kind(*document) == JSON_UNDEFINED ? op_fail_as(op, ST_TOO_LARGE) : ST_OK;
}

static enum status check_partition(struct op *op, const struct operations *work, const struct action *action)
{
    if (partition_key_equal(&action->key.values, &work->key->values))
        return ST_OK;
    return op_fail(op, ST_BAD_REQUEST,
                   "Requests originating from scripts cannot reference partition keys other than the one for "
                   "which client request was submitted.");
}

static enum status read_document(struct op *op, const struct operations *work, struct json asked,
                                 struct action *action)
{
    enum status st = ST_OK;

    action->document = json_get(asked, "body");
    if (json_kind(action->document) != JSON_OBJECT)
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    if (action->kind != ACTION_REPLACE)
        TRY(operations_give_id(op, json_get(asked, "options"), &action->document));
    TRY(item_check_document(op, &action->document, &action->behind));
    TRY(item_check_size(op, action->document));
    action_place(work->call->container, action);
    TRY(check_partition(op, work, action));
out:
    return st;
}

static bool number_of(const struct container *container, struct slice text, uint64_t *number)
{
    struct rid rid;

    return rid_parse(text, &rid) && rid_child_number(&rid, RID_DOCUMENT, number) &&
           memcmp(rid.bytes, container->rid.bytes, container->rid.size) == 0;
}

enum status operations_item(struct op *op, const struct operations *work, struct json asked, struct slice *id)
{
    struct slice rid = operations_text(json_get(asked, "rid"));
    uint64_t number;
    enum status st = ST_OK;

    *id = operations_text(json_get(asked, "id"));
    if (rid.data && number_of(work->call->container, rid, &number))
        TRY(partition_id_in(op, work->txn, number, id));
    if (!id->data)
        TRY(op_fail_as(op, ST_ITEM_NOT_FOUND));
out:
    return st;
}

static void print_item(struct op *op, const struct operations *work, const struct action *action,
                       struct buf *answers)
{
    struct record item = action->item;

    if (item.lsn == 0)
        item.ts_ms = op->now_ms;
    buf_printf(answers, "{\"status\":%d,\"body\":", action_status(action));
    item_print(answers, work->call->container, &item);
    buf_text(answers, ",\"options\":{}}");
}

/* Failures after which the transaction may go on, because the action has written nothing. */
static bool left_nothing(enum status st)
{
    return st == ST_ITEM_EXISTS || st == ST_EXISTS || st == ST_ITEM_NOT_FOUND ||
           st == ST_PRECONDITION_FAILED || st == ST_PATCH_CONDITION || st == ST_NOT_MODIFIED;
}

/* `refused` is set where the script is told of the failure. */
static enum status act(struct op *op, const struct operations *work, const struct way *way, struct json asked,
                       struct buf *answers, bool *refused)
{
    struct json options = json_get(asked, "options");
    struct action action = { .kind = way->kind, .key = *work->key };
    struct slice condition = { 0 };
    enum status st = ST_OK;

    assert(work->txn);
    *refused = true;
    TRY(read_wish(op, options, &action.indexing));
    if (way->condition)
        condition = operations_text(json_get(options, way->condition));
    if (way->kind == ACTION_READ)
        action.if_none_match = condition;
    else
        action.if_match = condition;
    if (way->has_body)
        TRY(read_document(op, work, asked, &action));
    if (way->on_document)
        TRY(operations_item(op, work, asked, &action.id));
    st = action_take(op, work->call->container, work->txn, &action);
    *refused = left_nothing(st);
    TRY(st);
    if (way->kind == ACTION_DELETE)
        buf_text(answers, "{\"status\":204,\"options\":{}}");
    else
        print_item(op, work, &action, answers);
out:
    return st;
}

/* ---- queries ---- */

static enum status read_query(struct op *op, struct json asked, struct search *search)
{
    struct json query = json_get(asked, "query");

    *search = (struct search){ .text = slice_of("SELECT * FROM c") };
    if (slice_is(operations_text(json_get(asked, "op")), "readAll"))
        return ST_OK;
    if (json_kind(query) == JSON_OBJECT) {
        search->parameters = json_get(query, "parameters");
        query = json_get(query, "query");
    }
    search->text = operations_text(query);
    if (!search->text.data ||
        (json_kind(search->parameters) != JSON_UNDEFINED && json_kind(search->parameters) != JSON_NULL &&
         json_kind(search->parameters) != JSON_ARRAY))
        return op_fail_as(op, ST_BAD_REQUEST);
    return ST_OK;
}

static enum status read_page(struct op *op, struct json options, size_t *rows)
{
    struct json size = json_get(options, "pageSize");
    int64_t wanted = PAGE_ITEMS_DEFAULT;

    if (json_kind(size) == JSON_NUMBER && json_is_int(size))
        wanted = json_int(size);
    else if (json_kind(size) != JSON_UNDEFINED)
        return op_fail_as(op, ST_BAD_REQUEST);
    if (wanted == -1)
        wanted = PAGE_ITEMS_DYNAMIC;
    if (wanted <= 0)
        return op_fail_as(op, ST_BAD_REQUEST);
    *rows = wanted > PAGE_ITEMS_MAX ? PAGE_ITEMS_MAX : (size_t)wanted;
    return ST_OK;
}

static enum status begin_at(struct op *op, const struct rid *owner, const struct search *search,
                            struct json options, struct continuation *at)
{
    struct slice text = operations_text(json_get(options, "continuation"));
    enum status st = ST_OK;

    *at = (struct continuation){ .kind = CONTINUATION_QUERY };
    if (text.size)
        TRY(continuation_parse(op, text, CONTINUATION_QUERY, owner, at));
    TRY(search_bind(op, search, owner, at));
out:
    return st;
}

static void print_page(struct buf *answers, const struct query_page *page, struct continuation *at)
{
    buf_text(answers, "{\"status\":200,\"body\":[");
    for (size_t i = 0; i < page->count; i++) {
        buf_text(answers, i ? "," : "");
        buf_slice(answers, page->row[i]);
    }
    buf_text(answers, "],\"options\":{");
    at->position = page->next;
    if (page->next.size) {
        buf_text(answers, "\"continuation\":\"");
        continuation_print(answers, at);
        buf_byte(answers, '"');
    }
    buf_text(answers, "}}");
}

static enum status search(struct op *op, struct json asked, const struct query_options *allowed,
                          struct query_source *source, const struct rid *owner, struct query_page *page,
                          struct buf *answers)
{
    struct json options = json_get(asked, "options");
    struct query_limits limits = { .bytes = PAGE_BYTES_MAX, .scanned_rows = SEARCH_SCANNED_MAX };
    struct search query;
    struct continuation at;
    enum status st;

    TRY(read_query(op, asked, &query));
    TRY(read_page(op, options, &limits.rows));
    TRY(search_compile(op, &query, allowed));
    TRY(begin_at(op, owner, &query, options, &at));
    TRY(query_run(op, query.query, source, at.position, &limits, page));
    print_page(answers, page, &at);
out:
    return st;
}

enum status operations_search(struct op *op, const struct operations *work, struct json asked,
                              struct query_source *source, const struct rid *owner, struct buf *answers)
{
    struct query_options allowed = search_options(work->call);
    struct functions functions = functions_of(work->call, work->session);
    struct query_page page = { 0 };
    enum status st;

    op->work.queries++;
    functions_offer(&functions, &allowed);
    st = search(op, asked, &allowed, source, owner, &page, answers);
    query_page_free(&page);
    functions_end(&functions);
    return st;
}

static enum status query(struct op *op, const struct operations *work, struct json asked, struct buf *answers)
{
    struct partition_scope scope = { .key = *work->key, .exact = work->call->container->system_key };
    struct item_source *items = NULL;
    enum status st;

    TRY(item_source_open_in(op, work->txn, &scope, &items));
    TRY(operations_search(op, work, asked, item_source_rows(items), &work->call->container->rid, answers));
out:
    item_source_close(items);
    return st;
}

/* ---- one after the other ---- */

/* In the service's words for scripts. A script that throws the error makes it the reason of the whole request. */
static void print_failure(struct op *op, enum status st, struct buf *answers)
{
    const struct error_row *row = error_row(st);
    struct buf message;

    assert(st != ST_OK);
    buf_init(&message, &op->arena);
    if (row->wrapped == 2) {
        buf_text(&message, op->error);
    } else {
        buf_text(&message, "{\"Errors\":[");
        reply_print_reason(&message, op->error);
        buf_text(&message, "]}");
    }
    buf_printf(answers, "{\"status\":%d,\"message\":", row->http);
    json_print_string(answers, buf_as_slice(&message));
    buf_byte(answers, '}');
}

static const struct way *find_way(struct slice name)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (slice_is(name, ways[i].name))
            return &ways[i];
    return NULL;
}

static bool is_on_attachment(struct json asked)
{
    struct slice on = operations_text(json_get(asked, "on"));

    return on.data && slice_is(on, "attachment");
}

static enum status run_one(struct op *op, const struct operations *work, struct json asked,
                           struct buf *answers, bool *refused)
{
    struct slice name = operations_text(json_get(asked, "op"));
    const struct way *way = find_way(name);
    enum status st;

    *refused = true;
    if (is_on_attachment(asked)) {
        st = attachment_operate(op, work, asked, answers);
        *refused = action_is_to_blame(st);
        return st;
    }
    if (way)
        return act(op, work, way, asked, answers, refused);
    if (!name.data || (!slice_is(name, "query") && !slice_is(name, "readAll")))
        return op_fail_as(op, ST_BAD_REQUEST);
    st = query(op, work, asked, answers);
    *refused = action_is_to_blame(st);
    return st;
}

/*
 * Whether the transaction needs what an operation has allocated. A query leaves nothing in it. An operation on
 * attachments does, even a read: the transaction expects the item unchanged.
 */
static bool keeps_memory(struct json asked)
{
    return find_way(operations_text(json_get(asked, "op"))) || is_on_attachment(asked);
}

static struct op_mark begin_one(struct op *op, const struct operations *work, bool keeps)
{
    if (!keeps)
        partition_order_entries(work->txn);
    return op_mark(op);
}

/*
 * A failed operation may have lowered the memory limit to what its answer needed. The script goes on with the limit
 * that it had, raised by what the index entries of this operation took.
 */
static void end_one(struct op *op, struct op_mark mark, bool keeps)
{
    assert(op->index_bytes >= mark.index_bytes);
    if (keeps)
        op->arena.limit_bytes = mark.limit_bytes + (op->index_bytes - mark.index_bytes);
    else
        op_rewind(op, mark);
}

enum status operations_run(struct op *op, void *context, struct json operations, struct buf *answers,
                           bool *accept)
{
    const struct operations *work = context;
    size_t first = answers->size;
    enum status st = ST_OK;

    assert(work->txn); /* the script's, from its first operation to its commit */
    assert(work->call->container);
    for (struct json_iter i = json_iter(operations); json_next(&i);) {
        bool refused, keeps = keeps_memory(i.value);
        struct op_mark mark = begin_one(op, work, keeps);
        size_t before = answers->size + (answers->size > first);

        TRY(op_check(op));
        if (answers->size > first)
            buf_byte(answers, ',');
        st = run_one(op, work, i.value, answers, &refused);
        if (st == ST_NOT_MODIFIED)
            buf_text(answers, "{\"status\":304}");
        else if (st != ST_OK && refused) {
            answers->size = answers->failed ? answers->size : before;
            print_failure(op, st, answers);
        } else {
            TRY(st);
        }
        st = ST_OK;
        end_one(op, mark, keeps);
    }
    *accept &= op->arena.used_bytes < op->arena.limit_bytes / 2;
out:
    return st;
}
