/* client/region.c - which of the account's regions requests go to. */
#include <stdlib.h>

#include "transaction.h"

/* The location of that name, in any case of letters. */
static orrery_value find(orrery_value locations, const char *name)
{
    for (size_t i = 0; i < orrery_value_count(locations); i++) {
        orrery_value location = orrery_value_element(locations, i);
        const char *other = orrery_value_text(orrery_value_member(location, "name"), NULL);

        if (slice_is_nocase(slice_of(other), name))
            return location;
    }
    return (orrery_value){ NULL };
}

/* The first of the names that is there, or else the first that is there. */
static orrery_value choose(orrery_value locations, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        orrery_value location = names[i] ? find(locations, names[i]) : (orrery_value){ NULL };

        if (location.at)
            return location;
    }
    return orrery_value_element(locations, 0);
}

static const char *endpoint_of(orrery_value location)
{
    return orrery_value_text(orrery_value_member(location, "databaseAccountEndpoint"), NULL);
}

static bool is_endpoint(orrery_value location)
{
    const char *url = endpoint_of(location);

    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

static char *copy_endpoint(orrery_value location)
{
    struct slice url = slice_of(endpoint_of(location));

    while (url.size > 0 && url.data[url.size - 1] == '/')
        url.size--;
    return memory_text(url);
}

/* Writes go to the account's first region for them, unless it has several. */
static orrery_status use(orrery_client *client, orrery_value account, const char *const *names, size_t count)
{
    bool several = orrery_value_bool(orrery_value_member(account, "enableMultipleWriteLocations"));
    orrery_value reads = choose(orrery_value_member(account, "readableLocations"), names, count),
                 writes =
                     choose(orrery_value_member(account, "writableLocations"), names, several ? count : 0);
    char *read_endpoint, *write_endpoint;

    if (!is_endpoint(reads) || !is_endpoint(writes))
        return client_fail(client, ORRERY_EJSON, "the account has no regions that can be read and written");
    read_endpoint = copy_endpoint(reads);
    write_endpoint = copy_endpoint(writes);
    if (!read_endpoint || !write_endpoint) {
        allocator_free(read_endpoint);
        allocator_free(write_endpoint);
        return client_no_memory(client);
    }
    allocator_free(client->read_endpoint);
    allocator_free(client->write_endpoint);
    client->read_endpoint = read_endpoint;
    client->write_endpoint = write_endpoint;
    return ORRERY_OK;
}

orrery_status orrery_regions_use(orrery_client *client, const char *const *names, size_t count)
{
    orrery_response *response = NULL;
    orrery_status status;

    if (!client || (count > 0 && !names))
        return ORRERY_EINVAL;
    if (!*client->endpoint)
        return client_refuse(client, ORRERY_EUNSUPPORTED, "a database inside the program has no regions");
    status = orrery_read(client, "", NULL, &response);
    if (status == ORRERY_OK)
        status = use(client, orrery_response_json(response), names, count);
    orrery_response_free(response);
    return status;
}

/* Transactions go to where writes go, those that read too: there is the one who has their tokens. */
const char *region_endpoint(const struct call *call)
{
    const orrery_client *client = call->client;
    bool reads = (call->method == METHOD_GET || call->repeatable) && call->kind != &transaction_kind;
    const char *endpoint = reads ? client->read_endpoint : client->write_endpoint;

    return endpoint && *call->target.type ? endpoint
                                          : client->endpoint; /* the account is asked where it was first */
}
