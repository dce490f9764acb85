/* test/unit/auth/roles_test.c - roles: what a file may say, and whom it lets do what where. */
#include "auth/roles.h"
#include "test.h"

#define DATA "Microsoft.DocumentDB/databaseAccounts/"
#define COLLS DATA "sqlDatabases/containers/"

static enum status parse(const char *text, struct roles **roles)
{
    struct buf quoted;

    buf_init(&quoted, &test_op()->arena);
    for (; *text; text++)
        buf_byte(&quoted, *text == '\'' ? '"' : *text);
    return roles_parse(test_op(), buf_as_slice(&quoted), roles);
}

static const char roles_file[] =
    "{'definitions':[{'name':'clerk','dataActions':['" COLLS "items/create','" COLLS "ITEMS/Read']},"
    "{'name':'all','dataActions':['" DATA "readMetadata','" COLLS "*','" COLLS "items/*']},"
    "{'name':'nothing','dataActions':[]}],"
    "'assignments':["
    "{'role':'clerk','scope':'/dbs/shop/colls/orders','oid':'ada'},"
    "{'role':'00000000-0000-0000-0000-000000000001','scope':'/dbs/shop','sub':'bob'},"
    "{'role':'Cosmos DB Built-in Data Contributor','scope':'/','group':'admins'},"
    "{'role':'all','scope':'/dbs/lab','appid':'robot'},"
    "{'role':'nothing','scope':'/','oid':'eve'}]}";

static unsigned missing(const struct roles *roles, const struct principal *who, unsigned actions,
                        const char *database, const char *container)
{
    struct scope_names scope = { 0 };

    if (database)
        scope.database = slice_of(database);
    if (container)
        scope.container = slice_of(container);
    return roles_missing(roles, who, actions, &scope);
}

TEST(a_role_allows_its_actions_in_its_place_to_its_principal_and_nothing_else)
{
    struct principal ada = { .oid = slice_of("ada") }, bob = { .sub = slice_of("bob") };
    struct principal eve = { .oid = slice_of("eve"), .sub = slice_of("ada"), .appid = slice_of("admins") };
    struct roles *roles = NULL;

    REQUIRE(parse(roles_file, &roles) == ST_OK);
    CHECK(missing(roles, &ada, ACTION_CREATE, "shop", "orders") == 0);
    CHECK(missing(roles, &ada, ACTION_CREATE | ACTION_READ, "shop", "orders") == 0);
    CHECK(missing(roles, &ada, ACTION_ITEMS, "shop", "orders") == ACTION_REPLACE);
    CHECK(missing(roles, &ada, ACTION_CREATE, "shop", "other") == ACTION_CREATE);
    CHECK(missing(roles, &ada, ACTION_CREATE, "other", "orders") == ACTION_CREATE);
    CHECK(missing(roles, &ada, ACTION_METADATA, "shop", "orders") == ACTION_METADATA);
    CHECK(missing(roles, &ada, ACTION_CREATE, "shop", NULL) == ACTION_CREATE);
    CHECK(missing(roles, &bob, ACTION_QUERY, "shop", "anything") == 0);
    CHECK(missing(roles, &bob, ACTION_METADATA, "shop", NULL) == 0);
    CHECK(missing(roles, &bob, ACTION_METADATA, NULL, NULL) == ACTION_METADATA);
    CHECK(missing(roles, &bob, ACTION_CREATE, "shop", "orders") == ACTION_CREATE);
    CHECK(missing(roles, &eve, ACTION_CREATE, "shop", "orders") == ACTION_CREATE);
    CHECK(missing(NULL, &ada, ACTION_CREATE, "shop", "orders") == ACTION_CREATE);
    CHECK(roles_allow_somewhere(roles, &bob, ACTION_METADATA) &&
          !roles_allow_somewhere(roles, &ada, ACTION_METADATA));
    roles_free(roles);
}

TEST(a_member_of_a_group_has_its_roles_and_wildcards_are_one_segment)
{
    struct op *op = test_op();
    struct principal admin = { .sub = slice_of("x") }, robot = { .appid = slice_of("robot") };
    struct roles *roles = NULL;
    static const char one[] = "{'definitions':[{'name':'r','dataActions':['" COLLS "*']}],"
                              "'assignments':[{'role':'r','scope':'/','appid':'robot'}]}";

    REQUIRE(parse(roles_file, &roles) == ST_OK);
    CHECK(json_parse(op, slice_of("[1,\"users\",\"admins\"]"), &admin.groups) == ST_OK);
    CHECK(missing(roles, &admin, ACTION_METADATA | ACTION_ITEMS | ACTION_CONTAINERS, "any", "any") == 0);
    CHECK(missing(roles, &robot, ACTION_METADATA | ACTION_ITEMS | ACTION_CONTAINERS, "lab", "any") == 0);
    roles_free(roles);
    REQUIRE(parse(one, &roles) == ST_OK);
    CHECK(missing(roles, &robot, ACTION_CONTAINERS, "lab", "any") == 0);
    CHECK(missing(roles, &robot, ACTION_READ, "lab", "any") == ACTION_READ);
    roles_free(roles);
}

TEST(a_file_that_says_something_else_than_it_means_is_refused)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{'assignment':[]}",
        "{'definitions':{}}",
        "{'definitions':[{'dataActions':[]}]}",
        "{'definitions':[{'name':'r','dataActions':['*']}]}",
        "{'definitions':[{'name':'r','dataActions':['" COLLS "items']}]}",
        "{'definitions':[{'name':'r','dataActions':[7]}]}",
        "{'definitions':[{'name':'r','dataActions':[],'notDataActions':[]}]}",
        "{'assignments':[{'role':'r','scope':'/','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'/dbs/','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'/dbs/a/colls','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data "
        "Reader','scope':'/dbs/a/colls/b/docs/c','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'dbs/a','oid':'a'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'/'}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'/','oid':''}]}",
        "{'assignments':[{'role':'Cosmos DB Built-in Data Reader','scope':'/','oid':'a','sub':'b'}]}",
        "{'assignments':[7]}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct roles *roles = NULL;

        if (parse(bad[i], &roles) == ST_OK || roles)
            test_failed(__FILE__, __LINE__, bad[i]);
    }
}

TEST(every_action_has_a_name)
{
    for (unsigned action = ACTION_METADATA; action <= ACTION_CONFLICTS; action <<= 1)
        CHECK(strncmp(data_action_name(action), DATA, sizeof(DATA) - 1) == 0);
}
