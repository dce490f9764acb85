/* test/unit/route/role_test.c - bearers of tokens over the whole route table: roles, places, and what no role allows. */
#include "client.h"
#include "issuer.h"
#include "route/table.h"

#define CLAIMS "'iss':'i','aud':'a','exp':9000000000"

static const char roles[] =
    "{\"definitions\":[{\"name\":\"create\",\"dataActions\":["
    "\"Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/create\"]},"
    "{\"name\":\"run\",\"dataActions\":["
    "\"Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/executeStoredProcedure\"]},"
    "{\"name\":\"run and create\",\"dataActions\":["
    "\"Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/executeStoredProcedure\","
    "\"Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/create\"]}],\"assignments\":["
    "{\"role\":\"run\",\"scope\":\"/dbs/d\",\"sub\":\"runner\"},"
    "{\"role\":\"run and create\",\"scope\":\"/dbs/d\",\"sub\":\"filler\"},"
    "{\"role\":\"Cosmos DB Built-in Data Contributor\",\"scope\":\"/\",\"sub\":\"contributor\"},"
    "{\"role\":\"Cosmos DB Built-in Data Reader\",\"scope\":\"/dbs/d\",\"sub\":\"reader\"},"
    "{\"role\":\"create\",\"scope\":\"/dbs/d/colls/c\",\"sub\":\"creator\"},"
    "{\"role\":\"Cosmos DB Built-in Data "
    "Contributor\",\"scope\":\"/dbs/d/colls/other\",\"sub\":\"neighbour\"}]}";

struct house {
    struct client client;
    struct issuer issuer;
    struct slice authorization;
};

static void open_house(struct house *house)
{
    static const char *const audiences[] = { "a" };
    struct client *client = &house->client;
    struct bearer_options options = {
        .issuer = "i", .audiences = audiences, .audience_count = 1, .roles = slice_of(roles)
    };
    struct bearer *bearer = NULL;

    *house = (struct house){ 0 };
    client_open_filled(client);
    issuer_open(&house->issuer);
    options.jwks = issuer_jwks(&house->issuer, &client->keep, "");
    CHECK(bearer_open(client->rig.op, &options, &bearer) == ST_OK);
    auth_set_bearer(client->auth, bearer);
}

static void close_house(struct house *house)
{
    issuer_close(&house->issuer);
    client_close(&house->client);
}

static void come_as(struct house *house, const char *claims)
{
    house->authorization =
        issuer_authorization(&house->client.keep, issuer_sign(&house->issuer, &house->client.keep,
                                                              "{'alg':'ES256','kid':'ec'}", claims));
}

static int ask(struct house *house, enum method method, enum marker marker, const char *target,
               const char *body)
{
    client_clear(&house->client);
    client_header(&house->client, HEADER_PARTITION_KEY, "['a']");
    client_mark(&house->client, marker);
    house->client.header[HEADER_AUTHORIZATION] = house->authorization;
    return client_send(&house->client, method, target, body);
}

static int sub_status(struct house *house)
{
    uint64_t number = 0;

    slice_to_u64(client_answer(&house->client, "x-ms-substatus"), &number);
    return (int)number;
}

/* Whether the answer to a row is a refusal for want of rights, with the right sub-status. */
static bool is_refused(struct house *house, const struct route *route)
{
    int expected = !route->actions ? 5300 : route->actions == ACTION_METADATA ? 5301 : 5302;
    int status = ask(house, route->method, route->marker, client_target_of(route->shape), "{}");

    if (status == 403 && sub_status(house) != expected)
        test_failed(__FILE__, __LINE__, route->name);
    return status == 403;
}

/*
 * What somebody may do: `allowed` in the container of the shapes, and `account` where there is none. The account itself
 * and addresses are told to whoever may read metadata `somewhere`.
 */
struct rights {
    const char *claims;
    unsigned allowed, account;
    bool somewhere;
};

static void check_table(struct house *house, const struct rights *rights)
{
    come_as(house, rights->claims);
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &routes[i];
        unsigned allowed = route_owners(route) & OWNER_DATABASE ? rights->allowed : rights->account;
        bool open = (route->actions && !(route->actions & ~allowed)) ||
                    (route->flags & FOR_EVERYBODY && rights->somewhere);

        if (route->flags & IN_PARTS) /* its parts decide */
            continue;
        if (is_refused(house, route) == open)
            test_failed(__FILE__, __LINE__, route->name);
    }
}

TEST(every_row_is_open_to_those_whose_role_has_its_action_and_to_nobody_else)
{
    static const unsigned reads = ACTION_METADATA | ACTION_READ | ACTION_QUERY | ACTION_FEED;
    static const unsigned all = ACTION_METADATA | ACTION_ITEMS | ACTION_CONTAINERS;
    static const struct rights rights[] = {
        { "{" CLAIMS ",'sub':'nobody'}", 0, 0, false },
        { "{" CLAIMS ",'sub':'neighbour'}", 0, 0, true },
        { "{" CLAIMS ",'sub':'creator'}", ACTION_CREATE, 0, false },
        { "{" CLAIMS ",'sub':'reader'}", reads, 0, true },
        { "{" CLAIMS ",'sub':'contributor'}", all, all, true },
    };
    static struct house house;

    open_house(&house);
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
        check_table(&house, &rights[i]);
    close_house(&house);
}

static int transact(struct house *house, const char *kind)
{
    const char *body;

    client_clear(&house->client);
    house->client.header[HEADER_AUTHORIZATION] = house->authorization;
    body = client_transaction(&house->client, "c", kind);
    return client_send(&house->client, METHOD_POST, "/operations/dtc", body);
}

TEST(a_role_is_asked_about_each_operation_of_a_transaction)
{
    static const char *const kinds[] = { "Create", "Upsert", "Replace", "Delete", "Read" };
    static struct house house;

    open_house(&house);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        bool reads = strcmp(kinds[i], "Read") == 0, creates = strcmp(kinds[i], "Create") == 0;

        come_as(&house, "{" CLAIMS ",'sub':'neighbour'}");
        CHECK(transact(&house, kinds[i]) == 403 && sub_status(&house) == 5302);
        come_as(&house, "{" CLAIMS ",'sub':'reader'}");
        CHECK((transact(&house, kinds[i]) == 403) == !reads);
        come_as(&house, "{" CLAIMS ",'sub':'creator'}");
        CHECK((transact(&house, kinds[i]) == 403) == !creates);
    }
    close_house(&house);
}

TEST(the_systems_procedure_inserts_what_its_caller_may_insert)
{
    static const char target[] = "/dbs/d/colls/c/sprocs/__.sys.commonBulkInsert";
    static const char creates[] = "[[{'id':'by bulk','pk':'a'}],{}]";
    static const char upserts[] = "[[{'id':'1','pk':'a','owned':true}],{'enableUpsert':true}]";
    static struct house house;

    open_house(&house);
    come_as(&house, "{" CLAIMS ",'sub':'runner'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, creates) == 403 && sub_status(&house) == 5302);
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, upserts) == 403 && sub_status(&house) == 5302);
    come_as(&house, "{" CLAIMS ",'sub':'filler'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, upserts) == 403 && sub_status(&house) == 5302);
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, creates) == 200);
    come_as(&house, "{" CLAIMS ",'sub':'contributor'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, upserts) == 200);
    close_house(&house);
}

TEST(who_may_not_is_not_told_what_there_is)
{
    static struct house house;

    open_house(&house);
    come_as(&house, "{" CLAIMS ",'sub':'neighbour'}");
    CHECK(ask(&house, METHOD_GET, MARK_NONE, "/dbs/d/colls/c/docs/1", NULL) == 403);
    CHECK(ask(&house, METHOD_GET, MARK_NONE, "/dbs/d/colls/none/docs/1", NULL) == 403);
    CHECK(ask(&house, METHOD_GET, MARK_NONE, "/dbs/none/colls/c/docs/1", NULL) == 403);
    CHECK(ask(&house, METHOD_GET, MARK_NONE, "/dbs/d/colls/other/docs/1", NULL) == 404);
    CHECK(client_told(&house.client, "NotFound", "Owner resource does not exist"));
    close_house(&house);
}

TEST(a_role_for_a_name_is_good_for_its_rid_too)
{
    static struct house house;
    char target[200];
    struct rid rid;

    open_house(&house);
    CHECK(client_send(&house.client, METHOD_GET, "/dbs/d/colls/c", NULL) == 200);
    snprintf(target, sizeof(target), "/dbs/d/colls/%.*s/docs",
             SLICE_ARGS(json_string(client_member(&house.client, "_rid"))));
    CHECK(rid_parse(json_string(client_member(&house.client, "_rid")), &rid));
    come_as(&house, "{" CLAIMS ",'sub':'creator'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, "{'id':'2','pk':'a'}") == 201);
    come_as(&house, "{" CLAIMS ",'sub':'nobody'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, target, "{'id':'3','pk':'a'}") == 403 &&
          sub_status(&house) == 5303);
    close_house(&house);
}

TEST(a_refusal_has_the_words_of_the_service)
{
    static struct house house;

    open_house(&house);
    come_as(&house, "{" CLAIMS ",'sub':'reader','oid':'7'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, "/dbs", "{'id':'e'}") == 403);
    CHECK(client_told(
        &house.client, "Forbidden",
        "Request blocked by Auth orrery : The given request [POST /dbs] cannot be authorized by AAD "
        "token in data plane. Learn more: https://aka.ms/cosmos-native-rbac."));
    CHECK(ask(&house, METHOD_DELETE, MARK_NONE, "/dbs/d/colls/c/docs/1", NULL) == 403);
    CHECK(client_told(
        &house.client, "Forbidden",
        "Request is blocked because principal [7] does not have required RBAC permissions to perform "
        "action [Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/delete] on resource "
        "[dbs/d/colls/c]. Learn more: https://aka.ms/cosmos-native-rbac."));
    close_house(&house);
}

TEST(no_token_of_a_provider_makes_a_backup)
{
    static struct house house;

    open_house(&house);
    come_as(&house, "{" CLAIMS ",'sub':'contributor'}");
    CHECK(ask(&house, METHOD_POST, MARK_NONE, "/_orrery/backup", "{'directory':'/b'}") == 403);
    close_house(&house);
}
