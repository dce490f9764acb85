/*
 * test/fuzz/client_answer_fuzz.c - any bytes as what a server answers to the client library.
 * The first byte picks a cursor. The rest, cut at each 0xff, are the answers to its requests in turn: head, an empty
 * line, body. Nothing is sent: requests are ended by hand before anything could come of them.
 */
#include <stdlib.h>

#include "query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 64, ANSWERS_MAX = 16 };

static struct slice next_answer(struct slice *rest)
{
    const char *end = rest->size ? memchr(rest->data, 0xff, rest->size) : NULL;
    struct slice answer = slice_make(rest->data, end ? (size_t)(end - rest->data) : rest->size);

    *rest = slice_after(*rest, end ? answer.size + 1 : answer.size);
    return answer;
}

/* The head's lines, the status among them, then the body. */
static void end_call(struct call *call, struct slice answer)
{
    call->client->retries_max = 1;
    call->response->http = 200;
    while (answer.size > 0) {
        const char *line_end = memchr(answer.data, '\n', answer.size);
        size_t size = line_end ? (size_t)(line_end - answer.data) + 1 : answer.size;
        int64_t http;

        if (size >= 12 && slice_starts_with(answer, "HTTP/1.1 ") &&
            slice_to_i64(slice_make(answer.data + 9, 3), &http))
            call->response->http = (int)http;
        if (size == 1 || (size == 2 && answer.data[0] == '\r')) {
            answer = slice_after(answer, size);
            break;
        }
        response_take_head(call->response, answer.data, size);
        answer = slice_after(answer, size);
    }
    if (answer.size > 0)
        response_take_body(call->response, answer.data, answer.size);
    transport_cancel(call);
    call_attempt_ended(call, CURLE_OK);
    call->client->retries_max = 0; /* what the library asks by itself finds nobody, and need not try again */
    if (call->state == CALL_WAITING) /* nobody waits here */
        call_attempt_ended(call, CURLE_OK);
}

static struct call *open_call(orrery_query *query)
{
    for (size_t i = 0; i < query->place_count; i++) {
        struct place *place = &query->places[i];

        if (place->plan && place->plan->state == CALL_SENT)
            return place->plan;
        if (place->ranges && place->ranges->state == CALL_SENT)
            return place->ranges;
    }
    for (size_t i = 0; i < query->source_count; i++)
        if (query->sources[i].call && query->sources[i].call->state == CALL_SENT)
            return query->sources[i].call;
    return NULL;
}

static void drive(orrery_query *query, struct slice rest)
{
    int answers = 0;

    for (int i = 0; i < STEPS_MAX; i++) {
        orrery_status status = orrery_query_step(query);
        struct call *call;
        char *continuation = NULL;

        if (status == ORRERY_ROW) {
            orrery_query_value(query);
            orrery_query_link(query);
            (void)orrery_query_continuation(query, &continuation);
            orrery_free(continuation);
        } else if (status != ORRERY_WAIT || rest.size == 0 || answers++ == ANSWERS_MAX) {
            return;
        } else if ((call = open_call(query))) {
            end_call(call, next_answer(&rest));
        }
    }
}

static void fuzz_batch(orrery_client *client, struct slice answer)
{
    struct call *call = call_new(client, METHOD_GET, NULL);
    orrery_response *response = NULL;
    orrery_result result = { .size = sizeof(result) };

    if (!call || call_target(call, "dbs/d/colls/c") != ORRERY_OK || call_start(call) != ORRERY_OK) {
        call_free(call);
        return;
    }
    end_call(call, answer);
    if (call_take(call, &response) == ORRERY_OK)
        for (size_t i = 0; orrery_batch_result(response, i, &result) == ORRERY_OK; i++)
            orrery_value_text(result.etag, NULL);
    orrery_response_free(response);
}

static void take(orrery_client *client, void *context, orrery_status status, orrery_response *response)
{
    orrery_result result = { .size = sizeof(result) };

    (void)client, (void)context, (void)status;
    for (size_t i = 0; orrery_transaction_result(response, i, &result) == ORRERY_OK; i++)
        orrery_value_text(result.session, NULL);
    orrery_response_free(response);
}

/* Two writes; what is read out of the answer is what the session's store gets, too. */
static void fuzz_transaction(orrery_client *client, struct slice answer)
{
    orrery_options options = { .size = sizeof(options), .done = take };
    orrery_key key = orrery_key_text("k");
    orrery_transaction *transaction = NULL;
    orrery_status status = orrery_transaction_new(&transaction);

    for (int i = 0; i < 2; i++)
        orrery_transaction_delete(transaction, "dbs/d/colls/c", "1", NULL, &key);
    if (status == ORRERY_OK)
        status = orrery_transaction_run(client, transaction, &options, NULL);
    orrery_transaction_free(transaction);
    if (status == ORRERY_OK) {
        end_call(client->calls, answer);
        (void)orrery_run(client, 0, NULL);
    }
}

static orrery_query *open_cursor(orrery_client *client, uint8_t which, struct slice *rest)
{
    orrery_options options = { sizeof(options), .no_wait = 1, .parallel = which & 1 ? 2 : 0 };
    const char *link = "dbs/d/colls/c";
    orrery_query *query = NULL;
    char continuation[512];
    struct slice text;

    if (which & 2) {
        text = next_answer(rest);
        snprintf(continuation, sizeof(continuation), "%.*s", SLICE_ARGS(text));
        options.continuation = continuation;
    }
    if (which & 4)
        (void)orrery_changes_open(client, link, NULL, ORRERY_FROM_BEGINNING, 0, &options, &query);
    else
        (void)orrery_query_open(client, link, "SELECT * FROM c", NULL, 0, NULL, &options, &query);
    return query;
}

/* One for all inputs: opening it would take most of the time. */
static orrery_client *the_client(void)
{
    static orrery_client *client;
    orrery_settings settings = { sizeof(settings), .endpoint = "http://127.0.0.1:1", .key = "AAAA" };

    if (!client && orrery_open(&settings, &client) != ORRERY_OK)
        abort();
    client->retries_max = 0;
    session_free(client->share);
    known_free(client->share);
    return client;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_make(data + 1, size ? size - 1 : 0);
    orrery_client *client = the_client();
    orrery_query *query;

    if (size == 0)
        return 0;
    if (data[0] & 8) {
        data[0] & 16 ? fuzz_transaction(client, rest) : fuzz_batch(client, rest);
    } else if ((query = open_cursor(client, data[0], &rest))) {
        drive(query, rest);
        orrery_query_close(query);
    }
    return 0;
}
