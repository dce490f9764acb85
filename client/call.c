/* client/call.c - one request with all its attempts: built, sent, judged, tried again, told. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "client.h"

enum {
    HEAD_BYTES_USUAL = 1024,
    BACK_OFF_MS_FIRST = 20, /* when the server names no time; doubled each time */
    BACK_OFF_MS_MAX = 2000,
    SESSION_ATTEMPTS = 4, /* for a replica that is behind what was read before */
};

/* What the official JavaScript SDK sends with everything. "Expect:" keeps libcurl from asking before it sends. */
static const char common_lines[] = "Accept: application/json\0"
                                   "Cache-Control: no-cache\0"
                                   "Expect:\0"
                                   "x-ms-version: 2020-07-15\0"
                                   "x-ms-documentdb-responsecontinuationtokenlimitinkb: 1\0"
                                   "x-ms-documentdb-query-enablecrosspartition: true\0"
                                   "x-ms-cosmos-sdk-supportedcapabilities: 1\0"
                                   "x-ms-cosmos-allow-tentative-writes: true"; /* and its own NUL */

const char options_unsized[] = "options begin with their size: { .size = sizeof(options), ... }";

static const char line_ends[] = "a header has no line ends";

static void add_line(struct call *call, const char *line)
{
    if (line && strpbrk(line, "\r\n")) {
        call->mistake = line_ends;
        return;
    }
    if (line)
        buf_append(&call->head, line, strlen(line) + 1);
}

void call_header(struct call *call, const char *name, const char *value)
{
    if (!value)
        return;
    if (strpbrk(value, "\r\n")) { /* it would become a header of its own */
        call->mistake = line_ends;
        return;
    }
    buf_text(&call->head, name);
    buf_text(&call->head, *value ? ": " : ";"); /* libcurl's sign for a header without a value */
    buf_append(&call->head, value, strlen(value) + 1);
}

void call_header_int(struct call *call, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    call_header(call, name, text);
}

static void option_headers(struct call *call, const orrery_options *options)
{
    const char *consistency = OPTION(options, consistency);
    const char *const *more = OPTION(options, headers);

    call_header(call, "x-ms-consistency-level", consistency ? consistency : call->client->consistency);
    call_header(call, "If-Match", OPTION(options, if_match));
    call_header(call, "If-None-Match", OPTION(options, if_none_match));
    call_header(call, "x-ms-documentdb-pre-trigger-include", OPTION(options, pre_triggers));
    call_header(call, "x-ms-documentdb-post-trigger-include", OPTION(options, post_triggers));
    call_header(call, "x-ms-indexing-directive", OPTION(options, indexing));
    if (OPTION(options, minimal))
        call_header(call, "Prefer", "return=minimal");
    if (OPTION(options, script_log))
        call_header(call, "x-ms-documentdb-script-enable-logging", "true");
    for (; more && *more; more++)
        add_line(call, *more);
}

bool call_begins(const orrery_client *client, orrery_response **response)
{
    if (response)
        *response = NULL;
    return client;
}

struct call *call_new(orrery_client *client, enum method method, const orrery_options *given)
{
    const orrery_options *options = given && struct_is_sized(given) ? given : NULL;
    const char *session = OPTION(options, session_token);
    int timeout_ms = OPTION(options, timeout_ms);
    struct call *call = allocator_zeroed(1, sizeof(*call));

    client_enter(client);
    client_leave(client);
    if (!call || !(call->response = response_new())) {
        allocator_free(call);
        client_begin(client);
        client_no_memory(client);
        return NULL;
    }
    call->client = client;
    call->method = method;
    call->mistake = given && !options ? options_unsized : NULL;
    call->repeatable = method == METHOD_GET;
    arena_init(&call->arena, SIZE_MAX);
    buf_init(&call->url, &call->arena);
    buf_init(&call->head, &call->arena);
    buf_init(&call->body, &call->arena);
    buf_reserve(&call->head, HEAD_BYTES_USUAL);
    buf_append(&call->head, common_lines, sizeof(common_lines));
    option_headers(call, options);
    call->session_given = session != NULL;
    call->diagnostics = OPTION(options, diagnostics);
    if (call->diagnostics && !struct_is_sized(call->diagnostics))
        call->mistake = "diagnostics begin with their size: { .size = sizeof(diagnostics) }";
    call->begun_us = env_monotonic_us(client->env);
    call_header(call, "x-ms-session-token", session && *session ? session : NULL);
    call->deadline_ms = env_monotonic_ms(client->env) + (timeout_ms > 0 ? timeout_ms : client->timeout_ms);
    client_begin(client); /* only now: an option may be of the last failed answer, an ETag for one */
    return call;
}

int call_left_ms(const struct call *call)
{
    int64_t left_ms = call->deadline_ms - env_monotonic_ms(call->client->env);

    return left_ms > 1 ? (int)left_ms : 1;
}

/* Half of its time, and half of the rest. A third attempt has all that is left. */
int call_attempt_ms(const struct call *call)
{
    int left_ms = call_left_ms(call);

    return call->splits_time && call->attempts < 2 ? (left_ms + 1) / 2 : left_ms;
}

static void unlink_call(struct call *call)
{
    for (struct call **at = &call->client->calls; *at; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            return;
        }
}

void call_free(struct call *call)
{
    if (!call)
        return;
    transport_cancel(call);
    unlink_call(call);
    orrery_response_free(call->response);
    arena_free(&call->arena);
    allocator_free(call);
}

orrery_status call_target(struct call *call, const char *link)
{
    orrery_status status = link_target(&call->arena, link, link ? strlen(link) : 0, &call->target);

    if (status == ORRERY_EINVAL)
        return client_fail(call->client, status, "\"%s\" is no link", link ? link : "(null)");
    return status == ORRERY_OK ? status : client_no_memory(call->client);
}

static struct slice trimmed(const char *link)
{
    struct slice text = slice_of(link);

    while (text.size > 0 && text.data[0] == '/')
        text = slice_after(text, 1);
    while (text.size > 0 && text.data[text.size - 1] == '/')
        text.size--;
    return text;
}

orrery_status call_child(struct call *call, const char *link, const char *kind, const char *id)
{
    struct buf child;

    if (!link || (id && (!*id || strpbrk(id, "/\\#"))))
        return client_fail(call->client, ORRERY_EINVAL, "an id is not empty, and has none of / \\ #");
    buf_init(&child, &call->arena);
    buf_slice(&child, trimmed(link));
    buf_byte(&child, '/');
    buf_text(&child, kind);
    if (id)
        buf_byte(&child, '/');
    buf_text(&child, id ? id : "");
    buf_byte(&child, '\0');
    return child.failed ? client_no_memory(call->client) : call_target(call, child.data);
}

void call_body(struct call *call, const char *content_type, struct slice body)
{
    call->has_body = true;
    call_header(call, "Content-Type", content_type);
    buf_slice(&call->body, body);
}

orrery_status call_key(struct call *call, const orrery_key *key)
{
    struct buf text;

    if (!key)
        return ORRERY_OK;
    buf_init(&text, &call->arena);
    if (!key_print(&text, key))
        return client_fail(call->client, ORRERY_EINVAL, "a partition key has no ranges, and finite numbers");
    buf_byte(&text, '\0');
    if (text.failed)
        return client_no_memory(call->client);
    call_header(call, "x-ms-documentdb-partitionkey", text.data);
    return ORRERY_OK;
}

/* Its definition, and not what lies in it. */
static bool is_about_container(const struct call *call)
{
    return strcmp(call->target.type, "colls") == 0 && !call->changes_items;
}

static void finish_building(struct call *call)
{
    if (!call->session_given && !is_about_container(call))
        session_header(call);
    buf_text(&call->url, region_endpoint(call));
    buf_slice(&call->url, call->target.path);
    buf_byte(&call->url, '\0');
}

static orrery_status build(struct call *call)
{
    finish_building(call);
    if (call->mistake)
        return client_fail(call->client, ORRERY_EINVAL, "%s", call->mistake);
    if (call->url.failed || call->head.failed || call->body.failed)
        return client_no_memory(call->client);
    return sign_prepare(call->client);
}

orrery_status call_start(struct call *call)
{
    orrery_client *client = call->client;
    orrery_status status = build(call);

    if (status != ORRERY_OK)
        return status;
    diagnose_sent(call);
    if (transport_send(call) != ORRERY_OK)
        return client_no_memory(client);
    call->state = CALL_SENT;
    call->next = client->calls;
    client->calls = call;
    return ORRERY_OK;
}

/* ---- the end of an attempt */

static orrery_status curl_status(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_URL_MALFORMAT:
        return ORRERY_ECONNECT;
    case CURLE_OPERATION_TIMEDOUT:
        return ORRERY_ETIMEOUT;
    case CURLE_OUT_OF_MEMORY:
        return ORRERY_ENOMEM;
    case CURLE_SSL_CACERT_BADFILE:
        return ORRERY_EINVAL;
    case CURLE_NOT_BUILT_IN: /* Direct mode, where nobody speaks it: direct_link.c */
        return ORRERY_EUNSUPPORTED;
    default:
        return ORRERY_EIO;
    }
}

/*
 * Of an attempt without an answer. libcurl connects anew when a connection that it had kept breaks, and its last word may
 * be about that: once a byte of the request may have left, no failure to connect means that it was never sent.
 */
static orrery_status lost_status(const struct call *call, CURLcode code)
{
    orrery_status status = curl_status(code);
    bool is_over = env_monotonic_ms(call->client->env) >= call->deadline_ms;

    if (call->is_late)
        return ORRERY_ETIMEOUT;
    if (call->sent > 0)
        return status == ORRERY_ECONNECT ? ORRERY_EIO : status;
    return status == ORRERY_ETIMEOUT && !is_over ? ORRERY_ECONNECT : status;
}

static orrery_status attempt_status(const struct call *call, CURLcode code)
{
    if (call->response->no_memory)
        return ORRERY_ENOMEM;
    if (code != CURLE_OK)
        return lost_status(call, code);
    return call->response->http ? http_status(call->response->http) : ORRERY_EIO;
}

static int back_off_ms(const struct call *call)
{
    int ms = BACK_OFF_MS_FIRST;

    for (int i = 1; i < call->attempts && ms < BACK_OFF_MS_MAX; i++)
        ms *= 2;
    return ms;
}

/* The server's own wish, if it has one. */
static int wished_ms(const struct call *call)
{
    const char *wish = orrery_response_header(call->response, "x-ms-retry-after-ms");
    long ms = wish ? strtol(wish, NULL, 10) : -1;

    return ms >= 0 && ms < 600000 ? (int)ms : back_off_ms(call);
}

/*
 * How long to wait before it is tried again; -1: it is not. Where a byte of a write may have left, it is tried again only if
 * the server did nothing, or keeps what it did under a token that is sent again (transaction.c: such a call is repeatable).
 */
static int retry_ms(struct call *call, orrery_status status, CURLcode code)
{
    if (call->kind && code == CURLE_OK && call->kind->is_retriable(call))
        return wished_ms(call);
    switch (status) {
    case ORRERY_ETHROTTLED:
    case ORRERY_ERETRY: /* the server did nothing */
        return wished_ms(call);
    case ORRERY_EGONE:
        return call->follows_ranges && call->response->sub_status == 1002 ? -1 : wished_ms(call);
    case ORRERY_ENOTFOUND:
        return call->response->sub_status == 1002 && call->attempts < SESSION_ATTEMPTS ? wished_ms(call) : -1;
    case ORRERY_ECONNECT:
        return code == CURLE_COULDNT_CONNECT ? back_off_ms(call)
                                             : -1; /* a server that starts is waited for */
    case ORRERY_ETIMEOUT:
        if (call->splits_time && code == CURLE_OPERATION_TIMEDOUT)
            return back_off_ms(call);
        return call->repeatable && call->response->http == 408 ? wished_ms(call) : -1;
    case ORRERY_ESERVER:
        return call->repeatable && call->response->http == 503 ? wished_ms(call) : -1;
    case ORRERY_EIO:
        return call->repeatable && code != CURLE_WRITE_ERROR ? back_off_ms(call) : -1;
    default:
        return -1;
    }
}

static bool may_wait(const struct call *call, int ms)
{
    const orrery_client *client = call->client;

    return ms >= 0 && call->attempts <= client->retries_max &&
           call->waited_ms + ms <= client->retry_wait_ms_max &&
           env_monotonic_ms(client->env) + ms < call->deadline_ms;
}

static const char *say(struct call *call, const char *fmt, ...)
{
    struct buf text;
    char line[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    end_whole(line);
    buf_init(&text, &call->arena);
    buf_append(&text, line, strlen(line) + 1);
    return text.failed ? "out of memory" : text.data;
}

/* A message may have several lines. The first says why; the others have the request's number. */
static struct slice first_line(struct slice text)
{
    const char *end = text.size ? memchr(text.data, '\n', text.size) : NULL;

    while (end && end > text.data && end[-1] == '\r')
        end--;
    return end ? slice_make(text.data, (size_t)(end - text.data)) : text;
}

static const char *server_words(struct call *call)
{
    struct slice body = slice_make(call->response->body, call->response->body_bytes);
    struct json root = json_undefined, message;

    if (body.size == 0 || parse_json(&call->arena, body, &root) != ORRERY_OK)
        return say(call, "HTTP status %d", call->response->http);
    message = json_get(root, "message");
    if (json_kind(message) != JSON_STRING)
        return say(call, "HTTP status %d", call->response->http);
    return say(call, "%d: %.*s", call->response->http, SLICE_ARGS(first_line(json_string(message))));
}

static const char *explain(struct call *call, CURLcode code)
{
    if (call->response->no_memory || call->status == ORRERY_ENOMEM)
        return "out of memory";
    if (call->status == ORRERY_ECANCELED)
        return "it was cancelled";
    if (call->response->too_large)
        return "the answer is larger than any of this service";
    if (call->is_late && call->sent == 0)
        return "its time was over before it could be sent";
    if (code == CURLE_ABORTED_BY_CALLBACK || (curl_status(code) == ORRERY_ECONNECT && call->sent > 0))
        return "the connection was lost before the answer came";
    if (code != CURLE_OK)
        return say(call, "%s", call->curl_error[0] ? call->curl_error : curl_easy_strerror(code));
    return server_words(call);
}

/* What an answer teaches the client, whoever gets it. */
static void learn(struct call *call)
{
    orrery_client *client = call->client;
    struct slice container = call->target.container;
    bool is_container = is_about_container(call);
    bool is_deleted =
        call->method == METHOD_DELETE && (!orrery_failed(call->status) || call->status == ORRERY_ENOTFOUND);

    if (is_deleted && strcmp(call->target.type, "dbs") == 0) {
        session_forget_database(
            client, call->target.sign); /* its link; of a self-link, which is never used again, less */
        known_forget_database(client, call->target.sign);
    }
    if (container.size == 0)
        return;
    if (!is_container)
        session_note(client, container, call->response);
    if ((is_container && call->method != METHOD_GET) || call->response->sub_status == 1003 ||
        call->response->sub_status == 1001 || call->response->sub_status == SUB_STATUS_OTHER_CONTAINER)
        known_forget(client, container);
    if (call->status == ORRERY_EGONE)
        ranges_forget(client, container);
    if ((is_container && is_deleted) ||
        (call->status == ORRERY_ENOTFOUND && call->response->sub_status == 1002))
        session_forget(client,
                       container); /* of one that was made anew, perhaps: the next call begins without */
}

/* Behind those that ended before it. */
static void queue_to_tell(struct call *call)
{
    struct call **last = &call->client->ended;

    unlink_call(call);
    while (*last)
        last = &(*last)->next;
    call->next = NULL;
    *last = call;
}

static void end(struct call *call, orrery_status status, CURLcode code)
{
    assert(call->state != CALL_ENDED); /* it would be told, and given back, twice */
    call->state = CALL_ENDED;
    call->status = status;
    call->response->attempts = call->attempts;
    call->response->charge = call->charge;
    if (orrery_failed(status))
        call->error = explain(call, code);
    if (code == CURLE_OK)
        learn(call);
    if (code == CURLE_OK && call->kind)
        call->kind->judge(call);
    if (code != CURLE_OK)
        response_clear(call->response); /* half an answer is none, whatever its first line said */
    if (call->finish && !orrery_failed(call->status))
        call->finish(call);
    diagnose_ended(call);
    if (call->done)
        queue_to_tell(call);
}

void call_attempt_ended(struct call *call, CURLcode code)
{
    orrery_status status = attempt_status(call, code);
    int wait_ms;

    call->attempts++;
    call->charge += call->response->charge;
    wait_ms = retry_ms(call, status, code);
    if (!may_wait(call, wait_ms)) {
        diagnose_answered(call, status, -1);
        end(call, status, code);
        return;
    }
    diagnose_answered(call, status, wait_ms);
    if (call->kind)
        call->kind->prepare_again(call);
    call->state = CALL_WAITING;
    call->waited_ms += wait_ms;
    call->due_ms = env_monotonic_ms(call->client->env) + wait_ms;
}

void call_wake(struct call *call)
{
    response_clear(call->response);
    diagnose_sent(call);
    if (transport_send(call) == ORRERY_OK) {
        call->state = CALL_SENT;
        return;
    }
    end(call, ORRERY_ENOMEM, CURLE_OUT_OF_MEMORY);
}

/* ---- the end of a call */

orrery_status call_take(struct call *call, orrery_response **response)
{
    orrery_client *client = call->client;
    orrery_status status = call->status;
    bool handed = !orrery_failed(status) || call->hands_over;

    assert(call->state == CALL_ENDED);
    if (orrery_failed(status))
        client_fail(client, status, "%s", call->error ? call->error : orrery_status_text(status));
    if (handed && response) {
        *response = call->response;
        call->response = NULL;
    } else if (!handed && call->response->http) {
        orrery_response_free(client->failed);
        client->failed = call->response;
        call->response = NULL;
    }
    call_free(call);
    return status;
}

/* Until the next attempt is due. */
static void wait_for(const struct call *call)
{
    int64_t left_ms;

    while ((left_ms = call->due_ms - env_monotonic_ms(call->client->env)) > 0)
        poll(NULL, 0, (int)left_ms);
}

orrery_status call_run(struct call *call, orrery_response **response)
{
    orrery_client *client = call->client;
    orrery_status status = build(call);

    client_enter(client);
    while (status == ORRERY_OK && call->state != CALL_ENDED) {
        if (call->state == CALL_WAITING) {
            wait_for(call);
            response_clear(call->response);
        }
        diagnose_sent(call);
        status = transport_perform(call);
        if (status != ORRERY_OK)
            client_no_memory(client);
    }
    client_leave(client);
    if (call->state == CALL_ENDED)
        return call_take(call, response);
    call_free(call);
    return status;
}

orrery_status call_dispatch(struct call *call, const orrery_options *options, orrery_response **response)
{
    orrery_status status;

    if (!OPTION(options, done))
        return call_run(call, response);
    call->done = OPTION(options, done);
    call->context = OPTION(options, context);
    status = call_start(call);
    if (status != ORRERY_OK)
        call_free(call);
    return status;
}

size_t orrery_cancel(orrery_client *client, const void *context)
{
    size_t count = 0;

    for (struct call *call = client ? client->calls : NULL, *next; call; call = next) {
        next = call->next;
        if (!call->done || call->context != context || call->state == CALL_ENDED)
            continue;
        transport_cancel(call);
        end(call, ORRERY_ECANCELED, CURLE_ABORTED_BY_CALLBACK);
        count++;
    }
    return count;
}

/* ---- telling */

static void tell(struct call *call)
{
    orrery_client *client = call->client;
    orrery_done *done = call->done;
    void *context = call->context;
    orrery_response *response = NULL;
    orrery_status status;

    client_begin(client);
    status = call_take(call, &response);
    done(client, context, status, response);
}

/* Calls of cursors that have ended, and were not taken yet, are nobody's to wait for. */
static size_t count(const struct call *call)
{
    size_t counted = 0;

    for (; call; call = call->next)
        counted += !call->is_part && (call->done || call->state != CALL_ENDED);
    return counted;
}

orrery_status orrery_run(orrery_client *client, int timeout_ms, size_t *under_way)
{
    orrery_status status = ORRERY_OK;
    struct call *call;

    if (!client)
        return ORRERY_EINVAL;
    client_enter(client);
    if (bulk_turn(client) > 0)
        timeout_ms = 0;
    if (!client->ended && (client->calls || client->bulks))
        status = transport_turn(client, bulk_pause_ms(client, timeout_ms));
    while ((call = client->ended)) {
        client->ended = call->next;
        tell(call);
    }
    bulk_turn(client);
    if (under_way)
        *under_way = count(client->calls) + count(client->ended) + bulk_count(client);
    client_leave(client);
    return status;
}
