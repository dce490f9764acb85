/* test/client/bulk_test.c - bulks: what becomes of the others when one request fails, rounds, and bulks that nobody waits for. */
#include <orrery.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
#define HEAD(line) "HTTP/1.1 " line "\r\n"

enum { OPERATIONS = 250 };

static const char items[] = "dbs/d/colls/c";

/* A container of two ranges, or of more once the first was gone; what range 1 answers is the test's. */
struct world {
    const char *range_1;        /* an answer's first line, with its line end; NULL: as range 0 */
    int closes, splits, halves; /* halves: its answer ends in the middle, as a good one begins */
    int code;                   /* of each operation's first result */
    int at_a_time; /* of a request's operations only so many are done, and the others are put off; 0: all */
    const char *message;
    atomic_int definitions_read;
    atomic_int ranges_read, batches;
    char *text[256]; /* answers, until the end */
    size_t said;
};

static const char *const ranges_before =
    "{\"PartitionKeyRanges\":[{\"id\":\"0\",\"minInclusive\":\"\",\"maxExclusive\":\"1F\"},"
    "{\"id\":\"1\",\"minInclusive\":\"1F\",\"maxExclusive\":\"FF\"}]}";
static const char *const ranges_after =
    "{\"PartitionKeyRanges\":[{\"id\":\"0\",\"minInclusive\":\"\",\"maxExclusive\":\"1F\"},"
    "{\"id\":\"2\",\"minInclusive\":\"1F\",\"maxExclusive\":\"2F\"},"
    "{\"id\":\"3\",\"minInclusive\":\"2F\",\"maxExclusive\":\"FF\"}]}";

static void say(struct world *world, struct fake_answer *answer, const char *head, const char *body)
{
    size_t size = strlen(head) + strlen(body) + 64;
    char *text = malloc(size);

    snprintf(text, size, "%sContent-Length: %zu\r\n\r\n%s", head, strlen(body), body);
    world->text[world->said++] = text;
    answer->bytes = text;
}

static void say_results(struct world *world, struct fake_answer *answer, const char *request, int code)
{
    char body[16 * 1024] = "[";
    size_t size = 1;
    int done = 0;

    for (const char *at = request; (at = strstr(at, "operationType")); at++)
        size += (size_t)snprintf(
            body + size, sizeof(body) - size,
            "%s{\"statusCode\":%d,\"subStatusCode\":%d,\"retryAfterMilliseconds\":1}", size > 1 ? "," : "",
            world->at_a_time && done++ >= world->at_a_time ? 429 : code, code == 400 ? 1001 : 0);
    body[size] = ']';
    body[size + 1] = '\0';
    say(world, answer, HEAD("200 OK"), body);
}

static void serve(void *context, const char *request, struct fake_answer *answer)
{
    struct world *world = context;
    int batch;

    if (strstr(request, "/pkranges")) {
        world->ranges_read++;
        say(world, answer, HEAD("200 OK"),
            world->splits && world->ranges_read > 1 ? ranges_after : ranges_before);
        return;
    }
    if (!strstr(request, "is-batch-request")) {
        world->definitions_read++;
        say(world, answer, HEAD("200 OK"), "{\"partitionKey\":{\"paths\":[\"/pk\"],\"version\":2}}");
        return;
    }
    batch = world->batches++;
    if (world->range_1 && strstr(request, "partitionkeyrangeid: 1\r\n")) {
        answer->closes = world->closes;
        if (world->halves)
            answer->bytes = HEAD("200 OK") "Content-Length: 900\r\n\r\n[{\"statusCode\":201}";
        else if (!world->closes)
            say(world, answer, world->range_1, world->message ? world->message : "{\"message\":\"no\"}");
        return;
    }
    say_results(world, answer, request, batch == 0 && world->code ? world->code : 201);
}

struct rig {
    struct world world;
    struct fake *fake;
    orrery_client *client;
    orrery_batch *batch;
};

static void rig_open(struct rig *rig, int connections_max)
{
    orrery_settings settings = { .size = sizeof(settings), .key = KEY, .connections_max = connections_max };
    char document[64];

    rig->fake = fake_start(serve, &rig->world);
    settings.endpoint = fake_url(rig->fake);
    CHECK(orrery_open(&settings, &rig->client) == ORRERY_OK);
    CHECK(orrery_batch_new(&rig->batch) == ORRERY_OK);
    for (int i = 0; i < OPERATIONS; i++) {
        snprintf(document, sizeof(document), "{\"id\":\"%d\",\"pk\":\"p%d\"}", i, i);
        orrery_batch_create(rig->batch, document, ORRERY_TEXT, NULL);
    }
}

static void rig_close(struct rig *rig)
{
    orrery_batch_free(rig->batch);
    orrery_close(rig->client);
    fake_stop(rig->fake);
    for (size_t i = 0; i < sizeof(rig->world.text) / sizeof(rig->world.text[0]); i++)
        free(rig->world.text[i]);
}

/* How many operations came to this; every one has a result. */
static size_t count_of(orrery_response *response, orrery_status status, int http)
{
    orrery_result result = { .size = sizeof(result) };
    size_t count = 0;

    for (size_t i = 0; i < OPERATIONS; i++) {
        CHECK(orrery_batch_result(response, i, &result) == ORRERY_OK);
        count += result.status == status && result.http == http;
    }
    CHECK(orrery_batch_result(response, OPERATIONS, &result) == ORRERY_EINVAL);
    return count;
}

static void check_one_range_fails(struct rig *rig, orrery_status status, int http)
{
    orrery_response *response = NULL;
    size_t good, bad;

    rig_open(rig, 0);
    CHECK(orrery_bulk_run(rig->client, items, rig->batch, NULL, &response) == ORRERY_EBATCH && response);
    good = count_of(response, ORRERY_OK, 201);
    bad = count_of(response, status, http);
    CHECK(good > 50 && bad > 50 && good + bad == OPERATIONS);
    orrery_response_free(response);
    rig_close(rig);
}

TEST(a_request_of_a_bulk_that_is_refused_says_so_of_its_own_operations_only)
{
    struct rig rig = { .world = { .range_1 = HEAD("413 Too large") "x-ms-substatus: 7\r\n" } };

    check_one_range_fails(&rig, ORRERY_ETOOLARGE, 413);
}

TEST(a_bulk_goes_on_as_long_as_a_round_gets_anything_done)
{
    struct rig rig = { .world = { .at_a_time = 5 } };
    orrery_response *response = NULL;

    rig_open(&rig, 0);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, NULL, &response) == ORRERY_OK);
    CHECK(orrery_response_attempts(response) > 10 && count_of(response, ORRERY_OK, 201) == OPERATIONS);
    orrery_response_free(response);
    rig_close(&rig);
}

TEST(half_an_answer_to_a_request_of_a_bulk_is_no_success)
{
    struct rig rig = { .world = { .range_1 = "", .closes = 1, .halves = 1 } };

    check_one_range_fails(&rig, ORRERY_EIO, 0);
}

/* The reason is kept within a line's length; it must not end in half a character. */
TEST(a_request_of_a_bulk_that_is_refused_at_length_leaves_results_that_can_be_read)
{
    for (int shift = 0; shift < 2; shift++) {
        struct rig rig = { .world = { .range_1 = HEAD("413 Too large") } };
        char message[1300] = "{\"message\":\"xx";
        size_t size = strlen(message) - (size_t)shift;

        for (; size < 1200; size += 2)
            memcpy(message + size, "\xc3\xa9", 2);
        strcpy(message + size, "\"}");
        rig.world.message = message;
        check_one_range_fails(&rig, ORRERY_ETOOLARGE, 413);
    }
}

TEST(a_bulk_whose_keys_were_taken_by_an_old_definition_has_it_read_again_by_the_next)
{
    struct rig rig = { .world = { .code = 400 } };
    orrery_response *response = NULL;

    rig_open(&rig, 0);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, NULL, &response) == ORRERY_EBATCH);
    CHECK(count_of(response, ORRERY_EBADREQUEST, 400) > 0 && rig.world.definitions_read == 1);
    orrery_response_free(response);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, NULL, NULL) == ORRERY_OK);
    CHECK(rig.world.definitions_read == 2);
    rig_close(&rig);
}

TEST(a_request_of_a_bulk_whose_connection_breaks_may_have_happened_and_the_others_have)
{
    struct rig rig = { .world = { .range_1 = "", .closes = 1 } };

    check_one_range_fails(&rig, ORRERY_EIO, 0);
}

TEST(a_bulk_follows_a_range_that_is_divided_and_sends_what_was_not_done)
{
    struct rig rig = { .world = { .range_1 = HEAD("410 Gone") "x-ms-substatus: 1002\r\n", .splits = 1 } };
    orrery_response *response = NULL;

    rig_open(&rig, 0);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, NULL, &response) == ORRERY_OK);
    CHECK(count_of(response, ORRERY_OK, 201) == OPERATIONS && rig.world.ranges_read == 2);
    orrery_response_free(response);
    rig_close(&rig);
}

TEST(a_bulk_over_one_connection_sends_one_request_after_another_and_those_put_off_again)
{
    struct rig rig = { .world = { .code = 429 } };
    orrery_response *response = NULL;

    rig_open(&rig, 1);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, NULL, &response) == ORRERY_OK);
    CHECK(count_of(response, ORRERY_OK, 201) == OPERATIONS && orrery_response_attempts(response) == 2);
    CHECK(rig.world.ranges_read == 1);
    orrery_response_free(response);
    rig_close(&rig);
}

TEST(a_bulk_that_is_put_off_is_told_so_when_no_attempts_are_left)
{
    struct rig rig = { .world = { .code = 449 } };
    orrery_settings settings = { .size = sizeof(settings), .key = KEY, .retries_max = -1 };
    orrery_response *response = NULL;

    rig_open(&rig, 0);
    orrery_close(rig.client);
    settings.endpoint = fake_url(rig.fake);
    CHECK(orrery_open(&settings, &rig.client) == ORRERY_OK);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, NULL, &response) == ORRERY_EBATCH);
    CHECK(count_of(response, ORRERY_ERETRY, 449) > 0);
    orrery_response_free(response);
    rig_close(&rig);
}

struct told {
    int times;
    orrery_status status;
    orrery_response *response;
};

static void note_end(orrery_client *client_of_it, void *context, orrery_status status,
                     orrery_response *response)
{
    struct told *told = context;

    (void)client_of_it;
    told->times++;
    told->status = status;
    orrery_response_free(told->response);
    told->response = response;
}

TEST(a_bulk_that_nobody_waits_for_keeps_its_operations_and_is_told_once)
{
    struct rig rig = { .world = { .code = 429 } };
    struct told told = { .times = 0 };
    orrery_options later = { .size = sizeof(later), .done = note_end, .context = &told };
    size_t under_way = 0;

    rig_open(&rig, 2);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, &later, NULL) == ORRERY_OK && told.times == 0);
    orrery_batch_free(rig.batch);
    rig.batch = NULL;
    do
        CHECK(orrery_run(rig.client, -1, &under_way) == ORRERY_OK && under_way <= 1);
    while (under_way > 0);
    CHECK(told.times == 1 && told.status == ORRERY_OK);
    CHECK(count_of(told.response, ORRERY_OK, 201) == OPERATIONS);
    orrery_response_free(told.response);
    rig_close(&rig);
}

TEST(a_client_that_is_closed_with_a_bulk_under_way_tells_nobody)
{
    struct rig rig = { .world = { .code = 429 } };
    struct told told = { .times = 0 };
    orrery_options later = { .size = sizeof(later), .done = note_end, .context = &told };

    rig_open(&rig, 2);
    CHECK(orrery_bulk_run(rig.client, items, rig.batch, &later, NULL) == ORRERY_OK);
    for (int i = 0; i < 5; i++)
        orrery_run(rig.client, 0, NULL);
    rig_close(&rig);
    CHECK(told.times <= 1);
    orrery_response_free(told.response);
}
