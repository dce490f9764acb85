/* test/unit/route/route_test.c - whole requests, from target and headers to the answer. */
#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "client.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "route/table.h"

#define DOCS "/dbs/d/colls/c/docs"

TEST(the_life_of_an_item_from_request_to_answer)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200);
    CHECK(slice_is(json_string(client_member(&client, "id")), "1"));
    CHECK(client_send(&client, METHOD_PUT, DOCS "/1", "{'id':'1','pk':'a','n':1}") == 200);
    client_header(&client, HEADER_IS_UPSERT, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'1','pk':'a','n':2}") == 200);
    client_header(&client, HEADER_IS_UPSERT, NULL);
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'1','pk':'a'}") == 409);
    CHECK(client_send(&client, METHOD_DELETE, DOCS "/1", NULL) == 204 &&
          client.exchange.answer.body.size == 0);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 404);
    client_close(&client);
}

TEST(lookups_are_answered_on_the_loop_thread_and_lists_are_handed_on)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, "/", NULL) == 200 && !client.was_handed_on);
    CHECK(client_send(&client, METHOD_GET, "/dbs/d", NULL) == 200 && !client.was_handed_on);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200 && !client.was_handed_on);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200 && client.was_handed_on);
    CHECK(client_send(&client, METHOD_GET, "/dbs/nowhere", NULL) == 404 && !client.was_handed_on);
    client_close(&client);
}

TEST(a_small_write_takes_no_pool_thread_and_a_large_one_does)
{
    char *large = malloc(INLINE_ITEM_BYTES_MAX + 100);
    struct client client;

    client_open_filled(&client);
    sprintf(large, "{'id':'2','pk':'a','text':'%0*d'}", INLINE_ITEM_BYTES_MAX, 0);
    CHECK(client_send(&client, METHOD_PUT, DOCS "/1", "{'id':'1','pk':'a','n':1}") == 200);
    CHECK(client.was_pending && !client.was_handed_on);
    CHECK(client_send(&client, METHOD_POST, DOCS, large) == 201 && !client.was_pending &&
          client.was_handed_on);
    CHECK(client_send(&client, METHOD_PUT, DOCS "/2", "{'id':'2','pk':'a'}") == 200 && client.was_handed_on);
    CHECK(client_send(&client, METHOD_PUT, DOCS "/2", "{'id':'2','pk':'a'}") == 200 && !client.was_handed_on);
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 409 && !client.was_handed_on);
    CHECK(client_send(&client, METHOD_DELETE, DOCS "/1", NULL) == 204 && client.was_pending);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 404);
    client_close(&client);
    free(large);
}

TEST(a_patch_with_a_condition_takes_a_pool_thread)
{
    const char *set = "[{'op':'set','path':'/n','value':1}]";
    char text[200];
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_PATCH, DOCS "/1", set) == 200 && client.was_pending);
    snprintf(text, sizeof(text), "{'condition':'from c where c.n = 1','operations':%s}", set);
    CHECK(client_send(&client, METHOD_PATCH, DOCS "/1", text) == 200 && !client.was_pending &&
          client.was_handed_on);
    client_close(&client);
}

TEST(a_write_that_removes_an_expired_holder_of_its_unique_key_takes_a_pool_thread)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/colls",
                      "{'id':'u','defaultTtl':1,'partitionKey':{'paths':['/pk'],'kind':'Hash'},"
                      "'uniqueKeyPolicy':{'uniqueKeys':[{'paths':['/u']}]}}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/colls/u/docs", "{'id':'1','pk':'a','u':1}") == 201 &&
          client.was_pending);
    env_advance_ms(client.rig.op->env, 3000);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/colls/u/docs", "{'id':'2','pk':'a','u':1}") == 201 &&
          !client.was_pending && client.was_handed_on);
    client_close(&client);
}

/* By somebody who takes no lock, as bulk does. */
static void create_first(void *context)
{
    struct client *client = context;
    struct database *database = catalog_find_database(client->rig.catalog, slice_of("d"));
    struct container *container = catalog_find_container(client->rig.catalog, database, slice_of("c"));
    struct partition_txn *txn = NULL;
    struct placed_key key;
    struct commit_stamp stamp;
    struct record item;
    struct op op;

    op_init(&op, client->rig.op->env, SIZE_MAX);
    partition_key_extract(container, rig_json(&op, "{'id':'2','pk':'a'}"), &key.values);
    partition_key_place(container, &key);
    CHECK(partition_begin_many(&op, container, &key, &txn) == ST_OK);
    partition_expect(txn, slice_of("2"));
    CHECK(partition_create(&op, txn, rig_json(&op, "{'id':'2','pk':'a'}"), &item) == ST_OK);
    CHECK(partition_commit(&op, &txn, &stamp) == ST_OK);
    container_release(container);
    database_release(database);
    op_free(&op);
}

TEST(a_write_that_another_came_before_begins_anew_on_a_pool_thread)
{
    struct client client;

    client_open_filled(&client);
    faulty_fail(&client.rig.controls, FAULTY_GET, 1);
    client.rig.controls.instead = create_first;
    client.rig.controls.context = &client;
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 409);
    CHECK(client.was_pending && client.was_handed_on);
    client_close(&client);
}

/* SDKs keep the session token of an answer by its container, whatever came of the request. */
static bool tells_its_session(struct client *client, const char *token)
{
    return slice_is(client_answer(client, "x-ms-alt-content-path"), "dbs/d/colls/c") &&
           client_answer(client, "x-ms-content-path").size > 0 &&
           slice_is(client_answer(client, "x-ms-session-token"), token) &&
           slice_is(client_answer(client, "x-ms-documentdb-partitionkeyrangeid"), "0");
}

TEST(an_answer_on_items_tells_its_session_once_whichever_way_it_came_about)
{
    struct client client;

    client_open_filled(&client); /* that was LSN 2 */
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 201 && client.was_pending);
    CHECK(tells_its_session(&client, "0:-1#3"));
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 409);
    CHECK(tells_its_session(&client, "0:-1#3"));
    faulty_fail(&client.rig.controls, FAULTY_WRITE, 1);
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'3','pk':'a'}") == 503 && client.was_pending);
    CHECK(tells_its_session(&client, "0:-1#3"));
    client_header(&client, HEADER_A_IM, "Incremental Feed");
    client_header(&client, HEADER_IF_NONE_MATCH, "*");
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 304 && client.was_handed_on);
    CHECK(tells_its_session(&client, "0:-1#3"));
    client_close(&client);
}

TEST(a_client_is_told_when_nobody_knows_whether_its_write_happened)
{
    struct client client;

    client_open_filled(&client);
    for (int happened = 0; happened < 2; happened++) {
        faulty_fail(&client.rig.controls, FAULTY_WRITE, 1);
        client.rig.controls.fail_after = happened;
        client.rig.controls.reopen_failures = 1;
        CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 503 && client.was_pending);
        CHECK(client_told(&client, "ServiceUnavailable", "it is not known whether it took place"));
        env_advance_ms(client.rig.op->env, 1000);
        CHECK(client_send(&client, METHOD_PUT, DOCS "/1", "{'id':'1','pk':'a'}") == 200);
        CHECK(client_send(&client, METHOD_GET, DOCS "/2", NULL) == (happened ? 200 : 404));
    }
    client_close(&client);
}

/* It would be lost with the container. A read goes on by what is known only for as long as the store cannot tell. */
TEST(a_write_finds_out_first_whether_its_container_was_dropped)
{
    for (int reads = 0; reads < 2; reads++) {
        struct client client;

        client_open_filled(&client);
        faulty_fail(&client.rig.controls, FAULTY_WRITE, 1);
        client.rig.controls.fail_after = true;
        client.rig.controls.reopen_failures = 1;
        CHECK(client_send(&client, METHOD_DELETE, "/dbs/d/colls/c", NULL) == 503);
        if (reads)
            CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200);
        env_advance_ms(client.rig.op->env, 1000);
        CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 404 && client.was_handed_on);
        client_close(&client);
    }
}

/* Every script of the account is looked at: too many for a thread that others wait for. */
TEST(counting_for_the_quota_headers_is_handed_on)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, "/dbs/d/colls/c", NULL) == 200 && !client.was_handed_on);
    CHECK(!client_answer(&client, "x-ms-resource-usage").data);
    client_header(&client, HEADER_POPULATE_QUOTA, "True");
    CHECK(client_send(&client, METHOD_GET, "/dbs/d/colls/c", NULL) == 200 && client.was_handed_on);
    CHECK(client_answer(&client, "x-ms-resource-usage").size > 0);
    client_close(&client);
}

TEST(queries_and_lists_of_items_are_slow_and_told_to_come_back_when_there_are_too_many)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client.exchange.class == CLASS_QUICK); /* a write */
    client.is_refused = true;
    client.steps = 0; /* no query is short */
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'e'}") == 503);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200 && client.exchange.class == CLASS_QUICK);
    CHECK(client.exchange.owner != 0); /* its container's: containers take turns */
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 429 && client.exchange.class == CLASS_SCANS);
    CHECK(slice_is(client_answer(&client, "x-ms-substatus"), "3200"));
    CHECK(client_answer(&client, "x-ms-retry-after-ms").size > 0);
    client_header(&client, HEADER_IS_QUERY, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 429 &&
          client.exchange.class == CLASS_SCANS);
    CHECK(client_told(&client, "TooManyRequests", "too many queries"));
    CHECK(client.exchange.owner != 0); /* its container's: containers take turns */
    client.is_refused = false;
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 200);
    client_close(&client);
}

TEST(an_item_that_expires_while_a_request_waits_for_a_thread_has_expired)
{
    struct client client;

    client_open(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/colls",
                      "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':10}") == 201);
    client_header(&client, HEADER_PARTITION_KEY, "['a']");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'1','pk':'a'}") == 201);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200);
    CHECK(json_int(client_member(&client, "_count")) == 1);
    client.queued_ms = 10000;
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200);
    CHECK(json_int(client_member(&client, "_count")) == 0);
    client_close(&client);
}

TEST(an_id_is_found_in_every_encoding_of_the_path)
{
    static const char *const targets[] = { DOCS "/a%3Fb%20%C3%BC", DOCS "/a?b%20ü", DOCS "/%61%3fb%20%c3%bc",
                                           "http://localhost:8081" DOCS "/a%3Fb%20%C3%BC/" };
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'a?b ü','pk':'a'}") == 201);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (client_send(&client, METHOD_GET, targets[i], NULL) != 200)
            test_failed(__FILE__, __LINE__, targets[i]);
    client_close(&client);
}

TEST(resources_are_reached_by_their_rids_too)
{
    struct buf target;
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, "/dbs/d/colls/c", NULL) == 200);
    buf_init(&target, &client.keep.arena);
    buf_slice(&target, json_string(client_member(&client, "_self")));
    buf_text(&target, "docs/1");
    buf_byte(&target, '\0');
    CHECK(client_send(&client, METHOD_GET, target.data, NULL) == 200);
    client_close(&client);
}

/* --- markers --- */

TEST(what_a_post_means_is_in_its_headers_and_the_first_marker_wins)
{
    struct client client;

    client_open_filled(&client);
    client_header(&client, HEADER_IS_UPSERT, "true");
    client_header(&client, HEADER_IS_QUERY, "TRUE");
    client_header(&client, HEADER_CROSS_PARTITION, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 200);
    CHECK(json_int(client_member(&client, "_count")) == 1);
    client_header(&client, HEADER_IS_BATCH, "true");
    CHECK(client_send(&client, METHOD_POST, DOCS, "[{'operationType':'Read','id':'none'}]") == 207);
    client_header(&client, HEADER_IS_QUERY_PLAN, "true");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 200);
    CHECK(json_kind(client_member(&client, "queryInfo")) == JSON_OBJECT);
    client_clear(&client);
    client_header(&client, HEADER_IS_QUERY_GO, "True");
    client_header(&client, HEADER_CROSS_PARTITION, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 200);
    client_clear(&client);
    client_header(&client, HEADER_CONTENT_TYPE, "application/query+json; charset=utf-8");
    client_header(&client, HEADER_CROSS_PARTITION, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 200);
    client_clear(&client);
    client_header(&client, HEADER_PARTITION_KEY, "['a']");
    client_header(&client, HEADER_IS_UPSERT, "false");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'1','pk':'a'}") == 409);
    client_close(&client);
}

/* --- refusals, one of each kind --- */

static const struct {
    const char *about;
    enum method method;
    const char *target;
    enum header_id header; /* HEADER_COUNT: none */
    const char *value;
    int status;
    const char *substatus, *code, *reason;
} refusals[] = {
    { "a stranger's name", METHOD_GET, "/", HEADER_HOST, "evil.example", 403, NULL, "Forbidden",
      "does not answer to the name" },
    { "no host", METHOD_GET, "/", HEADER_HOST, "", 400, NULL, "BadRequest", "no Host header" },
    { "a bad path", METHOD_GET, "/dbs/%zz", HEADER_COUNT, NULL, 400, NULL, "BadRequest", "percent-encoded" },
    { "a deep path", METHOD_GET, "/1/2/3/4/5/6/7/8/9/10/11", HEADER_COUNT, NULL, 400, NULL, "BadRequest",
      "too many segments" },
    { "a wrong signature", METHOD_GET, "/dbs", HEADER_AUTHORIZATION,
      "type=master&ver=1.0&sig=mM0rMK/7o1MZhQwDitGRoGisPRPx09os/86Jk0YwquY=", 401, NULL, "Unauthorized",
      "mandates Date" },
    { "an unknown path", METHOD_GET, "/nothing", HEADER_COUNT, NULL, 404, NULL, "NotFound",
      "names no resource" },
    { "another method", METHOD_PUT, "/dbs", HEADER_COUNT, NULL, 405, NULL, "MethodNotAllowed",
      "verb is not supported" },
    { "no such database", METHOD_GET, "/dbs/none", HEADER_COUNT, NULL, 404, NULL, "NotFound",
      "Resource Not Found" },
    { "no such owner", METHOD_GET, "/dbs/none/colls", HEADER_COUNT, NULL, 404, "1003", "NotFound",
      "Owner resource does not exist" },
    { "no such container", METHOD_GET, "/dbs/d/colls/none", HEADER_COUNT, NULL, 404, NULL, "NotFound",
      "Resource Not Found" },
    { "no such container above", METHOD_GET, "/dbs/d/colls/none/docs", HEADER_COUNT, NULL, 404, NULL,
      "NotFound", "Owner resource" },
    { "a stronger consistency", METHOD_GET, "/dbs/d", HEADER_CONSISTENCY_LEVEL, "Strong", 400, NULL,
      "BadRequest", "ConsistencyLevel Strong" },
    { "an unknown consistency", METHOD_GET, "/dbs/d", HEADER_CONSISTENCY_LEVEL, "Fuzzy", 400, NULL,
      "BadRequest", "'Fuzzy'" },
    { "another container", METHOD_GET, "/dbs/d/colls/c", HEADER_INTENDED_CONTAINER, "AAAAAAAAAAA=", 400,
      "1024", "BadRequest", "does not match" },
    { "an operation's own", METHOD_GET, DOCS "/none", HEADER_PARTITION_KEY, "['a']", 404, NULL, "NotFound",
      "Entity with the specified id" },
};

TEST(each_refusal_has_its_status_code_reason_and_json_body)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct client client;
        struct slice substatus;
        int status;

        client_open_filled(&client);
        client_clear(&client);
        if (refusals[i].header != HEADER_COUNT)
            client_header(&client, refusals[i].header, refusals[i].value);
        status = client_send(&client, refusals[i].method, refusals[i].target, NULL);
        substatus = client_answer(&client, "x-ms-substatus");
        if (status != refusals[i].status || !client_told(&client, refusals[i].code, refusals[i].reason) ||
            (refusals[i].substatus ? !slice_is(substatus, refusals[i].substatus) : substatus.data != NULL))
            test_failed(__FILE__, __LINE__, refusals[i].about);
        CHECK(client_answer(&client, "x-ms-activity-id").size == ACTIVITY_ID_SIZE);
        client_close(&client);
    }
}

TEST(weaker_consistency_and_the_right_container_are_accepted)
{
    static const char *const levels[] = { "Session", "eventual", "ConsistentPrefix", "" };
    struct client client;

    client_open_filled(&client);
    for (size_t i = 0; i < 4; i++) {
        client_header(&client, HEADER_CONSISTENCY_LEVEL, levels[i]);
        CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200);
    }
    CHECK(client_send(&client, METHOD_GET, "/dbs/d/colls/c", NULL) == 200);
    client_header(&client, HEADER_INTENDED_CONTAINER,
                  arena_text(&client.keep.arena, json_string(client_member(&client, "_rid"))));
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200);
    client_close(&client);
}

TEST(a_failed_item_request_still_tells_the_session)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, DOCS "/none", NULL) == 404);
    CHECK(slice_is(client_answer(&client, "x-ms-session-token"), "0:-1#2"));
    client_close(&client);
}

/* Bytes that are no text reach a reason, and the body is JSON all the same. */
TEST(a_path_that_is_no_text_is_refused_with_a_json_body)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, "/dbs/%FF%00%0D%0A", NULL) == 404);
    CHECK(json_kind(client_member(&client, "message")) == JSON_STRING);
    CHECK(client_send(&client, METHOD_GET, "/%FF", NULL) == 404);
    CHECK(json_kind(client_member(&client, "message")) == JSON_STRING);
    client_header(&client, HEADER_AUTHORIZATION,
                  "type=master&ver=1.0&sig=mM0rMK/7o1MZhQwDitGRoGisPRPx09os/86Jk0YwquY=");
    client_header(&client, HEADER_MS_DATE, "Tue, 14 Nov 2023 22:13:20 GMT");
    CHECK(client_send(&client, METHOD_GET, "/dbs/%FF", NULL) == 401);
    CHECK(json_kind(client_member(&client, "message")) == JSON_STRING);
    client_close(&client);
}

TEST(a_page_that_may_ask_is_told_so_with_every_answer)
{
    struct client client;

    client_open_filled(&client);
    client_header(&client, HEADER_ORIGIN, "http://page.example");
    CHECK(client_send(&client, METHOD_GET, "/dbs/none", NULL) == 404);
    CHECK(slice_is(client_answer(&client, "access-control-allow-origin"), "http://page.example"));
    client_header(&client, HEADER_ACCESS_CONTROL_REQUEST_METHOD, "GET");
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_OPTIONS, "/dbs", NULL) == 204 && client.exchange.answer.body.size == 0);
    CHECK(client_answer(&client, "access-control-allow-methods").data);
    client_header(&client, HEADER_ORIGIN, "http://evil.example");
    CHECK(client_send(&client, METHOD_OPTIONS, "/dbs", NULL) == 403 &&
          client_told(&client, "Forbidden", "may not ask"));
    CHECK(!client_answer(&client, "access-control-allow-origin").data);
    client_close(&client);
}

TEST(a_body_in_an_encoding_is_refused_and_not_taken_for_what_it_is_not)
{
    struct client client;

    client_open_filled(&client);
    client_header(&client, HEADER_PARTITION_KEY, "['a']");
    client_header(&client, HEADER_CONTENT_ENCODING, "gzip");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 400);
    client_header(&client, HEADER_CONTENT_ENCODING, "identity");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 201);
    client_close(&client);
}

/* --- activity ids --- */

TEST(a_sensible_activity_id_comes_back_and_any_other_is_replaced)
{
    static const char *const odd[] = {
        "", "a b", "0123456789012345678901234567890123456", "a\\b", "\x7f", "ü"
    };
    struct client client;

    client_open(&client);
    client_header(&client, HEADER_ACTIVITY_ID, " my-id ");
    CHECK(client_send(&client, METHOD_GET, "/", NULL) == 200);
    CHECK(slice_is(client_answer(&client, "x-ms-activity-id"), "my-id"));
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        client_header(&client, HEADER_ACTIVITY_ID, odd[i]);
        CHECK(client_send(&client, METHOD_GET, "/", NULL) == 200);
        CHECK(client_answer(&client, "x-ms-activity-id").size == ACTIVITY_ID_SIZE);
    }
    client_close(&client);
}

/* --- bodies --- */

TEST(who_is_let_in_may_send_a_body_and_nobody_else)
{
    struct client client;

    client_open_filled(&client);
    CHECK(client_ask_to_send(&client, METHOD_POST, DOCS) == 100);
    CHECK(client_ask_to_send(&client, METHOD_PUT, DOCS "/1") == 100);
    CHECK(client_ask_to_send(&client, METHOD_POST, "/dbs/other/colls/c/docs") == 100); /* 404 is for later */
    CHECK(client_ask_to_send(&client, METHOD_POST, "/_orrery/backup") == 100);
    client.key = CLIENT_READONLY_KEY;
    CHECK(client_ask_to_send(&client, METHOD_POST, DOCS) == 401);
    client.key = "d3Jvbmc=";
    CHECK(client_ask_to_send(&client, METHOD_POST, DOCS) == 401 && client_told(&client, "Unauthorized", ""));
    CHECK(client_ask_to_send(&client, METHOD_POST, "/_orrery/backup") == 401);
    client.unsigned_request = true;
    CHECK(client_ask_to_send(&client, METHOD_POST, DOCS) == 401);
    CHECK(client_ask_to_send(&client, METHOD_GET, "/_orrery/ready") ==
          413); /* it needs no key, and no body */
    client_clear(&client);
    CHECK(client_ask_to_send(&client, METHOD_POST, "/dbs/d/colls/c/nothing") == 404);
    CHECK(client_ask_to_send(&client, METHOD_POST, "/dbs/d/colls/c/docs/1") == 405);
    client_header(&client, HEADER_HOST, "elsewhere.example");
    CHECK(client_ask_to_send(&client, METHOD_POST, DOCS) == 400 || client.exchange.answer.status == 403);
    client_close(&client);
}

TEST(asking_leaves_nothing_behind)
{
    struct client client;

    client_open_filled(&client);
    for (int i = 0; i < 3; i++) { /* references that were not given back would show when the catalog closes */
        CHECK(client_ask_to_send(&client, METHOD_PUT, DOCS "/1") == 100 && !client.exchange.state);
        CHECK(client_send(&client, METHOD_PUT, DOCS "/1", "{'id':'1','pk':'a'}") == 200);
    }
    client_close(&client);
}
