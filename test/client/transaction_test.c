/* test/client/transaction_test.c - transactions whose answers are lost, late or wrong: what goes out again, and under which token. */
#include <orrery.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "client.h"
#include "fake.h"
#include "test.h"

#define KEY "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
#define RESULTS(first, second) "\"operationResponses\":[{\"index\":0," first "},{\"index\":1," second "}]}"
#define GOOD                                                                                      \
    ANSWER("200 OK", "{\"isRetriable\":false," RESULTS(                                           \
                         "\"statusCode\":201,\"Etag\":\"\\\"e\\\"\",\"sessionToken\":\"0:-1#5\"", \
                         "\"statusCode\":204,\"sessionToken\":\"-1#7\",\"partitionKeyRangeId\":\"3\""))
/* The connection ends behind the body: so nobody has to count its bytes. */
#define ANSWER(line, body) "HTTP/1.1 " line "\r\nConnection: close\r\n\r\n" body

static const char left[] = "dbs/d/colls/left", right[] = "dbs/d/colls/right";

/* Answers in turn; the last one for whatever comes after it. */
struct script {
    struct fake_answer acts[4];
    size_t count;
    atomic_size_t at;
};

static void play(void *context, const char *request, struct fake_answer *answer)
{
    struct script *script = context;
    size_t at = script->at++;

    (void)request;
    *answer = script->acts[at < script->count ? at : script->count - 1];
}

struct rig {
    struct fake *fake;
    orrery_client *client;
    orrery_transaction *transaction;
};

static struct rig rig_open(struct script *script, int timeout_ms)
{
    struct rig rig = { .fake = fake_start(play, script) };
    orrery_settings settings = { .size = sizeof(settings),
                                 .endpoint = fake_url(rig.fake),
                                 .key = KEY,
                                 .timeout_ms = timeout_ms,
                                 .retries_max = 3 };
    orrery_key key = orrery_key_text("k");

    CHECK(orrery_open(&settings, &rig.client) == ORRERY_OK);
    CHECK(orrery_transaction_new(&rig.transaction) == ORRERY_OK);
    orrery_transaction_create(rig.transaction, left, "{\"id\":\"1\",\"pk\":\"k\"}", ORRERY_TEXT, &key);
    orrery_transaction_delete(rig.transaction, right, "2", "\"e\"", &key);
    return rig;
}

static void rig_close(struct rig *rig)
{
    orrery_transaction_free(rig->transaction);
    orrery_close(rig->client);
    fake_stop(rig->fake);
}

static struct slice line_of(struct rig *rig, size_t request, const char *name)
{
    const char *at = strcasestr(fake_request(rig->fake, request), name);

    return at ? slice_make(at, strcspn(at, "\r\n")) : slice_make("", 0);
}

static struct slice token_of(struct rig *rig, size_t request)
{
    return line_of(rig, request, "x-ms-cosmos-idempotency-token: ");
}

static bool is_token_of(struct rig *rig, size_t request)
{
    const char *token = orrery_transaction_token(rig->transaction);
    struct slice line = token_of(rig, request);

    return line.size > GUID_SIZE && memcmp(line.data + line.size - GUID_SIZE, token, GUID_SIZE) == 0;
}

static bool is_same_body(struct rig *rig, size_t a, size_t b)
{
    return strcmp(strstr(fake_request(rig->fake, a), "\r\n\r\n"),
                  strstr(fake_request(rig->fake, b), "\r\n\r\n")) == 0;
}

static bool says_retry(struct rig *rig, size_t request, const char *word)
{
    struct slice line = line_of(rig, request, "x-ms-cosmos-internal-is-dtx-retry: ");

    return line.size > 35 && strncmp(line.data + 35, word, strlen(word)) == 0;
}

TEST(a_transaction_is_sent_as_the_service_has_it)
{
    static const char body[] =
        "\r\n\r\n{\"operations\":[{\"databaseName\":\"d\",\"collectionName\":\"left\",\"id\":\"1\","
        "\"partitionKey\":[\"k\"],"
        "\"index\":0,\"resourceBody\":{\"id\":\"1\",\"pk\":\"k\"},\"operationType\":\"Create\","
        "\"resourceType\":\"Document\"},"
        "{\"databaseName\":\"d\",\"collectionName\":\"right\",\"id\":\"2\",\"partitionKey\":[\"k\"],"
        "\"index\":1,"
        "\"ifMatch\":\"\\\"e\\\"\",\"operationType\":\"Delete\",\"resourceType\":\"Document\"}]}";
    struct script script = { .acts = { { GOOD, .closes = 1 } }, .count = 1 };
    struct rig rig = rig_open(&script, 0);
    const char *request;

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_OK);
    REQUIRE(fake_asked(rig.fake) == 1);
    request = fake_request(rig.fake, 0);
    CHECK(strncmp(request, "POST /operations/dtc HTTP/1.1\r\n", 31) == 0 && strstr(request, body));
    CHECK(strstr(request, "x-ms-cosmos-operation-type: CommitDistributedTransaction\r\n"));
    CHECK(strstr(request, "x-ms-cosmos-resource-type: DistributedTransactionBatch\r\n"));
    CHECK(strstr(request, "x-ms-noretry-449: True\r\n") && says_retry(&rig, 0, "False"));
    CHECK(is_token_of(&rig, 0));
    rig_close(&rig);
}

TEST(session_tokens_of_all_operations_are_known_afterwards_and_read_by)
{
    struct script script = { .acts = { { GOOD, .closes = 1 } }, .count = 1 };
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");
    orrery_transaction *reads = NULL;

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_OK);
    CHECK(strcmp(orrery_session_token(rig.client, left), "0:-1#5") == 0);
    CHECK(strcmp(orrery_session_token(rig.client, right), "3:-1#7") == 0);
    CHECK(orrery_transaction_new(&reads) == ORRERY_OK);
    orrery_transaction_read(reads, right, "2", "\"e\"", &key);
    (void)orrery_transaction_run(rig.client, reads, NULL, NULL);
    CHECK(strstr(fake_request(rig.fake, 1), "\"sessionToken\":\"3:-1#7\",\"ifNoneMatch\":\"\\\"e\\\"\""));
    CHECK(strstr(fake_request(rig.fake, 1), "x-ms-cosmos-operation-type: Read\r\n"));
    CHECK(!strcasestr(fake_request(rig.fake, 1), "is-dtx"));
    orrery_transaction_free(reads);
    rig_close(&rig);
}

/* The connection ends with nothing said, or within the answer; or the answer never comes. */
static void lose(struct fake_answer lost, int timeout_ms)
{
    struct script script = { .acts = { lost, { GOOD, .closes = 1 } }, .count = 2 };
    struct rig rig = rig_open(&script, timeout_ms);
    orrery_response *results = NULL;

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, &results) == ORRERY_OK);
    CHECK(orrery_response_attempts(results) == 2);
    REQUIRE(fake_asked(rig.fake) == 2);
    CHECK(slice_equal(token_of(&rig, 0), token_of(&rig, 1)) && is_same_body(&rig, 0, 1));
    CHECK(says_retry(&rig, 0, "False") && says_retry(&rig, 1, "True"));
    orrery_response_free(results);
    rig_close(&rig);
}

TEST(a_transaction_whose_answer_is_lost_is_sent_again_under_the_same_token)
{
    lose((struct fake_answer){ .closes = 1 }, 0);
    lose((struct fake_answer){ "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"isRe", .closes = 1 }, 0);
    lose((struct fake_answer){ .stalls = 1 }, 3000);
}

static void ask_again(const char *answer)
{
    struct script script = { .acts = { { answer, .closes = 1 }, { GOOD, .closes = 1 } }, .count = 2 };
    struct rig rig = rig_open(&script, 0);

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_OK);
    REQUIRE(fake_asked(rig.fake) == 2);
    CHECK(slice_equal(token_of(&rig, 0), token_of(&rig, 1)) && is_same_body(&rig, 0, 1));
    rig_close(&rig);
}

TEST(an_answer_that_may_be_asked_for_again_is_under_the_same_token)
{
    ask_again(ANSWER("408 Late", "{\"isRetriable\":true,\"operationResponses\":[]}"));
    ask_again(ANSWER("449 Race\r\nx-ms-retry-after-ms: 1", "{\"isRetriable\":true}"));
    ask_again(ANSWER("500 Ledger\r\nx-ms-substatus: 5411", "{\"ISRETRIABLE\":true}"));
    ask_again(ANSWER("409 Odd", "{\"isRetriable\":true}"));
    ask_again(ANSWER("503 Busy", ""));
}

TEST(a_refusal_is_final)
{
    struct script script = {
        .acts = { { ANSWER("400 Bad\r\nx-ms-substatus: 5410", "{\"isRetriable\":false,\"message\":\"why\"}"),
                    .closes = 1 } },
        .count = 1
    };
    struct rig rig = rig_open(&script, 0);
    orrery_response *results = NULL;

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, &results) == ORRERY_EBADREQUEST &&
          !results);
    CHECK(fake_asked(rig.fake) == 1 && strcmp(orrery_error(rig.client), "400: why") == 0);
    CHECK(orrery_response_sub_status(orrery_failed_response(rig.client)) == 5410);
    rig_close(&rig);
}

#define ABORTED                                     \
    ANSWER("452 Aborted\r\nx-ms-retry-after-ms: 1", \
           "{\"isRetriable\":true," RESULTS("\"statusCode\":453", "\"statusCode\":429"))

TEST(an_abort_that_may_be_tried_again_is_under_a_new_token)
{
    struct script script = { .acts = { { ABORTED, .closes = 1 }, { .closes = 1 }, { GOOD, .closes = 1 } },
                             .count = 3 };
    struct rig rig = rig_open(&script, 0);

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_OK);
    REQUIRE(fake_asked(rig.fake) == 3);
    CHECK(!slice_equal(token_of(&rig, 0), token_of(&rig, 1)) && says_retry(&rig, 1, "False"));
    CHECK(slice_equal(token_of(&rig, 1), token_of(&rig, 2)) && says_retry(&rig, 2, "True"));
    CHECK(is_same_body(&rig, 0, 1) && is_same_body(&rig, 1, 2));
    CHECK(is_token_of(&rig, 2));
    rig_close(&rig);
}

/* Its owner has perhaps written it down, and would ask for an outcome under it that is no longer the transaction's. */
TEST(a_token_that_its_owner_knows_is_never_replaced)
{
    struct script script = { .acts = { { ABORTED, .closes = 1 } }, .count = 1 };
    struct rig rig = rig_open(&script, 0);
    orrery_result result = { .size = sizeof(result) };
    orrery_response *results = NULL;
    char token[40];

    snprintf(token, sizeof(token), "%s", orrery_transaction_token(rig.transaction));
    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, &results) == ORRERY_EBATCH);
    CHECK(fake_asked(rig.fake) == 1 && strcmp(token, orrery_transaction_token(rig.transaction)) == 0);
    CHECK(orrery_transaction_result(results, 1, &result) == ORRERY_OK && result.status == ORRERY_ETHROTTLED);
    orrery_response_free(results);
    rig_close(&rig);
}

TEST(attempts_are_bounded_by_the_settings)
{
    struct script lost = { .acts = { { .closes = 1 } }, .count = 1 };
    struct script late = { .acts = { { ANSWER("408 Late", "{\"isRetriable\":true}"), .closes = 1 } },
                           .count = 1 };
    struct rig rig = rig_open(&lost, 0);

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_EIO);
    CHECK(fake_asked(rig.fake) == 4 && slice_equal(token_of(&rig, 0), token_of(&rig, 3)));
    /* The caller's own repetition is of the same transaction. */
    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_EIO);
    CHECK(slice_equal(token_of(&rig, 0), token_of(&rig, 4)) && says_retry(&rig, 4, "True"));
    rig_close(&rig);
    rig = rig_open(&late, 0);
    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_ETIMEOUT);
    CHECK(fake_asked(rig.fake) == 4);
    rig_close(&rig);
}

static const char *const no_results[] = {
    ANSWER("200 OK", ""),
    ANSWER("200 OK", "nonsense"),
    ANSWER("200 OK", "[]"),
    ANSWER("200 OK", "{}"),
    ANSWER("200 OK", "{\"operationResponses\":7}"),
    ANSWER("200 OK", "{\"operationResponses\":[{\"index\":0,\"statusCode\":201}]}"),
    ANSWER("200 OK",
           "{\"operationResponses\":[{\"index\":0,\"statusCode\":201},{\"index\":0,\"statusCode\":201}]}"),
    ANSWER(
        "200 OK",
        "{\"operationResponses\":[{\"index\":0,\"statusCode\":201},{\"index\":1,\"statusCode\":\"204\"}]}"),
    ANSWER("200 OK", "{\"operationResponses\":[null,[]]}"),
};

TEST(an_answer_that_does_not_tell_of_each_operation_is_none)
{
    for (size_t i = 0; i < sizeof(no_results) / sizeof(no_results[0]); i++) {
        struct script script = { .acts = { { no_results[i], .closes = 1 } }, .count = 1 };
        struct rig rig = rig_open(&script, 0);
        orrery_response *results = NULL;

        CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, &results) == ORRERY_EIO && !results);
        CHECK(strstr(orrery_error(rig.client), "each operation"));
        rig_close(&rig);
    }
}

TEST(results_may_come_in_any_order_and_any_case_of_letters)
{
    struct script script = { .acts = { { ANSWER("200 OK",
                                                "{\"OperationResponses\":[{\"Index\":1,\"StatusCode\":204},"
                                                "{\"INDEX\":0,\"statuscode\":201,\"eTag\":\"e\"}]}"),
                                         .closes = 1 } },
                             .count = 1 };
    struct rig rig = rig_open(&script, 0);
    orrery_result result = { .size = sizeof(result) };
    orrery_response *results = NULL;

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, &results) == ORRERY_OK);
    CHECK(orrery_transaction_result(results, 0, &result) == ORRERY_OK && result.http == 201);
    CHECK(orrery_value_equals(result.etag, "e"));
    CHECK(orrery_transaction_result(results, 1, &result) == ORRERY_OK && result.http == 204);
    CHECK(orrery_transaction_result(results, 2, &result) == ORRERY_EINVAL);
    orrery_response_free(results);
    rig_close(&rig);
}

TEST(a_result_whose_struct_does_not_say_its_size_is_refused)
{
    struct script script = { .acts = { { GOOD, .closes = 1 } }, .count = 1 };
    struct rig rig = rig_open(&script, 0);
    orrery_result result = { .http = 77 };
    orrery_response *results = NULL;

    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, &results) == ORRERY_OK);
    CHECK(orrery_transaction_result(results, 0, &result) == ORRERY_EINVAL && result.http == 77);
    CHECK(orrery_transaction_result(results, 0, NULL) == ORRERY_EINVAL);
    result =
        (orrery_result){ .size = offsetof(orrery_result, etag), .sub_status = 77 }; /* an older program's */
    CHECK(orrery_transaction_result(results, 0, &result) == ORRERY_OK && result.http == 201 &&
          result.sub_status == 77);
    orrery_response_free(results);
    rig_close(&rig);
}

/* Also one that reads: the service has its tokens where it writes. */
TEST(a_transaction_goes_to_the_region_that_writes)
{
    struct script script = { .acts = { { GOOD, .closes = 1 } }, .count = 1 };
    struct fake *other = fake_start(play, &script);
    struct rig rig = rig_open(&script, 0);
    orrery_key key = orrery_key_text("k");
    orrery_transaction *reads = NULL;

    rig.client->read_endpoint = memory_text(slice_of(fake_url(rig.fake)));
    rig.client->write_endpoint = memory_text(slice_of(fake_url(other)));
    CHECK(orrery_transaction_new(&reads) == ORRERY_OK);
    orrery_transaction_read(reads, left, "1", NULL, &key);
    orrery_transaction_read(reads, right, "1", NULL, &key);
    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_OK);
    CHECK(orrery_transaction_run(rig.client, reads, NULL, NULL) == ORRERY_OK);
    CHECK(fake_asked(rig.fake) == 0 && fake_asked(other) == 2);
    orrery_transaction_free(reads);
    rig_close(&rig);
    fake_stop(other);
}

/* ---- what is refused before anything is sent */

struct mistake {
    const char *link, *json, *id;
    const orrery_key *key;
    orrery_status status;
};

TEST(a_transaction_that_makes_no_sense_sends_nothing)
{
    static orrery_key key, endless;
    const struct mistake mistakes[] = {
        { "dbs/d", "{\"id\":\"1\"}", NULL, &key, ORRERY_EINVAL },
        { NULL, "{\"id\":\"1\"}", NULL, &key, ORRERY_EINVAL },
        { "dbs/d/users/u", NULL, "1", &key, ORRERY_EINVAL },
        { "dbs/AbCdEQ==/colls/AbCdEfGhIjk=", NULL, "1", &key, ORRERY_EUNSUPPORTED },
        { left, "[]", NULL, &key, ORRERY_EJSON },
        { left, "{", NULL, &key, ORRERY_EJSON },
        { left, "{\"pk\":\"k\"}", NULL, &key, ORRERY_EINVAL },
        { left, "{\"id\":1}", NULL, &key, ORRERY_EINVAL },
        { left, NULL, NULL, &key, ORRERY_EINVAL },
        { left, NULL, "", &key, ORRERY_EINVAL },
        { left, NULL, "1", NULL, ORRERY_EINVAL },
        { left, NULL, "1", &endless, ORRERY_EINVAL },
    };
    struct script script = { .acts = { { GOOD, .closes = 1 } }, .count = 1 };
    struct rig rig = rig_open(&script, 0);

    key = orrery_key_text("k");
    endless = orrery_key_range((orrery_key[]){ key, key });
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        const struct mistake *mistake = &mistakes[i];
        orrery_transaction *transaction = NULL;

        CHECK(orrery_transaction_new(&transaction) == ORRERY_OK);
        if (mistake->json)
            orrery_transaction_create(transaction, mistake->link, mistake->json, ORRERY_TEXT, mistake->key);
        else
            orrery_transaction_delete(transaction, mistake->link, mistake->id, NULL, mistake->key);
        CHECK(orrery_transaction_run(rig.client, transaction, NULL, NULL) == mistake->status);
        CHECK(*orrery_error(rig.client));
        orrery_transaction_free(transaction);
    }
    orrery_transaction_read(rig.transaction, left, "1", NULL, &key);
    CHECK(orrery_transaction_run(rig.client, rig.transaction, NULL, NULL) == ORRERY_EINVAL);
    CHECK(strstr(orrery_error(rig.client), "reads or writes"));
    CHECK(orrery_transaction_run(rig.client, NULL, NULL, NULL) == ORRERY_EINVAL);
    CHECK(orrery_transaction_run(NULL, rig.transaction, NULL, NULL) == ORRERY_EINVAL);
    CHECK(fake_asked(rig.fake) == 0);
    rig_close(&rig);
}

TEST(options_that_a_transaction_cannot_have_are_refused)
{
    const orrery_options options[] = {
        { .size = sizeof(orrery_options), .if_match = "*" },
        { .size = sizeof(orrery_options), .if_none_match = "*" },
        { .size = sizeof(orrery_options), .session_token = "0:1" },
        { .size = sizeof(orrery_options), .pre_triggers = "t" },
        { .size = sizeof(orrery_options), .post_triggers = "t" },
    };
    struct script script = { .acts = { { GOOD, .closes = 1 } }, .count = 1 };
    struct rig rig = rig_open(&script, 0);

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        CHECK(orrery_transaction_run(rig.client, rig.transaction, &options[i], NULL) ==
              (i < 3 ? ORRERY_EINVAL : ORRERY_EUNSUPPORTED));
    CHECK(fake_asked(rig.fake) == 0);
    rig_close(&rig);
}
