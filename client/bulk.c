/*
 * client/bulk.c - many operations, each by itself: sent to the ranges that their keys lie in, a hundred at a time, side
 * by side. What a range puts off (429, 449) or no longer has (410) is sent again in another round.
 */
#include <poll.h>
#include <stdlib.h>

#include "base/encode.h"
#include "client.h"
#include "keys/epk.h"

enum {
    TOGETHER_MAX = 100,           /* operations of one request */
    TOGETHER_BYTES_MAX = 2 << 20, /* and their bodies' */
    KEY_TEXT_MAX = 2048,          /* the service's own limit of a key */
    PUT_OFF_MS = 20,              /* when nobody says how long */
};

struct range {
    struct slice id, min, max;
};

struct entry {
    struct slice key, hash; /* hash: the effective partition key, in hexadecimal */
    struct json result;     /* undefined: not done yet */
    size_t range;
};

struct group { /* one request of a round */
    struct call *call;
    size_t *numbers, count;
};

struct bulk {
    orrery_client *client;
    const char *link;
    const orrery_batch *batch;
    const orrery_options *options;
    struct arena arena;
    struct entry *entries;
    struct range *ranges;
    size_t range_count;
    struct group *groups;
    size_t group_count;
    double charge;
    int wait_ms, rounds;
};

/* ---- where each operation goes */

static orrery_status hash_key(struct bulk *bulk, const struct definition *definition, struct entry *entry)
{
    struct partition_key key = { 0 };
    struct json list = json_undefined;
    struct buf text;
    struct epk epk;

    if (entry->key.size > KEY_TEXT_MAX)
        return client_fail(bulk->client, ORRERY_EINVAL, "a partition key has at most %d bytes", KEY_TEXT_MAX);
    if (parse_json(&bulk->arena, entry->key, &list) != ORRERY_OK)
        return client_no_memory(bulk->client);
    for (struct json_iter i = json_iter(list); json_next(&i) && key.count < EPK_COMPONENTS_MAX;)
        key.component[key.count++] = json_kind(i.value) == JSON_OBJECT ? json_undefined : i.value;
    epk_compute((enum epk_version)definition->version, &key, &epk);
    buf_init(&text, &bulk->arena);
    hex_encode_upper(&text, epk_slice(&epk));
    entry->hash = buf_as_slice(&text);
    return text.failed ? client_no_memory(bulk->client) : ORRERY_OK;
}

static orrery_status find_key(struct bulk *bulk, const struct definition *definition, size_t number)
{
    const struct operation *operation = &bulk->batch->operations[number];
    struct entry *entry = &bulk->entries[number];
    struct json document = json_undefined;
    struct buf text;
    orrery_status status = ORRERY_OK;

    entry->key = operation->key;
    if (!entry->key.data) {
        if (!operation->body.data || strcmp(operation->type, "Patch") == 0)
            return client_fail(bulk->client, ORRERY_EINVAL, "operation %zu of the bulk needs a key", number);
        buf_init(&text, &bulk->arena);
        status = parse_json(&bulk->arena, operation->body, &document);
        if (status == ORRERY_OK)
            status = definition_key(bulk->client, definition, document, &text);
        entry->key = buf_as_slice(&text);
    }
    return status == ORRERY_OK ? hash_key(bulk, definition, entry) : status;
}

static orrery_status find_keys(struct bulk *bulk)
{
    const struct definition *definition = NULL;
    orrery_status status = definition_of(bulk->client, bulk->link, &definition);
    size_t count = bulk->batch->count;

    if (status != ORRERY_OK)
        return status;
    bulk->entries = arena_try_alloc(&bulk->arena, count * sizeof(*bulk->entries));
    if (!bulk->entries)
        return client_no_memory(bulk->client);
    memset(bulk->entries, 0, count * sizeof(*bulk->entries));
    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        status = find_key(bulk, definition, i);
    return status;
}

static struct slice text_or(struct json value, const char *otherwise)
{
    return json_kind(value) == JSON_STRING ? json_string(value) : slice_of(otherwise);
}

static orrery_status take_ranges(struct bulk *bulk, struct json list)
{
    bulk->ranges = arena_try_alloc(&bulk->arena, (json_count(list) + 1) * sizeof(*bulk->ranges));
    bulk->range_count = 0;
    if (!bulk->ranges)
        return client_no_memory(bulk->client);
    for (struct json_iter i = json_iter(list); json_next(&i);)
        bulk->ranges[bulk->range_count++] =
            (struct range){ text_or(json_get(i.value, "id"), "0"),
                            text_or(json_get(i.value, "minInclusive"), ""),
                            text_or(json_get(i.value, "maxExclusive"), "FF") };
    return ORRERY_OK;
}

static orrery_status read_ranges(struct bulk *bulk)
{
    struct call *call = call_new(bulk->client, METHOD_GET, NULL);
    orrery_response *response = NULL;
    struct json body = json_undefined;
    orrery_status status;

    if (!call)
        return ORRERY_ENOMEM;
    status = call_child(call, bulk->link, "pkranges", NULL);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    status = call_run(call, &response);
    if (status == ORRERY_OK)
        status = parse_json(&bulk->arena,
                            slice_make(orrery_response_body(response, NULL), response->body_bytes), &body);
    if (status == ORRERY_OK && json_kind(json_get(body, "PartitionKeyRanges")) != JSON_ARRAY)
        status = client_fail(bulk->client, ORRERY_EJSON, "the collection's ranges make no sense");
    orrery_response_free(response);
    return status == ORRERY_OK ? take_ranges(bulk, json_get(body, "PartitionKeyRanges")) : status;
}

/* Those that were divided stand beside their parts at times: the last that has the key is a part. */
static size_t range_of(const struct bulk *bulk, struct slice hash)
{
    size_t found = 0;

    for (size_t i = 0; i < bulk->range_count; i++)
        if (slice_compare(bulk->ranges[i].min, hash) <= 0 && slice_compare(hash, bulk->ranges[i].max) < 0)
            found = i;
    return found;
}

/* ---- one round */

static orrery_status add_group(struct bulk *bulk, size_t range, size_t *numbers, size_t count)
{
    struct group *group = &bulk->groups[bulk->group_count];
    struct call *call = call_new(bulk->client, METHOD_POST, bulk->options);
    orrery_status status;

    if (!call)
        return ORRERY_ENOMEM;
    *group = (struct group){ .call = call, .numbers = numbers, .count = count };
    bulk->group_count++;
    status = call_child(call, bulk->link, "docs", NULL);
    if (status != ORRERY_OK)
        return status;
    call->follows_ranges = true;
    call_header(call, "x-ms-cosmos-is-batch-request", "true");
    call_header(call, "x-ms-cosmos-batch-atomic", "false");
    call_header(call, "x-ms-cosmos-batch-continue-on-error", "true");
    buf_text(&call->head, "x-ms-documentdb-partitionkeyrangeid: ");
    buf_slice(&call->head, bulk->ranges[range].id);
    buf_byte(&call->head, '\0');
    call_body(call, "application/json", slice_of("["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_byte(&call->body, ',');
        operation_print(&call->body, &bulk->batch->operations[numbers[i]], bulk->entries[numbers[i]].key);
    }
    buf_byte(&call->body, ']');
    return call_start(call);
}

/* Requests for what is not done yet of one range. */
static orrery_status send_range(struct bulk *bulk, size_t range)
{
    size_t *numbers = arena_try_alloc(&bulk->arena, bulk->batch->count * sizeof(*numbers)), count = 0,
           bytes = 0;
    orrery_status status = ORRERY_OK;

    if (!numbers)
        return client_no_memory(bulk->client);
    for (size_t i = 0; i < bulk->batch->count && status == ORRERY_OK; i++) {
        size_t size = bulk->batch->operations[i].body.size;

        if (bulk->entries[i].result.at || bulk->entries[i].range != range)
            continue;
        if (count == TOGETHER_MAX || (count > 0 && bytes + size > TOGETHER_BYTES_MAX)) {
            status = add_group(bulk, range, numbers, count);
            numbers += count;
            count = bytes = 0;
        }
        numbers[count++] = i;
        bytes += size;
    }
    return status == ORRERY_OK && count > 0 ? add_group(bulk, range, numbers, count) : status;
}

static orrery_status send_round(struct bulk *bulk)
{
    size_t count = bulk->batch->count;
    orrery_status status = ORRERY_OK;

    bulk->groups = arena_try_alloc(&bulk->arena, count * sizeof(*bulk->groups));
    bulk->group_count = 0;
    bulk->wait_ms = 0;
    if (!bulk->groups)
        return client_no_memory(bulk->client);
    for (size_t i = 0; i < count; i++)
        bulk->entries[i].range = range_of(bulk, bulk->entries[i].hash);
    for (size_t i = 0; i < bulk->range_count && status == ORRERY_OK; i++)
        status = send_range(bulk, i);
    return status;
}

static void put_off(struct bulk *bulk, struct json wish)
{
    int ms =
        json_kind(wish) == JSON_NUMBER && json_double(wish) < 60000 ? (int)json_double(wish) : PUT_OFF_MS;

    if (ms > bulk->wait_ms)
        bulk->wait_ms = ms;
}

/* Whether another round may do what this one did not. */
static bool is_put_off(struct bulk *bulk, int http, struct json result)
{
    if (http != 429 && http != 449 && http != 410)
        return false;
    put_off(bulk, json_get(result, "retryAfterMilliseconds"));
    return bulk->rounds < bulk->client->retries_max;
}

static orrery_status take_results(struct bulk *bulk, const struct group *group,
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
        struct json code = json_get(i.value, "statusCode");
        int http = json_kind(code) == JSON_NUMBER ? (int)json_double(code) : 0;

        if (!is_put_off(bulk, http, i.value))
            bulk->entries[group->numbers[at]].result = i.value;
    }
    return ORRERY_OK;
}

static orrery_status finish_group(struct bulk *bulk, struct group *group)
{
    struct call *call = group->call;
    orrery_response *response = NULL;
    orrery_status status;

    group->call = NULL;
    status = call_take(call, &response);
    if (response)
        bulk->charge += response->charge;
    if (status == ORRERY_OK && response)
        status = take_results(bulk, group, response);
    else if (status == ORRERY_EGONE && bulk->rounds < bulk->client->retries_max)
        status = read_ranges(bulk);
    orrery_response_free(response);
    return status;
}

static orrery_status wait_round(struct bulk *bulk)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < bulk->group_count && status == ORRERY_OK; i++) {
        while (bulk->groups[i].call->state != CALL_ENDED && status == ORRERY_OK)
            status = transport_turn(bulk->client, -1);
        if (status == ORRERY_OK)
            status = finish_group(bulk, &bulk->groups[i]);
    }
    return status;
}

static void drop_round(struct bulk *bulk)
{
    for (size_t i = 0; i < bulk->group_count; i++)
        call_free(bulk->groups[i].call);
    bulk->group_count = 0;
}

static bool all_done(const struct bulk *bulk)
{
    for (size_t i = 0; i < bulk->batch->count; i++)
        if (!bulk->entries[i].result.at)
            return false;
    return true;
}

static orrery_status run_rounds(struct bulk *bulk)
{
    orrery_status status = ORRERY_OK;

    while (status == ORRERY_OK && !all_done(bulk)) {
        if (bulk->wait_ms > 0)
            poll(NULL, 0, bulk->wait_ms);
        status = send_round(bulk);
        if (status == ORRERY_OK)
            status = wait_round(bulk);
        drop_round(bulk);
        bulk->rounds++;
        if (bulk->rounds > bulk->client->retries_max + 1 && status == ORRERY_OK && !all_done(bulk))
            status = client_fail(bulk->client, ORRERY_EGONE, "the collection's ranges go on changing");
    }
    return status;
}

/* ---- the whole */

static bool failed_http(struct json result)
{
    struct json code = json_get(result, "statusCode");

    return json_kind(code) != JSON_NUMBER || json_double(code) >= 300;
}

/* The results of all requests, in the order of the operations, as one answer. */
static orrery_status join(const struct bulk *bulk, orrery_response **response)
{
    orrery_response *made = response_new();
    bool some_failed = false, good = made != NULL;
    struct arena arena;
    struct buf out;

    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    for (size_t i = 0; i < bulk->batch->count; i++) {
        buf_byte(&out, i > 0 ? ',' : '[');
        json_print(&out, bulk->entries[i].result);
        some_failed = some_failed || failed_http(bulk->entries[i].result);
    }
    buf_byte(&out, ']');
    good = good && !out.failed && response_take_body(made, out.data, out.size) == out.size;
    arena_free(&arena);
    if (good) {
        made->http = some_failed ? 207 : 200;
        made->charge = bulk->charge;
        made->attempts = bulk->rounds;
    }
    if (good && response)
        *response = made;
    else
        orrery_response_free(made);
    if (!good)
        return client_no_memory(bulk->client);
    return some_failed ? client_fail(bulk->client, ORRERY_EBATCH, "some operations of the bulk failed")
                       : ORRERY_OK;
}

orrery_status orrery_bulk_run(orrery_client *client, const char *container_link, const orrery_batch *batch,
                              const orrery_options *options, orrery_response **response)
{
    struct bulk bulk = { .client = client, .link = container_link, .batch = batch, .options = options };
    orrery_status status;

    if (response)
        *response = NULL;
    if (!client)
        return ORRERY_EINVAL;
    if (OPTION(options, done))
        return client_fail(client, ORRERY_EUNSUPPORTED, "a bulk is several requests, and waits for them");
    status = batch_check(client, batch, SIZE_MAX);
    if (status != ORRERY_OK)
        return status;
    arena_init(&bulk.arena, SIZE_MAX);
    status = find_keys(&bulk);
    if (status == ORRERY_OK)
        status = read_ranges(&bulk);
    if (status == ORRERY_OK)
        status = run_rounds(&bulk);
    if (status == ORRERY_OK)
        status = join(&bulk, response);
    arena_free(&bulk.arena);
    return status;
}
