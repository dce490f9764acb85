/* test/unit/route/transaction_test.c - transactions when the store fails, and when there is no room for another. */
#include "base/limits.h"
#include "client.h"
#include "keys/keys.h"

#define DTC "/operations/dtc"
#define COLLS "/dbs/d/colls"
#define OTHER COLLS "/other/docs"
#define PART "'databaseName':'d','partitionKey':['a']"
#define BOTH                                                                              \
    "{'operations':[{" PART ",'collectionName':'c','id':'1','operationType':'Patch',"     \
    "'resourceBody':[{'op':'add','path':'/l/-','value':1}]},"                             \
    "{" PART ",'collectionName':'other','id':'2','operationType':'Create','resourceBody'" \
    ":{'id':'2','pk':'a'}}]}"

static void use_token(struct client *client, int number)
{
    char token[40];

    snprintf(token, sizeof(token), "51eb84be-bf65-4749-8806-%012d", number);
    client_header(client, HEADER_IDEMPOTENCY_TOKEN, token);
}

/* Item 1 of c has a list, and the container "other" has nothing. */
static void open_pair(struct client *client)
{
    client_open_filled(client);
    CHECK(client_send(client, METHOD_PUT, COLLS "/c/docs/1", "{'id':'1','pk':'a','l':[]}") == 200);
    CHECK(client_send(client, METHOD_POST, COLLS,
                      "{'id':'other','partitionKey':{'paths':['/pk'],'version':2}}") == 201);
    use_token(client, 1);
}

/* How often it was done, or -1 when that is half. */
static int times_done(struct client *client)
{
    size_t appended, created;

    CHECK(client_send(client, METHOD_GET, COLLS "/c/docs/1", NULL) == 200);
    appended = json_count(client_member(client, "l"));
    created = client_send(client, METHOD_GET, OTHER "/2", NULL) == 200;
    return appended == created ? (int)appended : -1;
}

static bool is_retriable(struct client *client)
{
    struct json told = client_member(client, "isRetriable");

    CHECK(json_kind(told) == JSON_TRUE ||
          json_kind(told) == JSON_FALSE); /* without it a client of .NET breaks */
    return json_kind(told) == JSON_TRUE;
}

TEST(whichever_call_of_the_store_fails_a_transaction_is_whole_and_its_repetition_does_the_rest)
{
    uint64_t call = 1;

    for (bool struck = true; struck; call++) {
        struct client client;
        int status;

        open_pair(&client);
        faulty_fail(&client.rig.controls, FAULTY_ANY, call);
        status = client_send(&client, METHOD_POST, DTC, BOTH);
        struck = client.rig.controls.failed;
        CHECK(status == 200 || (struck && (status == 503 || status == 408) && is_retriable(&client)));
        client.rig.controls.fail_call = 0;
        env_advance_ms(client.rig.op->env, 1000);
        CHECK(times_done(&client) == 1 || (status != 200 && times_done(&client) == 0));
        CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 200);
        CHECK(times_done(&client) == 1);
        client_close(&client);
    }
    CHECK(call > 6); /* it did reach the end */
}

/* As if there were records of so many bytes more. */
static void count_records(struct client *client, int64_t bytes)
{
    struct op *op = client->rig.op;
    struct batch *batch = batch_new(op, bucket_make(0, 1));
    struct commit_stamp stamp;
    struct bucket *bucket;

    REQUIRE(store_bucket(op, client->rig.store, bucket_make(0, 1), &bucket) == ST_OK);
    batch_counts(batch, 0, bytes);
    REQUIRE(store_commit(op, bucket, batch, &stamp) == ST_OK);
}

TEST(without_room_for_records_new_transactions_may_come_later_and_old_ones_are_told)
{
    struct client client;

    open_pair(&client);
    CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 200);
    count_records(&client, LEDGER_BYTES_MAX);
    CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 200);
    CHECK(times_done(&client) == 1);
    CHECK(client_send(&client, METHOD_DELETE, OTHER "/2", NULL) == 204);
    use_token(&client, 2);
    CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 429);
    CHECK(slice_is(client_answer(&client, "x-ms-substatus"), "3200"));
    CHECK(is_retriable(&client));
    CHECK(client_send(&client, METHOD_GET, OTHER "/2", NULL) == 404);
    count_records(&client, -(int64_t)LEDGER_BYTES_MAX);
    CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 200);
    client_close(&client);
}

/* 400 RU/s are spent by an item of a megabyte. */
static void spend(struct client *client)
{
    struct buf body;

    buf_init(&body, &client->keep.arena);
    buf_text(&body, "{'id':'large','pk':'a','text':'");
    for (int i = 0; i < 1024 * 1024; i++)
        buf_byte(&body, 'x');
    buf_append(&body, "'}", 3);
    CHECK(client_send(client, METHOD_POST, OTHER, body.data) == 201);
}

TEST(one_container_without_throughput_holds_the_transaction_back_before_it_begins)
{
    struct client client;

    open_pair(&client);
    client.service.enforces_throughput = true;
    env_advance_ms(client.rig.op->env, 3600 * 1000);
    spend(&client);
    CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 429);
    CHECK(slice_is(client_answer(&client, "x-ms-substatus"), "3200") && is_retriable(&client));
    env_advance_ms(client.rig.op->env, 3600 * 1000);
    CHECK(times_done(&client) == 0);
    CHECK(client_send(&client, METHOD_POST, DTC, BOTH) == 200);
    CHECK(times_done(&client) == 1);
    client_close(&client);
}
