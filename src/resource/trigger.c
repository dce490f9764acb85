/* src/resource/trigger.c - triggers around a write: found, checked against it, run in its transaction. */
#include <assert.h>

#include "resource/trigger.h"
#include "base/limits.h"
#include "resource/function.h"
#include "resource/item.h"
#include "resource/operations.h"
#include "resource/usage.h"

enum { TRIGGERS_MAX = 8 }; /* that a request may name before, and after, a write; the service runs one */

struct trigger {
    struct child *child; /* a reference */
    struct script script;
};

struct triggers {
    struct trigger before[TRIGGERS_MAX], after[TRIGGERS_MAX];
    size_t before_count, after_count;
};

struct firing {
    const struct call *call;
    const struct triggers *triggers;
    struct action *action;
    struct json body;    /* the request's, as it came or as a trigger before the write has left it */
    struct record going; /* the item that a delete removes: scripts see it in place of a body */
    bool has_going;
    struct placed_key named; /* the request's partition key */
    struct script_session *session;
    struct operations work;
    struct slice
        changed; /* the answer that one after it has left, as JSON bytes; data is NULL when none did */
};

bool trigger_is_named(const struct call *call)
{
    return slice_trim(call_header(call, HEADER_PRE_TRIGGER)).size > 0 ||
           slice_trim(call_header(call, HEADER_POST_TRIGGER)).size > 0;
}

/* ---- which ---- */

/* What getOperationType() answers, and the other name under which a trigger may be defined for it. */
static const struct {
    const char *name, *also;
} operations[ACTION_KINDS] = {
    [ACTION_CREATE] = { "Create", "Create" },   [ACTION_UPSERT] = { "Upsert", "Upsert" },
    [ACTION_REPLACE] = { "Replace", "Update" }, [ACTION_PATCH] = { "Replace", "Update" },
    [ACTION_DELETE] = { "Delete", "Delete" },
};

static enum status check_trigger(struct op *op, const struct child *child, struct json body, const char *type,
                                 enum action_kind kind)
{
    struct slice its_type = json_string(json_get(body, "triggerType"));
    struct slice its_operation = json_string(json_get(body, "triggerOperation"));

    assert(operations[kind].name); /* reads run no triggers */
    if (!slice_is_nocase(its_type, type))
        return op_fail(op, ST_BAD_REQUEST,
                       "Trigger '%.*s' was defined with type '%.*s', and therefore is invalid for '%s'.",
                       SLICE_ARGS(child->id), SLICE_ARGS(its_type), type);
    if (!slice_is_nocase(its_operation, "All") && !slice_is_nocase(its_operation, operations[kind].name) &&
        !slice_is_nocase(its_operation, operations[kind].also))
        return op_fail(
            op, ST_BAD_REQUEST,
            "Trigger '%.*s' was defined with operation type '%.*s', and therefore is invalid for '%s'.",
            SLICE_ARGS(child->id), SLICE_ARGS(its_operation), operations[kind].name);
    return ST_OK;
}

static enum status add_trigger(struct op *op, const struct call *call, struct slice name, const char *type,
                               enum action_kind kind, struct trigger *list, size_t *count)
{
    struct child *child = NULL;
    struct json body;
    enum status st = ST_OK;

    assert(*count <= TRIGGERS_MAX);
    if (*count == TRIGGERS_MAX)
        TRY(op_fail_as(op, ST_BAD_REQUEST));
    TRY(catalog_look_for_child(op, call->service->catalog, RID_TYPE_TRIGGER, &call->container->rid, name,
                               &child));
    st = child ? child_read_body(op, call->service->catalog, &child, &body) : ST_NOT_FOUND;
    if (st == ST_NOT_FOUND)
        st = op_fail(op, ST_BAD_REQUEST, "Trigger '%.*s' does not exist.",
                     name.size > 200 ? 200 : (int)name.size, name.data);
    TRY(st);
    TRY(check_trigger(op, child, body, type, kind));
    list[(*count)++] = (struct trigger){ child, script_of("trigger", child, body) };
    child = NULL;
out:
    child_release(child);
    return st;
}

/* The header is a list, separated by commas. */
static enum status read_names(struct op *op, const struct call *call, enum header_id header, const char *type,
                              enum action_kind kind, struct trigger *list, size_t *count)
{
    struct slice left = call_header(call, header);
    enum status st = ST_OK;

    while (left.size) {
        const char *comma = memchr(left.data, ',', left.size);
        size_t size = comma ? (size_t)(comma - left.data) : left.size;
        struct slice name = slice_trim(slice_make(left.data, size));

        if (name.size)
            TRY(add_trigger(op, call, name, type, kind, list, count));
        left = slice_after(left, comma ? size + 1 : size);
    }
out:
    return st;
}

static void release(struct triggers *triggers)
{
    for (size_t i = 0; i < triggers->before_count; i++)
        child_release(triggers->before[i].child);
    for (size_t i = 0; i < triggers->after_count; i++)
        child_release(triggers->after[i].child);
}

/* ---- running one ---- */

static void print_request(struct buf *out, const struct firing *firing, bool writable)
{
    bool has_body = json_kind(firing->body) != JSON_UNDEFINED;
    struct json document = has_body ? firing->body : firing->action->document;

    buf_printf(out, "\"request\":{\"operation\":\"%s\",\"writable\":%s",
               operations[firing->action->kind].name, writable ? "true" : "false");
    if (firing->has_going || json_kind(document) != JSON_UNDEFINED)
        buf_text(out, ",\"body\":");
    if (firing->has_going)
        item_print(out, firing->call->container, &firing->going);
    else if (json_kind(document) != JSON_UNDEFINED)
        json_print(out, document);
    buf_byte(out, '}');
}

static void print_response(struct op *op, struct buf *out, const struct firing *firing)
{
    struct record item = firing->action->item;

    buf_text(out, ",\"response\":{");
    usage_print_values(out, firing->call->container);
    if (firing->changed.data) {
        buf_text(out, ",\"body\":");
        json_print(out, json_from_bytes(firing->changed));
    } else if (firing->action->kind != ACTION_DELETE) {
        item.ts_ms = op->now_ms;
        buf_text(out, ",\"body\":");
        item_print(out, firing->call->container, &item);
    }
    buf_byte(out, '}');
}

static enum status fire(struct op *op, struct firing *firing, const struct trigger *trigger, bool before,
                        struct json *done)
{
    struct script_run run = { .script = &trigger->script,
                              .operate = operations_run,
                              .operate_context = &firing->work };
    struct buf context;
    enum status st;

    assert(firing->session);
    assert(firing->work.txn); /* a trigger runs in the transaction of its write */
    buf_init(&context, &op->arena);
    buf_text(&context, "{\"collection\":");
    operations_print_collection(&context, firing->call->container);
    buf_byte(&context, ',');
    print_request(&context, firing, before && firing->action->kind != ACTION_DELETE);
    if (before)
        buf_text(&context, ",\"response\":null");
    else
        print_response(op, &context, firing);
    buf_text(&context, ",\"log\":false}");
    if (context.failed)
        TRY(op_fail_as(op, ST_TOO_LARGE));
    run.context = buf_as_slice(&context);
    TRY(script_run(op, firing->session, &run, done));
out:
    return st;
}

/* ---- around the write ---- */

/* Copies what a script has left: it lies in the session only until the next script runs. */
static enum status keep(struct op *op, struct json value, struct slice *kept)
{
    struct slice bytes = json_bytes(value);
    char *copy = arena_try_alloc(&op->arena, bytes.size);

    if (!copy)
        return op_fail_as(op, ST_TOO_LARGE);
    memcpy(copy, bytes.data, bytes.size);
    *kept = slice_make(copy, bytes.size);
    return ST_OK;
}

/* A document that a script has made is checked like a client's, and must have the key that the client named. */
static enum status take_document(struct op *op, struct firing *firing, struct json document)
{
    struct action *action = firing->action;
    struct slice id = action->id;
    struct slice kept;
    enum status st;

    if (json_kind(document) != JSON_OBJECT)
        return op_fail_as(op, ST_BAD_REQUEST);
    TRY(keep(op, document, &kept));
    firing->body = action->document = json_from_bytes(kept);
    TRY(item_check_document(op, &action->document, &action->behind));
    TRY(item_check_size(op, action->document));
    action_place(firing->call->container, action);
    if (action->kind == ACTION_REPLACE)
        action->id = id;
    TRY(action_check_key(op, action, &firing->named.values));
out:
    return st;
}

static enum status fire_before(struct op *op, struct firing *firing)
{
    struct action *action = firing->action;
    struct json done, document;
    enum status st = ST_OK;

    for (size_t i = 0; i < firing->triggers->before_count; i++) {
        TRY(fire(op, firing, &firing->triggers->before[i], true, &done));
        document = json_get(done, "request");
        if (json_kind(document) != JSON_UNDEFINED && json_kind(action->document) != JSON_UNDEFINED)
            TRY(take_document(op, firing, document));
    }
out:
    return st;
}

static enum status fire_after(struct op *op, struct firing *firing)
{
    struct json done, body;
    enum status st = ST_OK;

    for (size_t i = 0; i < firing->triggers->after_count; i++) {
        TRY(fire(op, firing, &firing->triggers->after[i], false, &done));
        body = json_get(done, "body");
        if (json_kind(body) != JSON_UNDEFINED)
            TRY(keep(op, body, &firing->changed));
    }
    if (firing->changed.size > SCRIPT_ANSWER_BYTES_MAX)
        TRY(op_fail(op, ST_TOO_LARGE, "The response of the script is too large."));
out:
    return st;
}

static enum status find_going(struct op *op, struct firing *firing)
{
    firing->has_going = false;
    if (firing->action->kind != ACTION_DELETE)
        return ST_OK;
    return partition_find(op, firing->work.txn, firing->action->id, &firing->going, &firing->has_going);
}

static enum status attempt(struct op *op, struct firing *firing, bool in_turn, struct commit_stamp *stamp)
{
    const struct call *call = firing->call;
    struct operations *work = &firing->work;
    enum status st;

    firing->changed = (struct slice){ 0 };
    *work = (struct operations){ .call = call, .key = &firing->named, .session = firing->session };
    if (in_turn)
        TRY(partition_begin_in_turn(op, call->service->locks, call->container, work->key, &work->txn));
    else
        TRY(partition_begin_many(op, call->container, work->key, &work->txn));
    if (in_turn)
        TRY(script_again(op, firing->session));
    TRY(find_going(op, firing));
    TRY(fire_before(op, firing));
    TRY(action_take(op, call->container, work->txn, firing->action));
    TRY(fire_after(op, firing));
    TRY(partition_commit(op, &work->txn, stamp));
out:
    partition_abort(work->txn);
    return st;
}

/* Each attempt begins with what the client sent. */
static enum status run_until_committed(struct op *op, struct firing *firing, struct commit_stamp *stamp)
{
    struct op_mark mark = op_mark(op);
    struct action sent = *firing->action;
    struct json body = firing->body;
    enum status st = attempt(op, firing, false, stamp);

    for (int tries = 1; st == ST_WRITE_CONFLICT && tries < ACTION_TRIES; tries++) {
        op_rewind(op, mark);
        *firing->action = sent;
        firing->body = body;
        st = attempt(op, firing, true, stamp);
    }
    return st == ST_WRITE_CONFLICT ? op_fail_as(op, ST_RETRY_WITH) : st;
}

/* Scripts see the body as the client sent it, `_self` included; the document to be written has no such members. */
static enum status read_body(struct op *op, struct firing *firing)
{
    firing->body = json_undefined;
    if (json_kind(firing->action->document) == JSON_UNDEFINED)
        return ST_OK;
    return call_body(op, firing->call, ITEM_BYTES_MAX, &firing->body);
}

enum status trigger_run(struct op *op, const struct call *call, struct action *action,
                        struct commit_stamp *stamp, struct json *answer)
{
    struct triggers triggers = { 0 };
    struct firing firing = { .call = call, .triggers = &triggers, .action = action, .named = action->key };
    enum status st;

    assert(trigger_is_named(call));
    TRY(read_body(op, &firing));
    TRY(read_names(op, call, HEADER_PRE_TRIGGER, "Pre", action->kind, triggers.before,
                   &triggers.before_count));
    TRY(read_names(op, call, HEADER_POST_TRIGGER, "Post", action->kind, triggers.after,
                   &triggers.after_count));
    TRY(script_begin(op, call->service->scripts, rid_owner(&call->container->rid), &firing.session));
    TRY(run_until_committed(op, &firing, stamp));
    action_stamp(action, *stamp);
    *answer = firing.changed.data ? json_from_bytes(firing.changed) : json_undefined;
out:
    script_end(firing.session);
    release(&triggers);
    return st;
}
