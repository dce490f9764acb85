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
    const char *rid;   /* of the container; whoever means another one is told so */
    const char *split; /* a range that is gone, and in whose place two others are; NULL: none is */
    int is_silent;     /* 1: whoever asks for ranges now gets no answer */
    char ranges[1024], page[4][512];
    size_t pages;
};

#define OTHER_CONTAINER "HTTP/1.1 400 Bad\r\nx-ms-substatus: 1024\r\nContent-Length: 2\r\n\r\n{}"
#define GONE "HTTP/1.1 410 Gone\r\nx-ms-substatus: 1002\r\nContent-Length: 2\r\n\r\n{}"

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

/* Whether a header of the request says something else than that. */
static int says_other(const char *request, const char *name, const char *value)
{
    const char *found = strstr(request, name);

    return found && value && strncmp(found + strlen(name) + 2, value, strlen(value)) != 0;
}

static int is_page_of(const char *request, const char *range)
{
    return range && strstr(request, "partitionkeyrangeid: ") &&
           !says_other(request, "partitionkeyrangeid", range);
}

static void answer_world(void *context, const char *request, struct fake_answer *answer)
{
    static char texts[16][2048];
    static size_t at;
    struct world *world = context;
    char *text = texts[at++ % 16];
    const char *body;

    if (says_other(request, "intended-collection-rid", world->rid)) {
        answer->bytes = OTHER_CONTAINER;
        return;
    }
    if (is_page_of(request, world->split)) {
        answer->bytes = GONE;
        return;
    }
    if (world->is_silent && strstr(request, "/pkranges")) {
        answer->stalls = 1;
        return;
    }
    body = body_of(world, request);
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

static void write_ranges(struct world *world, const char *rid)
{
    static const char *const ends[] = { "", "10", "20", "30", "40", "50", "60", "70", "FF" };
    size_t size = (size_t)snprintf(world->ranges, sizeof(world->ranges),
                                   "{\"_rid\":\"%s\",\"PartitionKeyRanges\":[", rid);

    for (int i = 0; i < RANGES; i++)
        size += (size_t)snprintf(world->ranges + size, sizeof(world->ranges) - size,
                                 "%s{\"id\":\"%d\",\"minInclusive\":\"%s\",\"maxExclusive\":\"%s\"}",
                                 i ? "," : "", i, ends[i], ends[i + 1]);
    snprintf(world->ranges + size, sizeof(world->ranges) - size, "]}");
    world->rid = rid;
}

static void rig_open(struct rig *rig, const char *plan)
{
    orrery_settings settings = { .size = sizeof(settings), .key = KEY };

    write_ranges(&rig->world, "first");
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

/* All of its rows. */
static int run_query(struct rig *rig, const char *sql)
{
    orrery_options options = { .size = sizeof(options), .parallel = 1 };
    orrery_query *query = NULL;
    int rows = 0;

    CHECK(orrery_query_open(rig->client, items, sql, NULL, 0, NULL, &options, &query) == ORRERY_OK);
    while (orrery_query_step(query) == ORRERY_ROW)
        rows++;
    orrery_query_close(query);
    return rows;
}

TEST(what_was_told_of_ranges_and_plans_is_not_asked_again)
{
    struct rig rig = { .fake = NULL };

    rig_open(&rig, PLAIN);
    CHECK(run_query(&rig, "SELECT * FROM c") == RANGES && run_query(&rig, "SELECT * FROM c") == RANGES);
    CHECK(fake_asked(rig.fake) == 2 * RANGES + 2); /* pages twice, ranges and the plan once */
    CHECK(run_query(&rig, "SELECT VALUE c FROM c") == RANGES);
    CHECK(fake_asked(rig.fake) == 3 * RANGES + 3); /* another query has another plan */
    rig_close(&rig);
}

TEST(what_is_remembered_of_a_container_is_asked_again_when_another_has_its_name)
{
    static const char *const plans[] = { PLAIN, ORDERED };

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct rig rig = { .fake = NULL };

        rig_open(&rig, plans[i]);
        CHECK(run_query(&rig, "SELECT * FROM c") == RANGES);
        write_ranges(&rig.world, "second");
        CHECK(run_query(&rig, "SELECT * FROM c") == RANGES);
        CHECK(fake_asked(rig.fake) == 2 * (RANGES + 2) + 1); /* one page said that it is another */
        CHECK(run_query(&rig, "SELECT * FROM c") == RANGES);
        CHECK(fake_asked(rig.fake) == 3 * RANGES + 5);
        rig_close(&rig);
    }
}

TEST(a_cursor_that_must_not_wait_does_not_when_a_range_is_gone)
{
    struct rig rig = { .fake = NULL };
    orrery_options options = { .size = sizeof(options), .parallel = 1, .no_wait = 1, .timeout_ms = 500 };
    orrery_query *query = NULL;
    orrery_status status;
    size_t asked;

    rig_open(&rig, PLAIN);
    CHECK(run_query(&rig, "SELECT * FROM c") == RANGES);
    rig.world.split = "0";
    rig.world.is_silent = 1;
    asked = fake_asked(rig.fake);
    CHECK(orrery_query_open(rig.client, items, "SELECT * FROM c", NULL, 0, NULL, &options, &query) ==
          ORRERY_OK);
    while ((status = orrery_query_step(query)) == ORRERY_WAIT && fake_asked(rig.fake) < asked + 2)
        CHECK(orrery_run(rig.client, 10, NULL) == ORRERY_OK);
    CHECK(status == ORRERY_WAIT && strstr(fake_request(rig.fake, asked + 1), "/pkranges"));
    orrery_query_close(query);
    rig_close(&rig);
}
