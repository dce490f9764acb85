/* test/unit/route/rights_test.c - who may ask for what: unsigned requests, keys for reading, resource tokens, over the whole table. */
#include "base/encode.h"
#include "client.h"
#include "route/table.h"

#define DOCS "/dbs/d/colls/c/docs"

/* --- who may ask --- */

/* Promise 1. */
TEST(no_operation_runs_for_a_request_that_is_not_signed)
{
    uint64_t lsn;
    struct container *container;
    struct client client;

    client_open_filled(&client);
    client.rig.database = catalog_find_database(client.rig.catalog, slice_of("d"));
    container = catalog_find_container(client.rig.catalog, client.rig.database, slice_of("c"));
    lsn = bucket_lsn(container->bucket);
    client.unsigned_request = true;
    for (size_t i = 0; i < route_count; i++) {
        client_header(&client, HEADER_IS_UPSERT, routes[i].marker == MARK_UPSERT ? "true" : NULL);
        client_header(&client, HEADER_IS_QUERY, routes[i].marker == MARK_QUERY ? "true" : NULL);
        if (client_send(&client, routes[i].method, client_target_of(routes[i].shape),
                        "{'id':'new','pk':'a'}") != 401 ||
            client.exchange.op.work.round_trips != 0)
            test_failed(__FILE__, __LINE__, routes[i].name);
        CHECK(!client.was_handed_on);
    }
    CHECK(bucket_lsn(container->bucket) == lsn);
    CHECK(client_send(&client, METHOD_GET, "/dbs/none", NULL) == 401); /* nor is it told what there is */
    container_release(container);
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

    client_open_filled(&client);
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
    client_clear(client);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
    client_mark(client, marker);
}

TEST(a_key_for_reading_is_a_wrong_key_to_every_row_that_writes_or_tells_tokens_and_to_no_other)
{
    struct client client;

    client_open_filled(&client);
    for (size_t i = 0; i < route_count; i++) {
        mark(&client, routes[i].marker);
        client.key = CLIENT_READONLY_KEY;
        if ((client_send(&client, routes[i].method, client_target_of(routes[i].shape), "{}") == 401) !=
            (route_writes(&routes[i]) || strstr(routes[i].shape, "permissions")))
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
    client_close(&client);
}

TEST(a_wrong_key_and_none_get_401_from_every_row)
{
    struct client client;

    client_open_filled(&client);
    for (size_t i = 0; i < 2 * route_count; i++) {
        const struct route *route = &routes[i / 2];

        mark(&client, route->marker);
        client.key = "bm90IGEga2V5";
        client.unsigned_request = i % 2;
        if (client_send(&client, route->method, client_target_of(route->shape), "{}") != 401)
            test_failed(__FILE__, __LINE__, route->name);
    }
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

    client_open_filled(&client);
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

    client_open_filled(&client);
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

/* The same for a grant that no permission was asked for. */
static void carry_grant(struct client *client, const struct grant *grant)
{
    struct buf token, encoded;

    buf_init(&token, &client->keep.arena);
    auth_print_token(client->auth, grant, &token);
    buf_init(&encoded, &client->keep.arena);
    percent_encode(&encoded, buf_as_slice(&token));
    client->header[HEADER_AUTHORIZATION] = buf_as_slice(&encoded);
}

TEST(a_token_that_leads_to_something_else_than_a_permission_serves_for_nothing)
{
    struct grant grant = { 0 };
    struct child *procedure;
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/colls/c/sprocs", "{'id':'s','body':'function f() {}'}") ==
          201);
    CHECK(rid_parse(json_string(client_member(&client, "_rid")), &grant.permission));
    procedure = catalog_find_child_at(client.rig.catalog, &grant.permission);
    REQUIRE(procedure);
    grant.etag = procedure->etag;
    grant.resource = procedure->parent;
    grant.issued_ms = client.rig.op->now_ms;
    grant.expires_ms = grant.issued_ms + 3600 * 1000;
    carry_grant(&client, &grant);
    CHECK(client_send(&client, METHOD_GET, "/", NULL) == 403);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 403);
    child_release(procedure);
    client_close(&client);
}

/* Whatever it is for: queries and plans read, and every other POST, PUT, PATCH and DELETE does not. */
TEST(a_token_for_reading_a_database_changes_nothing_by_any_row)
{
    static const char permission[] = "{'id':'p','permissionMode':'Read','resource':'dbs/d'}";
    struct slice token;
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users", "{'id':'u'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users/u/permissions", permission) == 201);
    carry_token(&client);
    token = client.header[HEADER_AUTHORIZATION];
    for (size_t i = 0; i < route_count; i++) {
        if (routes[i].flags & IN_PARTS) /* its parts decide */
            continue;
        mark(&client, routes[i].marker);
        client.header[HEADER_AUTHORIZATION] = token;
        if (client_send(&client, routes[i].method, client_target_of(routes[i].shape), "{}") != 403 &&
            route_writes(&routes[i]))
            test_failed(__FILE__, __LINE__, routes[i].name);
    }
    client_close(&client);
}

static int transact(struct client *client, struct slice token, const char *container, const char *kind)
{
    const char *body;

    client_clear(client);
    client->header[HEADER_AUTHORIZATION] = token;
    body = client_transaction(client, container, kind);
    return client_send(client, METHOD_POST, "/operations/dtc", body);
}

TEST(a_token_is_good_for_the_operations_of_a_transaction_that_it_is_good_for)
{
    struct slice token;
    struct client client;

    client_open_filled(&client);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/colls",
                      "{'id':'other','partitionKey':{'paths':['/pk']}}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users", "{'id':'u'}") == 201);
    CHECK(client_send(&client, METHOD_POST, "/dbs/d/users/u/permissions", READ_C) == 201);
    carry_token(&client);
    token = client.header[HEADER_AUTHORIZATION];
    CHECK(transact(&client, token, "c", "Read") != 403);
    CHECK(transact(&client, token, "c", "Upsert") == 403);
    CHECK(transact(&client, token, "c", "Delete") == 403);
    CHECK(transact(&client, token, "other", "Read") == 403);
    CHECK(transact(&client, token, "missing", "Read") == 403); /* nobody is told what there is elsewhere */
    client_close(&client);
}
