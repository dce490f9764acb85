/*
 * src/resource/procedure.c - a stored procedure: run in one transaction of one logical partition.
 * The transaction is committed when the script has ended well and its answer is ready to be sent, and not before.
 */
#include <assert.h>

#include "base/encode.h"
#include "base/limits.h"
#include "json/binary_read.h"
#include "partition/key.h"
#include "resource/action.h"
#include "resource/bulk_insert.h"
#include "resource/function.h"
#include "resource/operations.h"
#include "resource/resource.h"
#include "resource/scope.h"
#include "resource/usage.h"

struct execution {
    const struct call *call;
    struct reply *reply;
    struct script script;
    struct placed_key key;
    struct slice args, context; /* JSON text */
    struct script_session *session;
    struct commit_stamp stamp;
};

/* ---- what is asked ---- */

/* Triggers are for items. */
static enum status check_headers(struct op *op, const struct call *call)
{
    if (call_header(call, HEADER_PRE_TRIGGER).size == 0 && call_header(call, HEADER_POST_TRIGGER).size == 0)
        return ST_OK;
    return op_fail_as(op, ST_BAD_REQUEST);
}

static enum status print_args(struct op *op, struct json list, struct slice *args)
{
    struct buf text;

    buf_init(&text, &op->arena);
    json_print(&text, list);
    *args = buf_as_slice(&text);
    return text.failed ? op_fail_as(op, ST_TOO_LARGE) : ST_OK;
}

/* A request without a body has no arguments. An object is taken as JavaScript's apply() takes it: by its length. */
static enum status read_args(struct op *op, const struct call *call, struct slice *args)
{
    struct json list;
    enum status st = ST_OK;

    *args = slice_trim(call->request->body);
    if (args->size == 0)
        goto out;
    TRY(call_json(op, call, ITEM_BYTES_MAX, &list));
    if (json_kind(list) != JSON_ARRAY && json_kind(list) != JSON_OBJECT && json_kind(list) != JSON_NULL)
        TRY(op_fail(op, ST_BAD_REQUEST,
                    "The request payload is invalid. The arguments of a stored procedure are a JSON array."));
    if (json_is_binary(call->request->body))
        TRY(print_args(op, list, args)); /* the child reads text */
out:
    return st;
}

static enum status read_key(struct op *op, struct execution *execution)
{
    const struct call *call = execution->call;
    bool present;
    enum status st;

    if (!call_header(call, HEADER_PARTITION_KEY).data && !call->container->system_key)
        TRY(op_fail(op, ST_BAD_REQUEST, "PartitionKey value must be supplied for this operation."));
    TRY(partition_key_read(op, call->container, call_header(call, HEADER_PARTITION_KEY), KEY_OF_ITEM,
                           &execution->key.values, &present));
    partition_key_place(call->container, &execution->key);
    scope_key(execution->reply, call, &execution->key);
out:
    return st;
}

/* Procedures that every container has. Their names are nobody else's. */
#define SYSTEM_NAMES "__.sys."

static const struct {
    const char *name, *source;
} system_procedures[] = {
    { SYSTEM_NAMES "echo", "function (value) { getContext().getResponse().setBody(value); }" },
};

static enum status find_system(struct op *op, struct slice name, struct script *script)
{
    for (size_t i = 0; i < sizeof(system_procedures) / sizeof(system_procedures[0]); i++)
        if (slice_is(name, system_procedures[i].name)) {
            *script = (struct script){ .kind = "sproc",
                                       .name = slice_of(system_procedures[i].name),
                                       .source = slice_of(system_procedures[i].source) };
            snprintf(script->key, sizeof(script->key), "%s", system_procedures[i].name);
            return ST_OK;
        }
    return op_fail(op, ST_NOT_BUILT,
                   "The system procedure '%.*s' is not available in this version of the server.",
                   name.size > 100 ? 100 : (int)name.size, name.data);
}

/* `procedure` is the reference that the script's text lives in; NULL for one of the system. */
static enum status find_procedure(struct op *op, const struct call *call, struct child **procedure,
                                  struct script *script)
{
    struct json body;
    enum status st;

    if (slice_starts_with(call->id, SYSTEM_NAMES))
        return find_system(op, call->id, script);
    TRY(catalog_look_for_child(op, call->service->catalog, RID_TYPE_PROCEDURE, &call->container->rid,
                               call->id, procedure));
    if (!*procedure)
        TRY(op_fail_as(op, ST_NOT_FOUND));
    TRY(child_read_body(op, call->service->catalog, procedure, &body));
    *script = script_of("sproc", *procedure, body);
out:
    return st;
}

static void print_context(struct op *op, struct execution *execution)
{
    struct buf out;

    buf_init(&out, &op->arena);
    buf_text(&out, "{\"collection\":");
    operations_print_collection(&out, execution->call->container);
    buf_text(&out, ",\"request\":{\"writable\":false},\"response\":{\"body\":\"\",");
    usage_print_values(&out, execution->call->container);
    buf_printf(&out, "},\"log\":%s}",
               header_is_true(execution->call->request, HEADER_SCRIPT_LOG) ? "true" : "false");
    execution->context = buf_as_slice(&out);
}

/* ---- what is answered ---- */

/* The log becomes a header, so it is cut to a size that clients take. The cut spares escapes. */
static void reply_log(struct op *op, struct reply *reply, struct json log)
{
    struct buf text;

    if (json_kind(log) != JSON_STRING)
        return;
    buf_init(&text, &op->arena);
    percent_encode(&text, json_string(log));
    if (text.size > SCRIPT_LOG_BYTES_MAX)
        text.size = SCRIPT_LOG_BYTES_MAX;
    for (size_t back = 1; back <= 2 && back <= text.size; back++)
        if (text.data[text.size - back] == '%')
            text.size -= back;
    reply_header(reply, "x-ms-documentdb-script-log-results", buf_as_slice(&text));
}

/* A script that has set no body answers with an empty string. */
static enum status write_answer(struct op *op, struct execution *execution, struct json done)
{
    struct buf *body = reply_body(execution->reply);
    struct json answer = json_get(done, "body");

    buf_init(body, &op->arena);
    if (json_kind(answer) == JSON_UNDEFINED)
        buf_text(body, "\"\"");
    else
        json_print(body, answer);
    if (body->failed || body->size > SCRIPT_ANSWER_BYTES_MAX)
        return op_fail(op, ST_TOO_LARGE, "The response of the script is too large.");
    return ST_OK;
}

/* ---- running ---- */

static enum status attempt(struct op *op, struct execution *execution, bool in_turn, struct json *done)
{
    const struct call *call = execution->call;
    struct operations work = { .call = call, .key = &execution->key, .session = execution->session };
    struct script_run run = { &execution->script, execution->args, execution->context, operations_run,
                              &work };
    enum status st;

    assert(execution->session); /* run() has begun it */
    *done = json_undefined;     /* what the last attempt left is gone from the session, */
    buf_init(reply_body(execution->reply), &op->arena); /* and its answer from the arena */
    if (in_turn)
        TRY(partition_begin_in_turn(op, call->service->locks, call->container, &execution->key, &work.txn));
    else
        TRY(partition_begin_many(op, call->container, &execution->key, &work.txn));
    if (in_turn)
        TRY(script_again(op, execution->session));
    TRY(script_run(op, execution->session, &run, done));
    TRY(write_answer(op, execution, *done));
    TRY(partition_commit(op, &work.txn, &execution->stamp));
out:
    partition_abort(work.txn);
    return st;
}

/* Each attempt begins with the memory that the first had. */
static enum status run_until_committed(struct op *op, struct execution *execution, struct json *done)
{
    struct op_mark mark = op_mark(op);
    enum status st = attempt(op, execution, false, done);

    for (int tries = 1; st == ST_WRITE_CONFLICT && tries < ACTION_TRIES; tries++) {
        op_rewind(op, mark);
        st = attempt(op, execution, true, done);
    }
    return st == ST_WRITE_CONFLICT ? op_fail_as(op, ST_RETRY_WITH) : st;
}

/* The log is sent also when the script has failed: then it is wanted most. */
static enum status run(struct op *op, struct execution *execution)
{
    struct json done;
    enum status st;

    print_context(op, execution);
    TRY(script_begin(op, execution->call->service->scripts, rid_owner(&execution->call->container->rid),
                     &execution->session));
    st = run_until_committed(op, execution, &done);
    reply_log(op, execution->reply, json_get(done, "log"));
out:
    script_end(execution->session);
    return st;
}

/* The headers too get their room before anything is written. */
enum { HEAD_BYTES_ENOUGH = 4096 + SCRIPT_LOG_BYTES_MAX };

enum status procedure_execute(struct op *op, struct call *call, struct reply *reply)
{
    struct execution execution = { .call = call, .reply = reply };
    struct child *procedure = NULL;
    enum status st;

    buf_reserve(&reply->answer->head, HEAD_BYTES_ENOUGH);
    scope_all(reply, call);
    TRY(check_headers(op, call));
    if (bulk_insert_is(call->id)) {
        st = bulk_insert_execute(op, call, reply);
        goto out;
    }
    TRY(read_key(op, &execution));
    TRY(scope_check_session(op, call, reply));
    TRY(read_args(op, call, &execution.args));
    TRY(find_procedure(op, call, &procedure, &execution.script));
    TRY(run(op, &execution));
    reply_session(reply, execution.stamp.lsn);
    reply_status(reply, 200);
    usage_of_items(reply, call);
out:
    child_release(procedure);
    return st;
}
