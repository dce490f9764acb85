/* test/client/query_test.c - cursors over ranges: how many are asked at a time, what goes along, what is told of pages. */
#include <orrery.h>
#include <stdio.h>

#include "fake.h"
#include "query.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

enum { RANGES = 8 };

static const char items[] = "dbs/d/colls/c";

/* A container of eight ranges, each of which has one row. */
struct world {
    const char *plan;
    char ranges[1024], page[4][512];
    size_t pages;
};

static const char *body_of(struct world *world, const char *request)
{
    char *page = world->page[world->pages++ % 4];
    int range = 0;

    if (strstr(request, "/pkranges"))
        return world->ranges;
    if (strstr(request, "is-query-plan-request"))
        return world->plan;
    sscanf(strstr(request, "partitionkeyrangeid: ") + 21, "%d", &range);
    snprintf(page, sizeof(world->page[0]),
             "{\"Documents\":[{\"orderByItems\":[{\"item\":%d}],\"payload\":{\"n\":%d}}]}", range, range);
    return page;
}

static void answer_world(void *context, const char *request, struct fake_answer *answer)
{
    static char texts[16][2048];
    static size_t at;
    struct world *world = context;
    char *text = texts[at++ % 16];
    const char *body = body_of(world, request);

    snprintf(text, sizeof(texts[0]),
             "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nx-ms-request-charge: 1\r\n"
             "x-ms-documentdb-query-metrics: retrievedDocumentCount=2;indexHitRatio=0.5\r\n\r\n%s",
             strlen(body), body);
    answer->bytes = text;
}

struct rig {
    struct world world;
    struct fake *fake;
    orrery_client *client;
};

static void rig_open(struct rig *rig, const char *plan)
{
    static const char *const ends[] = { "", "10", "20", "30", "40", "50", "60", "70", "FF" };
    orrery_settings settings = { .size = sizeof(settings), .key = KEY };
    size_t size = (size_t)snprintf(rig->world.ranges, sizeof(rig->world.ranges), "{\"PartitionKeyRanges\":[");

    for (int i = 0; i < RANGES; i++)
        size += (size_t)snprintf(rig->world.ranges + size, sizeof(rig->world.ranges) - size,
                                 "%s{\"id\":\"%d\",\"minInclusive\":\"%s\",\"maxExclusive\":\"%s\"}",
                                 i ? "," : "", i, ends[i], ends[i + 1]);
    snprintf(rig->world.ranges + size, sizeof(rig->world.ranges) - size, "]}");
    rig->world.plan = plan;
    rig->fake = fake_start(answer_world, &rig->world);
    settings.endpoint = fake_url(rig->fake);
    CHECK(orrery_open(&settings, &rig->client) == ORRERY_OK);
}

static void rig_close(struct rig *rig)
{
    orrery_close(rig->client);
    fake_stop(rig->fake);
}

static int under_way(const orrery_query *query)
{
    int count = 0;

    for (size_t i = 0; i < query->source_count; i++)
        count += query->sources[i].call != NULL;
    return count;
}

/* How many pages were asked for at once, at most. */
static int most_at_once(const char *plan, int parallel)
{
    struct rig rig = { .fake = NULL };
    orrery_options options = { .size = sizeof(options), .parallel = parallel, .no_wait = 1 };
    orrery_query *query = NULL;
    orrery_status status = ORRERY_WAIT;
    int most = 0, rows = 0;

    rig_open(&rig, plan);
    CHECK(orrery_query_open(rig.client, items, "SELECT * FROM c", NULL, 0, NULL, &options, &query) ==
          ORRERY_OK);
    while ((status = orrery_query_step(query)) == ORRERY_WAIT || status == ORRERY_ROW) {
        rows += status == ORRERY_ROW;
        most = under_way(query) > most ? under_way(query) : most;
        if (status == ORRERY_WAIT)
            CHECK(orrery_run(rig.client, 1000, NULL) == ORRERY_OK);
    }
    CHECK(status == ORRERY_DONE && rows == RANGES);
    orrery_query_close(query);
    rig_close(&rig);
    return most;
}

#define ORDERED "{\"queryInfo\":{\"orderBy\":[\"Ascending\"],\"distinctType\":\"None\"}}"
#define PLAIN "{\"queryInfo\":{\"distinctType\":\"None\"}}"

TEST(as_many_ranges_are_asked_at_a_time_as_the_caller_wants_in_order_or_not)
{
    for (int parallel = 1; parallel <= RANGES; parallel++) {
        CHECK(most_at_once(ORDERED, parallel) == parallel);
        CHECK(most_at_once(PLAIN, parallel) == parallel);
    }
    CHECK(most_at_once(ORDERED, 100) == RANGES);
}

TEST(a_cursor_sends_its_callers_headers_and_tells_of_its_pages)
{
    struct rig rig = { .fake = NULL };
    const char *headers[] = { "x-own: 1", NULL };
    orrery_options options = { .size = sizeof(options), .parallel = 1, .headers = headers, .metrics = 1 };
    orrery_query *query = NULL;

    rig_open(&rig, ORDERED);
    CHECK(orrery_query_open(rig.client, items, "SELECT * FROM c", NULL, 0, NULL, &options, &query) ==
          ORRERY_OK);
    headers[0] = NULL; /* the cursor has its own */
    CHECK(!orrery_query_response(query) && orrery_query_metric(query, "retrievedDocumentCount") == 0);
    CHECK(orrery_query_step(query) == ORRERY_ROW);
    CHECK(orrery_query_metric(query, "retrievedDocumentCount") == 2 * RANGES);
    CHECK(orrery_query_metric(query, "indexHitRatio") == 0.5 * RANGES &&
          orrery_query_metric(query, "x") == 0);
    CHECK(orrery_response_http(orrery_query_response(query)) == 200);
    CHECK(orrery_response_header(orrery_query_response(query), "x-ms-documentdb-query-metrics"));
    CHECK(strstr(fake_request(rig.fake, 2), "x-own: 1\r\n"));
    CHECK(strstr(fake_request(rig.fake, 2), "populatequerymetrics: True\r\n"));
    orrery_query_close(query);
    rig_close(&rig);
}

TEST(what_was_told_of_ranges_is_not_asked_again)
{
    struct rig rig = { .fake = NULL };
    orrery_options options = { .size = sizeof(options), .parallel = 1 };
    orrery_query *query = NULL;

    rig_open(&rig, PLAIN);
    for (int i = 0; i < 2; i++) {
        CHECK(orrery_query_open(rig.client, items, "SELECT * FROM c", NULL, 0, NULL, &options, &query) ==
              ORRERY_OK);
        while (orrery_query_step(query) == ORRERY_ROW)
            ;
        orrery_query_close(query);
    }
    CHECK(fake_asked(rig.fake) == 2 * (1 + RANGES) + 1); /* plans and pages twice, ranges once */
    rig_close(&rig);
}
