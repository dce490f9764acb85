/* test/unit/resource/catalog_test.c - the account, databases, containers and ranges as operations see them. */
#include "ask.h"

#define OTHER_ETAG "'00000000-0000-0000-0000-000000000000'"
#define NEW_VERSION "2020-07-15"

static const char *etag_of(struct ask *ask)
{
    return arena_text(&ask->rig.op->arena, ask_answer(ask, "etag"));
}

TEST(the_account_tells_the_endpoint_that_its_client_came_by)
{
    struct json location;
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_HOST, "orrery.example:9999");
    ask.request.tls = true;
    CHECK(ask_run(&ask, account_read, NULL) == 200);
    location = json_element(ask_member(&ask, "writableLocations"), 0);
    CHECK(
        slice_is(json_string(json_get(location, "databaseAccountEndpoint")), "https://orrery.example:9999/"));
    ask.request.tls = false;
    CHECK(ask_run(&ask, account_read, NULL) == 200);
    location = json_element(ask_member(&ask, "readableLocations"), 0);
    CHECK(
        slice_is(json_string(json_get(location, "databaseAccountEndpoint")), "http://orrery.example:9999/"));
    CHECK(slice_is(json_string(ask_member(&ask, "id")), "orrery"));
    ask_close(&ask);
}

TEST(the_query_engine_configuration_is_json_inside_a_text)
{
    struct json configuration;
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_HOST, "localhost");
    CHECK(ask_run(&ask, account_read, NULL) == 200);
    CHECK(json_parse(ask.rig.op, json_string(ask_member(&ask, "queryEngineConfiguration")), &configuration) ==
          ST_OK);
    CHECK(json_kind(configuration) == JSON_OBJECT);
    ask_close(&ask);
}

TEST(a_database_is_created_read_and_deleted)
{
    const char *etag;
    struct ask ask;

    ask_open(&ask);
    CHECK(ask_run(&ask, database_create, "{'id':'d \\'1\\''}") == 201);
    CHECK(ask_run(&ask, database_create, "{'id':'d \\'1\\''}") == 409);
    CHECK(ask_run(&ask, database_create, "{'id':'a/b'}") == 400 &&
          ask_run(&ask, database_create, "{}") == 400);
    CHECK(ask_run(&ask, database_read, NULL) == 200 && slice_is(json_string(ask_member(&ask, "id")), "db"));
    CHECK(slice_equal(json_string(ask_member(&ask, "_etag")), ask_answer(&ask, "etag")));
    etag = etag_of(&ask);
    ask_header(&ask, HEADER_IF_NONE_MATCH, etag);
    CHECK(ask_run(&ask, database_read, NULL) == 304);
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, database_delete, NULL) == 412);
    ask_header(&ask, HEADER_IF_MATCH, etag);
    CHECK(ask_run(&ask, database_delete, NULL) == 204 && ask.answer.body.size == 0);
    CHECK(ask_run(&ask, database_delete, NULL) == 404);
    ask_close(&ask);
}

/* A container whose definition is more than 1 MB of text. */
static int create_large(struct ask *ask, int number)
{
    struct buf body;

    buf_init(&body, &ask->rig.op->arena);
    buf_printf(&body, "{'id':'large%d','partitionKey':{'paths':['/pk']},'indexingPolicy':{'excludedPaths':[",
               number);
    for (int i = 0; i < INDEX_PATHS_MAX - 1; i++)
        buf_printf(&body, "%s{'path':'/path%0800d/?'}", i ? "," : "", i);
    buf_text(&body, "]}}");
    buf_byte(&body, 0);
    return ask_run(ask, container_create, body.data);
}

TEST(a_page_of_containers_ends_when_it_is_large)
{
    size_t seen = 0, pages = 0;
    struct slice more;
    struct ask ask;

    ask_open(&ask);
    for (int i = 0; i < 8; i++)
        CHECK(create_large(&ask, i) == 201);
    do {
        CHECK(ask_run(&ask, container_list, NULL) == 200 && ask.answer.body.size < 7 * 1024 * 1024);
        seen += json_count(ask_member(&ask, "DocumentCollections"));
        more = ask_answer(&ask, "x-ms-continuation");
        ask_header(&ask, HEADER_CONTINUATION, more.data ? arena_text(&ask.rig.op->arena, more) : "");
    } while (more.data && ++pages < 20);
    CHECK(seen == 9 && pages >= 1);
    ask_close(&ask);
}

TEST(databases_are_listed_by_the_page)
{
    size_t seen = 0, pages = 0;
    struct ask ask;

    ask_open(&ask);
    for (int i = 0; i < 6; i++) {
        char body[32];

        snprintf(body, sizeof(body), "{'id':'d%d'}", i);
        CHECK(ask_run(&ask, database_create, body) == 201);
    }
    ask_header(&ask, HEADER_MAX_ITEM_COUNT, "3");
    for (struct slice more = slice_of("x"); more.data && pages < 10; pages++) {
        CHECK(ask_run(&ask, database_list, NULL) == 200);
        seen += json_count(ask_member(&ask, "Databases"));
        more = ask_answer(&ask, "x-ms-continuation");
        ask_header(&ask, HEADER_CONTINUATION, more.data ? arena_text(&ask.rig.op->arena, more) : NULL);
    }
    CHECK(seen == 7 && pages == 3);
    ask_header(&ask, HEADER_CONTINUATION, "junk");
    CHECK(ask_run(&ask, database_list, NULL) == 400);
    ask_close(&ask);
}

TEST(a_container_is_created_with_a_key_by_clients_that_know_of_keys)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_VERSION, NEW_VERSION);
    CHECK(ask_run(&ask, container_create, "{'id':'new'}") == 400);
    CHECK(ask_run(&ask, container_create, "{'id':'new','partitionKey':{'paths':['/a']}}") == 201);
    CHECK(slice_is(ask_answer(&ask, "x-ms-alt-content-path"), "dbs/db"));
    CHECK(json_kind(ask_member(&ask, "indexingPolicy")) == JSON_OBJECT);
    CHECK(ask_run(&ask, container_create, "{'id':'new','partitionKey':{'paths':['/a']}}") == 409);
    ask_header(&ask, HEADER_VERSION, "2018-06-18");
    CHECK(ask_run(&ask, container_create, "{'id':'old'}") == 201);
    ask_header(&ask, HEADER_VERSION, NULL);
    CHECK(ask_run(&ask, container_create, "{'id':'older'}") == 201);
    CHECK(ask_run(&ask, container_list, NULL) == 200 &&
          json_count(ask_member(&ask, "DocumentCollections")) == 4);
    ask_close(&ask);
}

TEST(a_container_is_replaced_under_its_etag_and_keeps_its_key)
{
    const char *etag;
    struct ask ask;

    ask_open(&ask);
    CHECK(ask_run(&ask, container_read, NULL) == 200);
    etag = etag_of(&ask);
    ask_header(&ask, HEADER_IF_NONE_MATCH, etag);
    CHECK(ask_run(&ask, container_read, NULL) == 304);
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, container_replace, "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}") == 412);
    ask_header(&ask, HEADER_IF_MATCH, etag);
    CHECK(ask_run(&ask, container_replace, "{'id':'c','partitionKey':{'paths':['/x'],'version':2}}") == 400);
    CHECK(ask_run(&ask, container_replace,
                  "{'id':'c','partitionKey':{'paths':['/pk'],'version':2},'defaultTtl':9}") == 200);
    CHECK(json_int(ask_member(&ask, "defaultTtl")) == 9);
    ask_close(&ask);
}

TEST(a_container_is_deleted_once)
{
    struct ask ask;

    ask_open(&ask);
    ask_header(&ask, HEADER_IF_MATCH, OTHER_ETAG);
    CHECK(ask_run(&ask, container_delete, NULL) == 412);
    ask_clear(&ask);
    CHECK(ask_run(&ask, container_delete, NULL) == 204 && ask_run(&ask, container_delete, NULL) == 404);
    ask_close(&ask);
}

/* A name may hold what would end a header line. */
TEST(a_database_with_line_breaks_in_its_name_writes_no_header_of_its_own)
{
    struct ask ask;

    ask_open(&ask);
    CHECK(ask_run(&ask, database_create, "{'id':'d\\r\\nx-evil: 1'}") == 201);
    ask.call.database = catalog_find_database(ask.rig.catalog, slice_of("d\r\nx-evil: 1"));
    REQUIRE(ask.call.database);
    CHECK(ask_run(&ask, container_create, "{'id':'c'}") == 201);
    CHECK(!ask_answer(&ask, "x-evil").data);
    CHECK(slice_is(ask_answer(&ask, "x-ms-alt-content-path"), "dbs/d%0D%0Ax-evil: 1"));
    database_release(ask.call.database);
    ask_close(&ask);
}

TEST(the_ranges_do_not_change)
{
    const char *etag;
    struct json range;
    struct ask ask;

    ask_open(&ask);
    CHECK(ask_run(&ask, range_list, NULL) == 200);
    range = json_element(ask_member(&ask, "PartitionKeyRanges"), 0);
    CHECK(slice_is(json_string(json_get(range, "id")), "0") &&
          slice_is(json_string(json_get(range, "minInclusive")), ""));
    CHECK(slice_is(json_string(json_get(range, "maxExclusive")), "FF"));
    etag = etag_of(&ask);
    ask_header(&ask, HEADER_PARTITION_KEY, "['a']");
    CHECK(ask_run(&ask, document_create, "{'id':'1','pk':'a'}") == 201);
    ask_header(&ask, HEADER_IF_NONE_MATCH, etag);
    CHECK(ask_run(&ask, range_list, NULL) == 304 && ask_answer(&ask, "etag").data);
    ask_close(&ask);
}

static const struct {
    const char *version;
    uint64_t date;
} versions[] = { { NULL, 0 },
                 { "2020-07-15", 20200715 },
                 { "2018-12-31", 20181231 },
                 { "junk", 0 },
                 { "2018-12-31-preview9", 20181231 } };

TEST(the_version_is_a_date)
{
    struct ask ask;

    ask_open(&ask);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        ask_header(&ask, HEADER_VERSION, versions[i].version);
        CHECK(call_version(&ask.call) == versions[i].date);
    }
    ask_close(&ask);
}
