/* test/unit/resource/batch_test.c - batches and bulk when the store fails, memory ends, or others write. */
#include "ask.h"

#define BATCH                                                                                    \
    "[{'operationType':'Create','resourceBody':{'id':'1','pk':'a'}},"                            \
    "{'operationType':'Patch','id':'old','resourceBody':[{'op':'incr','path':'/n','value':1}]}," \
    "{'operationType':'Create','resourceBody':{'id':'2','pk':'a'}},{'operationType':'Read','id':'1'}]"
#define BULK                                                          \
    "[{'operationType':'Create','resourceBody':{'id':'1','pk':'a'}}," \
    "{'operationType':'Create','resourceBody':{'id':'2','pk':'a'}},"  \
    "{'operationType':'Patch','id':'1','partitionKey':'[\\\"a\\\"]'," \
    "'resourceBody':[{'op':'set','path':'/n','value':1}]}]"

static void open_for(struct ask *ask, bool atomic)
{
    ask_open(ask);
    ask_header(ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(ask, document_create, "{'id':'old','pk':'a','n':0}") == 201);
    ask_header(ask, atomic ? HEADER_BATCH_ATOMIC : HEADER_BATCH_CONTINUE, "true");
}

static void recover(struct ask *ask)
{
    ask->rig.controls.fail_call = 0;
    env_advance_ms(ask->rig.op->env, 1000);
}

static bool is_there(struct ask *ask, const char *id)
{
    ask_about(ask, id);
    return ask_run(ask, document_read, NULL) == 200;
}

static int status_at(struct ask *ask, size_t index)
{
    struct json status = json_get(json_element(ask_body(ask), index), "statusCode");

    return json_kind(status) == JSON_NUMBER ? (int)json_int(status) : 0;
}

static bool is_done(struct ask *ask, bool done)
{
    bool raised = is_there(ask, "old") && json_int(ask_member(ask, "n")) == 1;

    return is_there(ask, "1") == done && is_there(ask, "2") == done && raised == done;
}

TEST(whichever_call_of_the_store_fails_a_batch_is_done_whole_or_not_at_all)
{
    uint64_t call = 1;

    for (bool struck = true; struck; call++) {
        struct ask ask;
        int status;

        open_for(&ask, true);
        faulty_fail(&ask.rig.controls, FAULTY_ANY, call);
        status = ask_run(&ask, document_batch, BATCH);
        struck = ask.rig.controls.failed;
        recover(&ask);
        CHECK(status == 200 || (struck && status == 503));
        CHECK(is_done(&ask, status == 200));
        ask_close(&ask);
    }
    CHECK(call > 6); /* it did reach the end */
}

TEST(a_batch_that_runs_out_of_memory_is_too_large_and_does_nothing)
{
    int status = 0;

    for (size_t more = 0; status != 200 && more < 100000; more += 64) {
        struct ask ask;
        size_t usual;

        open_for(&ask, true);
        usual = ask.rig.op->arena.limit_bytes;
        ask.rig.op->arena.limit_bytes = ask.rig.op->arena.used_bytes + more;
        status = ask_run(&ask, document_batch, BATCH);
        ask.rig.op->arena.limit_bytes = usual;
        CHECK(status == 200 || status == 413 || status == 207);
        CHECK(is_done(&ask, status == 200));
        ask_close(&ask);
    }
    CHECK(status == 200);
}

/* What its answer says of each operation is so, and without an answer for each nothing was done. */
static bool tells_the_truth(struct ask *ask, int status)
{
    bool has_answer = status == 200 || status == 207;
    bool first = has_answer && status_at(ask, 0) == 201, second = has_answer && status_at(ask, 1) == 201;
    bool third = has_answer && status_at(ask, 2) == 200;
    bool there = is_there(ask, "1"), raised = there && json_kind(ask_member(ask, "n")) == JSON_NUMBER;

    return there == first && raised == third && is_there(ask, "2") == second;
}

TEST(whichever_call_of_the_store_fails_bulk_tells_what_was_done)
{
    uint64_t call = 1;

    for (bool struck = true; struck; call++) {
        struct ask ask;
        int status;

        open_for(&ask, false);
        faulty_fail(&ask.rig.controls, FAULTY_ANY, call);
        status = ask_run(&ask, document_batch, BULK);
        struck = ask.rig.controls.failed;
        recover(&ask);
        CHECK(status == 200 || (struck && status == 207));
        CHECK(tells_the_truth(&ask, status));
        ask_close(&ask);
    }
    CHECK(call > 6);
}

TEST(bulk_that_runs_out_of_memory_tells_what_was_done)
{
    int status = 0;

    for (size_t more = 0; status != 200 && more < 100000; more += 64) {
        struct ask ask;
        size_t usual;

        open_for(&ask, false);
        usual = ask.rig.op->arena.limit_bytes;
        ask.rig.op->arena.limit_bytes = ask.rig.op->arena.used_bytes + more;
        status = ask_run(&ask, document_batch, BULK);
        ask.rig.op->arena.limit_bytes = usual;
        CHECK(status == 200 || status == 207 || status == 413);
        CHECK(tells_the_truth(&ask, status));
        ask_close(&ask);
    }
    CHECK(status == 200);
}
