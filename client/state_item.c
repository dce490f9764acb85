/* client/state_item.c - a resolver's state in an item of a container that is partitioned by /id. */
#include <stdlib.h>

#include "client.h"
#include "state.h"

static orrery_status print_item(struct buf *out, const char *id, const char *state)
{
    buf_text(out, "{\"id\":");
    json_print_string(out, slice_of(id));
    buf_text(out, ",\"resolver\":");
    buf_text(out, state);
    buf_byte(out, '}');
    return out->failed ? ORRERY_ENOMEM : ORRERY_OK;
}

orrery_status orrery_resolver_save_item(orrery_resolver *resolver, orrery_client *client,
                                        const char *container_link, const char *id)
{
    orrery_key key = orrery_key_text(id);
    struct arena arena;
    struct buf item;
    char *state = NULL;
    orrery_status status;

    if (!client || !id || !link_is_collection(container_link))
        return ORRERY_EINVAL;
    client_begin(client);
    status = orrery_resolver_save(resolver, &state);
    if (status != ORRERY_OK)
        return client_fail(client, status, "the resolver: %s", orrery_status_text(status));
    arena_init(&arena, SCRATCH_BYTES_MAX);
    buf_init(&item, &arena);
    status = print_item(&item, id, state);
    if (status == ORRERY_OK)
        status = orrery_item_upsert(client, container_link, item.data, item.size, &key, NULL, NULL);
    arena_free(&arena);
    allocator_free(state);
    return status;
}

orrery_status orrery_resolver_load_item(orrery_client *client, const char *container_link, const char *id,
                                        const orrery_load_options *options, orrery_resolver **resolver)
{
    orrery_key key = orrery_key_text(id);
    orrery_response *response = NULL;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!client || !id || !link_is_collection(container_link))
        return ORRERY_EINVAL;
    status = orrery_item_read(client, container_link, id, &key, NULL, &response);
    if (status == ORRERY_OK) {
        orrery_value root = orrery_response_json(response);
        struct json state = json_get(value_json(root), "resolver");

        status = resolver_load_json(state, options, resolver);
        if (status != ORRERY_OK)
            status = client_fail(client, status, "the item \"%s\": %s", id, orrery_status_text(status));
    }
    orrery_response_free(response);
    return status;
}
