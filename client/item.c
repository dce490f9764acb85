/* client/item.c - operations on single items: the key's header, an id where there is none, and off it goes. */
#include <stdlib.h>

#include "client.h"
#include "resolver.h"

/* Puts an id in front of the other members: {"id":"...", and the document goes on. */
static orrery_status add_id(struct call *call, struct json document)
{
    char guid[GUID_SIZE + 1];

    env_guid(call->client->env, guid);
    call->body.size = 0;
    buf_printf(&call->body, "{\"id\":\"%s\"%s", guid, json_count(document) > 0 ? "," : "");
    json_print_members(&call->body, document);
    buf_byte(&call->body, '}');
    return call->body.failed ? client_no_memory(call->client) : ORRERY_OK;
}

/* The key's header out of the document, by the container's definition. */
static orrery_status key_of_document(struct call *call, const char *link, struct json document)
{
    const struct definition *definition = NULL;
    orrery_status status = definition_of(call->client, link, call_left_ms(call), &definition);
    struct buf key;

    if (status != ORRERY_OK)
        return status;
    buf_init(&key, &call->arena);
    status = definition_key(call->client, definition, document, &key);
    buf_byte(&key, '\0');
    if (status == ORRERY_OK && !key.failed && strcmp(definition->paths, "[]") != 0)
        call_header(call, "x-ms-documentdb-partitionkey", key.data);
    definition_release(call->client, definition);
    return status;
}

/* One request about an item, as the library's caller asked for it. */
struct request {
    enum method method;
    const char *link, *id; /* of the container, or for a new item of a database; id: NULL, the item is new */
    struct slice body;     /* data NULL: none */
    const orrery_key *key; /* NULL: the document has it */
    const orrery_options *options;
    bool upsert;
};

/* What must be known of the document before it is sent. If the key and the id were given, nothing is looked for in it. */
static orrery_status look_into(struct call *call, const struct request *request)
{
    struct slice text = buf_as_slice(&call->body);
    struct json document = json_undefined;
    orrery_status status;

    status = parse_json(&call->arena, text, &document);
    if (status != ORRERY_OK || json_kind(document) != JSON_OBJECT)
        return client_fail(call->client, status == ORRERY_ENOMEM ? status : ORRERY_EJSON,
                           "the document is no JSON object");
    status = request->key ? call_key(call, request->key) : key_of_document(call, request->link, document);
    if (status == ORRERY_OK && !request->id && !json_get(document, "id").at)
        status = add_id(call, document);
    return status;
}

/* A call for the items of a container, or for one of them; NULL: the client was told why. */
static struct call *call_for(orrery_client *client, const struct request *request, orrery_status *status)
{
    struct call *call = NULL;

    if (!link_is_collection(request->link)) {
        *status = client_refuse(client, ORRERY_EINVAL, "\"%s\" is no link of a container", request->link);
        return NULL;
    }
    call = call_new(client, request->method, request->options);
    *status = call ? call_child(call, request->link, "docs", request->id) : ORRERY_ENOMEM;
    if (*status == ORRERY_OK)
        return call;
    call_free(call);
    return NULL;
}

static orrery_status write_once(orrery_client *client, const struct request *request,
                                orrery_response **response)
{
    orrery_status status;
    struct call *call = call_for(client, request, &status);

    if (!call)
        return status;
    call_body(call, "application/json", request->body);
    if (request->upsert)
        call_header(call, "x-ms-documentdb-is-upsert", "true");
    status = call->body.failed ? client_no_memory(client) : look_into(call, request);
    if (status == ORRERY_OK)
        return call_dispatch(call, request->options, response);
    call_free(call);
    return status;
}

/*
 * The key was taken out of the document by an old definition: somebody has made the container anew. The server did
 * nothing, and the definition is forgotten by now.
 */
static bool had_old_definition(const orrery_client *client, const orrery_key *key, orrery_status status)
{
    return !key && status == ORRERY_EBADREQUEST && client->failed && client->failed->sub_status == 1001;
}

static bool begins(orrery_client *client, const void *needed, orrery_response **response)
{
    if (call_begins(client, response) && !needed)
        client_refuse(client, ORRERY_EINVAL, "an argument is NULL that must not be");
    return client && needed;
}

const orrery_options *options_bound(const orrery_client *client, const orrery_options *options,
                                    orrery_options *bounded)
{
    int asked_ms = OPTION(options, timeout_ms) > 0 ? OPTION(options, timeout_ms) : client->timeout_ms;

    if (client->write_ms_max == 0 || client->write_ms_max >= asked_ms ||
        (options && !struct_is_sized(options)))
        return options;
    *bounded = (orrery_options){ .size = 0 };
    if (options)
        memcpy(bounded, options, options->size < sizeof(*bounded) ? options->size : sizeof(*bounded));
    bounded->size = sizeof(*bounded);
    bounded->timeout_ms = client->write_ms_max;
    return bounded;
}

/* Creates and upserts. If the link is a database's, its resolver says which collection to write to. */
static orrery_status place_and_write(orrery_client *client, const struct request *request,
                                     orrery_response **response)
{
    struct request placed = *request;
    orrery_options bounded;
    char *collection = NULL;
    orrery_status status = resolver_place(client, request->link, request->body, &collection);

    if (collection) {
        placed.link = collection;
        placed.options = options_bound(client, request->options, &bounded);
    }
    if (status == ORRERY_OK)
        status = write_once(client, &placed, response);
    allocator_free(collection);
    return status;
}

/* A second attempt asks the resolver again, because the time for which its first answer held is used up. */
static orrery_status write_new(orrery_client *client, const struct request *request,
                               orrery_response **response)
{
    orrery_status status;

    if (!begins(client, request->link ? request->body.data : NULL, response))
        return ORRERY_EINVAL;
    status = place_and_write(client, request, response);
    if (had_old_definition(client, request->key, status))
        status = place_and_write(client, request, response);
    return status;
}

orrery_status orrery_item_create(orrery_client *client, const char *link, const char *json, size_t size,
                                 const orrery_key *key, const orrery_options *options,
                                 orrery_response **response)
{
    struct request create = { METHOD_POST, link, NULL, size_of(json, size), key, options, false };

    return write_new(client, &create, response);
}

orrery_status orrery_item_upsert(orrery_client *client, const char *link, const char *json, size_t size,
                                 const orrery_key *key, const orrery_options *options,
                                 orrery_response **response)
{
    struct request upsert = { METHOD_POST, link, NULL, size_of(json, size), key, options, true };

    return write_new(client, &upsert, response);
}

orrery_status orrery_item_replace(orrery_client *client, const char *container_link, const char *id,
                                  const char *json, size_t size, const orrery_key *key,
                                  const orrery_options *options, orrery_response **response)
{
    struct request replace = { METHOD_PUT, container_link, id, size_of(json, size), key, options, false };
    orrery_status status;

    if (!begins(client, container_link && id ? json : NULL, response))
        return ORRERY_EINVAL;
    status = write_once(client, &replace, response);
    if (had_old_definition(client, key, status))
        status = write_once(client, &replace, response);
    return status;
}

/* A container with a system key writes "none" in another way. Its definition is asked for only then. */
static orrery_status key_header(struct call *call, const char *link, const orrery_key *key)
{
    const struct definition *definition = NULL;
    orrery_key nothing = orrery_key_list(NULL, 0);
    orrery_status status;

    if (key->type != ORRERY_KEY_NONE)
        return call_key(call, key);
    status = definition_of(call->client, link, call_left_ms(call), &definition);
    if (status == ORRERY_OK)
        status = call_key(call, definition->system_key ? &nothing : key);
    definition_release(call->client, definition);
    return status;
}

static orrery_status by_id(orrery_client *client, const struct request *request, orrery_response **response)
{
    struct call *call;
    orrery_status status;

    if (!begins(client, request->link && request->id ? request->key : NULL, response))
        return ORRERY_EINVAL;
    call = call_for(client, request, &status);
    if (!call)
        return status;
    status = key_header(call, request->link, request->key);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    if (request->body.data)
        call_body(call, "application/json", request->body);
    return call_dispatch(call, request->options, response);
}

orrery_status orrery_item_read(orrery_client *client, const char *container_link, const char *id,
                               const orrery_key *key, const orrery_options *options,
                               orrery_response **response)
{
    struct request read = {
        .method = METHOD_GET, .link = container_link, .id = id, .key = key, .options = options
    };

    return by_id(client, &read, response);
}

orrery_status orrery_item_delete(orrery_client *client, const char *container_link, const char *id,
                                 const orrery_key *key, const orrery_options *options,
                                 orrery_response **response)
{
    struct request delete = {
        .method = METHOD_DELETE, .link = container_link, .id = id, .key = key, .options = options
    };

    return by_id(client, &delete, response);
}

orrery_status orrery_item_patch(orrery_client *client, const char *container_link, const char *id,
                                const orrery_key *key, const orrery_patch *patch,
                                const orrery_options *options, orrery_response **response)
{
    struct request request = { METHOD_PATCH, container_link, id, { 0 }, key, options, false };
    struct arena arena;
    struct buf text;
    orrery_status status;

    if (!begins(client, patch, response))
        return ORRERY_EINVAL;
    arena_init(&arena, SIZE_MAX);
    buf_init(&text, &arena);
    status = patch_print(patch, &text);
    request.body = buf_as_slice(&text);
    if (status != ORRERY_OK)
        status = client_refuse(client, status, "the patch: %s", orrery_status_text(status));
    else
        status = text.failed ? client_no_memory(client) : by_id(client, &request, response);
    arena_free(&arena);
    return status;
}
