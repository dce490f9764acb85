/* client/batch.c - batches: their builder, one transaction, and the results of either kind. */
#include <stdlib.h>

#include "client.h"
#include "resolver.h"

orrery_status orrery_batch_new(orrery_batch **batch)
{
    if (!batch)
        return ORRERY_EINVAL;
    *batch = allocator_zeroed(1, sizeof(**batch));
    if (!*batch)
        return ORRERY_ENOMEM;
    arena_init(&(*batch)->arena, SIZE_MAX);
    return ORRERY_OK;
}

void orrery_batch_free(orrery_batch *batch)
{
    if (!batch)
        return;
    arena_free(&batch->arena);
    allocator_free(batch->operations);
    allocator_free(batch);
}

/* ---- building */

static void fail(orrery_batch *batch, orrery_status status)
{
    if (batch->status == ORRERY_OK)
        batch->status = status;
}

static struct slice keep(orrery_batch *batch, struct slice bytes)
{
    char *copy = bytes.data ? memory_text_in(&batch->arena, bytes) : NULL;

    if (bytes.data && !copy)
        fail(batch, ORRERY_ENOMEM);
    return slice_make(copy, copy ? bytes.size : 0);
}

static void keep_key(orrery_batch *batch, struct operation *operation, const orrery_key *key)
{
    struct buf text;

    if (!key)
        return;
    buf_init(&text, &batch->arena);
    if (!key_print(&text, key))
        fail(batch, ORRERY_EINVAL);
    if (text.failed)
        fail(batch, ORRERY_ENOMEM);
    operation->key = buf_as_slice(&text);
}

/* One operation, as the library's caller asked for it. */
struct wanted {
    const char *type, *id, *etag; /* id, etag: may be NULL */
    struct slice body;            /* data NULL: none */
    const orrery_key *key;
};

static void add(orrery_batch *batch, const struct wanted *wanted)
{
    struct operation *operation;

    if (!batch)
        return;
    if (!memory_grow(&batch->operations, &batch->capacity, batch->count + 1, sizeof(*operation))) {
        fail(batch, ORRERY_ENOMEM);
        return;
    }
    operation = &batch->operations[batch->count++];
    *operation = (struct operation){ .type = wanted->type };
    operation->id = keep(batch, size_of(wanted->id, ORRERY_TEXT));
    operation->etag = keep(batch, size_of(wanted->etag, ORRERY_TEXT));
    operation->body = keep(batch, wanted->body);
    keep_key(batch, operation, wanted->key);
}

static void add_with_body(orrery_batch *batch, const struct wanted *wanted)
{
    if (!batch)
        return;
    if (!wanted->body.data)
        fail(batch, ORRERY_EINVAL);
    add(batch, wanted);
}

void orrery_batch_create(orrery_batch *batch, const char *json, size_t size, const orrery_key *key)
{
    add_with_body(batch, &(struct wanted){ "Create", NULL, NULL, size_of(json, size), key });
}

void orrery_batch_upsert(orrery_batch *batch, const char *json, size_t size, const orrery_key *key)
{
    add_with_body(batch, &(struct wanted){ "Upsert", NULL, NULL, size_of(json, size), key });
}

static void need_id(orrery_batch *batch, const char *id)
{
    if (batch && (!id || !*id))
        fail(batch, ORRERY_EINVAL);
}

void orrery_batch_replace(orrery_batch *batch, const char *id, const char *json, size_t size,
                          const char *etag, const orrery_key *key)
{
    need_id(batch, id);
    add_with_body(batch, &(struct wanted){ "Replace", id, etag, size_of(json, size), key });
}

void orrery_batch_read(orrery_batch *batch, const char *id, const orrery_key *key)
{
    need_id(batch, id);
    add(batch, &(struct wanted){ .type = "Read", .id = id, .key = key });
}

void orrery_batch_delete(orrery_batch *batch, const char *id, const char *etag, const orrery_key *key)
{
    need_id(batch, id);
    add(batch, &(struct wanted){ .type = "Delete", .id = id, .etag = etag, .key = key });
}

void orrery_batch_patch(orrery_batch *batch, const char *id, const orrery_patch *patch, const char *etag,
                        const orrery_key *key)
{
    struct buf text;
    orrery_status status;

    if (!batch)
        return;
    need_id(batch, id);
    buf_init(&text, &batch->arena);
    status = patch ? patch_print(patch, &text) : ORRERY_EINVAL;
    if (status != ORRERY_OK || text.failed)
        fail(batch, status != ORRERY_OK ? status : ORRERY_ENOMEM);
    add(batch, &(struct wanted){ "Patch", id, etag, buf_as_slice(&text), key });
}

/* ---- sending */

static void print_member(struct buf *out, const char *name, struct slice text)
{
    if (!text.data)
        return;
    buf_text(out, name);
    json_print_string(out, text);
}

void operation_print(struct buf *out, const struct operation *operation, struct slice key)
{
    buf_text(out, "{\"operationType\":\"");
    buf_text(out, operation->type);
    buf_byte(out, '"');
    print_member(out, ",\"id\":", operation->id);
    print_member(out, ",\"ifMatch\":", operation->etag);
    print_member(out, ",\"partitionKey\":", key);
    if (operation->body.data) {
        buf_text(out, ",\"resourceBody\":");
        buf_slice(out, operation->body);
    }
    buf_byte(out, '}');
}

static void print_all(struct buf *out, const orrery_batch *batch)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < batch->count; i++) {
        if (i > 0)
            buf_byte(out, ',');
        operation_print(out, &batch->operations[i], slice_make(NULL, 0));
    }
    buf_byte(out, ']');
}

/* 207: it was not done, and the answer says because of what. */
static void look_at_results(struct call *call)
{
    if (call->response->http != 207)
        return;
    call->status = ORRERY_EBATCH;
    call->hands_over = true;
    call->error = "an operation of the batch failed, and none was done";
}

orrery_status batch_check(orrery_client *client, const char *link, const orrery_batch *batch,
                          size_t count_max)
{
    if (!link_is_collection(link) && !link_is_database(link))
        return client_refuse(client, ORRERY_EINVAL, "\"%s\" is no link of a container", link ? link : "");
    if (!batch || batch->count == 0 || batch->count > count_max)
        return client_refuse(client, ORRERY_EINVAL, "a batch has 1 to %zu operations", count_max);
    if (batch->status != ORRERY_OK)
        return client_refuse(client, batch->status, "an operation of the batch: %s",
                             orrery_status_text(batch->status));
    return ORRERY_OK;
}

static orrery_status run_in(orrery_client *client, const char *container_link, const orrery_key *key,
                            const orrery_batch *batch, const orrery_options *options,
                            orrery_response **response)
{
    struct call *call = call_new(client, METHOD_POST, options);
    orrery_status status;

    if (!call)
        return ORRERY_ENOMEM;
    status = call_child(call, container_link, "docs", NULL);
    if (status == ORRERY_OK)
        status = call_key(call, key);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    call_header(call, "x-ms-cosmos-is-batch-request", "true");
    call_header(call, "x-ms-cosmos-batch-atomic", "true");
    call_body(call, "application/json", slice_of(""));
    print_all(&call->body, batch);
    call->finish = look_at_results;
    return call_dispatch(call, options, response);
}

/* The one collection that the resolver names for all documents of the batch. */
static orrery_status place_all(orrery_client *client, const char *link, const orrery_batch *batch,
                               char **found)
{
    orrery_status status = ORRERY_OK;
    char *place = NULL;

    for (size_t i = 0; i < batch->count && status == ORRERY_OK; i++) {
        if (!operation_has_document(&batch->operations[i]))
            continue;
        status = resolver_place(client, link, batch->operations[i].body, &place);
        if (status == ORRERY_OK && *found && strcmp(*found, place) != 0)
            status =
                client_fail(client, ORRERY_EINVAL, "the batch's documents belong in several collections");
        allocator_free(*found);
        *found = place;
    }
    if (status == ORRERY_OK && !*found)
        status =
            client_refuse(client, ORRERY_EINVAL, "no operation of the batch has a document to place it by");
    return status;
}

static orrery_status run_routed(orrery_client *client, const char *link, const orrery_key *key,
                                const orrery_batch *batch, const orrery_options *options,
                                orrery_response **response)
{
    orrery_options bounded;
    char *place = NULL;
    orrery_status status = options && !struct_is_sized(options)
                               ? client_refuse(client, ORRERY_EINVAL, "%s", options_unsized)
                               : place_all(client, link, batch, &place);

    if (status == ORRERY_OK)
        status = run_in(client, place, key, batch, options_bound(client, options, &bounded), response);
    allocator_free(place);
    return status;
}

bool operation_has_document(const struct operation *operation)
{
    return operation->body.data && strcmp(operation->type, "Patch") != 0;
}

orrery_status operation_document(orrery_client *client, struct arena *arena,
                                 const struct operation *operation, struct json *document)
{
    orrery_status status = parse_json(arena, operation->body, document);

    if (status == ORRERY_OK && json_kind(*document) != JSON_OBJECT)
        status = ORRERY_EJSON;
    if (status == ORRERY_OK)
        return status;
    return client_refuse(client, status, "an operation of the batch: %s", orrery_status_text(status));
}

static orrery_status check_documents(orrery_client *client, const orrery_batch *batch)
{
    struct json document = json_undefined;
    orrery_status status = ORRERY_OK;
    struct arena arena;

    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < batch->count && status == ORRERY_OK; i++) {
        if (operation_has_document(&batch->operations[i]))
            status = operation_document(client, &arena, &batch->operations[i], &document);
        arena_reset(&arena);
    }
    arena_free(&arena);
    return status;
}

orrery_status orrery_batch_run(orrery_client *client, const char *container_link, const orrery_key *key,
                               const orrery_batch *batch, const orrery_options *options,
                               orrery_response **response)
{
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    status = key ? batch_check(client, container_link, batch, BATCH_OPERATIONS_MAX)
                 : client_refuse(client, ORRERY_EINVAL, "a batch needs its partition key");
    if (status == ORRERY_OK)
        status = check_documents(client, batch);
    if (status != ORRERY_OK)
        return status;
    return link_is_database(container_link)
               ? run_routed(client, container_link, key, batch, options, response)
               : run_in(client, container_link, key, batch, options, response);
}

/* ---- results */

static orrery_result read_result(orrery_value row)
{
    orrery_value own =
        orrery_value_member(row, "orreryStatus"); /* of one whose request failed: bulk.c writes it */
    orrery_result result = { .http = (int)orrery_value_int(orrery_value_member(row, "statusCode")) };

    result.status = own.at ? (orrery_status)orrery_value_int(own) : http_status(result.http);
    result.charge = orrery_value_number(orrery_value_member(row, "requestCharge"));
    result.etag = orrery_value_member(row, "eTag");
    result.body = orrery_value_member(row, "resourceBody");
    result.sub_status = (int)orrery_value_int(orrery_value_member(row, "subStatusCode"));
    return result;
}

orrery_status result_give(const orrery_result *found, orrery_result *result)
{
    orrery_result given = found ? *found : (orrery_result){ .status = ORRERY_EINVAL };

    if (!result || !struct_is_sized(result))
        return ORRERY_EINVAL;
    given.size = result->size;
    memcpy(result, &given, result->size < sizeof(given) ? result->size : sizeof(given));
    return found ? ORRERY_OK : ORRERY_EINVAL;
}

orrery_status orrery_batch_result(orrery_response *response, size_t index, orrery_result *result)
{
    orrery_value row = orrery_value_element(orrery_response_json(response), index);
    orrery_result found = read_result(row);

    return result_give(orrery_value_member(row, "statusCode").at ? &found : NULL, result);
}
