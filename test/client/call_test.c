/* test/client/call_test.c - attempts: what is tried again, what is not, and what becomes of answers that are none. */
#include <orrery.h>
#include <poll.h>
#include <stdatomic.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nx-ms-request-charge: 2\r\n\r\n{\"id\":\"1\"}"
#define EMPTY(line) "HTTP/1.1 " line "\r\nContent-Length: 2\r\n"

static const char items[] = "dbs/d/colls/c";

/* Answers in turn; the last one for whatever comes after it. */
struct script {
    struct fake_answer acts[4];
    atomic_size_t at;
};

static void play(void *context, const char *request, struct fake_answer *answer)
{
    struct script *script = context;
    size_t at = script->at++;

    (void)request;
    while (at > 0 &&
           (at >= 4 || (!script->acts[at].bytes && !script->acts[at].closes && !script->acts[at].stalls)))
        at--;
    *answer = script->acts[at];
}

struct rig {
    struct fake *fake;
    orrery_client *client;
};

static struct rig rig_open(struct script *script, int timeout_ms)
{
    struct rig rig = { .fake = fake_start(play, script) };
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = fake_url(rig.fake), .key = KEY, .timeout_ms = timeout_ms
    };

    CHECK(orrery_open(&settings, &rig.client) == ORRERY_OK);
    return rig;
}

static void rig_close(struct rig *rig)
{
    orrery_close(rig->client);
    fake_stop(rig->fake);
}

static orrery_status read_one(struct rig *rig, orrery_response **response)
{
    orrery_key key = orrery_key_text("k");

    return orrery_item_read(rig->client, items, "1", &key, NULL, response);
}

static orrery_status create_one(struct rig *rig)
{
    orrery_key key = orrery_key_text("k");

    return orrery_item_create(rig->client, items, "{\"id\":\"1\"}", ORRERY_TEXT, &key, NULL, NULL);
}

TEST(a_throttled_request_is_tried_again_after_the_time_that_the_server_names)
{
    struct script script = {
        .acts = { { EMPTY("429 Slow") "x-ms-retry-after-ms: 1\r\nx-ms-request-charge: 1\r\n\r\n{}" },
                  { OK_ANSWER } }
    };
    struct rig rig = rig_open(&script, 0);
    orrery_response *response = NULL;

    CHECK(read_one(&rig, &response) == ORRERY_OK);
    CHECK(orrery_response_attempts(response) == 2 && orrery_response_charge(response) == 3);
    orrery_response_free(response);
    rig_close(&rig);
}

TEST(a_server_that_never_stops_throttling_is_left_alone_in_the_end)
{
    struct script script = { .acts = { { EMPTY("429 Slow") "x-ms-retry-after-ms: 0\r\n\r\n{}" } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(create_one(&rig) == ORRERY_ETHROTTLED);
    CHECK(fake_asked(rig.fake) == 10);
    CHECK(orrery_response_http(orrery_failed_response(rig.client)) == 429);
    rig_close(&rig);
}

TEST(a_wait_that_would_outlast_the_call_is_not_begun)
{
    struct script script = { .acts = { { EMPTY("429 Slow") "x-ms-retry-after-ms: 60000\r\n\r\n{}" } } };
    struct rig rig = rig_open(&script, 5000);

    CHECK(read_one(&rig, NULL) == ORRERY_ETHROTTLED && fake_asked(rig.fake) == 1);
    rig_close(&rig);
}

TEST(a_race_that_a_write_lost_is_run_again)
{
    struct script script = { .acts = { { EMPTY("449 Retry") "x-ms-retry-after-ms: 0\r\n\r\n{}" },
                                       { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(create_one(&rig) == ORRERY_OK && fake_asked(rig.fake) == 2);
    rig_close(&rig);
}

TEST(a_read_whose_connection_broke_is_sent_again_and_a_write_is_not)
{
    struct script script = { .acts = { { "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", .closes = 1 },
                                       { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(read_one(&rig, NULL) == ORRERY_OK && fake_asked(rig.fake) == 2);
    script.at = 0;
    CHECK(create_one(&rig) == ORRERY_EIO && fake_asked(rig.fake) == 3);
    CHECK(*orrery_error(rig.client) != '\0');
    rig_close(&rig);
}

TEST(a_write_is_sent_once_over_a_connection_that_was_kept_and_breaks)
{
    struct script script = { .acts = { { OK_ANSWER }, { .closes = 1 }, { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(read_one(&rig, NULL) == ORRERY_OK);
    CHECK(create_one(&rig) == ORRERY_EIO && fake_asked(rig.fake) == 2);
    CHECK(read_one(&rig, NULL) == ORRERY_OK && fake_asked(rig.fake) == 3);
    rig_close(&rig);
}

/* The server dies with the write: libcurl connects anew by itself, and is refused. */
static void write_to_one_that_dies(orrery_status (*write)(struct rig *rig))
{
    struct script script = { .acts = { { OK_ANSWER }, { .closes = 1, .dies = 1 } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(read_one(&rig, NULL) == ORRERY_OK);
    CHECK(write(&rig) == ORRERY_EIO && fake_asked(rig.fake) == 2);
    CHECK(strstr(orrery_error(rig.client), "lost"));
    rig_close(&rig);
}

static orrery_status increment_one(struct rig *rig)
{
    orrery_key key = orrery_key_text("k");
    orrery_patch *patch = NULL;
    orrery_status status;

    orrery_patch_new(&patch);
    orrery_patch_increment(patch, "/n", 1);
    status = orrery_item_patch(rig->client, items, "1", &key, patch, NULL, NULL);
    orrery_patch_free(patch);
    return status;
}

static orrery_status delete_one(struct rig *rig)
{
    orrery_key key = orrery_key_text("k");

    return orrery_item_delete(rig->client, items, "1", &key, NULL, NULL);
}

TEST(a_write_that_may_have_left_is_never_told_as_unsent_though_the_next_connect_is_refused)
{
    write_to_one_that_dies(create_one);
    write_to_one_that_dies(increment_one);
    write_to_one_that_dies(delete_one);
}

TEST(dots_are_ids_and_no_steps_of_a_path)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");

    CHECK(orrery_item_delete(rig.client, items, "..", &key, NULL, NULL) == ORRERY_OK);
    CHECK(strstr(fake_request(rig.fake, 0), "DELETE /dbs/d/colls/c/docs/.. "));
    rig_close(&rig);
}

TEST(a_session_token_that_names_a_range_again_and_again_is_kept_once)
{
    struct script script = {
        .acts = { { EMPTY("200 OK") "x-ms-session-token: 0:1,0:1,0:1,0:1,0:1,0:1,0:1,0:1\r\n\r\n{}" },
                  { EMPTY("200 OK") "x-ms-session-token: "
                                    "0:2#3#0123456789012345678901234567890123456789\r\n\r\n{}" } }
    };
    struct rig rig = rig_open(&script, 0);

    CHECK(read_one(&rig, NULL) == ORRERY_OK);
    CHECK(strcmp(orrery_session_token(rig.client, items), "0:1") == 0);
    CHECK(read_one(&rig, NULL) == ORRERY_OK);
    CHECK(strcmp(orrery_session_token(rig.client, items), "0:2#3#0123456789012345678901234567890123456789") ==
          0);
    rig_close(&rig);
}

TEST(an_unavailable_server_gets_reads_again_and_no_writes)
{
    struct script script = { .acts = { { EMPTY("503 No") "x-ms-retry-after-ms: 0\r\n\r\n{}" },
                                       { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(read_one(&rig, NULL) == ORRERY_OK && fake_asked(rig.fake) == 2);
    script.at = 0;
    CHECK(create_one(&rig) == ORRERY_ESERVER && fake_asked(rig.fake) == 3);
    rig_close(&rig);
}

TEST(a_server_that_says_nothing_is_waited_for_as_long_as_the_call_may_take)
{
    struct script script = { .acts = { { .stalls = 1 } } };
    struct rig rig = rig_open(&script, 50);

    CHECK(read_one(&rig, NULL) == ORRERY_ETIMEOUT);
    CHECK(orrery_failed_response(rig.client) == NULL);
    rig_close(&rig);
}

TEST(half_a_body_and_then_nothing_is_out_of_time_too)
{
    struct script script = { .acts = {
                                 { "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", .stalls = 1 } } };
    struct rig rig = rig_open(&script, 50);

    CHECK(read_one(&rig, NULL) == ORRERY_ETIMEOUT);
    rig_close(&rig);
}

TEST(what_is_no_http_is_a_broken_connection)
{
    struct script script = { .acts = { { "220 mail.example.org ESMTP\r\n\r\n", .closes = 1 } } };
    struct rig rig = rig_open(&script, 2000);

    CHECK(create_one(&rig) == ORRERY_EIO);
    rig_close(&rig);
}

TEST(an_error_without_a_body_or_with_a_wrong_one_is_told_by_its_number)
{
    static const char *const bodies[] = { "", "{", "[]", "{\"message\":1}", "\xff\xfe" };

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        char text[128];
        struct script script = { 0 };
        struct rig rig;

        snprintf(text, sizeof(text), "HTTP/1.1 404 No\r\nContent-Length: %zu\r\n\r\n%s", strlen(bodies[i]),
                 bodies[i]);
        script.acts[0].bytes = text;
        rig = rig_open(&script, 0);
        CHECK(read_one(&rig, NULL) == ORRERY_ENOTFOUND);
        CHECK(strstr(orrery_error(rig.client), "404"));
        rig_close(&rig);
    }
}

TEST(a_port_where_nobody_listens_is_no_connection)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = fake_url(rig.fake), .key = KEY, .retries_max = 2
    };
    orrery_client *client = NULL;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    rig_close(&rig);
    CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) == ORRERY_ECONNECT);
    orrery_close(client);
}

TEST(a_session_token_is_kept_by_container_and_sent_with_what_follows)
{
    struct script script = { .acts = { { EMPTY("200 OK") "x-ms-session-token: 0:-1#5\r\n\r\n{}" },
                                       { EMPTY("200 OK") "x-ms-session-token: 1:-1#9\r\n\r\n{}" },
                                       { EMPTY("200 OK") "x-ms-session-token: 0:-1#4,1:-1#10\r\n\r\n{}" } } };
    struct rig rig = rig_open(&script, 0);

    CHECK(create_one(&rig) == ORRERY_OK && read_one(&rig, NULL) == ORRERY_OK &&
          read_one(&rig, NULL) == ORRERY_OK);
    CHECK(!strstr(fake_request(rig.fake, 0), "x-ms-session-token"));
    CHECK(strstr(fake_request(rig.fake, 1), "x-ms-session-token: 0:-1#5\r\n"));
    CHECK(strstr(fake_request(rig.fake, 2), "x-ms-session-token: 0:-1#5,1:-1#9\r\n"));
    CHECK(strcmp(orrery_session_token(rig.client, "/dbs/d/colls/c/"), "0:-1#5,1:-1#10") == 0);
    CHECK(orrery_session_token(rig.client, "dbs/d/colls/other") == NULL);
    rig_close(&rig);
}

TEST(deleting_all_items_of_a_key_has_a_session_as_any_other_write)
{
    struct script script = { .acts = { { EMPTY("200 OK") "x-ms-session-token: 0:-1#7\r\n\r\n{}" },
                                       { EMPTY("200 OK") "x-ms-session-token: 0:-1#9\r\n\r\n{}" } } };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");

    CHECK(create_one(&rig) == ORRERY_OK);
    CHECK(orrery_items_delete(rig.client, items, &key, NULL, NULL) == ORRERY_OK);
    CHECK(strstr(fake_request(rig.fake, 1), "POST /dbs/d/colls/c/operations/partitionkeydelete "));
    CHECK(strstr(fake_request(rig.fake, 1), "x-ms-session-token: 0:-1#7\r\n"));
    CHECK(strcmp(orrery_session_token(rig.client, items), "0:-1#9") == 0);
    rig_close(&rig);
}

TEST(a_header_with_a_line_end_is_refused_and_nothing_is_sent)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");
    orrery_options options = { .size = sizeof(options), .if_match = "x\r\nx-ms-evil: 1" };

    CHECK(orrery_item_read(rig.client, items, "1", &key, &options, NULL) == ORRERY_EINVAL);
    CHECK(fake_asked(rig.fake) == 0);
    rig_close(&rig);
}

static void count_ends(orrery_client *client_of_it, void *context, orrery_status status,
                       orrery_response *response)
{
    (void)client_of_it;
    *(int *)context += status == ORRERY_OK;
    orrery_response_free(response);
}

TEST(a_client_that_is_closed_while_calls_are_under_way_tells_nobody)
{
    struct script script = { .acts = { { .stalls = 1 } } };
    struct rig rig = rig_open(&script, 0);
    int ends = 0;
    orrery_options later = { .size = sizeof(later), .done = count_ends, .context = &ends };
    orrery_key key = orrery_key_text("k");

    for (int i = 0; i < 5; i++)
        CHECK(orrery_item_read(rig.client, items, "1", &key, &later, NULL) == ORRERY_OK);
    orrery_run(rig.client, 10, NULL);
    rig_close(&rig);
    CHECK(ends == 0);
}

static void note_status(orrery_client *client_of_it, void *context, orrery_status status,
                        orrery_response *response)
{
    (void)client_of_it;
    *(orrery_status *)context = status;
    orrery_response_free(response);
}

TEST(a_write_that_does_not_wait_is_not_sent_when_its_time_is_over)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);
    orrery_status told = ORRERY_WAIT;
    orrery_options later = { .size = sizeof(later), .timeout_ms = 50, .done = note_status, .context = &told };
    orrery_key key = orrery_key_text("k");
    size_t under_way = 1;

    CHECK(orrery_item_delete(rig.client, items, "1", &key, &later, NULL) == ORRERY_OK);
    while (under_way > 0)
        CHECK(orrery_run(rig.client, 1000, &under_way) == ORRERY_OK);
    CHECK(told == ORRERY_OK && fake_asked(rig.fake) == 1); /* and there is a connection that was kept */
    CHECK(orrery_item_delete(rig.client, items, "1", &key, &later, NULL) == ORRERY_OK);
    poll(NULL, 0, 100);
    under_way = 1;
    while (under_way > 0)
        CHECK(orrery_run(rig.client, 1000, &under_way) == ORRERY_OK);
    CHECK(told == ORRERY_ETIMEOUT && fake_asked(rig.fake) == 1);
    rig_close(&rig);
}

TEST(a_loop_of_ones_own_drives_calls_by_the_set_it_is_told_to_poll)
{
    struct script script = { .acts = { { EMPTY("429 Slow") "x-ms-retry-after-ms: 1\r\n\r\n{}" },
                                       { OK_ANSWER } } };
    struct rig rig = rig_open(&script, 0);
    int ends = 0;
    orrery_options later = { .size = sizeof(later), .done = count_ends, .context = &ends };
    orrery_key key = orrery_key_text("k");
    size_t under_way = 1;

    for (int i = 0; i < 3; i++)
        CHECK(orrery_item_read(rig.client, items, "1", &key, &later, NULL) == ORRERY_OK);
    while (under_way > 0) {
        struct pollfd fds[16];
        int timeout_ms;
        size_t count = orrery_poll_set(rig.client, fds, 16, &timeout_ms);

        REQUIRE(count > 0 || timeout_ms >= 0);
        poll(fds, count, timeout_ms);
        CHECK(orrery_run(rig.client, 0, &under_way) == ORRERY_OK);
    }
    CHECK(ends == 3 && fake_asked(rig.fake) == 4);
    rig_close(&rig);
}

TEST(what_is_gone_though_no_range_was_named_is_tried_again_and_given_up)
{
    static const char gone[] =
        "HTTP/1.1 410 Gone\r\nContent-Length: 2\r\nx-ms-substatus: 1002\r\nx-ms-retry-after-ms: 0\r\n\r\n{}";
    struct script script = { .acts = { { gone } } };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");
    orrery_query *query = NULL;

    CHECK(orrery_query_open(rig.client, items, "SELECT * FROM c", NULL, 0, &key, NULL, &query) == ORRERY_OK);
    CHECK(orrery_query_step(query) == ORRERY_EGONE);
    CHECK(fake_asked(rig.fake) > 1);
    orrery_query_close(query);
    rig_close(&rig);
}

/* A container that is made anew with another key, by somebody else, between two creates. */
struct remade {
    atomic_int reads;
    char text[512];
};

static const char *remade_body(struct remade *remade, const char *request, const char **line)
{
    *line = "200 OK";
    if (strncmp(request, "GET ", 4) == 0)
        return remade->reads++ == 0 ? "{\"partitionKey\":{\"paths\":[\"/old\"]}}"
                                    : "{\"partitionKey\":{\"paths\":[\"/new\"]}}";
    if (remade->reads == 1 && strstr(request, "\"again\""))
        *line = "400 No\r\nx-ms-substatus: 1001";
    return "{}";
}

static void answer_remade(void *context, const char *request, struct fake_answer *answer)
{
    struct remade *remade = context;
    const char *line, *body = remade_body(remade, request, &line);

    snprintf(remade->text, sizeof(remade->text),
             "HTTP/1.1 %s\r\nContent-Length: %zu\r\nx-ms-session-token: 0:-1#5\r\n\r\n%s", line, strlen(body),
             body);
    answer->bytes = remade->text;
}

static struct rig rig_remade(struct remade *remade)
{
    struct rig rig = { .fake = fake_start(answer_remade, remade) };
    orrery_settings settings = { .size = sizeof(settings), .endpoint = fake_url(rig.fake), .key = KEY };

    CHECK(orrery_open(&settings, &rig.client) == ORRERY_OK);
    return rig;
}

TEST(a_container_that_was_made_anew_with_another_key_is_looked_at_again)
{
    struct remade remade = { .reads = 0 };
    struct rig rig = rig_remade(&remade);

    CHECK(orrery_item_create(rig.client, items, "{\"id\":\"1\",\"old\":\"o\"}", ORRERY_TEXT, NULL, NULL,
                             NULL) == ORRERY_OK);
    CHECK(orrery_item_create(rig.client, items, "{\"id\":\"again\",\"new\":\"n\"}", ORRERY_TEXT, NULL, NULL,
                             NULL) == ORRERY_OK);
    CHECK(fake_asked(rig.fake) == 5); /* definition, create; create, definition, create */
    CHECK(strstr(fake_request(rig.fake, 4), "x-ms-documentdb-partitionkey: [\"n\"]"));
    rig_close(&rig);
}

TEST(what_was_known_of_a_database_is_forgotten_when_it_is_deleted)
{
    struct remade remade = { .reads = 0 };
    struct rig rig = rig_remade(&remade);
    const char *document = "{\"id\":\"1\",\"new\":\"n\"}";

    CHECK(orrery_item_create(rig.client, items, document, ORRERY_TEXT, NULL, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_item_create(rig.client, "dbs/dd/colls/c", document, ORRERY_TEXT, NULL, NULL, NULL) ==
          ORRERY_OK);
    CHECK(orrery_session_token(rig.client, items));
    CHECK(orrery_delete(rig.client, "dbs/d", NULL, NULL) == ORRERY_OK);
    CHECK(!orrery_session_token(rig.client, items) && orrery_session_token(rig.client, "dbs/dd/colls/c"));
    CHECK(orrery_item_create(rig.client, items, document, ORRERY_TEXT, NULL, NULL, NULL) == ORRERY_OK);
    CHECK(remade.reads == 3 && strstr(fake_request(rig.fake, 6), "x-ms-documentdb-partitionkey: [\"n\"]"));
    rig_close(&rig);
}

/* The state of an arrangement whose manager leaves clients 300 ms; a create is never answered. */
static void answer_arranged(void *context, const char *request, struct fake_answer *answer)
{
    static const char state[] =
        "{\"id\":\"P\",\"version\":1,\"phase\":\"stable\",\"mode\":\"ReadBoth\",\"nodes\":128,\"hash\":"
        "\"murmur3\","
        "\"links\":[\"dbs/d/colls/"
        "P0\"],\"next\":[],\"owner\":\"\",\"until\":0,\"since\":0,\"grace\":300,\"seen\":0,"
        "\"moved\":0,\"intents\":[]}";
    char *text = context;

    if (strncmp(request, "POST ", 5) == 0) {
        answer->stalls = 1;
        return;
    }
    snprintf(text, 1024, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\netag: x\r\n\r\n%s", sizeof(state) - 1,
             state);
    answer->bytes = text;
}

TEST(a_create_through_a_following_resolver_is_out_of_time_when_what_it_goes_by_may_be_old)
{
    char text[1024];
    struct rig rig = { .fake = fake_start(answer_arranged, text) };
    orrery_settings settings = { .size = sizeof(settings), .endpoint = fake_url(rig.fake), .key = KEY };
    orrery_extractor by_id = { .size = sizeof(by_id), .property = "id" };
    orrery_managed_options managed = { .size = sizeof(managed), .count = 1, .prefix = "P" };
    orrery_manager_options options = {
        .size = sizeof(options), .extractor = &by_id, .managed = &managed, .state_link = "dbs/d/colls/state"
    };
    orrery_key key = orrery_key_text("1");
    orrery_resolver *resolver = NULL;

    CHECK(orrery_open(&settings, &rig.client) == ORRERY_OK);
    REQUIRE(orrery_resolver_follow(rig.client, "dbs/d", &options, &resolver) == ORRERY_OK);
    CHECK(orrery_client_set_resolver(rig.client, "dbs/d", resolver) == ORRERY_OK);
    CHECK(orrery_item_create(rig.client, "dbs/d", "{\"id\":\"1\"}", ORRERY_TEXT, &key, NULL, NULL) ==
          ORRERY_ETIMEOUT);
    orrery_resolver_unref(resolver);
    rig_close(&rig);
}

TEST(a_proxy_of_the_environment_is_used_unless_the_settings_say_not)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct fake *fake = fake_start(play, &script);
    orrery_settings settings = {
        .size = sizeof(settings), .endpoint = fake_url(fake), .key = KEY, .retries_max = -1
    };
    orrery_key key = orrery_key_text("k");
    orrery_client *client = NULL;

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    for (settings.no_proxy = 0; settings.no_proxy < 2; settings.no_proxy++) {
        CHECK(orrery_open(&settings, &client) == ORRERY_OK);
        CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) ==
              (settings.no_proxy ? ORRERY_OK : ORRERY_ECONNECT));
        orrery_close(client);
    }
    unsetenv("http_proxy");
    fake_stop(fake);
}

TEST(a_connection_that_is_never_made_is_no_connection_and_a_bad_file_of_certificates_a_bad_argument)
{
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = "http://192.0.2.1:9",
                                 .key = KEY,
                                 .connect_timeout_ms = 50,
                                 .retries_max = -1 };
    orrery_key key = orrery_key_text("k");
    orrery_client *client = NULL;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    CHECK(orrery_item_read(client, items, "1", &key, NULL, NULL) == ORRERY_ECONNECT);
    orrery_close(client);
    settings.endpoint = "https://127.0.0.1:1";
    settings.ca_file = "/nonexistent.pem";
    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    CHECK(orrery_failed(orrery_item_read(client, items, "1", &key, NULL, NULL)));
    orrery_close(client);
}

TEST(a_change_feed_that_cannot_say_where_to_go_on_ends)
{
    struct script script = {
        .acts = { { EMPTY("200 OK") "\r\n{}" },
                  { "HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n{\"Documents\":[{\"id\":\"1\"}] }" } }
    };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");
    orrery_query *query = NULL;

    script.at = 1;
    CHECK(orrery_changes_open(rig.client, items, &key, ORRERY_FROM_BEGINNING, 0, NULL, &query) == ORRERY_OK);
    CHECK(orrery_query_step(query) == ORRERY_ROW);
    CHECK(orrery_query_step(query) == ORRERY_DONE && orrery_query_step(query) == ORRERY_DONE);
    CHECK(fake_asked(rig.fake) == 1);
    orrery_query_close(query);
    rig_close(&rig);
}

/* ---- regions */

static void write_account(char *text, size_t size, const char *reads, const char *writes, bool several)
{
    snprintf(text, size,
             "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
             "{\"readableLocations\":[{\"name\":\"Here\",\"databaseAccountEndpoint\":\"%s/\"},"
             "{\"name\":\"There\",\"databaseAccountEndpoint\":\"%s/\"}],"
             "\"writableLocations\":[{\"name\":\"Here\",\"databaseAccountEndpoint\":\"%s/\"},"
             "{\"name\":\"There\",\"databaseAccountEndpoint\":\"%s/\"}],\"enableMultipleWriteLocations\":%s}",
             writes, reads, writes, reads, several ? "true" : "false");
}

struct regions {
    char text[1024];
};

static void give_account(void *context, const char *request, struct fake_answer *answer)
{
    struct regions *account = context;

    answer->closes = 1;
    answer->bytes = strncmp(request, "GET / ", 6) == 0 && account->text[0]
                        ? account->text
                        : "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
}

TEST(reads_go_to_the_region_that_is_wished_for_and_writes_to_the_one_that_can_be_written)
{
    struct regions account = { "" }, none = { "" };
    struct fake *here = fake_start(give_account, &account), *there = fake_start(give_account, &none);
    struct rig rig = { .fake = here };
    const char *names[] = { "nowhere", "THERE" };
    orrery_settings settings = { .size = sizeof(settings), .endpoint = fake_url(here), .key = KEY };

    REQUIRE(orrery_open(&settings, &rig.client) == ORRERY_OK);
    write_account(account.text, sizeof(account.text), fake_url(there), fake_url(here), false);
    REQUIRE(orrery_regions_use(rig.client, names, 2) == ORRERY_OK);
    CHECK(orrery_read(rig.client, "dbs/a", NULL, NULL) == ORRERY_OK && fake_asked(there) == 1);
    CHECK(strstr(fake_request(there, 0), "GET /dbs/a "));
    CHECK(create_one(&rig) == ORRERY_OK);
    CHECK(fake_asked(there) == 1 && fake_asked(here) == 2);
    write_account(account.text, sizeof(account.text), fake_url(there), fake_url(here), true);
    REQUIRE(orrery_regions_use(rig.client, names, 2) == ORRERY_OK && fake_asked(here) == 3);
    CHECK(create_one(&rig) == ORRERY_OK);
    CHECK(fake_asked(there) == 2);
    REQUIRE(orrery_regions_use(rig.client, NULL, 0) == ORRERY_OK);
    CHECK(orrery_read(rig.client, "dbs/a", NULL, NULL) == ORRERY_OK && fake_asked(there) == 2);
    snprintf(account.text, sizeof(account.text), "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    CHECK(orrery_regions_use(rig.client, names, 2) == ORRERY_EJSON);
    fake_stop(there);
    rig_close(&rig);
}

/* ---- bearer tokens, traces, diagnostics */

struct provider {
    int asked;
    int64_t ends;
    orrery_status status;
};

static orrery_status give_token(void *context, char **token, int64_t *ends_unix_seconds)
{
    struct provider *provider = context;
    char text[32];

    snprintf(text, sizeof(text), "jwt.%d/=", ++provider->asked);
    *token = strdup(text);
    *ends_unix_seconds = provider->ends;
    return provider->status;
}

TEST(a_bearer_token_is_asked_for_once_and_again_before_it_ends)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct provider provider = { .ends = INT64_C(1) << 40 };
    struct rig rig = { .fake = fake_start(play, &script) };
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = fake_url(rig.fake),
                                 .bearer_token = give_token,
                                 .bearer_context = &provider };

    REQUIRE(orrery_open(&settings, &rig.client) == ORRERY_OK);
    CHECK(read_one(&rig, NULL) == ORRERY_OK && read_one(&rig, NULL) == ORRERY_OK && provider.asked == 1);
    CHECK(strstr(fake_request(rig.fake, 1), "authorization: type%3Daad%26ver%3D1.0%26sig%3Djwt.1%2F%3D\r\n"));
    orrery_close(rig.client);
    provider.ends = 0; /* long ago: each call asks */
    REQUIRE(orrery_open(&settings, &rig.client) == ORRERY_OK);
    CHECK(read_one(&rig, NULL) == ORRERY_OK && read_one(&rig, NULL) == ORRERY_OK && provider.asked == 3);
    provider.status = ORRERY_ECALLBACK;
    CHECK(read_one(&rig, NULL) == ORRERY_ECALLBACK && strstr(orrery_error(rig.client), "bearer"));
    CHECK(fake_asked(rig.fake) == 4);
    rig_close(&rig);
}

struct traced {
    int sent, ended, retry_ms, http;
    char path[64];
};

static void trace(void *context, const orrery_trace_event *event)
{
    struct traced *traced = context;

    traced->sent += !event->has_ended;
    traced->ended += event->has_ended;
    if (event->has_ended && event->retry_ms >= 0)
        traced->retry_ms = event->retry_ms;
    traced->http = event->http;
    CHECK(event->attempt == traced->sent && strcmp(event->method, "GET") == 0 && event->elapsed_us >= 0);
    snprintf(traced->path, sizeof(traced->path), "%s", event->path);
}

TEST(every_request_is_told_to_a_trace_and_what_a_call_took_to_its_diagnostics)
{
    struct script script = {
        .acts = { { EMPTY("429 Slow") "x-ms-retry-after-ms: 7\r\nx-ms-request-charge: 1\r\n\r\n{}" },
                  { EMPTY("200 OK") "x-ms-request-charge: 2\r\nx-ms-session-token: "
                                    "3:-1#7\r\nx-ms-activity-id: a-b\r\n"
                                    "x-ms-documentdb-partitionkeyrangeid: 3\r\n\r\n{}" } }
    };
    struct traced traced = { 0 };
    struct rig rig = { .fake = fake_start(play, &script) };
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = fake_url(rig.fake),
                                 .key = KEY,
                                 .trace = trace,
                                 .trace_context = &traced };
    orrery_diagnostics diagnostics = { .size = sizeof(diagnostics) };
    orrery_options options = { .size = sizeof(options), .diagnostics = &diagnostics };
    orrery_key key = orrery_key_text("k");

    REQUIRE(orrery_open(&settings, &rig.client) == ORRERY_OK);
    CHECK(orrery_item_read(rig.client, items, "1", &key, &options, NULL) == ORRERY_OK);
    CHECK(traced.sent == 2 && traced.ended == 2 && traced.retry_ms == 7 && traced.http == 200);
    CHECK(strcmp(traced.path, "/dbs/d/colls/c/docs/1") == 0);
    CHECK(diagnostics.calls == 1 && diagnostics.attempts == 2 && diagnostics.charge == 3);
    CHECK(diagnostics.waited_us == 7000 && diagnostics.elapsed_us >= 7000 && diagnostics.http == 200);
    CHECK(strcmp(diagnostics.session, "3:-1#7") == 0 && strcmp(diagnostics.ranges, "3") == 0 &&
          strcmp(diagnostics.activity, "a-b") == 0);
    traced.sent = 0;
    CHECK(orrery_item_read(rig.client, items, "1", &key, &options, NULL) == ORRERY_OK);
    CHECK(diagnostics.calls == 2 && diagnostics.attempts == 3 && strcmp(diagnostics.ranges, "3") == 0);
    diagnostics.size = 0;
    CHECK(orrery_item_read(rig.client, items, "1", &key, &options, NULL) == ORRERY_EINVAL);
    rig_close(&rig);
}

#ifdef ORRERY_DEBUG
static void *read_for_ever(void *context)
{
    read_one(context, NULL);
    return NULL;
}

/* One thread is within a call that is never answered; then another comes. */
static void meet_in_one_client(struct rig *rig)
{
    pthread_t thread;

    freopen("/dev/null", "w", stderr);
    signal(SIGABRT, SIG_DFL);
    if (pthread_create(&thread, NULL, read_for_ever, rig) != 0)
        _exit(1);
    while (!rig->client->thread)
        ;
    read_one(rig, NULL);
    _exit(0);
}

TEST(two_threads_that_meet_in_one_client_end_a_debug_build)
{
    struct script script = { .acts = { { .stalls = 1 } } };
    struct rig rig = rig_open(&script, 20000);
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        meet_in_one_client(&rig);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    rig_close(&rig);
}
#endif

TEST(why_settings_open_nothing_is_told_in_words)
{
    struct provider provider = { 0 };
    orrery_settings settings = { .size = 0 };

    CHECK(strstr(orrery_open_error(NULL), "no settings") && strstr(orrery_open_error(&settings), "size"));
    settings.size = sizeof(settings);
    CHECK(strstr(orrery_open_error(&settings), "no endpoint"));
    settings.endpoint = "localhost";
    CHECK(strstr(orrery_open_error(&settings), "begins with http"));
    settings.endpoint = "http://localhost";
    CHECK(strstr(orrery_open_error(&settings), "neither"));
    settings.key = "?";
    CHECK(strstr(orrery_open_error(&settings), "base64"));
    settings.key = KEY;
    CHECK(!*orrery_open_error(&settings));
    settings.bearer_token = give_token;
    settings.bearer_context = &provider;
    CHECK(strstr(orrery_open_error(&settings), "more than one"));
}

TEST(settings_that_make_no_sense_open_nothing)
{
    orrery_client *client = NULL;
    orrery_settings settings = { .size = sizeof(settings), .endpoint = "http://x", .key = "no base64!" };

    CHECK(orrery_open(NULL, &client) == ORRERY_EINVAL && orrery_open(&settings, NULL) == ORRERY_EINVAL);
    CHECK(orrery_open(&settings, &client) == ORRERY_EINVAL && !client);
    settings.key = NULL;
    CHECK(orrery_open(&settings, &client) == ORRERY_EINVAL);
    settings.key = KEY;
    settings.endpoint = "file:///etc/passwd";
    CHECK(orrery_open(&settings, &client) == ORRERY_EINVAL);
}

TEST(a_program_that_knows_fewer_settings_and_options_is_served_all_the_same)
{
    struct script script = { .acts = { { OK_ANSWER } } };
    struct fake *fake = fake_start(play, &script);
    orrery_settings settings = { offsetof(orrery_settings, resource_token), .endpoint = fake_url(fake),
                                 .key = KEY, .timeout_ms = -77 };
    orrery_options options = { offsetof(orrery_options, session_token), .session_token = (const char *)1 };
    orrery_key key = orrery_key_text("k");
    orrery_client *client = NULL;

    CHECK(orrery_open(&settings, &client) == ORRERY_OK);
    CHECK(orrery_item_read(client, items, "1", &key, &options, NULL) == ORRERY_OK);
    orrery_close(client);
    fake_stop(fake);
}
