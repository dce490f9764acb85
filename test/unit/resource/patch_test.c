/* test/unit/resource/patch_test.c - partial updates and deleting by key when the store or the memory gives out. */
#include "ask.h"

#define RAISE \
    "{'condition':'from c where IS_STRING(c._etag)','operations':[{'op':'incr','path':'/n','value':1}]}"

static void open_with_item(struct ask *ask)
{
    ask_open(ask);
    ask_header(ask, HEADER_PARTITION_KEY, "['a']");
    ask_about(ask, "1");
    CHECK(ask_run(ask, document_create, "{'id':'1','pk':'a','n':1}") == 201);
}

/* What the item has after a failure: as before, or what was asked for, and nothing between. */
static bool is_whole(struct ask *ask, bool done)
{
    int64_t n;

    ask->rig.controls.fail_call = 0;
    env_advance_ms(ask->rig.op->env, 1000);
    if (ask_run(ask, document_read, NULL) != 200)
        return false;
    n = json_int(ask_member(ask, "n"));
    return done ? n == 2 : n == 1 || n == 2;
}

TEST(whichever_call_of_the_store_fails_a_patch_is_done_or_not_done)
{
    bool struck = true;
    uint64_t call = 1;

    for (; struck; call++) {
        struct ask ask;
        int status;

        open_with_item(&ask);
        faulty_fail(&ask.rig.controls, FAULTY_ANY, call);
        status = ask_run(&ask, document_patch, RAISE);
        struck = ask.rig.controls.failed;
        CHECK(status == 200 || (struck && status == 503));
        CHECK(is_whole(&ask, status == 200));
        ask_close(&ask);
    }
    CHECK(call > 4); /* it did reach the end */
}

TEST(a_patch_that_runs_out_of_memory_is_too_large_and_leaves_the_item_whole)
{
    int status = 0;

    for (size_t more = 0; status != 200 && more < 1 << 20; more += 509) {
        struct ask ask;
        size_t usual;

        open_with_item(&ask);
        usual = ask.rig.op->arena.limit_bytes;
        ask.rig.op->arena.limit_bytes = ask.rig.op->arena.used_bytes + more;
        status = ask_run(&ask, document_patch, RAISE);
        ask.rig.op->arena.limit_bytes = usual;
        CHECK(status == 200 || status == 413);
        CHECK(is_whole(&ask, status == 200));
        ask_close(&ask);
    }
    CHECK(status == 200);
}

TEST(whichever_call_of_the_store_fails_deleting_by_key_can_be_asked_for_again)
{
    bool struck = true;

    for (uint64_t call = 1; struck; call++) {
        struct ask ask;
        int status;

        open_with_item(&ask);
        ask_about(&ask, "partitionkeydelete");
        faulty_fail(&ask.rig.controls, FAULTY_ANY, call);
        status = ask_run(&ask, partition_delete_items, NULL);
        struck = ask.rig.controls.failed;
        CHECK(status == 200 || (struck && status == 503));
        ask.rig.controls.fail_call = 0;
        env_advance_ms(ask.rig.op->env, 1000);
        CHECK(ask_run(&ask, partition_delete_items, NULL) == 200);
        ask_about(&ask, "1");
        CHECK(ask_run(&ask, document_read, NULL) == 404);
        ask_close(&ask);
    }
}

TEST(a_patch_is_charged_as_a_write_and_gives_the_item_a_new_etag)
{
    struct slice before;
    struct ask ask;

    open_with_item(&ask);
    before = arena_copy(&ask.rig.op->arena, ask_answer(&ask, "etag"));
    CHECK(ask_run(&ask, document_patch, "[{'op':'set','path':'/s','value':'x'}]") == 200);
    CHECK(ask_answer(&ask, "etag").size == before.size && !slice_equal(ask_answer(&ask, "etag"), before));
    CHECK(slice_equal(json_string(ask_member(&ask, "_etag")), ask_answer(&ask, "etag")));
    CHECK(slice_is(ask_answer(&ask, "x-ms-session-token"), "0:-1#3"));
    CHECK(ask.rig.op->work.documents_written == 1 && ask.rig.op->work.documents_removed == 1);
    ask_close(&ask);
}
