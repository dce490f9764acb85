/* client/resource.c - everything that has a link and is no item: databases, containers, scripts, users, offers. */
#include <stdlib.h>

#include "client.h"

/* One request about a resource, as the library's caller asked for it. */
struct request {
    enum method method;
    const char *link, *kind; /* kind: of what is made under the link; NULL: the link itself is meant */
    struct slice body;       /* data NULL: none */
    const orrery_options *options;
    bool upsert;
};

/* A call with a link and perhaps a body, up to where it can be sent; NULL: client_fail() was told why. */
static struct call *begin(orrery_client *client, const struct request *request, orrery_status *status)
{
    struct call *call = call_new(client, request->method, request->options);

    if (!call)
        *status = ORRERY_ENOMEM;
    else if (request->kind)
        *status = call_child(call, request->link, request->kind, NULL);
    else
        *status = call_target(call, request->link);
    if (*status == ORRERY_OK && request->body.data)
        call_body(call, "application/json", request->body);
    if (*status == ORRERY_OK)
        return call;
    call_free(call);
    return NULL;
}

/* For what makes databases and containers; the server passes them over elsewhere. */
static orrery_status offer_headers(struct call *call, const orrery_options *options)
{
    int fixed = OPTION(options, throughput), maximum = OPTION(options, throughput_max);
    char text[64];

    if (fixed && maximum)
        return client_fail(call->client, ORRERY_EINVAL, "throughput and throughput_max exclude each other");
    if (fixed)
        call_header_int(call, "x-ms-offer-throughput", fixed);
    snprintf(text, sizeof(text), "{\"maxThroughput\":%d}", maximum);
    call_header(call, "x-ms-cosmos-offer-autopilot-settings", maximum ? text : NULL);
    return ORRERY_OK;
}

static orrery_status send_request(orrery_client *client, const struct request *request,
                                  orrery_response **response)
{
    struct call *call;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    call = begin(client, request, &status);
    if (!call)
        return status;
    if (request->upsert)
        call_header(call, "x-ms-documentdb-is-upsert", "true");
    status = request->method == METHOD_POST ? offer_headers(call, request->options) : ORRERY_OK;
    if (status == ORRERY_OK)
        return call_dispatch(call, request->options, response);
    call_free(call);
    return status;
}

static orrery_status send_json(orrery_client *client, const struct request *request,
                               orrery_response **response)
{
    if (call_begins(client, response) && !request->body.data)
        return client_refuse(client, ORRERY_EINVAL, "there is no body");
    return send_request(client, request, response);
}

orrery_status orrery_create(orrery_client *client, const char *feed_link, const char *json, size_t size,
                            const orrery_options *options, orrery_response **response)
{
    struct request create = { METHOD_POST, feed_link, NULL, size_of(json, size), options, false };

    return send_json(client, &create, response);
}

orrery_status orrery_upsert(orrery_client *client, const char *feed_link, const char *json, size_t size,
                            const orrery_options *options, orrery_response **response)
{
    struct request upsert = { METHOD_POST, feed_link, NULL, size_of(json, size), options, true };

    return send_json(client, &upsert, response);
}

orrery_status orrery_replace(orrery_client *client, const char *link, const char *json, size_t size,
                             const orrery_options *options, orrery_response **response)
{
    struct request replace = { METHOD_PUT, link, NULL, size_of(json, size), options, false };

    return send_json(client, &replace, response);
}

orrery_status orrery_read(orrery_client *client, const char *link, const orrery_options *options,
                          orrery_response **response)
{
    struct request read = { .method = METHOD_GET, .link = link, .options = options };

    return send_request(client, &read, response);
}

orrery_status orrery_delete(orrery_client *client, const char *link, const orrery_options *options,
                            orrery_response **response)
{
    struct request delete = { .method = METHOD_DELETE, .link = link, .options = options };

    return send_request(client, &delete, response);
}

/* ---- databases and containers */

/* The request has no body yet: it is what was written. */
static orrery_status send_written(orrery_client *client, const struct request *request, orrery_writer *writer,
                                  orrery_response **response)
{
    orrery_status status = orrery_writer_status(writer);
    struct call *call;
    size_t size = 0;
    const char *text = orrery_writer_text(writer, &size);

    if (status != ORRERY_OK)
        return client_refuse(client, status, "a policy is no JSON, or there is no id");
    call = begin(client, request, &status);
    if (!call)
        return status;
    status = offer_headers(call, request->options);
    if (status != ORRERY_OK) {
        call_free(call);
        return status;
    }
    call_body(call, "application/json", slice_make(text, size));
    return call_dispatch(call, request->options, response);
}

orrery_status orrery_database_create(orrery_client *client, const char *id, const orrery_options *options,
                                     orrery_response **response)
{
    struct request create = { .method = METHOD_POST, .link = "dbs", .options = options };
    orrery_writer *writer = NULL;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    if (!id || !*id)
        return client_refuse(client, ORRERY_EINVAL, "a database has an id");
    orrery_writer_new(&writer);
    orrery_write_object(writer);
    orrery_write_name(writer, "id");
    orrery_write_string(writer, id, ORRERY_TEXT);
    orrery_write_end(writer);
    status = send_written(client, &create, writer, response);
    orrery_writer_free(writer);
    return status;
}

struct policy {
    const char *name;
    size_t offset;
};

static const struct policy policies[] = {
    { "indexingPolicy", offsetof(orrery_container, indexing_policy) },
    { "uniqueKeyPolicy", offsetof(orrery_container, unique_key_policy) },
    { "conflictResolutionPolicy", offsetof(orrery_container, conflict_resolution_policy) },
    { "computedProperties", offsetof(orrery_container, computed_properties) },
    { "vectorEmbeddingPolicy", offsetof(orrery_container, vector_embedding_policy) },
    { "changeFeedPolicy", offsetof(orrery_container, change_feed_policy) },
};

static void write_partition_key(orrery_writer *writer, const orrery_container *container)
{
    size_t count = 0;

    orrery_write_name(writer, "partitionKey");
    orrery_write_object(writer);
    orrery_write_name(writer, "paths");
    orrery_write_array(writer);
    while (count < 3 && container->partition_key[count])
        orrery_write_string(writer, container->partition_key[count++], ORRERY_TEXT);
    orrery_write_end(writer);
    orrery_write_name(writer, "kind");
    orrery_write_string(writer, count > 1 ? "MultiHash" : "Hash", ORRERY_TEXT);
    orrery_write_name(writer, "version");
    orrery_write_int(writer, 2);
    orrery_write_end(writer);
}

static void write_container(orrery_writer *writer, const orrery_container *container)
{
    orrery_write_object(writer);
    orrery_write_name(writer, "id");
    orrery_write_string(writer, container->id, ORRERY_TEXT);
    if (container->partition_key[0])
        write_partition_key(writer, container);
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        const char *text;

        if (container->size < policies[i].offset + sizeof(text))
            continue;
        memcpy(&text, (const char *)container + policies[i].offset, sizeof(text));
        if (!text)
            continue;
        orrery_write_name(writer, policies[i].name);
        orrery_write_json(writer, text, ORRERY_TEXT);
    }
    if (container->size >= sizeof(*container) && container->default_ttl) {
        orrery_write_name(writer, "defaultTtl");
        orrery_write_int(writer, container->default_ttl);
    }
    orrery_write_end(writer);
}

static orrery_status send_container(orrery_client *client, const struct request *request,
                                    const orrery_container *container, orrery_response **response)
{
    orrery_writer *writer = NULL;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    if (container && !struct_is_sized(container))
        return client_refuse(client, ORRERY_EINVAL,
                             "a container begins with its size: { .size = sizeof(container), ... }");
    if (!container || !container->id || !*container->id || !request->link)
        return client_refuse(client, ORRERY_EINVAL, "a container has an id and a link");
    orrery_writer_new(&writer);
    write_container(writer, container);
    status = send_written(client, request, writer, response);
    orrery_writer_free(writer);
    return status;
}

orrery_status orrery_container_create(orrery_client *client, const char *database_link,
                                      const orrery_container *container, const orrery_options *options,
                                      orrery_response **response)
{
    struct request create = {
        .method = METHOD_POST, .link = database_link, .kind = "colls", .options = options
    };

    return send_container(client, &create, container, response);
}

orrery_status orrery_container_replace(orrery_client *client, const char *container_link,
                                       const orrery_container *container, const orrery_options *options,
                                       orrery_response **response)
{
    struct request replace = { .method = METHOD_PUT, .link = container_link, .options = options };

    return send_container(client, &replace, container, response);
}

/* ---- stored procedures */

orrery_status orrery_procedure_run(orrery_client *client, const char *procedure_link, const orrery_key *key,
                                   const char *arguments_json, const orrery_options *options,
                                   orrery_response **response)
{
    struct slice arguments = slice_of(arguments_json ? arguments_json : "[]");
    struct request run = { METHOD_POST, procedure_link, NULL, arguments, options, false };
    struct json list = json_undefined;
    struct call *call;
    orrery_status status;

    if (!call_begins(client, response))
        return ORRERY_EINVAL;
    call = begin(client, &run, &status);
    if (!call)
        return status;
    if (strcmp(call->target.type, "sprocs") != 0)
        status = client_fail(client, ORRERY_EINVAL, "\"%s\" is no link of a procedure", procedure_link);
    else
        status = parse_json(&call->arena, arguments, &list);
    if (status == ORRERY_EJSON || (status == ORRERY_OK && json_kind(list) != JSON_ARRAY))
        status = client_fail(client, ORRERY_EJSON, "a procedure's arguments are a JSON array");
    if (status == ORRERY_OK)
        status = call_key(call, key);
    if (status == ORRERY_OK)
        return call_dispatch(call, options, response);
    call_free(call);
    return status;
}
