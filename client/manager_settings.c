/* client/manager_settings.c - what a manager or a follower was told, with the defaults filled in. */
#include "hash_ring.h"
#include "manager.h"

static orrery_status copy_hash(struct manager_settings *settings, const orrery_hash_options *options)
{
    orrery_hash_options known = { .size = 0 };
    struct ring_shape shape;

    if ((options && !struct_take(&known, sizeof(known), options)) ||
        known.ring ==
            ORRERY_RING_NET_SEEDS || /* nobody could tell those of collections that are made later */
        ring_shape_of(&known, &shape) != ORRERY_OK)
        return ORRERY_EINVAL;
    settings->hash = shape.hash;
    settings->hash_options = (orrery_hash_options){ .size = sizeof(settings->hash_options),
                                                    .hash = &settings->hash,
                                                    .ring = shape.kind,
                                                    .virtual_nodes = shape.virtual_nodes };
    if (!settings->hash.name)
        return ORRERY_OK;
    settings->hash.name = memory_text_in(&settings->arena, slice_of(settings->hash.name));
    return settings->hash.name ? ORRERY_OK : ORRERY_ENOMEM;
}

static int64_t or_default(int value, int64_t standard)
{
    return value > 0 ? value : standard;
}

static orrery_status copy_texts(struct manager_settings *settings, const char *database_link,
                                const orrery_manager_options *options)
{
    const char *prefix =
        options->managed && options->managed->prefix ? options->managed->prefix : "ManagedHashCollection.";
    struct arena *arena = &settings->arena;
    char name[64];

    settings->remote.calls->name(settings->remote.self, name, sizeof(name));
    settings->database_link = memory_text_in(arena, link_trim(database_link));
    settings->prefix = memory_text_in(arena, slice_of(prefix));
    settings->owner = memory_text_in(arena, slice_of(options->owner ? options->owner : name));
    settings->makes_state = !options->state_link;
    if (options->state_link)
        settings->state_link = memory_text_in(arena, link_trim(options->state_link));
    else
        settings->state_link = collection_link(arena, database_link, "orrery.partitioning");
    return settings->database_link && settings->prefix && settings->owner && settings->state_link
               ? ORRERY_OK
               : ORRERY_ENOMEM;
}

/*
 * Copies both structs as this library knows them: the options, and the managed options that they point to, if any.
 */
static bool take_options(const orrery_manager_options *given, orrery_manager_options *options,
                         orrery_managed_options *managed)
{
    if (!given || !struct_take(options, sizeof(*options), given) || options->mode > ORRERY_READ_NONE)
        return false;
    if (!options->managed)
        return true;
    if (!struct_take(managed, sizeof(*managed), options->managed) || managed->count < 1 ||
        managed->count > RESOLVER_LINKS_MAX)
        return false;
    options->managed = managed;
    return !managed->self_links; /* names are chosen before there is a collection to ask for its self-link */
}

orrery_status settings_init(struct manager_settings *settings, struct remote remote,
                            const char *database_link, const orrery_manager_options *given)
{
    orrery_managed_options known_managed, *managed;
    orrery_manager_options known, *options = &known;
    orrery_status status;

    *settings = (struct manager_settings){ .remote = remote };
    arena_init(&settings->arena, RESOLVER_BYTES_MAX);
    if (!take_options(given, options, &known_managed))
        return ORRERY_EINVAL;
    managed = options->managed ? &known_managed : NULL;
    settings->count = managed ? managed->count : 1;
    settings->progress = options->progress;
    settings->context = options->context;
    if (!link_is_database(database_link) || (options->state_link && !link_is_collection(options->state_link)))
        return ORRERY_ELINK;
    settings->mode = options->mode;
    settings->lease_ms = or_default(options->lease_ms, 60 * 1000);
    settings->refresh_ms = or_default(options->refresh_ms, 1000);
    settings->grace_ms = or_default(options->grace_ms, 5000);
    if (settings->refresh_ms >= settings->grace_ms) /* nothing that a client knows would hold for any time */
        return ORRERY_EINVAL;
    status = extractor_copy(&settings->arena, options->extractor, &settings->extractor);
    if (status == ORRERY_OK)
        status = copy_texts(settings, database_link, options);
    if (status == ORRERY_OK)
        status = copy_hash(settings, managed ? managed->hash : NULL);
    if (status == ORRERY_OK)
        status = template_copy(&settings->arena, managed ? managed->collection : NULL, &settings->shape);
    return status;
}

void settings_free(struct manager_settings *settings)
{
    arena_free(&settings->arena);
}

orrery_status settings_ring(const struct manager_settings *settings, const char *const *links, size_t count,
                            orrery_resolver **resolver)
{
    return orrery_resolver_hash(&settings->extractor, links, count, &settings->hash_options, resolver);
}
