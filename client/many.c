/* client/many.c - what takes several requests to say in one word: create if missing, read many, delete all of a key. */
#include <assert.h>
#include <stdlib.h>

#include "client.h"

/* ---- create if missing */

/* "feed/id" of what the text describes. */
static orrery_status link_of(orrery_client *client, const char *feed_link, struct slice text, char **link)
{
    struct json document = json_undefined;
    struct arena arena;
    struct buf out;
    orrery_status status;

    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    status = parse_json(&arena, text, &document);
    if (status == ORRERY_OK && json_kind(json_get(document, "id")) != JSON_STRING)
        status = ORRERY_EJSON;
    if (status == ORRERY_OK) {
        buf_text(&out, feed_link);
        buf_byte(&out, '/');
        buf_slice(&out, json_string(json_get(document, "id")));
        *link = out.failed ? NULL : memory_text(buf_as_slice(&out));
        status = *link ? ORRERY_OK : ORRERY_ENOMEM;
    }
    arena_free(&arena);
    if (status == ORRERY_OK)
        return status;
    return status == ORRERY_ENOMEM ? client_no_memory(client)
                                   : client_refuse(client, ORRERY_EJSON, "the body is no object with an id");
}

/* Whoever makes it between the two questions is found by a third. */
static orrery_status read_or_create(orrery_client *client, const char *link, const char *feed_link,
                                    struct slice text, const orrery_options *options,
                                    orrery_response **response)
{
    orrery_status status = orrery_read(client, link, options, response);

    if (status != ORRERY_ENOTFOUND)
        return status;
    status = orrery_create(client, feed_link, text.data, text.size, options, response);
    return status == ORRERY_ECONFLICT ? orrery_read(client, link, options, response) : status;
}

orrery_status orrery_create_if_missing(orrery_client *client, const char *feed_link, const char *json,
                                       size_t size, const orrery_options *options, orrery_response **response)
{
    struct slice text = size_of(json, size);
    char *link = NULL;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    if (!feed_link || !text.data)
        return client_refuse(client, ORRERY_EINVAL, "there is no link, or no body");
    if (options && struct_is_sized(options) && OPTION(options, done))
        return client_refuse(client, ORRERY_EUNSUPPORTED, "orrery_create_if_missing() waits for its answers");
    status = link_of(client, feed_link, text, &link);
    if (status == ORRERY_OK)
        status = read_or_create(client, link, feed_link, text, options, response);
    allocator_free(link);
    return status;
}

/* ---- read many */

static orrery_status run_reads(orrery_client *client, const char *link, const orrery_identity *items,
                               size_t count, const orrery_options *options, orrery_response **results)
{
    orrery_batch *batch = NULL;
    orrery_status status = orrery_batch_new(&batch);

    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        orrery_batch_read(batch, items[i].id, &items[i].key);
    if (status == ORRERY_OK)
        status = orrery_bulk_run(client, link, batch, options, results);
    orrery_batch_free(batch);
    return status == ORRERY_EBATCH ? ORRERY_OK : status;
}

/* {"Documents":[...],"_count":2}: those that were found, in the order they were asked for. */
static orrery_status print_found(orrery_client *client, orrery_response *results, size_t count,
                                 struct buf *out)
{
    size_t found = 0;

    buf_text(out, "{\"Documents\":[");
    for (size_t i = 0; i < count; i++) {
        orrery_result result = { .size = sizeof(result) };

        if (orrery_batch_result(results, i, &result) != ORRERY_OK)
            return client_fail(client, ORRERY_EIO, "there are fewer results than items were asked for");
        if (result.status == ORRERY_ENOTFOUND)
            continue;
        if (result.status != ORRERY_OK)
            return client_fail(client, result.status, "item %zu could not be read: %s", i,
                               orrery_status_text(result.status));
        if (found++ > 0)
            buf_byte(out, ',');
        json_print(out, value_json(result.body));
    }
    buf_printf(out, "],\"_count\":%zu}", found);
    return out->failed ? client_no_memory(client) : ORRERY_OK;
}

/* The answers as one, in the place of the bulk's own. */
static orrery_status gather(orrery_client *client, orrery_response *results, size_t count)
{
    struct arena arena;
    struct buf out;
    orrery_status status;

    assert(results); /* a bulk that came to its end has an answer */
    arena_init(&arena, SIZE_MAX);
    buf_init(&out, &arena);
    status = print_found(client, results, count, &out);
    orrery_json_free(results->json);
    allocator_free(results->body);
    results->json = NULL;
    results->body = NULL;
    results->body_bytes = results->body_capacity = 0;
    if (status == ORRERY_OK && !response_set_body(results, buf_as_slice(&out)))
        status = client_no_memory(client);
    results->http = 200;
    arena_free(&arena);
    return status;
}

orrery_status orrery_read_many(orrery_client *client, const char *container_link,
                               const orrery_identity *items, size_t count, const orrery_options *options,
                               orrery_response **response)
{
    orrery_response *results = NULL;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    if (!response || !items || count == 0)
        return client_refuse(client, ORRERY_EINVAL, "there are no items, or there is nowhere to put them");
    if (options && struct_is_sized(options) && OPTION(options, done))
        return client_refuse(client, ORRERY_EUNSUPPORTED, "orrery_read_many() waits for its answers");
    status = run_reads(client, container_link, items, count, options, &results);
    if (status == ORRERY_OK)
        client_begin(client); /* that some were not found is no failure */
    if (status == ORRERY_OK)
        status = gather(client, results, count);
    if (status == ORRERY_OK)
        *response = results;
    else
        orrery_response_free(results);
    return status;
}

/* ---- delete all of a key */

static orrery_status target_deletion(struct call *call, const char *link)
{
    orrery_status status = call_target(call, link);
    struct buf path;

    if (status != ORRERY_OK)
        return status;
    if (strcmp(call->target.type, "colls") != 0 || call->target.container.size == 0)
        return client_fail(call->client, ORRERY_EINVAL, "\"%s\" is no link of a container", link);
    buf_init(&path, &call->arena);
    buf_slice(&path, call->target.path);
    buf_text(&path, "/operations/partitionkeydelete");
    call->target.path = buf_as_slice(&path);
    call->changes_items = true;
    return path.failed ? client_no_memory(call->client) : ORRERY_OK;
}

orrery_status orrery_items_delete(orrery_client *client, const char *container_link, const orrery_key *key,
                                  const orrery_options *options, orrery_response **response)
{
    struct call *call;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    if (!key)
        return client_refuse(client, ORRERY_EINVAL, "there is no key whose items are to be deleted");
    call = call_new(client, METHOD_POST, options);
    if (!call)
        return ORRERY_ENOMEM;
    status = target_deletion(call, container_link);
    if (status == ORRERY_OK)
        status = call_key(call, key);
    if (status == ORRERY_OK)
        return call_dispatch(call, options, response);
    call_free(call);
    return status;
}
