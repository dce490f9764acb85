/* test/unit/resource/expiry_test.c - what clients see of time to live and of unique keys, with a clock that moves. */
#include "ask.h"

#define WITH(more) "{'id':'t','partitionKey':{'paths':['/pk'],'version':2}," more "}"

static void open_with(struct ask *ask, const char *definition)
{
    ask_open(ask);
    ask->call.container = rig_container(&ask->rig, definition);
    ask_header(ask, HEADER_PARTITION_KEY, "['a']");
}

/* The answer to a query for one value. */
static int64_t query_number(struct ask *ask, const char *text)
{
    struct buf body;

    buf_init(&body, &ask->rig.op->arena);
    buf_printf(&body, "{'query':'%s'}", text);
    CHECK(ask_run(ask, document_query, arena_text(&ask->rig.op->arena, buf_as_slice(&body))) == 200);
    return json_int(json_element(ask_member(ask, "Documents"), 0));
}

static int64_t list_count(struct ask *ask)
{
    CHECK(ask_run(ask, document_list, NULL) == 200);
    return json_int(ask_member(ask, "_count"));
}

TEST(an_expired_item_is_gone_for_every_operation_at_once)
{
    struct ask ask;

    open_with(&ask, WITH("'defaultTtl':10"));
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    CHECK(ask_run(&ask, document_create, "{'id':'2','pk':'a','ttl':-1}") == 201);
    ask_about(&ask, "1");
    CHECK(ask_run(&ask, document_read, NULL) == 200); /* which leaves a hint */
    rig_advance_ms(&ask.rig, 9999);
    CHECK(ask_run(&ask, document_read, NULL) == 200 && list_count(&ask) == 2);
    CHECK(query_number(&ask, "SELECT VALUE COUNT(1) FROM c") == 2);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 409);
    rig_advance_ms(&ask.rig, 1);
    CHECK(ask_run(&ask, document_read, NULL) == 404);
    CHECK(ask_run(&ask, document_replace, "{'id':'1','pk':'a'}") == 404);
    CHECK(ask_run(&ask, document_delete, NULL) == 404);
    CHECK(list_count(&ask) == 1 && query_number(&ask, "SELECT VALUE COUNT(1) FROM c") == 1);
    CHECK(ask_run(&ask, document_upsert, "{'id':'1','pk':'a'}") == 201);
    CHECK(ask_run(&ask, document_read, NULL) == 200 && list_count(&ask) == 2);
    ask_close(&ask);
}

TEST(the_next_item_of_an_id_has_a_rid_of_its_own_and_the_old_one_leads_nowhere)
{
    struct ask ask;
    char *rid;

    open_with(&ask, WITH("'defaultTtl':-1"));
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a','ttl':5}") == 201);
    rid = arena_text(&ask.rig.op->arena, json_string(ask_member(&ask, "_rid")));
    ask.call.by_rid = true;
    ask_about(&ask, rid);
    CHECK(ask_run(&ask, document_read, NULL) == 200);
    rig_advance_ms(&ask.rig, 5000);
    CHECK(ask_run(&ask, document_read, NULL) == 404 && ask_run(&ask, document_delete, NULL) == 404);
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    CHECK(!slice_is(json_string(ask_member(&ask, "_rid")), rid));
    CHECK(ask_run(&ask, document_read, NULL) == 404);
    ask_close(&ask);
}

TEST(an_items_time_to_live_counts_only_where_the_container_has_one)
{
    struct ask ask;

    open_with(&ask, WITH("'x':1"));
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a','ttl':1}") == 201);
    ask_about(&ask, "1");
    rig_advance_ms(&ask.rig, 3600 * 1000);
    CHECK(ask_run(&ask, document_read, NULL) == 200 && json_int(ask_member(&ask, "ttl")) == 1);
    ask_close(&ask);
}

TEST(a_container_that_is_replaced_has_its_new_default_from_the_next_request_on)
{
    struct ask ask;

    open_with(&ask, WITH("'defaultTtl':100"));
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    ask_about(&ask, "1");
    rig_advance_ms(&ask.rig, 50 * 1000);
    CHECK(ask_run(&ask, container_replace, WITH("'defaultTtl':40")) == 200);
    ask.call.container = catalog_find_container(ask.rig.catalog, ask.rig.database, slice_of("t"));
    CHECK(ask_run(&ask, document_read, NULL) == 404 && list_count(&ask) == 0);
    container_release(ask.call.container);
    ask_close(&ask);
}

TEST(a_unique_value_that_is_taken_is_a_conflict_until_its_item_expires)
{
    struct ask ask;

    open_with(&ask, WITH("'defaultTtl':10,'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/mail']}]}"));
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a','mail':'x'}") == 201);
    CHECK(ask_run(&ask, document_create, "{'id':'3','pk':'a','mail':'z','ttl':-1}") == 201);
    rig_advance_ms(&ask.rig, 9999);
    CHECK(ask_run(&ask, document_create, "{'id':'2','pk':'a','mail':'x'}") == 409);
    CHECK(ask_told(&ask, "Unique index constraint violation."));
    CHECK(slice_is(json_string(ask_member(&ask, "code")), "Conflict"));
    CHECK(ask_run(&ask, document_upsert, "{'id':'2','pk':'a','mail':'x'}") == 409);
    CHECK(ask_run(&ask, document_upsert, "{'id':'3','pk':'a','mail':'x'}") == 409);
    rig_advance_ms(&ask.rig, 1);
    CHECK(ask_run(&ask, document_upsert, "{'id':'3','pk':'a','mail':'x'}") == 200);
    ask_close(&ask);
}
