/* src/resource/document.c - items: create, upsert, read, replace, patch, delete. */
#include <assert.h>

#include "base/limits.h"
#include "partition/key.h"
#include "resource/action.h"
#include "resource/as_of.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/trigger.h"
#include "resource/usage.h"

/*
 * Reads the document. Its key must be the one in the header, if the header names one. A replace is about the item of
 * that key, and finds out first whether it is there.
 */
static enum status read_document(struct op *op, const struct call *call, struct reply *reply,
                                 struct action *action)
{
    struct partition_key named;
    bool present;
    enum status st;

    TRY(item_read_body(op, call, ITEM_BYTES_MAX, &action->document, &action->behind));
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_ITEM, &named,
                           &present));
    action_place(call->container, action);
    if (present)
        st = action_check_key(op, action, &named);
    if (st == ST_KEY_MISMATCH && action->kind == ACTION_REPLACE) {
        action->key.values = named;
        partition_key_place(call->container, &action->key);
        action->moves = true;
        st = ST_OK;
    }
    scope_key(reply, call, &action->key);
    TRY(st);
out:
    return st;
}

/* x-ms-indexing-directive, which route/ has checked. The SDK for Python sends the numbers of its constants. */
static enum indexing_wish indexing_wish_of(const struct call *call)
{
    struct slice directive = slice_trim(call_header(call, HEADER_INDEXING_DIRECTIVE));

    if (!directive.data)
        return INDEXING_DEFAULT;
    if (slice_is_nocase(directive, "Include") || slice_is(directive, "2"))
        return INDEXING_INCLUDE;
    if (slice_is_nocase(directive, "Exclude") || slice_is(directive, "1"))
        return INDEXING_EXCLUDE;
    return INDEXING_DEFAULT;
}

/* Clients read the answer to a patch as text, whatever else they can read. */
static enum form form_of(const struct call *call, const struct action *action)
{
    return action->kind == ACTION_PATCH ? FORM_TEXT : form_of_answer(call);
}

/* A trigger has set an answer of its own. */
static void replace_body(struct reply *reply, struct json answer, enum form form)
{
    reply_body(reply)->size = 0;
    if (form == FORM_BINARY)
        json_print_binary(reply_body(reply), answer);
    else
        json_print(reply_body(reply), answer);
}

static struct action *new_action(struct op *op, enum action_kind kind)
{
    struct action *action = arena_alloc(&op->arena, sizeof(*action));

    *action = (struct action){ .kind = kind };
    return action;
}

static void answer(struct reply *reply, const struct call *call, const struct action *action, uint64_t lsn)
{
    if (action->kind == ACTION_DELETE) {
        reply_session(reply, lsn);
        reply_status(reply, action_status(action));
    } else {
        assert(action->item.lsn > 0); /* only what is committed is told */
        item_reply(reply, call, &action->item, form_of(call, action), lsn, action_status(action));
    }
}

static void finish_answer(struct reply *reply, const struct call *call)
{
    usage_of_items(reply, call);
    if (call_wants_minimal(call))
        reply_drop_body(reply);
}

/* Answers when the commit is done. If another writer came first, nothing was written: a pool thread begins anew. */
static enum status resume(struct op *op, struct call *call, struct reply *reply)
{
    struct action *action = call->written;
    struct commit_stamp stamp;
    enum status st;

    assert(action); /* run() left it there with ST_PENDING */
    assert(action->kind != ACTION_READ);
    st = action_end(op, action, &stamp);
    if (st == ST_WRITE_CONFLICT) {
        call->resume = NULL;
        st = ST_WOULD_BLOCK;
    }
    TRY(st);
    answer(reply, call, action, stamp.lsn);
    finish_answer(reply, call);
out:
    return st;
}

/* Does the action, and answers with the item that was written. */
static enum status run(struct op *op, struct call *call, struct reply *reply, struct action *action)
{
    struct json told = json_undefined;
    struct commit_stamp stamp;
    enum status st;

    assert(!call->resume); /* what is being committed is not begun again */
    action->if_match = call_header(call, HEADER_IF_MATCH);
    action->indexing = indexing_wish_of(call);
    action->bare = header_is_true(call->request, HEADER_EXCLUDE_SYSTEM);
    if (trigger_is_named(call))
        st = trigger_run(op, call, action, &stamp, &told);
    else
        st = action_run(op, call, action, &stamp);
    if (st == ST_PENDING) {
        call->written = action;
        call->resume = resume;
    }
    TRY(st);
    answer(reply, call, action, stamp.lsn);
    if (json_kind(told) != JSON_UNDEFINED && action->kind != ACTION_DELETE)
        replace_body(reply, told, form_of(call, action));
    finish_answer(reply, call);
out:
    return st;
}

static enum status read_patch(struct op *op, const struct call *call, struct item_patch *patch)
{
    struct json body;
    enum status st;

    TRY(call_json(op, call, ITEM_BYTES_MAX, &body));
    TRY(item_patch_read(op, call, body, patch));
out:
    return st;
}

/* clang-format off */
/* What a request of each kind has. The partition key is the document's; without a document it is the header's. */
static const struct {
    bool has_document, has_patch, names_item;
} requests[ACTION_KINDS] = {
    [ACTION_CREATE]  = { .has_document = true },
    [ACTION_UPSERT]  = { .has_document = true },
    [ACTION_REPLACE] = { .has_document = true, .names_item = true },
    [ACTION_PATCH]   = { .has_patch = true,    .names_item = true },
    [ACTION_DELETE]  = { .names_item = true },
};
/* clang-format on */

static enum status read_request(struct op *op, const struct call *call, struct reply *reply,
                                struct action *action)
{
    enum status st;

    if (requests[action->kind].has_document)
        TRY(read_document(op, call, reply, action));
    else
        TRY(scope_read_key(op, call, reply, &action->key));
    if (requests[action->kind].has_patch)
        TRY(read_patch(op, call, &action->patch));
    if (requests[action->kind].names_item)
        TRY(item_address(op, call, &action->key, &action->id));
    if (action->kind == ACTION_REPLACE)
        TRY(call_check_rename(op, call, action->id, action->document));
out:
    return st;
}

static enum status write_item(struct op *op, struct call *call, struct reply *reply, enum action_kind kind)
{
    struct action *action = new_action(op, kind);
    enum status st;

    scope_all(reply, call);
    TRY(read_request(op, call, reply, action));
    TRY(run(op, call, reply, action));
out:
    return st;
}

enum status document_create(struct op *op, struct call *call, struct reply *reply)
{
    return write_item(op, call, reply, ACTION_CREATE);
}

enum status document_upsert(struct op *op, struct call *call, struct reply *reply)
{
    return write_item(op, call, reply, ACTION_UPSERT);
}

enum status document_replace(struct op *op, struct call *call, struct reply *reply)
{
    return write_item(op, call, reply, ACTION_REPLACE);
}

enum status document_patch(struct op *op, struct call *call, struct reply *reply)
{
    return write_item(op, call, reply, ACTION_PATCH);
}

enum status document_delete(struct op *op, struct call *call, struct reply *reply)
{
    return write_item(op, call, reply, ACTION_DELETE);
}

/* By scan of the item's logical partition, as it is now and as the log has it. */
static enum status read_past(struct op *op, struct call *call, struct reply *reply,
                             const struct placed_key *key)
{
    struct partition_scope scope = { .exact = true, .key = *key };
    struct past_source *items = NULL;
    struct record item;
    bool found;
    enum status st;

    TRY(as_of_open(op, call, reply, &scope, &items));
    TRY(as_of_find(op, call, items, &item, &found));
    if (!found)
        TRY(action_not_found(op, ACTION_READ));
    item_reply(reply, call, &item, form_of_answer(call), scope_lsn(call, reply), 200);
out:
    past_source_close(items);
    return st;
}

enum status document_read(struct op *op, struct call *call, struct reply *reply)
{
    uint64_t lsn;
    struct record item;
    struct slice id;
    struct placed_key key;
    bool found;
    enum status st;

    scope_all(reply, call);
    TRY(scope_read_key(op, call, reply, &key));
    TRY(scope_check_session(op, call, reply));
    lsn = scope_lsn(call, reply); /* before the read, which sees at least this */
    if (as_of_is_asked(call)) {
        TRY(read_past(op, call, reply, &key));
        goto out;
    }
    TRY(item_address(op, call, &key, &id));
    TRY(partition_read(op, call->service->hints, call->container, &key, id, &item, &found));
    if (!found)
        TRY(action_not_found(op, ACTION_READ));
    TRY(call_if_none_match(op, call, reply, item.etag, item.ts_ms));
    item_reply(reply, call, &item, form_of_answer(call), lsn, 200);
    usage_of_items(reply, call);
out:
    return st;
}
