/* test/unit/route/throughput_test.c - requests held back to their container's request units, on a clock that is moved. */
#include <stdlib.h>

#include "client.h"

#define COLLS "/dbs/d/colls"
#define DOCS COLLS "/c/docs"
#define BY_PK "'partitionKey':{'paths':['/pk'],'version':2}"

/* A database with that throughput, or none, and in it the container c with that of its own, or none. */
static void open_with(struct client *client, const char *shared, const char *own)
{
    client_open(client);
    client->service.enforces_throughput = true;
    env_advance_ms(client->rig.op->env, 3600 * 1000);
    client_header(client, HEADER_OFFER_THROUGHPUT, shared);
    CHECK(client_send(client, METHOD_POST, "/dbs", "{'id':'d'}") == 201);
    client_header(client, HEADER_OFFER_THROUGHPUT, own);
    CHECK(client_send(client, METHOD_POST, COLLS, "{'id':'c'," BY_PK "}") == 201);
    client_header(client, HEADER_OFFER_THROUGHPUT, NULL);
    client_header(client, HEADER_PARTITION_KEY, "['a']");
}

static double charged(struct client *client)
{
    return strtod(client_answer(client, "x-ms-request-charge").data, NULL);
}

static int64_t told_to_wait_ms(struct client *client)
{
    struct slice header = client_answer(client, "x-ms-retry-after-ms");

    return header.data ? strtol(header.data, NULL, 10) : 0;
}

/* An item of a megabyte: more than 400 request units. */
static void create_large(struct client *client, const char *docs, const char *id, const char *pk)
{
    struct buf body;

    buf_init(&body, &client->keep.arena);
    buf_printf(&body, "{'id':'%s','pk':'%s','text':'", id, pk);
    for (int i = 0; i < 1024 * 1024; i++)
        buf_byte(&body, 'x');
    buf_append(&body, "'}", 3);
    CHECK(client_send(client, METHOD_POST, docs, body.data) == 201);
    CHECK(charged(client) > 400 && charged(client) < 500);
}

TEST(what_is_beyond_the_throughput_is_refused_until_time_has_passed)
{
    struct client client;
    double owed;
    int64_t wait_ms;

    open_with(&client, NULL, "400");
    create_large(&client, DOCS, "1", "a");
    owed = charged(&client) - 400;
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429 && !client.was_handed_on);
    CHECK(slice_is(client_answer(&client, "x-ms-substatus"), "3200"));
    CHECK(slice_is(client_answer(&client, "x-ms-request-charge"), "0.38"));
    CHECK(
        strstr(client.exchange.answer.body.data, "Request rate is large. More Request Units may be needed"));
    wait_ms = told_to_wait_ms(&client);
    CHECK(wait_ms >= (int64_t)(owed * 1000 / 400) && wait_ms <= (int64_t)(owed * 1000 / 400) + 2);
    env_advance_ms(client.rig.op->env, wait_ms - 1);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    env_advance_ms(client.rig.op->env, 1);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200);
    client_close(&client);
}

TEST(a_request_that_is_refused_has_done_nothing_and_pays_nothing)
{
    struct client client;

    open_with(&client, NULL, "400");
    create_large(&client, DOCS, "1", "a");
    for (int i = 0; i < 1000; i++)
        CHECK(client_send(&client, METHOD_POST, DOCS, "{'id':'2','pk':'a'}") == 429);
    env_advance_ms(client.rig.op->env, told_to_wait_ms(&client));
    CHECK(client_send(&client, METHOD_GET, DOCS "/2", NULL) == 404);
    client_close(&client);
}

TEST(without_being_told_the_server_refuses_nothing)
{
    struct client client;

    open_with(&client, NULL, "400");
    client.service.enforces_throughput = false;
    create_large(&client, DOCS, "1", "a");
    create_large(&client, DOCS, "2", "a");
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200);
    client_close(&client);
}

TEST(definitions_and_plans_are_served_when_items_are_not)
{
    struct client client;

    open_with(&client, NULL, "400");
    create_large(&client, DOCS, "1", "a");
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    CHECK(client_send(&client, METHOD_GET, COLLS "/c", NULL) == 200);
    CHECK(client_send(&client, METHOD_GET, COLLS "/c/pkranges", NULL) == 200);
    client_header(&client, HEADER_IS_QUERY_PLAN, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, "{'query':'SELECT * FROM c'}") == 200);
    client_close(&client);
}

TEST(another_container_is_not_concerned)
{
    struct client client;

    open_with(&client, NULL, "400");
    CHECK(client_send(&client, METHOD_POST, COLLS, "{'id':'other'," BY_PK "}") == 201);
    create_large(&client, DOCS, "1", "a");
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    CHECK(client_send(&client, METHOD_POST, COLLS "/other/docs", "{'id':'1','pk':'a'}") == 201);
    client_close(&client);
}

TEST(containers_without_throughput_share_that_of_their_database)
{
    struct client client;

    open_with(&client, "1000", NULL);
    client_header(&client, HEADER_OFFER_THROUGHPUT, "400");
    CHECK(client_send(&client, METHOD_POST, COLLS, "{'id':'own'," BY_PK "}") == 201);
    client_header(&client, HEADER_OFFER_THROUGHPUT, NULL);
    CHECK(client_send(&client, METHOD_POST, COLLS, "{'id':'shares'," BY_PK "}") == 201);
    create_large(&client, DOCS, "1", "a");
    create_large(&client, COLLS "/shares/docs", "1", "a");
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 200); /* 1,000 and no less */
    create_large(&client, DOCS, "2", "a");
    CHECK(client_send(&client, METHOD_GET, COLLS "/shares/docs/1", NULL) == 429);
    CHECK(client_send(&client, METHOD_POST, COLLS "/own/docs", "{'id':'1','pk':'a'}") == 201);
    client_close(&client);
}

TEST(the_26th_container_that_would_share_is_refused)
{
    struct client client;
    char body[128];

    open_with(&client, "400", NULL);
    for (int i = 1; i < 25; i++) {
        snprintf(body, sizeof(body), "{'id':'%d'," BY_PK "}", i);
        CHECK(client_send(&client, METHOD_POST, COLLS, body) == 201);
    }
    CHECK(client_send(&client, METHOD_POST, COLLS, "{'id':'more'," BY_PK "}") == 400);
    client_header(&client, HEADER_OFFER_THROUGHPUT, "400");
    CHECK(client_send(&client, METHOD_POST, COLLS, "{'id':'more'," BY_PK "}") == 201);
    client_close(&client);
}

TEST(a_key_of_one_range_is_served_while_another_range_has_nothing_left)
{
    struct client client;
    int refused = 0;
    char key[16];

    open_with(&client, NULL, "12000"); /* two ranges of 6,000 each */
    for (int i = 0; i < 15; i++) {
        snprintf(key, sizeof(key), "%d", i);
        create_large(&client, DOCS, key, "a");
    }
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "['%d']", i);
        client_header(&client, HEADER_PARTITION_KEY, key);
        refused += client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429;
    }
    CHECK(refused > 2 && refused < 18);
    client_header(&client, HEADER_PARTITION_KEY, NULL);
    CHECK(client_send(&client, METHOD_GET, DOCS, NULL) == 429); /* which would look at both */
    client_close(&client);
}

/* Gives the container's offer another throughput. */
static int replace_throughput(struct client *client, struct slice path, int units)
{
    char body[200];

    snprintf(body, sizeof(body), "{'_rid':'%s','content':{'offerThroughput':%d}}",
             path.data + strlen("/offers/"), units);
    return client_send(client, METHOD_PUT, path.data, body);
}

static struct slice offer_path(struct client *client)
{
    struct json offer;
    struct buf path;

    client_header(client, HEADER_PARTITION_KEY, NULL);
    CHECK(client_send(client, METHOD_GET, "/offers", NULL) == 200);
    offer = json_element(client_member(client, "Offers"), 0);
    buf_init(&path, &client->keep.arena);
    buf_text(&path, "/offers/");
    buf_slice(&path, json_string(json_get(offer, "_rid")));
    buf_byte(&path, '\0');
    return buf_as_slice(&path);
}

TEST(replaced_throughput_counts_at_once_and_so_does_the_most_of_autoscale)
{
    struct client client;
    struct slice offer;
    int64_t before, after;

    open_with(&client, NULL, "400");
    create_large(&client, DOCS, "1", "a");
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    before = told_to_wait_ms(&client);
    offer = offer_path(&client);
    CHECK(replace_throughput(&client, offer, 800) == 200);
    client_header(&client, HEADER_PARTITION_KEY, "['a']");
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    after = told_to_wait_ms(&client);
    CHECK(after >= before / 2 && after <= before / 2 + 1);
    client_header(&client, HEADER_OFFER_TO_AUTOSCALE, "true");
    CHECK(replace_throughput(&client, offer, 800) == 200);
    client_header(&client, HEADER_OFFER_TO_AUTOSCALE, NULL);
    env_advance_ms(client.rig.op->env, 10 * 1000);
    create_large(&client, DOCS, "2", "a"); /* of 1,000 there are */
    create_large(&client, DOCS, "3", "a");
    CHECK(client_send(&client, METHOD_GET, DOCS "/2", NULL) == 200);
    client_close(&client);
}

TEST(in_bulk_each_operation_is_refused_by_itself_and_a_batch_as_a_whole)
{
    static const char *const operations = "[{'operationType':'Read','id':'1','partitionKey':'[\\'a\\']'},"
                                          "{'operationType':'Read','id':'1','partitionKey':'[\\'a\\']'}]";
    struct client client;

    open_with(&client, NULL, "400");
    create_large(&client, DOCS, "1", "a");
    client_header(&client, HEADER_IS_BATCH, "True");
    client_header(&client, HEADER_BATCH_ATOMIC, "True");
    CHECK(client_send(&client, METHOD_POST, DOCS, operations) == 429);
    client_header(&client, HEADER_BATCH_ATOMIC, "False");
    client_header(&client, HEADER_BATCH_CONTINUE, "True");
    REQUIRE(client_send(&client, METHOD_POST, DOCS, operations) == 207);
    for (size_t i = 0; i < 2; i++) {
        struct json part = json_element(rig_body(&client.exchange.op, &client.exchange.answer), i);

        CHECK(json_int(json_get(part, "statusCode")) == 429);
        CHECK(json_int(json_get(part, "subStatusCode")) == 3200);
        CHECK(json_int(json_get(part, "retryAfterMilliseconds")) > 50);
    }
    client_close(&client);
}

/* 100 items of 40 KB cost 2,000 units: those that a second pays for are done, and one more that takes the bucket below zero. */
TEST(operations_in_bulk_are_refused_from_the_one_on_that_finds_nothing_left)
{
    struct client client;
    struct buf body;
    int done = 0;

    open_with(&client, NULL, "400");
    client_header(&client, HEADER_IS_BATCH, "True");
    client_header(&client, HEADER_BATCH_CONTINUE, "True");
    buf_init(&body, &client.keep.arena);
    for (int i = 0; i < 50; i++) {
        buf_printf(&body,
                   "%s{'operationType':'Create','partitionKey':'[\\'a\\']','resourceBody':{'id':'%d','pk':'a'"
                   ",'text':'",
                   i ? "," : "[", i);
        for (int n = 0; n < 40 * 1024; n++)
            buf_byte(&body, 'x');
        buf_text(&body, "'}}");
    }
    buf_append(&body, "]", 2);
    REQUIRE(client_send(&client, METHOD_POST, DOCS, body.data) == 207);
    for (size_t i = 0; i < 50; i++) {
        struct json part = json_element(rig_body(&client.exchange.op, &client.exchange.answer), i);

        done += json_int(json_get(part, "statusCode")) == 201;
    }
    CHECK(done > 15 && done < 25);
    client_close(&client);
}

TEST(charges_and_refusals_are_counted_for_their_container)
{
    struct container *list[2];
    struct client client;
    double charge;

    open_with(&client, NULL, "400");
    CHECK(client_send(&client, METHOD_POST, COLLS, "{'id':'unused'," BY_PK "}") == 201);
    create_large(&client, DOCS, "1", "a");
    charge = charged(&client);
    CHECK(client_send(&client, METHOD_GET, DOCS "/1", NULL) == 429);
    REQUIRE(catalog_list_spending(client.rig.catalog, list, 2) == 1);
    CHECK(list[0]->meter->refused == 1);
    CHECK(meter_spent(list[0]->meter) == (uint64_t)((charge + 0.38) * 100 + 0.5));
    container_release(list[0]);
    CHECK(client_send(&client, METHOD_GET, "/_orrery/metrics", NULL) == 200);
    CHECK(strstr(client.exchange.answer.body.data,
                 "orrery_requests_retry_total{operation=\"document_read\",status=\"429\"} 1\n"));
    client_close(&client);
}
