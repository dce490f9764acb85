/*
 * test/client/torture_test.c - the n-th allocation fails, for each n: no crash, no leak, an error that says so.
 * The linker sends the library's allocations to failing_alloc.c (CMakeLists.txt), and libcurl is handed the same functions.
 */
#include <curl/curl.h>
#include <orrery.h>
#include <stdlib.h>

#include "failing_alloc.h"
#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

void *__real_arena_try_alloc(struct arena *arena, size_t bytes);
void *__wrap_arena_try_alloc(struct arena *arena, size_t bytes);

static bool arenas_fail; /* for the tests of this file */

/* Most of what an arena gives out needs no malloc(): it fails by itself. */
void *__wrap_arena_try_alloc(struct arena *arena, size_t bytes)
{
    return arenas_fail && failing_alloc_refuses() ? NULL : __real_arena_try_alloc(arena, bytes);
}

/* ---- a server that answers everything the scenario asks */

static const char plan_body[] =
    "{\"queryInfo\":{\"distinctType\":\"None\",\"top\":null,\"orderBy\":[\"Ascending\"],"
    "\"groupByExpressions\":[],"
    "\"groupByAliases\":[],\"aggregates\":[],\"rewrittenQuery\":\"SELECT c._rid, 1 AS payload FROM c WHERE "
    "({documentdb-formattableorderbyquery-filter})\"},\"queryRanges\":[{\"min\":\"\",\"max\":\"FF\"}]}";
static const char group_plan_body[] =
    "{\"queryInfo\":{\"distinctType\":\"Unordered\",\"orderBy\":[],\"groupByExpressions\":[\"c.g\"],"
    "\"groupByAliases\":"
    "[\"g\",\"n\",\"m\"],\"aggregates\":[],\"groupByAliasToAggregateType\":{\"g\":null,\"n\":\"Count\",\"m\":"
    "\"Max\"},"
    "\"rewrittenQuery\":\"SELECT 1\"},\"queryRanges\":[{\"min\":\"\",\"max\":\"FF\"}]}";
static const char ranges_body[] =
    "{\"PartitionKeyRanges\":[{\"id\":\"1\",\"minInclusive\":\"\",\"maxExclusive\":\"1F\"},{\"id\":\"2\","
    "\"minInclusive\":\"1F\",\"maxExclusive\":\"FF\"}]}";
static const char later_ranges_body[] = "{\"PartitionKeyRanges\":[{\"id\":\"3\",\"minInclusive\":\"\","
                                        "\"maxExclusive\":\"1F\",\"parents\":[\"1\"]},{\"id\":"
                                        "\"2\",\"minInclusive\":\"1F\",\"maxExclusive\":\"FF\"}]}";
static const char rows_body[] =
    "{\"Documents\":[{\"_rid\":\"a\",\"orderByItems\":[{\"item\":1}],\"payload\":{\"x\":1}},{\"_rid\":\"b\","
    "\"orderByItems\":[{\"item\":\"z\"}],\"payload\":[2]}]}";
static const char groups_body[] = "{\"Documents\":[{\"groupByItems\":[{\"item\":1}],\"payload\":{\"g\":"
                                  "\"one\",\"n\":{\"item\":3},\"m\":{\"item2\":"
                                  "{\"max\":\"z\",\"count\":3}}}},{\"groupByItems\":[{}],\"payload\":{\"n\":{"
                                  "\"item\":2},\"m\":{\"item2\":{\"count\":0}"
                                  "}}}]}";
static const char container_body[] = "{\"id\":\"c\",\"_rid\":\"x\",\"_self\":\"dbs/x/colls/y/"
                                     "\",\"partitionKey\":{\"paths\":[\"/pk\",\"/q\"],\"version\":"
                                     "2}}";
static const char batch_body[] = "[{\"statusCode\":201,\"eTag\":\"x\",\"resourceBody\":{\"id\":\"1\"}}]";
static const char transaction_body[] = "{\"operationResponses\":[{\"index\":0,\"statusCode\":200,"
                                       "\"sessionToken\":\"-1#5\",\"partitionKeyRangeId\":\"0\"},"
                                       "{\"index\":1,\"statusCode\":201,\"Etag\":\"x\"}]}";
static const char offers_body[] = "{\"Offers\":[{\"id\":\"o\",\"_rid\":\"o\",\"_self\":\"offers/o/"
                                  "\",\"resource\":\"dbs/x/colls/y/\",\"content\":{"
                                  "\"offerThroughput\":400}}]}";
static const char documents_body[] = "{\"Documents\":[{\"id\":\"1\"},{\"id\":\"2\"}]}";
static const char gone_body[] = "{\"code\":\"Gone\",\"message\":\"gone\"}";

struct torture_server {
    char text[2048];
    unsigned asked_ranges;
};

static const char *body_for(struct torture_server *server, const char *request, const char **line)
{
    bool groups = strstr(request, "GROUP") || strstr(request, "SELECT 1\"");

    *line = "200 OK";
    if (strstr(request, "query-plan-request"))
        return groups ? group_plan_body : plan_body;
    if (strstr(request, "/pkranges"))
        return server->asked_ranges++ % 2 ? later_ranges_body
                                          : ranges_body; /* range 1 is gone when it is asked */
    if (strncmp(request, "POST /operations/dtc", 20) == 0)
        return transaction_body;
    if (strstr(request, "is-batch-request"))
        return batch_body;
    if (strstr(request, "partitionkeyrangeid: 1\r\n")) {
        *line = "410 Gone\r\nx-ms-substatus: 1002";
        return gone_body;
    }
    if (strncmp(request, "POST /offers HTTP", 17) == 0)
        return offers_body;
    if (strncasecmp(request, "GET /dbs/d/colls/c/docs HTTP", 28) == 0) {
        if (strstr(request, "If-None-Match: \"7\"") || strstr(request, "if-none-match: \"7\""))
            *line = "304 Not Modified\r\netag: \"7\"";
        else
            *line = "200 OK\r\netag: \"7\"";
        return documents_body;
    }
    if (strstr(request, "documentdb-isquery"))
        return groups ? groups_body : rows_body;
    if (strncmp(request, "GET /dbs/d/colls/c HTTP", 23) == 0)
        return container_body;
    if (strstr(request, "/docs/missing"))
        *line = "404 No";
    if (strncmp(request, "DELETE", 6) == 0)
        *line = "204 No Content";
    return "{\"id\":\"1\",\"message\":\"words\"}";
}

static void serve(void *context, const char *request, struct fake_answer *answer)
{
    struct torture_server *server = context;
    const char *line, *body = body_for(server, request, &line);

    snprintf(
        server->text, sizeof(server->text),
        "HTTP/1.1 %s\r\nContent-Length: %zu\r\nx-ms-session-token: 0:-1#5\r\nx-ms-content-path: x\r\n\r\n%s",
        line, strlen(body), body);
    answer->bytes = server->text;
}

/* ---- what is done while allocations fail; each says whether it came to its end */

static const char items[] = "dbs/d/colls/c";

static bool do_items(orrery_client *client)
{
    orrery_key key = orrery_key_text("caf\xc3\xa9");
    orrery_options options = { .size = sizeof(options), .if_match = "\"x\"", .pre_triggers = "t" };
    orrery_response *response = NULL;
    bool good = orrery_item_create(client, items, "{\"pk\":1}", ORRERY_TEXT, NULL, &options, &response) ==
                    ORRERY_OK &&
                orrery_value_equals(orrery_value_member(orrery_response_json(response), "id"), "1") &&
                orrery_item_read(client, items, "missing", &key, NULL, NULL) == ORRERY_ENOTFOUND;

    orrery_response_free(response);
    return good;
}

static bool do_builders(orrery_client *client)
{
    orrery_container container = { .size = sizeof(container),
                                   .id = "c",
                                   .partition_key = { "/pk" },
                                   .indexing_policy = "{\"automatic\":true}" };
    orrery_key key = orrery_key_text("k");
    orrery_batch *batch = NULL;
    orrery_patch *patch = NULL;
    bool good = orrery_batch_new(&batch) == ORRERY_OK && orrery_patch_new(&patch) == ORRERY_OK;

    if (good) {
        orrery_patch_set(patch, "/a", "[1]");
        orrery_patch_condition(patch, "from c");
        orrery_batch_patch(batch, "1", patch, "\"e\"", &key);
    }
    good = good && orrery_item_patch(client, items, "1", &key, patch, NULL, NULL) == ORRERY_OK &&
           orrery_batch_run(client, items, &key, batch, NULL, NULL) == ORRERY_OK &&
           orrery_bulk_run(client, items, batch, NULL, NULL) == ORRERY_OK &&
           orrery_container_create(client, "dbs/d", &container, NULL, NULL) == ORRERY_OK;
    orrery_batch_free(batch);
    orrery_patch_free(patch);
    return good;
}

/* The second operation's key is in its document, by the container's definition. */
static bool do_transaction(orrery_client *client)
{
    orrery_key key = orrery_key_text("k");
    orrery_transaction *transaction = NULL;
    orrery_response *results = NULL;
    orrery_result result = { .size = sizeof(result) };
    orrery_patch *patch = NULL;
    bool good = orrery_transaction_new(&transaction) == ORRERY_OK && orrery_patch_new(&patch) == ORRERY_OK;

    if (good) {
        orrery_patch_set(patch, "/a", "[1]");
        orrery_transaction_patch(transaction, items, "1", patch, "\"e\"", &key);
        orrery_transaction_create(transaction, items, "{\"id\":\"2\",\"pk\":1}", ORRERY_TEXT, NULL);
    }
    good = good && orrery_transaction_run(client, transaction, NULL, &results) == ORRERY_OK &&
           orrery_transaction_result(results, 1, &result) == ORRERY_OK && result.http == 201;
    orrery_response_free(results);
    orrery_transaction_free(transaction);
    orrery_patch_free(patch);
    return good;
}

static bool do_resources(orrery_client *client)
{
    static const char body[] = "{\"id\":\"1\",\"body\":\"function () {}\"}";
    orrery_container container = { .size = sizeof(container), .id = "c", .partition_key = { "/pk", "/q" } };
    int units = 0;

    return orrery_database_create(client, "d", NULL, NULL) == ORRERY_OK &&
           orrery_create(client, "dbs/d/colls/c/sprocs", body, ORRERY_TEXT, NULL, NULL) == ORRERY_OK &&
           orrery_upsert(client, "dbs/d/colls/c/sprocs", body, ORRERY_TEXT, NULL, NULL) == ORRERY_OK &&
           orrery_replace(client, "dbs/d/colls/c/sprocs/1", body, ORRERY_TEXT, NULL, NULL) == ORRERY_OK &&
           orrery_read(client, "dbs/d/colls/c/sprocs/1", NULL, NULL) == ORRERY_OK &&
           orrery_delete(client, "dbs/d/colls/c/sprocs/1", NULL, NULL) == ORRERY_OK &&
           orrery_container_replace(client, items, &container, NULL, NULL) == ORRERY_OK &&
           orrery_throughput_read(client, items, &units, NULL) == ORRERY_OK && units == 400 &&
           orrery_throughput_replace(client, items, 500, 0) == ORRERY_OK;
}

static bool do_other_items(orrery_client *client)
{
    static const char body[] = "{\"id\":\"1\",\"pk\":\"k\",\"q\":2}";
    orrery_key key = orrery_key_text("k");

    return orrery_item_upsert(client, items, body, ORRERY_TEXT, NULL, NULL, NULL) == ORRERY_OK &&
           orrery_item_replace(client, items, "1", body, ORRERY_TEXT, &key, NULL, NULL) == ORRERY_OK &&
           orrery_item_delete(client, items, "1", &key, NULL, NULL) == ORRERY_OK &&
           orrery_procedure_run(client, "dbs/d/colls/c/sprocs/1", &key, "[1]", NULL, NULL) == ORRERY_OK;
}

/* All rows of a cursor that was opened, which is closed. */
static bool do_rows(orrery_status status, orrery_query *query, int rows_wanted)
{
    int rows = 0;

    while (status == ORRERY_OK || status == ORRERY_ROW) {
        status = orrery_query_step(query);
        rows += status == ORRERY_ROW;
    }
    orrery_query_close(query);
    return status == ORRERY_DONE && rows == rows_wanted;
}

static bool do_feeds(orrery_client *client)
{
    orrery_key key = orrery_key_text("k");
    orrery_query *query = NULL;
    orrery_status status = orrery_list_open(client, items, &key, NULL, &query);

    if (!do_rows(status, query, 2))
        return false;
    query = NULL;
    status = orrery_changes_open(client, items, &key, ORRERY_FROM_BEGINNING, 0, NULL, &query);
    return do_rows(status, query, 2);
}

static bool do_json(void)
{
    orrery_writer *writer = NULL;
    orrery_json *json = NULL;
    char *text = NULL;
    size_t size;
    bool good = orrery_json_parse("{\"a\":[1,\"x\"]}", ORRERY_TEXT, &json) == ORRERY_OK &&
                orrery_value_print(orrery_json_root(json), &text, &size) == ORRERY_OK &&
                orrery_writer_new(&writer) == ORRERY_OK;

    if (good) {
        orrery_write_object(writer);
        orrery_write_name(writer, "a");
        orrery_write_string(writer, text, ORRERY_TEXT);
        orrery_write_end(writer);
        good = orrery_writer_status(writer) == ORRERY_OK;
    }
    orrery_writer_free(writer);
    orrery_free(text);
    orrery_json_free(json);
    return good;
}

static bool do_query(orrery_client *client, const char *sql, int rows_wanted)
{
    orrery_parameter parameters[] = { { "@p", "1" } };
    orrery_options options = { .size = sizeof(options), .parallel = 2 };
    orrery_query *query = NULL;
    char *continuation = NULL;
    int rows = 0;
    orrery_status status = orrery_query_open(client, items, sql, parameters, 1, NULL, &options, &query);
    bool good = status == ORRERY_OK;

    while (good && (status = orrery_query_step(query)) == ORRERY_ROW) {
        rows++;
        good = orrery_query_value(query).at != NULL;
        status = orrery_query_continuation(query, &continuation);
        good = good && (status == ORRERY_OK || status == ORRERY_EUNSUPPORTED);
        orrery_free(continuation);
    }
    orrery_query_close(query);
    return good && status == ORRERY_DONE && rows == rows_wanted;
}

static void end_later(orrery_client *client_of_it, void *context, orrery_status status,
                      orrery_response *response)
{
    (void)client_of_it;
    *(bool *)context = status == ORRERY_OK;
    orrery_response_free(response);
}

static bool do_later(orrery_client *client)
{
    bool good = false;
    orrery_key key = orrery_key_text("k");
    orrery_options options = { .size = sizeof(options), .done = end_later, .context = &good };
    size_t under_way = 1;

    if (orrery_item_read(client, items, "1", &key, &options, NULL) != ORRERY_OK)
        return false;
    while (under_way > 0)
        if (orrery_run(client, 1000, &under_way) != ORRERY_OK)
            return false;
    return good;
}

struct later_bulk {
    int told;
    bool good;
};

static void end_bulk(orrery_client *client_of_it, void *context, orrery_status status,
                     orrery_response *response)
{
    struct later_bulk *bulk = context;

    (void)client_of_it;
    bulk->told++;
    bulk->good = status == ORRERY_OK;
    orrery_response_free(response);
}

/* It is told once if it was begun, whatever fails; what was given to it may go before its end. */
static bool do_later_bulk(orrery_client *client)
{
    struct later_bulk bulk = { .told = 0 };
    orrery_key key = orrery_key_text("k");
    orrery_options options = { .size = sizeof(options), .done = end_bulk, .context = &bulk };
    orrery_batch *batch = NULL;
    orrery_status status = orrery_batch_new(&batch);
    size_t under_way = 1;

    orrery_batch_read(batch, "1", &key);
    if (status == ORRERY_OK)
        status = orrery_bulk_run(client, items, batch, &options, NULL);
    orrery_batch_free(batch);
    for (int turns = 0; status == ORRERY_OK && under_way > 0 && turns < 1000; turns++)
        (void)orrery_run(client, 1000, &under_way); /* a turn that fails is not the end of the bulk */
    CHECK(bulk.told == (status == ORRERY_OK));
    return bulk.good;
}

static bool scenario(struct fake *fake)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = fake_url(fake),
                                 .key = KEY,
                                 .consistency = "Session",
                                 .user_agent = "torture",
                                 .retries_max = 1 };
    orrery_client *client = NULL;
    bool good = orrery_open(&settings, &client) == ORRERY_OK && do_items(client) && do_builders(client) &&
                do_transaction(client) && do_query(client, "SELECT * FROM c ORDER BY c.x", 4) &&
                do_query(client, "SELECT c.g, COUNT(1) AS n, MAX(c.m) AS m FROM c GROUP BY c.g", 2) &&
                do_later(client) && do_later_bulk(client);

    orrery_close(client);
    return good;
}

static bool other_scenario(struct fake *fake)
{
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = fake_url(fake), .key = KEY, .retries_max = 1
    };
    orrery_client *client = NULL;
    bool good = do_json() && orrery_open(&settings, &client) == ORRERY_OK && do_resources(client) &&
                do_other_items(client) && do_feeds(client);

    orrery_close(client);
    return good;
}

static void fail_each(bool (*scenario)(struct fake *fake))
{
    struct torture_server server = { .asked_ranges = 0 };
    struct fake *fake = fake_start(serve, &server);
    long n = 0;
    bool good = false, happened;

    CHECK(scenario(fake)); /* whatever is made once for the process is made now */
    arenas_fail = true;
    for (; n < 20000; n++) {
        failing_alloc_at((size_t)n + 1);
        good = scenario(fake);
        happened = failing_alloc_happened();
        failing_alloc_at(0);
        if (!happened)
            break;
    }
    arenas_fail = false;
    CHECK(good && n > 200 && n < 20000);
    fake_stop(fake);
}

TEST(each_allocation_that_fails_is_an_error_and_nothing_else)
{
    fail_each(scenario);
}

TEST(each_allocation_that_fails_is_an_error_for_resources_feeds_and_json_too)
{
    fail_each(other_scenario);
}

/* Before anybody else: the first call decides what libcurl allocates with. */
static char *wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

__attribute__((constructor)) static void hand_over_allocations(void)
{
    curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, free, realloc, wrap_strdup, calloc);
}

/* Whatever found no memory in one call, the next one finds the client in order. */
TEST(a_client_that_was_without_memory_once_goes_on)
{
    struct torture_server server = { .asked_ranges = 0 };
    struct fake *fake = fake_start(serve, &server);
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = fake_url(fake), .key = KEY, .retries_max = -1
    };
    bool happened = true, ended = false;
    orrery_options later = { .size = sizeof(later), .done = end_later, .context = &ended };
    orrery_key key = orrery_key_text("k");
    size_t n = 0;

    for (; happened && n < 5000; n++) {
        orrery_client *client = NULL;

        REQUIRE(orrery_open(&settings, &client) == ORRERY_OK);
        failing_alloc_at(n + 1);
        arenas_fail = true;
        if (orrery_item_read(client, items, "1", &key, &later, NULL) == ORRERY_OK)
            (void)orrery_run(client, 1000, NULL);
        happened = failing_alloc_happened();
        failing_alloc_at(0);
        arenas_fail = false;
        for (size_t under_way = 1, turns = 0; under_way > 0 && turns < 100; turns++)
            (void)orrery_run(client, 1000, &under_way);
        CHECK(do_later(client));
        orrery_close(client);
    }
    CHECK(n > 20 && n < 5000);
    fake_stop(fake);
}
