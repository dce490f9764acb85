/* test/unit/route/route_test.c - whole requests, from target and headers to the answer. */
#include <stdlib.h>

#include "base/encode.h"
#include "base/limits.h"
#include "client.h"
#include "partition/key.h"
#include "partition/partition.h"
#include "route/table.h"

#define CONTAINER_C "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"
#define DOCS "/dbs/d/colls/c/docs"

/* A client with d/c and in it item 1 of key a. */
static void open_filled(struct client *client)
{
    client_open(client);
    CHECK(client_send(client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
    CHECK(client_send(client, METHOD_POST, "/dbs/d/colls", CONTAINER_C) == 201);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
    CHECK(client_send(client, METHOD_POST, DOCS, "{'id':'1','pk':'a'}") == 201);
}

static bool told(struct client *client, const char *code, const char *reason)
{
    struct slice message = json_string(client_member(client, "message"));

    return slice_is(json_string(client_member(client, "code")), code) &&
           memmem(message.data, message.size, reason, strlen(reason));
}

TEST(the_life_of_an_item_from_request_to_answer)
{
    struct client client;

    open_filled(&client);
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

    open_filled(&client);
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

    open_filled(&client);
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

    open_filled(&client);
    CHECK(client_send(&client, METHOD_PATCH, DOCS "/1", set) == 200 && client.was_pending);
    snprintf(text, sizeof(text), "{'condition':'from c where c.n = 1','operations':%s}", set);
    CHECK(client_send(&client, METHOD_PATCH, DOCS "/1", text) == 200 && !client.was_pending &&
          client.was_handed_on);
    client_close(&client);
}

TEST(a_write_that_removes_an_expired_holder_of_its_unique_key_takes_a_pool_thread)
{
    struct client client;

    open_filled(&client);
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
    struct partition_key key;
    struct commit_stamp stamp;
    struct record item;
    struct epk epk;
    struct op op;

    op_init(&op, client->rig.op->env, SIZE_MAX);
    partition_key_extract(container, rig_json(&op, "{'id':'2','pk':'a'}"), &key);
    partition_key_epk(container, &key, &epk);
    CHECK(partition_begin_many(&op, container, &epk, &txn) == ST_OK);
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

    open_filled(&client);
    faulty_fail(&client.rig.controls, FAULTY_GET, 1);
    client.rig.controls.instead = create_first;
    client.rig.controls.context = &client;
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 409);
    CHECK(client.was_pending && client.was_handed_on);
    client_close(&client);
}

TEST(a_client_is_told_when_nobody_knows_whether_its_write_happened)
{
    struct client client;

    open_filled(&client);
    for (int happened = 0; happened < 2; happened++) {
        faulty_fail(&client.rig.controls, FAULTY_WRITE, 1);
        client.rig.controls.fail_after = happened;
        client.rig.controls.reopen_failures = 1;
        CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 503 && client.was_pending);
        CHECK(told(&client, "ServiceUnavailable", "it is not known whether it took place"));
        env_advance_ms(client.rig.op->env, 1000);
        CHECK(client_send(&client, METHOD_PUT, DOCS "/1", "{'id':'1','pk':'a'}") == 200);
        CHECK(client_send(&client, METHOD_GET, DOCS "/2", NULL) == (happened ? 200 : 404));
    }
    client_close(&client);
}

/* Every script of the account is looked at: too many for a thread that others wait for. */
TEST(counting_for_the_quota_headers_is_handed_on)
{
    struct client client;

    open_filled(&client);
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

    open_filled(&client);
    CHECK(client.exchange.class == CLASS_QUICK); /* a write */
    client.is_refused = true;
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'e'}") == 503);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200 && client.exchange.class == CLASS_QUICK);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 429 && client.exchange.class == CLASS_SCANS);
    CHECK(slice_is(client_answer(&client, "x-ms-substatus"), "3200"));
    CHECK(client_answer(&client, "x-ms-retry-after-ms").size > 0);
    client_header(&client, HEADER_IS_QUERY, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 429 &&
          client.exchange.class == CLASS_SCANS);
    CHECK(told(&client, "TooManyRequests", "too many queries"));
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

    open_filled(&client);
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

    open_filled(&client);
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

    open_filled(&client);
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
    { "no such container above", METHOD_GET, "/dbs/d/colls/none/docs", HEADER_COUNT, NULL, 404, "1003",
      "NotFound", "Owner resource" },
    { "a stronger consistency", METHOD_GET, "/dbs/d", HEADER_CONSISTENCY_LEVEL, "Strong", 400, NULL,
      "BadRequest", "ConsistencyLevel Strong" },
    { "an unknown consistency", METHOD_GET, "/dbs/d", HEADER_CONSISTENCY_LEVEL, "Fuzzy", 400, NULL,
      "BadRequest", "'Fuzzy'" },
    { "another container", METHOD_GET, "/dbs/d/colls/c", HEADER_INTENDED_CONTAINER, "AAAAAAAAAAA=", 400,
      "1024", "BadRequest", "does not match" },
    { "a gap", METHOD_GET, "/addresses", HEADER_COUNT, NULL, 501, NULL, "NotImplemented", "no address_list" },
    { "an operation's own", METHOD_GET, DOCS "/none", HEADER_PARTITION_KEY, "['a']", 404, NULL, "NotFound",
      "Entity with the specified id" },
};

TEST(each_refusal_has_its_status_code_reason_and_json_body)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct client client;
        struct slice substatus;
        int status;

        open_filled(&client);
        client_clear(&client);
        if (refusals[i].header != HEADER_COUNT)
            client_header(&client, refusals[i].header, refusals[i].value);
        status = client_send(&client, refusals[i].method, refusals[i].target, NULL);
        substatus = client_answer(&client, "x-ms-substatus");
        if (status != refusals[i].status || !told(&client, refusals[i].code, refusals[i].reason) ||
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

    open_filled(&client);
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

    open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, DOCS "/none", NULL) == 404);
    CHECK(slice_is(client_answer(&client, "x-ms-session-token"), "0:-1#1"));
    client_close(&client);
}

/* Bytes that are no text reach a reason, and the body is JSON all the same. */
TEST(a_path_that_is_no_text_is_refused_with_a_json_body)
{
    struct client client;

    open_filled(&client);
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

/* --- who may ask --- */

/* A path for the shape of a route: dbs/x/colls to /dbs/d/colls. */
static const char *target_of(const char *shape)
{
    static char target[100];
    static const char *const ids[] = { "d", "c", "1", "1", "1" };
    size_t size = 0, id = 0;

    target[size++] = '/';
    for (const char *c = shape; *c; c++)
        target[size++] = *c == 'x' && (c[1] == '/' || !c[1]) && c[-1] == '/' ? ids[id++][0] : *c;
    target[size] = '\0';
    return target;
}

/* Promise 1. */
TEST(no_operation_runs_for_a_request_that_is_not_signed)
{
    uint64_t lsn;
    struct container *container;
    struct client client;

    open_filled(&client);
    client.rig.database = catalog_find_database(client.rig.catalog, slice_of("d"));
    container = catalog_find_container(client.rig.catalog, client.rig.database, slice_of("c"));
    lsn = bucket_lsn(container->bucket);
    client.unsigned_request = true;
    for (size_t i = 0; i < route_count; i++) {
        client_header(&client, HEADER_IS_UPSERT, routes[i].marker == MARK_UPSERT ? "true" : NULL);
        client_header(&client, HEADER_IS_QUERY, routes[i].marker == MARK_QUERY ? "true" : NULL);
        if (client_send(&client, routes[i].method, target_of(routes[i].shape), "{'id':'new','pk':'a'}") !=
                401 ||
            client.exchange.op.work.round_trips != 0)
            test_failed(__FILE__, __LINE__, routes[i].name);
        CHECK(!client.was_handed_on);
    }
    CHECK(bucket_lsn(container->bucket) == lsn);
    CHECK(client_send(&client, METHOD_GET, "/dbs/none", NULL) == 401); /* nor is it told what there is */
    container_release(container);
    client_close(&client);
}

TEST(a_page_that_may_ask_is_told_so_with_every_answer)
{
    struct client client;

    open_filled(&client);
    client_header(&client, HEADER_ORIGIN, "http://page.example");
    CHECK(client_send(&client, METHOD_GET, "/dbs/none", NULL) == 404);
    CHECK(slice_is(client_answer(&client, "access-control-allow-origin"), "http://page.example"));
    client_header(&client, HEADER_ACCESS_CONTROL_REQUEST_METHOD, "GET");
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_OPTIONS, "/dbs", NULL) == 204 && client.exchange.answer.body.size == 0);
    CHECK(client_answer(&client, "access-control-allow-methods").data);
    client_header(&client, HEADER_ORIGIN, "http://evil.example");
    CHECK(client_send(&client, METHOD_OPTIONS, "/dbs", NULL) == 403 &&
          told(&client, "Forbidden", "may not ask"));
    CHECK(!client_answer(&client, "access-control-allow-origin").data);
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

/* --- keys for reading --- */

TEST(a_key_for_reading_reads_and_queries_and_writes_nothing)
{
    static const struct {
        enum method method;
        const char *target, *body;
        enum header_id header;
        int status;
    } asked[] = {
        { METHOD_GET, "/", NULL, HEADER_COUNT, 200 },
        { METHOD_GET, DOCS "/1", NULL, HEADER_COUNT, 200 },
        { METHOD_GET, DOCS, NULL, HEADER_COUNT, 200 },
        { METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}", HEADER_IS_QUERY, 200 },
        { METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}", HEADER_IS_QUERY_PLAN, 200 },
        { METHOD_POST, "/dbs", "{'query':'SELECT * FROM c'}", HEADER_IS_QUERY, 200 },
        { METHOD_POST, DOCS, "{'id':'2','pk':'a'}", HEADER_COUNT, 401 },
        { METHOD_POST, DOCS, "{'id':'1','pk':'a'}", HEADER_IS_UPSERT, 401 },
        { METHOD_POST, DOCS, "[]", HEADER_IS_BATCH, 401 },
        { METHOD_PUT, DOCS "/1", "{'id':'1','pk':'a'}", HEADER_COUNT, 401 },
        { METHOD_PATCH, DOCS "/1", "[]", HEADER_COUNT, 401 },
        { METHOD_DELETE, DOCS "/1", NULL, HEADER_COUNT, 401 },
        { METHOD_POST, "/dbs", "{'id':'e'}", HEADER_COUNT, 401 },
        { METHOD_DELETE, "/dbs/d", NULL, HEADER_COUNT, 401 },
        { METHOD_POST, "/dbs/d/colls/c/sprocs/s", "[]", HEADER_COUNT, 401 },
        { METHOD_PUT, "/dbs", NULL, HEADER_COUNT, 405 },
    };
    struct client client;

    open_filled(&client);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        client_clear(&client);
        client_header(&client, HEADER_PARTITION_KEY, "['a']");
        if (asked[i].header != HEADER_COUNT)
            client_header(&client, asked[i].header, "True");
        client.key = CLIENT_READONLY_KEY;
        if (client_send(&client, asked[i].method, asked[i].target, asked[i].body) != asked[i].status)
            test_failed(__FILE__, __LINE__, asked[i].target);
    }
    client.key = auth_emulator_key;
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200);
    CHECK(json_int(client_member(&client, "_count")) == 1);
    client_close(&client);
}

/* --- the whole table, by those who may not --- */

static void mark(struct client *client, enum marker marker)
{
    static const enum header_id headers[] = { [MARK_PLAN] = HEADER_IS_QUERY_PLAN,
                                              [MARK_BATCH] = HEADER_IS_BATCH,
                                              [MARK_QUERY] = HEADER_IS_QUERY,
                                              [MARK_UPSERT] = HEADER_IS_UPSERT };

    client_clear(client);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
    if (marker != MARK_NONE)
        client_header(client, headers[marker], "True");
}

TEST(a_key_for_reading_is_a_wrong_key_to_every_row_that_writes_or_tells_tokens_and_to_no_other)
{
    struct client client;

    open_filled(&client);
    for (size_t i = 0; i < route_count; i++) {
        mark(&client, routes[i].marker);
        client.key = CLIENT_READONLY_KEY;
        if ((client_send(&client, routes[i].method, target_of(routes[i].shape), "{}") == 401) !=
            (route_writes(&routes[i]) || strstr(routes[i].shape, "permissions")))
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
    client_close(&client);
}

TEST(a_wrong_key_and_none_get_401_from_every_row)
{
    struct client client;

    open_filled(&client);
    for (size_t i = 0; i < 2 * route_count; i++) {
        const struct route *route = &routes[i / 2];

        mark(&client, route->marker);
        client.key = "bm90IGEga2V5";
        client.unsigned_request = i % 2;
        if (client_send(&client, route->method, target_of(route->shape), "{}") != 401)
            test_failed(__FILE__, __LINE__, route->name);
    }
    client_close(&client);
}

/* --- backups --- */

static enum status keep_path(void *context, struct op *op, struct slice directory)
{
    struct slice *kept = context;

    *kept = slice_make(directory.data, directory.size);
    return slice_is(directory, "/full") ? op_fail(op, ST_UNAVAILABLE, "no space") : ST_OK;
}

TEST(a_backup_wants_a_key_that_may_write_and_a_whole_path)
{
    static const char *const bad[] = { "{}",
                                       "[]",
                                       "{'directory':1}",
                                       "{'directory':''}",
                                       "{'directory':'a/b'}",
                                       "{'directory':'/a\\u0000b'}",
                                       "{" };
    struct slice kept = { 0 };
    struct client client;

    client_open_with(&client, keep_path, &kept);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (client_send(&client, METHOD_POST, "/_orrery/backup", bad[i]) != 400 || kept.data)
            test_failed(__FILE__, __LINE__, bad[i]);
    client.key = CLIENT_READONLY_KEY;
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 401 && !kept.data);
    client.key = auth_emulator_key;
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 401 && !kept.data);
    client.unsigned_request = false;
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 201);
    CHECK(slice_is(kept, "/b") && slice_is(json_string(client_member(&client, "directory")), "/b"));
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/full'}") == 503);
    CHECK(told(&client, "ServiceUnavailable", "no space"));
    CHECK(client_send(&client, METHOD_GET, "/_orrery/backup", NULL) == 404);
    client_close(&client);
}

TEST(a_server_that_keeps_nothing_on_disk_has_nothing_to_back_up)
{
    struct client client;

    client_open(&client);
    CHECK(client_send(&client, METHOD_POST, "/_orrery/backup", "{'directory':'/b'}") == 501);
    client_close(&client);
}

/* --- endpoints without a key --- */

TEST(readiness_and_metrics_need_no_signature_but_a_name_we_answer_to)
{
    static const char *const targets[] = { "/_orrery/ready", "/_orrery/metrics" };
    struct client client;

    client_open(&client);
    client.unsigned_request = true;
    for (size_t i = 0; i < 2; i++) {
        client_header(&client, HEADER_HOST, "localhost");
        CHECK(client_send(&client, METHOD_GET, targets[i], NULL) == 200 &&
              client.exchange.answer.body.size > 0);
        client_header(&client, HEADER_HOST, "evil.example");
        CHECK(client_send(&client, METHOD_GET, targets[i], NULL) == 403);
    }
    client_clear(&client);
    client.unsigned_request = true;
    CHECK(client_send(&client, METHOD_GET, "/_explorer/emulator.pem", NULL) == 404 && client.was_handed_on);
    CHECK(client_send(&client, METHOD_POST, "/_orrery/ready", NULL) == 401);
    client_close(&client);
}

TEST(a_store_that_takes_no_writes_is_not_ready)
{
    struct client client;

    client_open(&client);
    faulty_fail(&client.rig.controls, FAULTY_WRITE, 1);
    client.rig.controls.reopen_failures = 1;
    CHECK(client_send(&client, METHOD_POST, "/dbs", "{'id':'d'}") == 503);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/ready", NULL) == 503);
    CHECK(told(&client, "ServiceUnavailable", "takes no writes"));
    CHECK(client_answer(&client, "x-ms-activity-id").size == ACTIVITY_ID_SIZE);
    client_close(&client);
}

/* name{labels} value, or a comment: what Prometheus can read. */
static bool is_metric_line(const char *line, size_t size)
{
    char copy[300], *space, *end, *brace;

    if (size >= sizeof(copy))
        return false;
    memcpy(copy, line, size);
    copy[size] = '\0';
    if (strncmp(copy, "# TYPE orrery_", 14) == 0)
        return strstr(copy, " counter") || strstr(copy, " gauge") || strstr(copy, " histogram");
    space = strrchr(copy, ' ');
    if (!space || strncmp(copy, "orrery_", 7) != 0)
        return false;
    brace = strchr(copy, '{');
    if (brace && space[-1] != '}')
        return false;
    strtod(space + 1, &end);
    return end > space + 1 && !*end;
}

TEST(every_line_of_the_metrics_can_be_read)
{
    const char *at, *end;
    size_t lines = 0;
    struct client client;

    open_filled(&client);
    CHECK(client_send(&client, METHOD_GET, DOCS "/none", NULL) == 404);
    CHECK(client_send(&client, METHOD_GET, "/nothing", NULL) == 404);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/metrics", NULL) == 200);
    at = arena_text(&client.exchange.op.arena, buf_as_slice(&client.exchange.answer.body));
    CHECK(strstr(at, "orrery_requests_total{operation=\"document_create\",status=\"2xx\"} 1\n"));
    CHECK(strstr(at, "orrery_requests_total{operation=\"document_read\",status=\"4xx\"} 1\n"));
    CHECK(strstr(at, "orrery_requests_total{operation=\"none\",status=\"4xx\"} 1\n"));
    CHECK(strstr(at, "orrery_request_seconds_count{operation=\"document_create\"} 1\n"));
    CHECK(strstr(at, "orrery_other 1\n"));
    for (; *at && (end = strchr(at, '\n')); at = end + 1, lines++)
        CHECK(is_metric_line(at, (size_t)(end - at)));
    CHECK(!*at && lines > 40);
    client_close(&client);
}

/* --- resource tokens --- */

#define READ_C "{'id':'p','permissionMode':'Read','resource':'dbs/d/colls/c'}"

/* From here on the token of the last answer is in the place of a signature. */
static void carry_token(struct client *client)
{
    struct buf encoded;

    buf_init(&encoded, &client->keep.arena);
    percent_encode(&encoded, json_string(client_member(client, "_token")));
    client->header[HEADER_AUTHORIZATION] = buf_as_slice(&encoded);
}

TEST(a_resource_token_serves_for_its_time)
{
    struct client client;

    open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users", "{'id':'u'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users/u/permissions", READ_C) == 201);
    carry_token(&client);
    CHECK(client_send(&client, METHOD_GET, "/", NULL) == 200);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200);
    CHECK(client_send(&client, METHOD_DELETE, "/dbs/d/colls/c", NULL) == 403);
    env_advance_ms(client.rig.op->env, 3599 * 1000);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200);
    env_advance_ms(client.rig.op->env, 1000);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 403 &&
          slice_is(json_string(client_member(&client, "code")), "Forbidden"));
    CHECK(client_send(&client, METHOD_GET, "/", NULL) == 403);
    client_close(&client);
}

TEST(a_client_chooses_how_long_its_token_serves)
{
    struct client client;

    open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users", "{'id':'u'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users/u/permissions", READ_C) == 201);
    client_header(&client, HEADER_EXPIRY_SECONDS, "7200");
    CHECK(client_send(&client, METHOD_GET, "/dbs/d/users/u/permissions/p", NULL) == 200);
    carry_token(&client);
    env_advance_ms(client.rig.op->env, 7199 * 1000);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 200);
    env_advance_ms(client.rig.op->env, 1000);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 403);
    client_close(&client);
}

/* Whatever it is for: queries and plans read, and every other POST, PUT, PATCH and DELETE does not. */
TEST(a_token_for_reading_a_database_changes_nothing_by_any_row)
{
    static const char permission[] = "{'id':'p','permissionMode':'Read','resource':'dbs/d'}";
    struct slice token;
    struct client client;

    open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users", "{'id':'u'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users/u/permissions", permission) == 201);
    carry_token(&client);
    token = client.header[HEADER_AUTHORIZATION];
    for (size_t i = 0; i < route_count; i++) {
        mark(&client, routes[i].marker);
        client.header[HEADER_AUTHORIZATION] = token;
        if (client_send(&client, routes[i].method, target_of(routes[i].shape), "{}") != 403 &&
            route_writes(&routes[i]))
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
    client_close(&client);
}

TEST(a_body_in_an_encoding_is_refused_and_not_taken_for_what_it_is_not)
{
    struct client client;

    open_filled(&client);
    client_header(&client, HEADER_PARTITION_KEY, "['a']");
    client_header(&client, HEADER_CONTENT_ENCODING, "gzip");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 400);
    client_header(&client, HEADER_CONTENT_ENCODING, "identity");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 201);
    client_close(&client);
}
