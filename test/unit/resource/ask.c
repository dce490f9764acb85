/* test/unit/resource/ask.c - a call made by hand. */
#include "base/limits.h"
#include "ask.h"

void ask_open(struct ask *ask)
{
    *ask = (struct ask){ 0 };
    rig_open(&ask->rig, false);
    ask->call.container = rig_container(&ask->rig, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}");
    ask->call.database = ask->rig.database;
    ask->call.service = &ask->service;
    ask->call.request = &ask->request;
    ask->service = (struct service){ .env = ask->rig.op->env,
                                     .store = ask->rig.store,
                                     .catalog = ask->rig.catalog,
                                     .ledger = ask->rig.ledger,
                                     .locks = ask->rig.locks,
                                     .hints = hints_open(),
                                     .account = slice_of("orrery") };
}

void ask_close(struct ask *ask)
{
    hints_close(ask->service.hints);
    rig_close(&ask->rig);
}

void ask_header(struct ask *ask, enum header_id id, const char *value)
{
    ask->request.header[id] = value ? rig_quoted(ask->rig.op, value) : (struct slice){ 0 };
}

void ask_clear(struct ask *ask)
{
    memset(ask->request.header, 0, sizeof(ask->request.header));
}

void ask_about(struct ask *ask, const char *id)
{
    ask->call.id = slice_of(arena_text(&ask->rig.op->arena, slice_of(id)));
}

int ask_run(struct ask *ask, operation *run, const char *body)
{
    struct op *op = ask->rig.op;
    struct reply reply;

    op->error = NULL;
    op->now_ms = env_now_ms(op->env);
    op->work = (struct work){ 0 };
    ask->request.body = rig_quoted(op, body ? body : "");
    reply_begin(&reply, op, &ask->answer);
    ask->st = run(op, &ask->call, &reply);
    reply_finish(&reply, ask->st);
    rig_check_head(&ask->answer);
    return ask->answer.status;
}

struct json ask_body(struct ask *ask)
{
    return rig_body(ask->rig.op, &ask->answer);
}

struct json ask_member(struct ask *ask, const char *name)
{
    return json_get(ask_body(ask), name);
}

struct slice ask_answer(struct ask *ask, const char *header)
{
    return rig_header(ask->rig.op, &ask->answer, header);
}

bool ask_told(struct ask *ask, const char *reason)
{
    return ask->rig.op->error && strcmp(ask->rig.op->error, reason) == 0;
}

struct slice ask_item(struct ask *ask, const char *key, const char *document)
{
    ask_header(ask, HEADER_PARTITION_KEY, key);
    CHECK(ask_run(ask, document_upsert, document) < 300);
    return ask_answer(ask, "etag");
}
