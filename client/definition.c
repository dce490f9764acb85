/* client/definition.c - what containers are partitioned by: read when it is first needed, then remembered. */
#include <stdlib.h>

#include "client.h"
#include "resolver.h"

/* Of a definition that is in no list any more: the list's reference, or a caller's. */
static void release(struct definition *definition)
{
    if (!definition || --definition->references > 0)
        return;
    allocator_free(definition->link);
    allocator_free(definition->rid);
    allocator_free(definition->paths);
    allocator_free(definition->list);
    allocator_free(definition);
}

void definition_release(orrery_client *client, const struct definition *definition)
{
    share_lock(client);
    release((struct definition *)definition);
    share_unlock(client);
}

static struct definition **find(orrery_client *client, struct slice link)
{
    struct definition **at = &client->share->definitions;

    while (*at && !slice_is(link, (*at)->link))
        at = &(*at)->next;
    return at;
}

void definition_forget(orrery_client *client, struct slice link)
{
    struct definition **at, *gone;

    share_lock(client);
    at = find(client, link);
    gone = *at;
    if (gone)
        *at = gone->next;
    release(gone);
    share_unlock(client);
}

void definition_forget_database(orrery_client *client, struct slice database)
{
    share_lock(client);
    for (struct definition **at = &client->share->definitions, *one; (one = *at);)
        if (link_lies_in(one->link, database)) {
            *at = one->next;
            release(one);
        } else {
            at = &one->next;
        }
    share_unlock(client);
}

bool definition_is_same(const orrery_client *client, struct slice link, struct slice other)
{
    const struct definition *a, *b;
    bool is_same;

    share_lock(client);
    a = *find((orrery_client *)client, link);
    b = *find((orrery_client *)client, other);
    is_same = a && b && a->version == b->version && strcmp(a->paths, b->paths) == 0;
    share_unlock(client);
    return is_same;
}

void definition_free(orrery_share *share)
{
    while (share->definitions) {
        struct definition *gone = share->definitions;

        share->definitions = gone->next;
        release(gone);
    }
}

static char *print_copy(struct arena *arena, struct json value)
{
    struct buf out;

    buf_init(&out, arena);
    if (value.at)
        json_print(&out, value);
    else
        buf_text(&out, "[]");
    return out.failed ? NULL : memory_text(buf_as_slice(&out));
}

/* The bytes of the value that a text is, which need no arena. NULL: no memory. */
static char *parsed_copy(struct arena *arena, const char *text)
{
    struct json value = json_undefined;

    if (!text || parse_json(arena, slice_of(text), &value) != ORRERY_OK)
        return NULL;
    return memory_text(json_bytes(value));
}

static struct definition *read_body(struct arena *arena, struct slice link, struct json body)
{
    struct definition *made = allocator_zeroed(1, sizeof(*made));
    struct json key = json_get(body, "partitionKey"), version = json_get(key, "version"),
                rid = json_get(body, "_rid"), kind = json_get(key, "kind");
    struct slice rid_text = json_kind(rid) == JSON_STRING ? json_string(rid) : slice_of("");

    if (!made)
        return NULL;
    made->references = 1;
    made->link = memory_text(link);
    made->rid = memory_text(rid_text);
    made->paths = print_copy(arena, json_get(key, "paths"));
    made->system_key = json_kind(json_get(key, "systemKey")) == JSON_TRUE;
    made->version = json_kind(version) == JSON_NUMBER && json_double(version) == 2 ? 2 : 1;
    if (json_kind(kind) == JSON_STRING && slice_is(json_string(kind), "MultiHash"))
        made->version = 3;
    made->list = parsed_copy(arena, made->paths);
    if (made->link && made->rid && made->paths && made->list)
        return made;
    release(made);
    return NULL;
}

static orrery_status take_body(orrery_client *client, struct slice link, const orrery_response *response,
                               const struct definition **definition)
{
    struct arena arena;
    struct definition *made = NULL;
    struct json body = json_undefined;
    orrery_status status;

    arena_init(&arena, SIZE_MAX);
    status = parse_json(&arena, slice_make(response->body, response->body_bytes), &body);
    if (status == ORRERY_OK && !(made = read_body(&arena, link, body)))
        status = ORRERY_ENOMEM;
    arena_free(&arena);
    if (status != ORRERY_OK)
        return client_fail(client, status, "the container's definition: %s", orrery_status_text(status));
    share_lock(client);
    definition_forget(client, link);
    made->next = client->share->definitions;
    client->share->definitions = made;
    made->references++; /* the caller's */
    share_unlock(client);
    *definition = made;
    return ORRERY_OK;
}

/* What is known of it, with a reference for the caller; NULL: nothing is. */
static const struct definition *held(orrery_client *client, struct slice link)
{
    struct definition *found;

    share_lock(client);
    found = *find(client, link);
    if (found)
        found->references++;
    share_unlock(client);
    return found;
}

orrery_status definition_of(orrery_client *client, const char *link, int timeout_ms,
                            const struct definition **definition)
{
    orrery_options options = { .size = sizeof(options), .timeout_ms = timeout_ms };
    orrery_response *response = NULL;
    struct target target;
    struct arena arena;
    orrery_status status;

    arena_init(&arena, SIZE_MAX);
    status = link_target(&arena, link, link ? strlen(link) : 0, &target);
    arena_free(&arena);
    if (status == ORRERY_ENOMEM)
        return client_no_memory(client);
    if (status != ORRERY_OK || target.container.size == 0)
        return client_refuse(client, ORRERY_EINVAL, "\"%s\" is no link of a container",
                             link ? link : "(null)");
    *definition = held(client, target.container);
    if (*definition)
        return ORRERY_OK;
    status = orrery_read(client, link, &options, &response);
    if (status == ORRERY_OK)
        status = take_body(client, target.container, response, definition);
    orrery_response_free(response);
    return status;
}

/* "/a/\"b c\"/d": the next name, without quotes; false behind the last. */
static bool next_name(struct slice *path, struct slice *name)
{
    const char *end;

    if (path->size < 2 || path->data[0] != '/')
        return false;
    *path = slice_after(*path, 1);
    if (path->data[0] == '"' && (end = memchr(path->data + 1, '"', path->size - 1))) {
        *name = slice_make(path->data + 1, (size_t)(end - path->data) - 1);
        *path = slice_after(*path, name->size + 2);
        return true;
    }
    end = memchr(path->data, '/', path->size);
    *name = slice_make(path->data, end ? (size_t)(end - path->data) : path->size);
    *path = slice_after(*path, name->size);
    return true;
}

static struct json at_path(struct json document, struct slice path)
{
    struct slice name;

    while (next_name(&path, &name))
        document = json_member(document, name);
    return document;
}

orrery_status definition_key(orrery_client *client, const struct definition *definition, struct json document,
                             struct buf *out)
{
    enum { LEVELS_MAX = 8 };
    orrery_key levels[LEVELS_MAX], key;
    struct json paths = { .at = (const uint8_t *)definition->list };
    size_t count = 0;

    for (struct json_iter i = json_iter(paths); json_next(&i) && count < LEVELS_MAX;)
        if (json_kind(i.value) == JSON_STRING)
            levels[count++] = key_of_value(at_path(document, json_string(i.value)));
    key = orrery_key_list(levels, count);
    if (definition->system_key && count == 1 && levels[0].type == ORRERY_KEY_NONE)
        key.count = 0;
    key_print(out, &key);
    return out->failed ? client_no_memory(client) : ORRERY_OK;
}
