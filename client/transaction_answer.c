/*
 * client/transaction_answer.c - answers to transactions: whether to ask again and under which token, what they teach, what they
 * say of each operation. The service's own client compares the names of an answer's members without case, and so does this.
 */
#include <strings.h>

#include "transaction.h"

enum {
    HTTP_ABORTED = 452,
    HTTP_ROLLED_BACK = 453,     /* of an operation of a write, because of another one */
    HTTP_NOT_TRIED = 424,       /* likewise of a read */
    ALL_NOT_MODIFIED = 5425,    /* sub-status of a read: a 304 could not have a body */
    SUB_STATUS_SESSION = 1002,  /* of 404: the session's token is of another container, or of later */
    SUB_STATUS_OTHER_KEY = 1001 /* of 400: the container's key is another one */
};

static orrery_value member(orrery_value object, const char *wanted)
{
    orrery_value value;
    const char *name;

    for (size_t at = 0; orrery_value_next(object, &at, &name, &value);)
        if (name && strcasecmp(name, wanted) == 0)
            return value;
    return (orrery_value){ 0 };
}

static int64_t figure(orrery_value row, const char *name)
{
    return orrery_value_int(member(row, name));
}

/* ---- once more */

/* A new token is the caller's to know: an abort is tried again only where one can be given back. */
static bool is_retriable(struct call *call)
{
    const struct carried *carried = call->of_kind;
    orrery_response *response = call->response;
    orrery_json *body = NULL;
    bool says_so;

    if (response->http < 400 || (response->http == HTTP_ABORTED && !carried->renewed))
        return false;
    if (orrery_json_parse(response->body_bytes ? response->body : "", response->body_bytes, &body) !=
        ORRERY_OK)
        return false;
    says_so = orrery_value_bool(member(orrery_json_root(body), "isRetriable"));
    orrery_json_free(body);
    return says_so;
}

/* The same bytes. An abort has spent its token; otherwise the token is what keeps them from being done twice. */
static void prepare_again(struct call *call)
{
    struct carried *carried = call->of_kind;

    carried->was_sent = carried->was_sent || call->sent > 0;
    if (call->response->http == HTTP_ABORTED) {
        env_guid(call->client->env, carried->token);
        memcpy(carried->renewed->token, carried->token, sizeof(carried->token));
        carried->was_sent = false;
    }
    transaction_head(call);
}

/* ---- the results */

static orrery_value row_of(orrery_value rows, size_t index)
{
    orrery_value row = orrery_value_element(rows, index);

    if (row.at && figure(row, "index") == (int64_t)index)
        return row;
    for (size_t i = 0; i < orrery_value_count(rows); i++) {
        row = orrery_value_element(rows, i);
        if (orrery_value_type(member(row, "index")) == ORRERY_NUMBER &&
            figure(row, "index") == (int64_t)index)
            return row;
    }
    return (orrery_value){ 0 };
}

static orrery_value rows_of(orrery_response *response)
{
    return member(orrery_response_json(response), "operationResponses");
}

/* Whether there is one for each operation. */
static bool are_whole(orrery_value rows, size_t count)
{
    if (orrery_value_type(rows) != ORRERY_ARRAY || orrery_value_count(rows) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (orrery_value_type(member(row_of(rows, i), "statusCode")) != ORRERY_NUMBER)
            return false;
    return true;
}

orrery_status orrery_transaction_result(orrery_response *response, size_t index, orrery_result *result)
{
    orrery_value row = row_of(rows_of(response), index);
    orrery_result found = { .http = (int)figure(row, "statusCode"),
                            .charge = orrery_value_number(member(row, "requestCharge")),
                            .etag = member(row, "etag"),
                            .body = member(row, "resourceBody"),
                            .sub_status = (int)figure(row, "subStatusCode"),
                            .session = member(row, "sessionToken") };

    found.status = http_status(found.http);
    return result_give(row.at ? &found : NULL, result);
}

/* ---- what they teach */

/* "0:-1#5"; or "-1#5", and the range beside it. What is neither is no token. */
static void note_session(struct call *call, orrery_value row, struct slice container)
{
    const char *token = orrery_value_text(member(row, "sessionToken"), NULL);
    const char *range = orrery_value_text(member(row, "partitionKeyRangeId"), NULL);
    struct buf whole;

    buf_init(&whole, &call->arena);
    if (!strchr(token, ':') && *range)
        buf_printf(&whole, "%s:", range);
    buf_append(&whole, token, strlen(token) + 1);
    if (*token && !whole.failed && strchr(whole.data, ':'))
        session_note_token(call->client, container, NULL, whole.data);
}

/* Where the container is another one than it was, the next transaction begins without what was known of it. */
static void learn_of(struct call *call, orrery_value row, struct slice container)
{
    int64_t http = figure(row, "statusCode"), sub_status = figure(row, "subStatusCode");

    note_session(call, row, container);
    if (http == 404 && sub_status == SUB_STATUS_SESSION)
        session_forget(call->client, container);
    if (sub_status == SUB_STATUS_OTHER_KEY || sub_status == SUB_STATUS_OTHER_CONTAINER)
        known_forget(call->client, container);
}

/* ---- what becomes of the call */

/* The operation because of which the others were not done; count: none. */
static size_t find_culprit(orrery_value rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t http = figure(row_of(rows, i), "statusCode");

        if (http >= 400 && http != HTTP_ROLLED_BACK && http != HTTP_NOT_TRIED)
            return i;
    }
    return count;
}

static void blame(struct call *call, orrery_value rows, size_t culprit)
{
    struct buf words;

    buf_init(&words, &call->arena);
    buf_printf(&words, "operation %zu: HTTP status %d, and nothing was %s", culprit,
               (int)figure(row_of(rows, culprit), "statusCode"),
               ((const struct carried *)call->of_kind)->reads ? "read" : "done");
    buf_byte(&words, '\0');
    call->error = words.failed ? "an operation of the transaction failed" : words.data;
}

/* A read's statuses may differ: then the first failure counts, and where there is none all is well. */
static void judge_results(struct call *call, orrery_value rows, size_t count)
{
    size_t culprit = find_culprit(rows, count);

    if (call->response->http == 207 && culprit < count)
        call->status = http_status((int)figure(row_of(rows, culprit), "statusCode"));
    else if (!orrery_failed(call->status) && call->response->sub_status == ALL_NOT_MODIFIED)
        call->status = ORRERY_NOT_MODIFIED;
    if (orrery_failed(call->status) && culprit < count)
        blame(call, rows, culprit);
    call->hands_over = true;
}

static void judge_abort(struct call *call)
{
    call->status = ORRERY_EBATCH;
    call->error = "the transaction was aborted";
    call->hands_over = true;
}

static void fail(struct call *call, orrery_status status, const char *why)
{
    call->status = status;
    call->error = why;
}

static void judge(struct call *call)
{
    const struct carried *carried = call->of_kind;
    orrery_response *response = call->response;
    bool is_done = !orrery_failed(call->status);
    orrery_status parsed = response->body_bytes
                               ? orrery_json_parse(response->body, response->body_bytes, &response->json)
                               : ORRERY_EJSON;
    orrery_value rows = rows_of(response);

    if (response->http == HTTP_ABORTED)
        judge_abort(call);
    if (parsed == ORRERY_ENOMEM) {
        fail(call, parsed, "out of memory");
        call->hands_over = false;
    } else if (are_whole(rows, carried->count)) {
        for (size_t i = 0; i < carried->count; i++)
            learn_of(call, row_of(rows, i), carried->containers[i]);
        judge_results(call, rows, carried->count);
    } else if (is_done) {
        fail(call, ORRERY_EIO, "the answer does not say what became of each operation");
    }
}

const struct call_kind transaction_kind = { is_retriable, prepare_again, judge };
