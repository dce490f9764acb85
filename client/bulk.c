/* client/bulk.c - many operations, each by itself: the rounds in which they are sent, and their results as one answer. */
#include <stdlib.h>

#include "bulk.h"
#include "resolver.h"
#include "resolver.h"

enum {
    PUT_OFF_MS = 20,       /* when nobody says how long; doubled each round */
    PUT_OFF_DOUBLINGS = 6, /* at most */
};

/* ---- ranges */

static orrery_status start_ranges(struct bulk *bulk)
{
    orrery_options options = { .size = sizeof(options), .timeout_ms = bulk->timeout_ms };
    struct call *call = call_new(bulk->client, METHOD_GET, &options);
    orrery_status status = call ? call_child(call, bulk->link, "pkranges", NULL) : ORRERY_ENOMEM;

    if (status == ORRERY_OK) {
        call->is_part = true;
        status = call_start(call);
    }
    if (status == ORRERY_OK)
        bulk->call = call;
    else
        call_free(call);
    return status;
}

/* ORRERY_WAIT: they are under way. */
static orrery_status read_ranges(struct bulk *bulk)
{
    struct slice known = ranges_known(bulk->client, link_trim(bulk->link), &bulk->arena);
    orrery_status status = known.data || bulk->call ? ORRERY_OK : start_ranges(bulk);
    orrery_response *response = NULL;
    struct call *call = bulk->call;

    if (status != ORRERY_OK)
        return status;
    if (call && call->state != CALL_ENDED)
        return ORRERY_WAIT;
    bulk->call = NULL;
    if (call)
        status = call_take(call, &response);
    if (response)
        known = slice_make(orrery_response_body(response, NULL), response->body_bytes);
    if (status == ORRERY_OK)
        status = bulk_take_ranges(bulk, known);
    if (status == ORRERY_OK && response)
        ranges_note(bulk->client, link_trim(bulk->link), known);
    orrery_response_free(response);
    if (status == ORRERY_OK)
        status = bulk_group(bulk);
    bulk->phase = BULK_SEND;
    return status;
}

/* ---- one request */

static void print_operations(const struct bulk *bulk, const struct bulk_group *group, struct buf *out)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < group->count; i++) {
        size_t number = group->numbers[i];

        if (i > 0)
            buf_byte(out, ',');
        operation_print(out, &bulk->operations[number], bulk->entries[number].key);
    }
    buf_byte(out, ']');
}

/* The time of the next request; 0: there is none left. */
static int request_ms(const struct bulk *bulk)
{
    int usual_ms = bulk->timeout_ms > 0 ? bulk->timeout_ms : bulk->client->timeout_ms;
    int64_t left_ms = bulk->deadline_ms - env_monotonic_ms(bulk->client->env);

    if (bulk->deadline_ms == 0 || left_ms >= usual_ms)
        return usual_ms;
    return left_ms > 0 ? (int)left_ms : 0;
}

static orrery_status start_group(struct bulk *bulk, struct bulk_group *group)
{
    orrery_options options = { .size = sizeof(options),
                               .timeout_ms = request_ms(bulk),
                               .diagnostics = bulk->diagnostics };
    struct call *call = options.timeout_ms > 0 ? call_new(bulk->client, METHOD_POST, &options) : NULL;
    orrery_status status;

    if (options.timeout_ms == 0)
        return client_refuse(bulk->client, ORRERY_ETIMEOUT, "the resolver's answer does not hold any longer");
    if (!call)
        return ORRERY_ENOMEM;
    group->call = call;
    for (size_t i = 0; i < group->count; i++) /* what an earlier round said does not hold from now on */
        bulk->entries[group->numbers[i]].result = json_undefined;
    status = call_child(call, bulk->link, "docs", NULL);
    if (status != ORRERY_OK)
        return status;
    call->is_part = call->follows_ranges = true;
    call->session_given = bulk->session_given;
    call->head.size = 0;
    buf_slice(&call->head, bulk->head);
    call_header(call, "x-ms-cosmos-is-batch-request", "true");
    call_header(call, "x-ms-cosmos-batch-atomic", "false");
    call_header(call, "x-ms-cosmos-batch-continue-on-error", "true");
    buf_text(&call->head, "x-ms-documentdb-partitionkeyrangeid: ");
    buf_slice(&call->head, bulk->ranges[bulk->entries[group->numbers[0]].range].id);
    buf_byte(&call->head, '\0');
    call_body(call, "application/json", slice_of(""));
    print_operations(bulk, group, &call->body);
    return call_start(call);
}

/* ---- results */

/* The result of an operation whose whole request failed: the server's word, if there was one, and ours. */
static struct json made_result(struct bulk *bulk, orrery_status status, const orrery_response *failed)
{
    struct json_builder builder;

    json_builder_init(&builder, &bulk->arena);
    json_begin_object(&builder);
    json_add_name(&builder, slice_of("statusCode"));
    json_add_int(&builder, failed ? failed->http : 0);
    json_add_name(&builder, slice_of("subStatusCode"));
    json_add_int(&builder, failed ? failed->sub_status : 0);
    json_add_name(&builder, slice_of("orreryStatus"));
    json_add_int(&builder, status);
    json_add_name(&builder, slice_of("message"));
    json_add_string(&builder, slice_of(orrery_error(bulk->client)));
    json_end(&builder);
    return json_built(&builder);
}

static void put_off(struct bulk *bulk, struct json wish)
{
    double wished_ms = json_kind(wish) == JSON_NUMBER ? json_double(wish) : -1;
    int ms =
        wished_ms >= 0 && wished_ms < 60000
            ? (int)wished_ms
            : PUT_OFF_MS << (bulk->idle_rounds < PUT_OFF_DOUBLINGS ? bulk->idle_rounds : PUT_OFF_DOUBLINGS);

    if (ms > bulk->wait_ms)
        bulk->wait_ms = ms;
}

static void note_gone(struct bulk *bulk)
{
    bulk->is_gone = true;
    ranges_forget(bulk->client, link_trim(bulk->link));
}

/*
 * The key was taken out of the document by an old definition: somebody has made the container anew. The next bulk,
 * or item, reads the definition again.
 */
static bool had_old_definition(struct json result, int http)
{
    struct json sub_status = json_get(result, "subStatusCode");

    return http == 400 && json_kind(sub_status) == JSON_NUMBER && json_double(sub_status) == 1001;
}

static orrery_status take_results(struct bulk *bulk, const struct bulk_group *group,
                                  const orrery_response *response)
{
    struct json list = json_undefined;
    size_t at = 0;
    orrery_status status = parse_json(
        &bulk->arena, slice_make(orrery_response_body(response, NULL), response->body_bytes), &list);

    if (status != ORRERY_OK || json_kind(list) != JSON_ARRAY || json_count(list) != group->count)
        return client_fail(bulk->client, status == ORRERY_ENOMEM ? status : ORRERY_EIO,
                           "the results of a bulk make no sense");
    for (struct json_iter i = json_iter(list); json_next(&i); at++) {
        struct bulk_entry *entry = &bulk->entries[group->numbers[at]];
        struct json code = json_get(i.value, "statusCode");
        int http = json_kind(code) == JSON_NUMBER ? (int)json_double(code) : 0;

        entry->result = i.value;
        entry->is_done = http != 429 && http != 449 && http != 410;
        if (!entry->is_done)
            put_off(bulk, json_get(i.value, "retryAfterMilliseconds"));
        if (http == 410)
            note_gone(bulk);
        if (had_old_definition(i.value, http))
            known_forget(bulk->client, link_trim(bulk->link));
    }
    return ORRERY_OK;
}

/* A request that failed says nothing of the others: its operations are told why, and the other requests go on. */
static orrery_status note_failure(struct bulk *bulk, const struct bulk_group *group, orrery_status why)
{
    struct json result = made_result(bulk, why, bulk->client->failed);

    if (!result.at)
        return client_no_memory(bulk->client);
    for (size_t i = 0; i < group->count; i++) {
        bulk->entries[group->numbers[i]].result = result;
        bulk->entries[group->numbers[i]].is_done = why != ORRERY_EGONE;
    }
    if (why == ORRERY_EGONE)
        put_off(bulk, json_undefined);
    if (why == ORRERY_EGONE)
        note_gone(bulk);
    return ORRERY_OK;
}

static orrery_status finish_group(struct bulk *bulk, struct bulk_group *group)
{
    orrery_response *response = NULL;
    struct call *call = group->call;
    orrery_status status;

    group->call = NULL;
    client_begin(bulk->client);
    status = call_take(call, &response);
    if (response)
        bulk->charge += response->charge;
    if (response && status == ORRERY_OK)
        status = take_results(bulk, group, response);
    orrery_response_free(response);
    return status == ORRERY_OK ? ORRERY_OK : note_failure(bulk, group, status);
}

/* ---- rounds */

/* A request that cannot even be begun counts as one that has failed: others are on their way. */
static orrery_status start_more(struct bulk *bulk)
{
    orrery_status status = ORRERY_OK;

    while (bulk->started < bulk->group_count && status == ORRERY_OK &&
           bulk->started - bulk->taken < (size_t)bulk->client->connections_max) {
        struct bulk_group *group = &bulk->groups[bulk->started++];
        orrery_status begun = start_group(bulk, group);

        if (begun == ORRERY_OK)
            continue;
        call_free(group->call);
        group->call = NULL;
        status = note_failure(bulk, group, begun);
    }
    return status;
}

/*
 * Requests are waited for in the order they were begun in. That is enough: none is waited for longer than the
 * others need.
 */
static orrery_status take_ended(struct bulk *bulk)
{
    orrery_status status = ORRERY_OK;

    while (bulk->taken < bulk->started && status == ORRERY_OK) {
        struct bulk_group *group = &bulk->groups[bulk->taken];

        if (group->call && group->call->state != CALL_ENDED)
            break;
        if (group->call)
            status = finish_group(bulk, group);
        bulk->taken++;
    }
    return status;
}

static size_t count_done(const struct bulk *bulk)
{
    size_t count = 0;

    for (size_t i = 0; i < bulk->count; i++)
        count += bulk->entries[i].is_done;
    return count;
}

/*
 * Another round, if there may be one: ORRERY_WAIT. ORRERY_OK: that was all. As long as a round gets anything done, the
 * client's patience begins anew: a container that serves ten operations a second has a thousand done in the end.
 */
static orrery_status end_round(struct bulk *bulk)
{
    const orrery_client *client = bulk->client;
    size_t done_count = count_done(bulk);

    bulk->rounds++;
    bulk->idle_rounds++;
    if (done_count > bulk->done_count)
        bulk->idle_rounds = bulk->waited_ms = 0;
    bulk->done_count = done_count;
    if (done_count == bulk->count || client->retries_max == 0 || request_ms(bulk) <= bulk->wait_ms ||
        bulk->idle_rounds > client->retries_max ||
        bulk->waited_ms + bulk->wait_ms > client->retry_wait_ms_max)
        return ORRERY_OK;
    bulk->waited_ms += bulk->wait_ms;
    bulk->due_ms = env_monotonic_ms(client->env) + bulk->wait_ms;
    bulk->wait_ms = 0;
    bulk->phase = BULK_PAUSE;
    return ORRERY_WAIT;
}

static orrery_status send_and_take(struct bulk *bulk)
{
    orrery_status status;

    do {
        status = start_more(bulk);
        if (status == ORRERY_OK)
            status = take_ended(bulk);
    } while (status == ORRERY_OK && bulk->taken == bulk->started && bulk->started < bulk->group_count);
    if (status != ORRERY_OK)
        return status;
    return bulk->taken < bulk->group_count ? ORRERY_WAIT : end_round(bulk);
}

static orrery_status end_pause(struct bulk *bulk)
{
    if (env_monotonic_ms(bulk->client->env) < bulk->due_ms)
        return ORRERY_WAIT;
    bulk->phase = bulk->is_gone ? BULK_RANGES : BULK_SEND;
    bulk->is_gone = false;
    return bulk->phase == BULK_SEND ? bulk_group(bulk) : ORRERY_OK;
}

orrery_status bulk_step(struct bulk *bulk)
{
    orrery_status status;

    do {
        enum bulk_phase phase = bulk->phase;

        status = phase == BULK_RANGES ? read_ranges(bulk)
                 : phase == BULK_SEND ? send_and_take(bulk)
                                      : end_pause(bulk);
        if (status == ORRERY_OK && phase == BULK_SEND)
            return ORRERY_OK;
    } while (status == ORRERY_OK || (status == ORRERY_WAIT && bulk->phase == BULK_PAUSE &&
                                     env_monotonic_ms(bulk->client->env) >= bulk->due_ms));
    return status;
}

/* ---- the whole */

static bool failed_http(struct json result)
{
    struct json code = json_get(result, "statusCode");

    return json_kind(code) != JSON_NUMBER || json_double(code) < 200 || json_double(code) >= 300;
}

orrery_status bulk_fill_in(struct bulk *bulk, orrery_status why)
{
    struct json result = made_result(bulk, why, bulk->client->failed);

    if (!result.at)
        return client_no_memory(bulk->client);
    for (size_t i = 0; i < bulk->count; i++)
        if (!bulk->entries[i].result.at)
            bulk->entries[i].result = result;
    return ORRERY_OK;
}

/* As one answer. */
orrery_status bulk_join(const struct bulk_outcome *outcome, orrery_response **response)
{
    orrery_response *made = response_new();
    bool some_failed = false, good = made != NULL;
    struct arena arena;
    struct buf out;

    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    for (size_t i = 0; i < outcome->count; i++) {
        buf_byte(&out, i > 0 ? ',' : '[');
        json_print(&out, outcome->results[i]);
        some_failed = some_failed || failed_http(outcome->results[i]);
    }
    buf_byte(&out, ']');
    good = good && !out.failed && response_set_body(made, buf_as_slice(&out));
    arena_free(&arena);
    if (!good) {
        orrery_response_free(made);
        return client_no_memory(outcome->client);
    }
    made->http = some_failed ? 207 : 200;
    made->charge = outcome->charge;
    made->attempts = outcome->rounds;
    *response = made;
    return some_failed ? client_fail(outcome->client, ORRERY_EBATCH, "some operations of the bulk failed")
                       : ORRERY_OK;
}

static orrery_status join(struct bulk *bulk, orrery_response **response)
{
    struct bulk_outcome outcome = { bulk->client, memory_list(&bulk->arena, bulk->count, sizeof(struct json)),
                                    bulk->count, bulk->charge, bulk->rounds };

    if (!outcome.results)
        return client_no_memory(bulk->client);
    for (size_t i = 0; i < bulk->count; i++)
        outcome.results[i] = bulk->entries[i].result;
    return bulk_join(&outcome, response);
}

/*
 * The answer of a bulk that goes no further. Before the first ranges are known nothing is sent: then there is only
 * a status.
 */
static orrery_status conclude(struct bulk *bulk, orrery_status status, orrery_response **response)
{
    bool nothing_sent = bulk->rounds == 0 && bulk->started == 0;

    if (status != ORRERY_OK && nothing_sent)
        return status;
    if (status != ORRERY_OK)
        status = bulk_fill_in(bulk, status);
    return status == ORRERY_OK ? join(bulk, response) : status;
}

void bulk_free(struct bulk *bulk)
{
    if (!bulk)
        return;
    for (size_t i = bulk->taken; i < bulk->started; i++)
        call_free(bulk->groups[i].call);
    call_free(bulk->call);
    arena_free(&bulk->arena);
    allocator_free(bulk);
}

int64_t bulk_left_ms(const struct bulk *bulk)
{
    int64_t left_ms = bulk->due_ms - env_monotonic_ms(bulk->client->env);

    return bulk->phase != BULK_PAUSE ? -1 : left_ms > 0 ? left_ms : 0;
}

static orrery_status run_to_its_end(struct bulk *bulk, orrery_response **response)
{
    orrery_response *made = NULL;
    orrery_status status;

    client_enter(bulk->client);
    while ((status = bulk_step(bulk)) == ORRERY_WAIT)
        if (transport_turn(bulk->client, (int)bulk_left_ms(bulk)) != ORRERY_OK) {
            status = client_fail(bulk->client, ORRERY_EIO, "the bulk cannot go on");
            break;
        }
    client_leave(bulk->client);
    status = conclude(bulk, status, &made);
    bulk_free(bulk);
    if (response)
        *response = made;
    else
        orrery_response_free(made);
    return status;
}

/* ---- bulks that nobody waits for */

size_t bulk_count(const orrery_client *client)
{
    size_t count = 0;

    for (const struct bulk *bulk = client->bulks; bulk; bulk = bulk->next)
        count++;
    return count;
}

/* Something that it waited for has come while another call was waited for. */
static bool can_go_on(const struct bulk *bulk)
{
    const struct call *call = bulk->phase == BULK_RANGES    ? bulk->call
                              : bulk->taken < bulk->started ? bulk->groups[bulk->taken].call
                                                            : NULL;

    if (bulk->phase == BULK_SEND && bulk->taken == bulk->started)
        return true;
    return bulk->phase != BULK_PAUSE && call && call->state == CALL_ENDED;
}

int bulk_pause_ms(const orrery_client *client, int timeout_ms)
{
    int64_t now_ms = env_monotonic_ms(client->env);

    for (const struct bulk *bulk = client->bulks; bulk; bulk = bulk->next) {
        int64_t left_ms = bulk->due_ms - now_ms;

        if (can_go_on(bulk) || (bulk->phase == BULK_PAUSE && left_ms <= 0))
            return 0;
        if (bulk->phase == BULK_PAUSE && (timeout_ms < 0 || left_ms < timeout_ms))
            timeout_ms = (int)left_ms;
    }
    return timeout_ms;
}

void bulk_close_all(orrery_client *client)
{
    while (client->bulks) {
        struct bulk *gone = client->bulks;

        client->bulks = gone->next;
        bulk_free(gone);
    }
}

static void tell(struct bulk *bulk, orrery_status status)
{
    orrery_client *client = bulk->client;
    orrery_done *done = bulk->done;
    void *context = bulk->context;
    orrery_response *response = NULL;

    status = conclude(bulk, status, &response);
    bulk_free(bulk);
    done(client, context, status, response);
}

/* A callback may begin further bulks: after each the list is looked through from its beginning. */
size_t bulk_turn(orrery_client *client)
{
    size_t told = 0;

    for (struct bulk **at = &client->bulks; *at;) {
        struct bulk *bulk = *at;
        orrery_status status = bulk_step(bulk);

        if (status == ORRERY_WAIT) {
            at = &bulk->next;
            continue;
        }
        *at = bulk->next;
        tell(bulk, status);
        told++;
        at = &client->bulks;
    }
    return told;
}

static void keep_running(struct bulk *bulk, const orrery_options *options)
{
    struct bulk **last = &bulk->client->bulks;

    bulk->done = OPTION(options, done);
    bulk->context = OPTION(options, context);
    while (*last)
        last = &(*last)->next;
    *last = bulk;
}

/* ---- beginning */

static bool keep_slice(struct arena *arena, struct slice *text)
{
    bool given = text->data;

    if (given)
        text->data = memory_text_in(arena, *text);
    return !given || text->data;
}

/* The caller may change or free the batch while it runs. */
static bool keep_operations(struct bulk *bulk)
{
    struct operation *kept = memory_list(&bulk->arena, bulk->count, sizeof(*kept));
    struct slice link = slice_make(bulk->link, strlen(bulk->link) + 1);
    bool good = kept && keep_slice(&bulk->arena, &link);

    for (size_t i = 0; i < bulk->count && good; i++) {
        kept[i] = bulk->operations[i];
        good = keep_slice(&bulk->arena, &kept[i].id) && keep_slice(&bulk->arena, &kept[i].etag) &&
               keep_slice(&bulk->arena, &kept[i].body) && keep_slice(&bulk->arena, &kept[i].key);
    }
    bulk->operations = kept;
    bulk->link = link.data;
    return good;
}

/* The options' part of the headers is built once, by a call that is never sent. */
static orrery_status keep_head(struct bulk *bulk, const orrery_options *options)
{
    struct call *model = call_new(bulk->client, METHOD_POST, options);
    orrery_status status = ORRERY_OK;

    if (!model)
        return ORRERY_ENOMEM;
    bulk->head = buf_as_slice(&model->head);
    if (model->mistake)
        status = client_fail(bulk->client, ORRERY_EINVAL, "%s", model->mistake);
    else if (model->head.failed || !keep_slice(&bulk->arena, &bulk->head))
        status = client_no_memory(bulk->client);
    bulk->session_given = model->session_given;
    bulk->timeout_ms = OPTION(options, timeout_ms);
    bulk->diagnostics = OPTION(options, diagnostics);
    call_free(model);
    return status;
}

orrery_status bulk_new(orrery_client *client, const char *link, const struct operation *operations,
                       size_t count, const orrery_options *options, struct bulk **out)
{
    struct bulk *bulk = allocator_zeroed(1, sizeof(*bulk));
    orrery_status status;

    *out = bulk;
    if (!bulk) {
        client_begin(client);
        return client_no_memory(client);
    }
    *bulk = (struct bulk){ .client = client, .link = link, .operations = operations, .count = count };
    arena_init(&bulk->arena, SIZE_MAX);
    status = keep_head(bulk, options);
    if (status == ORRERY_OK && OPTION(options, done) && !keep_operations(bulk))
        status = client_no_memory(client);
    return status == ORRERY_OK ? bulk_find_keys(bulk) : status;
}

orrery_status orrery_bulk_run(orrery_client *client, const char *container_link, const orrery_batch *batch,
                              const orrery_options *options, orrery_response **response)
{
    struct bulk *bulk = NULL;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    if (link_is_database(container_link))
        return bulk_run_routed(client, container_link, batch, options, response);
    status = batch_check(client, container_link, batch, SIZE_MAX);
    if (status == ORRERY_OK)
        status = bulk_new(client, container_link, batch->operations, batch->count, options, &bulk);
    if (status == ORRERY_OK && !OPTION(options, done))
        return run_to_its_end(bulk, response);
    if (status == ORRERY_OK) {
        status = read_ranges(bulk);
        if (status == ORRERY_WAIT || status == ORRERY_OK) {
            keep_running(bulk, options);
            return ORRERY_OK;
        }
    }
    bulk_free(bulk);
    return status;
}
