/* test/client/twin_test.c - rows of two ranges that were made to have one hash: the library tells them apart. */
#include <orrery.h>
#include <stdio.h>

#include "fake.h"
#include "json/json.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

/* test/security/twins.py has made the second. */
static const char *const twins[] = { "a value that somebody else has.", "lt0ti0otxxabxzi^w|hWL,(Bq9AFR,M" };

struct world {
    const char *plan, *row; /* of a range: both with a place for its text */
};

#define RANGES                                                                                              \
    "{\"_rid\":\"r\",\"PartitionKeyRanges\":[{\"id\":\"0\",\"minInclusive\":\"\",\"maxExclusive\":\"80\"}," \
    "{\"id\":\"1\",\"minInclusive\":\"80\",\"maxExclusive\":\"FF\"}]}"

static void answer_world(void *context, const char *request, struct fake_answer *answer)
{
    static char texts[16][2048];
    static size_t at;
    const struct world *world = context;
    char *text = texts[at++ % 16], body[1024];
    const char *range = strstr(request, "partitionkeyrangeid: ");

    if (strstr(request, "/pkranges"))
        snprintf(body, sizeof(body), "%s", RANGES);
    else if (strstr(request, "is-query-plan-request"))
        snprintf(body, sizeof(body), "%s", world->plan);
    else
        snprintf(body, sizeof(body), world->row, twins[range && range[21] == '1'],
                 twins[range && range[21] == '1']);
    snprintf(text, sizeof(texts[0]), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
    answer->bytes = text;
}

static int rows_of(struct world world)
{
    struct fake *fake = fake_start(answer_world, &world);
    orrery_settings settings = { .size = sizeof(settings), .key = KEY, .endpoint = fake_url(fake) };
    orrery_options options = { .size = sizeof(options), .parallel = 1 };
    orrery_client *client = NULL;
    orrery_query *query = NULL;
    int rows = 0;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    CHECK(orrery_query_open(client, "dbs/d/colls/c", "SELECT 1", NULL, 0, NULL, &options, &query) ==
          ORRERY_OK);
    while (orrery_query_step(query) == ORRERY_ROW)
        rows++;
    orrery_query_close(query);
    orrery_close(client);
    fake_stop(fake);
    return rows;
}

TEST(values_with_one_hash_are_two_rows_of_distinct)
{
    CHECK(rows_of((struct world){ "{\"queryInfo\":{\"distinctType\":\"Unordered\"}}",
                                  "{\"Documents\":[\"%s\",{\"x\":\"%s\"}]}" }) == 4);
    CHECK(rows_of((struct world){ "{\"queryInfo\":{\"distinctType\":\"Unordered\"}}",
                                  "{\"Documents\":[1,1,{\"x\":1},{\"x\":1.0}]}" }) == 2);
}

TEST(values_with_one_hash_are_two_groups)
{
    static const char plan[] = "{\"queryInfo\":{\"distinctType\":\"None\",\"groupByExpressions\":[\"c.a\"],"
                               "\"groupByAliases\":[\"a\",\"n\"],\"aggregates\":[\"Count\"],"
                               "\"groupByAliasToAggregateType\":{\"a\":null,\"n\":\"Count\"}}}";

    CHECK(rows_of((struct world){ plan, "{\"Documents\":[{\"groupByItems\":[{\"item\":\"%s\"}],"
                                        "\"payload\":{\"a\":\"%s\",\"n\":{\"item\":1}}}]}" }) == 2);
    CHECK(rows_of((struct world){ plan, "{\"Documents\":[{\"groupByItems\":[{\"item\":\"x\"}],"
                                        "\"payload\":{\"a\":\"x\",\"n\":{\"item\":1}}}]}" }) == 1);
}
