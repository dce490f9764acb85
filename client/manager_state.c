/* client/manager_state.c - the arrangement as an item: read, written with its ETag, turned into a resolver. */
#include <stdlib.h>

#include "base/encode.h"
#include "hash_ring.h"
#include "manager.h"
#include "state.h"

enum { ARRANGEMENT_VERSION = 1, HASH_HEX = 32 };

static const char *const phases[] = { "stable", "moving", "dropping" };

void arrangement_free(struct arrangement *arrangement)
{
    arena_free(&arrangement->arena);
    *arrangement = (struct arrangement){ .phase = PHASE_STABLE };
}

static void print_links(struct buf *out, const char *name, const char *const *links, size_t count)
{
    buf_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i ? "," : "");
        json_print_string(out, slice_of(links[i]));
    }
    buf_byte(out, ']');
}

static void print_text(struct buf *out, const char *name, struct slice text)
{
    buf_printf(out, ",\"%s\":", name);
    json_print_string(out, text);
}

static void print_intents(struct buf *out, const struct arrangement *arrangement)
{
    buf_text(out, ",\"intents\":[");
    for (size_t i = 0; i < arrangement->intent_count; i++) {
        const struct intent *intent = &arrangement->intent[i];

        buf_printf(out, "%s{\"who\":\"%016llx%016llx\",\"what\":\"%016llx%016llx\"}", i ? "," : "",
                   (unsigned long long)intent->who.h1, (unsigned long long)intent->who.h2,
                   (unsigned long long)intent->what.h1, (unsigned long long)intent->what.h2);
    }
    buf_byte(out, ']');
}

static void print_arrangement(struct buf *out, const struct arrangement *arrangement,
                              const struct manager_settings *settings)
{
    buf_text(out, "{\"id\":");
    json_print_string(out, slice_of(settings->prefix));
    buf_printf(out, ",\"version\":%d,\"phase\":\"%s\",\"mode\":\"%s\",\"nodes\":%d", ARRANGEMENT_VERSION,
               phases[arrangement->phase], state_mode_name(arrangement->mode),
               settings->hash_options.virtual_nodes);
    print_text(out, "hash", slice_of(settings->hash.name ? settings->hash.name : ""));
    if (ring_name(settings->hash_options.ring))
        print_text(out, "ring", slice_of(ring_name(settings->hash_options.ring)));
    print_links(out, "links", arrangement->link, arrangement->count);
    print_links(out, "next", arrangement->next, arrangement->next_count);
    print_text(out, "owner", arrangement->owner);
    buf_printf(out, ",\"until\":%lld,\"since\":%lld,\"grace\":%lld,\"seen\":%llu,\"moved\":%llu",
               (long long)arrangement->until_ms, (long long)arrangement->since_ms,
               (long long)arrangement->grace_ms, (unsigned long long)arrangement->seen,
               (unsigned long long)arrangement->moved);
    print_intents(out, arrangement);
    buf_byte(out, '}');
}

static bool read_text(struct arena *arena, struct json value, struct slice *text)
{
    char *copy = json_kind(value) == JSON_STRING ? memory_text_in(arena, json_string(value)) : NULL;

    *text = copy ? slice_make(copy, json_string(value).size) : slice_make("", 0);
    return copy;
}

static bool read_links(struct arena *arena, struct json array, const char ***links, size_t *count)
{
    *count = 0;
    if (json_kind(array) != JSON_ARRAY || json_count(array) > RESOLVER_LINKS_MAX)
        return false;
    *links = memory_list(arena, json_count(array), sizeof(**links));
    if (!*links)
        return false;
    for (struct json_iter i = json_iter(array); json_next(&i);) {
        struct slice text;

        if (!read_text(arena, i.value, &text) || !link_is_collection(text.data))
            return false;
        (*links)[(*count)++] = text.data;
    }
    return true;
}

static bool read_int(struct json value, int64_t *number)
{
    if (json_kind(value) != JSON_NUMBER || !json_is_int(value))
        return false;
    *number = json_int(value);
    return true;
}

static bool read_hash(struct json value, struct hash128 *hash)
{
    unsigned long long h1, h2;
    char text[HASH_HEX + 1];

    if (json_kind(value) != JSON_STRING || json_string(value).size != HASH_HEX)
        return false;
    memcpy(text, json_string(value).data, HASH_HEX);
    text[HASH_HEX] = '\0';
    if (strspn(text, "0123456789abcdef") != HASH_HEX || sscanf(text, "%16llx%16llx", &h1, &h2) != 2)
        return false;
    *hash = (struct hash128){ h1, h2 };
    return true;
}

static bool read_intents(struct arrangement *arrangement, struct json array)
{
    if (json_kind(array) != JSON_ARRAY)
        return false;
    arrangement->intent = memory_list(&arrangement->arena, json_count(array), sizeof(struct intent));
    if (!arrangement->intent)
        return false;
    for (struct json_iter i = json_iter(array); json_next(&i);) {
        struct intent *intent = &arrangement->intent[arrangement->intent_count];

        if (!read_hash(json_get(i.value, "who"), &intent->who) ||
            !read_hash(json_get(i.value, "what"), &intent->what))
            return false;
        arrangement->intent_count++;
    }
    arrangement->intent_capacity = arrangement->intent_count;
    return true;
}

static bool read_phase(struct arrangement *arrangement, struct json name)
{
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        if (json_kind(name) == JSON_STRING && slice_is(json_string(name), phases[i])) {
            arrangement->phase = (enum phase)i;
            return true;
        }
    return false;
}

static bool read_figures(struct arrangement *arrangement, const struct manager_settings *settings,
                         struct json item)
{
    int64_t seen, moved, version;

    if (!read_int(json_get(item, "version"), &version) || version != ARRANGEMENT_VERSION ||
        !read_int(json_get(item, "until"), &arrangement->until_ms) ||
        !read_int(json_get(item, "since"), &arrangement->since_ms) ||
        !read_int(json_get(item, "seen"), &seen) || !read_int(json_get(item, "moved"), &moved))
        return false;
    if (!read_int(json_get(item, "grace"),
                  &arrangement->grace_ms)) /* of a manager that did not write it down */
        arrangement->grace_ms = settings->grace_ms;
    arrangement->seen = (uint64_t)seen;
    arrangement->moved = (uint64_t)moved;
    return true;
}

/* Another hash would put every document elsewhere: whoever asks with one has made a mistake. */
static bool is_same_ring(const struct manager_settings *settings, struct json item)
{
    struct json hash = json_get(item, "hash"), ring = json_get(item, "ring");
    orrery_ring kind = ORRERY_RING_COMMON;
    int64_t nodes;

    if (json_kind(ring) != JSON_UNDEFINED &&
        (json_kind(ring) != JSON_STRING || !ring_of_name(json_string(ring), &kind)))
        return false;
    return kind == settings->hash_options.ring && json_kind(hash) == JSON_STRING &&
           read_int(json_get(item, "nodes"), &nodes) &&
           slice_is(json_string(hash), settings->hash.name ? settings->hash.name : "") &&
           nodes == settings->hash_options.virtual_nodes;
}

static bool read_members(struct arrangement *arrangement, const struct manager_settings *settings,
                         struct json item)
{
    struct arena *arena = &arrangement->arena;
    struct json mode = json_get(item, "mode");

    return is_same_ring(settings, item) && read_phase(arrangement, json_get(item, "phase")) &&
           read_figures(arrangement, settings, item) && json_kind(mode) == JSON_STRING &&
           state_mode_of(json_string(mode), &arrangement->mode) &&
           read_links(arena, json_get(item, "links"), &arrangement->link, &arrangement->count) &&
           read_links(arena, json_get(item, "next"), &arrangement->next, &arrangement->next_count) &&
           read_text(arena, json_get(item, "owner"), &arrangement->owner) &&
           read_intents(arrangement, json_get(item, "intents")) && arrangement->count > 0;
}

static orrery_status note_etag(struct arrangement *arrangement, struct slice etag)
{
    if (etag.size >= sizeof(arrangement->etag))
        return ORRERY_EIO;
    if (etag.size)
        memcpy(arrangement->etag, etag.data, etag.size);
    arrangement->etag[etag.size] = '\0';
    return ORRERY_OK;
}

/* The item that an arrangement is written into. */
static struct remote_item state_item(const struct manager_settings *settings, const orrery_key *key)
{
    return (struct remote_item){ .link = settings->state_link, .id = settings->prefix, .key = key };
}

orrery_status arrangement_read(struct arrangement *arrangement, const struct manager_settings *settings)
{
    const struct remote *remote = &settings->remote;
    orrery_key key = orrery_key_text(settings->prefix);
    struct remote_item item = state_item(settings, &key);
    struct remote_answer answer;
    orrery_status status;

    arrangement_free(arrangement);
    arena_init(&arrangement->arena, MANAGER_BYTES_MAX);
    status = remote->calls->item_read(remote->self, &arrangement->arena, &item, &answer);
    if (status != ORRERY_OK)
        return status;
    status = note_etag(arrangement, answer.etag);
    if (status != ORRERY_OK)
        return status;
    return read_members(arrangement, settings, answer.body) ? ORRERY_OK : ORRERY_ESTATE;
}

/* if_match: the ETag of the item that is replaced; NULL: there is none yet, and it is created. */
static orrery_status send_arrangement(struct arrangement *arrangement,
                                      const struct manager_settings *settings, const char *if_match)
{
    const struct remote *remote = &settings->remote;
    orrery_key key = orrery_key_text(settings->prefix);
    struct remote_item item = state_item(settings, &key);
    struct remote_answer answer;
    struct arena arena;
    struct buf text;
    orrery_status status = ORRERY_ENOMEM;

    item.if_match = if_match;
    arena_init(&arena, MANAGER_BYTES_MAX);
    buf_init(&text, &arena);
    print_arrangement(&text, arrangement, settings);
    if (!text.failed)
        status = (if_match ? remote->calls->item_replace : remote->calls->item_create)(
            remote->self, &arena, &item, buf_as_slice(&text), &answer);
    if (status == ORRERY_OK)
        status = note_etag(arrangement, answer.etag);
    arena_free(&arena);
    return status;
}

orrery_status arrangement_create(struct arrangement *arrangement, const struct manager_settings *settings)
{
    return send_arrangement(arrangement, settings, NULL);
}

orrery_status busy(const struct manager_settings *settings, const char *why)
{
    const struct remote *remote = &settings->remote;

    if (remote->calls->explain)
        remote->calls->explain(remote->self, ORRERY_EBUSY, why);
    return ORRERY_EBUSY;
}

orrery_status arrangement_write(struct arrangement *arrangement, const struct manager_settings *settings)
{
    orrery_status status = send_arrangement(arrangement, settings, arrangement->etag);

    if (status == ORRERY_EPRECONDITION || status == ORRERY_ENOTFOUND)
        return busy(settings, "another manager has written the arrangement since this one read it");
    return status;
}

static bool has_link(const char *const *links, size_t count, const char *link)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(links[i], link) == 0)
            return true;
    return false;
}

/*
 * The current ring, with the collections that lose documents in front: who reads in this order meets each document
 * at least once.
 */
static orrery_status current_ring(const struct arrangement *arrangement,
                                  const struct manager_settings *settings, orrery_resolver **resolver)
{
    const char **ordered = allocator_zeroed(arrangement->count, sizeof(*ordered));
    size_t count = 0;
    orrery_status status;

    if (!ordered)
        return ORRERY_ENOMEM;
    for (int kept = 0; kept < 2; kept++)
        for (size_t i = 0; i < arrangement->count; i++)
            if (has_link(arrangement->next, arrangement->next_count, arrangement->link[i]) == kept)
                ordered[count++] = arrangement->link[i];
    status = settings_ring(settings, ordered, count, resolver);
    allocator_free(ordered);
    return status;
}

orrery_status arrangement_resolver(const struct arrangement *arrangement,
                                   const struct manager_settings *settings, orrery_resolver **resolver)
{
    orrery_resolver *current = NULL, *next = NULL;
    orrery_status status;

    *resolver = NULL;
    if (arrangement->phase != PHASE_MOVING)
        return settings_ring(settings, arrangement->link, arrangement->count, resolver);
    status = current_ring(arrangement, settings, &current);
    if (status == ORRERY_OK)
        status = settings_ring(settings, arrangement->next, arrangement->next_count, &next);
    if (status == ORRERY_OK)
        status = orrery_resolver_transition(current, next, arrangement->mode, resolver);
    orrery_resolver_unref(current);
    orrery_resolver_unref(next);
    return status;
}
