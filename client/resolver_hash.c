/* client/resolver_hash.c - documents by the hash of their key, on a ring of collections. */
#include <stdlib.h>

#include "hash_ring.h"
#include "state.h"

struct hash_resolver {
    struct arena arena;
    orrery_extractor extractor;
    const char **link;
    size_t count;
    struct ring_shape shape;
    uint32_t *seeds; /* of the links, where the caller gave them */
    struct ring ring;
};

static orrery_status hash_key(void *self, orrery_value document, orrery_held_key *key)
{
    struct hash_resolver *resolver = self;

    return extractor_run(&resolver->extractor, document, key);
}

static orrery_status hash_create(void *self, const orrery_key *key, orrery_links *links)
{
    struct hash_resolver *resolver = self;
    orrery_status status;
    size_t found;

    if (key_is_absent(key))
        return ORRERY_ENOKEY;
    if (key->type != ORRERY_KEY_TEXT || !key->text)
        return ORRERY_EKEYTYPE;
    status = ring_find(&resolver->ring, slice_make(key->text, key->size), &found);
    return status == ORRERY_OK ? orrery_links_add(links, resolver->link[found]) : status;
}

static orrery_status hash_read(void *self, const orrery_key *key, orrery_links *links)
{
    struct hash_resolver *resolver = self;
    orrery_status status = ORRERY_OK;

    if (!key_is_absent(key))
        return hash_create(self, key, links);
    for (size_t i = 0; i < resolver->count && status == ORRERY_OK; i++)
        status = orrery_links_add(links, resolver->link[i]);
    return status;
}

static void save_seeds(struct state_writer *writer, const struct hash_resolver *resolver)
{
    state_name(writer, "Seeds");
    for (size_t i = 0; i < resolver->count; i++)
        buf_printf(&writer->out, "%c%u", i ? ',' : '[', resolver->seeds[i]);
    buf_byte(&writer->out, ']');
}

static orrery_status hash_save(void *self, char **json)
{
    struct hash_resolver *resolver = self;
    struct state_writer writer;

    state_begin(&writer, "Hash");
    state_extractor(&writer, &resolver->extractor);
    state_number(&writer, "NumberOfVirtualNodesPerCollection", resolver->shape.virtual_nodes);
    if (ring_name(resolver->shape.kind))
        state_text(&writer, "Ring", slice_of(ring_name(resolver->shape.kind)));
    if (resolver->seeds)
        save_seeds(&writer, resolver);
    if (!resolver->ring.hash.name) /* whoever reads it could not tell which hash to use */
        writer.status = ORRERY_ESTATE;
    else
        state_text(&writer, "HashAlgorithm", slice_of(resolver->ring.hash.name));
    state_bool(&writer, "MostSignificantByteFirst", resolver->ring.hash.msb_first);
    state_name(&writer, "CollectionLinks");
    buf_byte(&writer.out, '[');
    for (size_t i = 0; i < resolver->count; i++) {
        buf_text(&writer.out, i ? "," : "");
        json_print_string(&writer.out, slice_of(resolver->link[i]));
    }
    buf_byte(&writer.out, ']');
    return state_end(&writer, json);
}

static void hash_destroy(void *self)
{
    struct hash_resolver *resolver = self;

    arena_free(&resolver->arena);
    allocator_free(resolver);
}

static const orrery_resolver_vtbl hash_calls = {
    .size = sizeof(hash_calls), hash_key, hash_create, hash_read, hash_save, hash_destroy
};

/* Copies the links, each once: a second one would only add the same points. Their seeds go along. */
static orrery_status copy_links(struct hash_resolver *resolver, const char *const *links, size_t count)
{
    const uint32_t *seeds = resolver->shape.seeds;

    resolver->link = memory_list(&resolver->arena, count, sizeof(*resolver->link));
    resolver->seeds = seeds ? memory_list(&resolver->arena, count, sizeof(*seeds)) : NULL;
    if (!resolver->link || (seeds && !resolver->seeds))
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        bool is_known = false;

        if (!link_is_collection(links[i]))
            return ORRERY_ELINK;
        for (size_t j = 0; j < resolver->count && !is_known; j++)
            is_known = strcmp(resolver->link[j], links[i]) == 0;
        if (is_known)
            continue;
        if (seeds)
            resolver->seeds[resolver->count] = seeds[i];
        resolver->link[resolver->count] = memory_text_in(&resolver->arena, slice_of(links[i]));
        if (!resolver->link[resolver->count++])
            return ORRERY_ENOMEM;
    }
    return ORRERY_OK;
}

/* The shape, with a name of the hash that is the arena's. */
static orrery_status copy_shape(struct hash_resolver *resolver, const orrery_hash_options *options)
{
    orrery_hash *hash = &resolver->shape.hash;
    orrery_status status = ring_shape_of(options, &resolver->shape);

    if (status != ORRERY_OK || !hash->name)
        return status;
    hash->name = memory_text_in(&resolver->arena, slice_of(hash->name));
    return hash->name ? ORRERY_OK : ORRERY_ENOMEM;
}

static orrery_status fill(struct hash_resolver *resolver, const orrery_extractor *extractor,
                          const char *const *links, size_t count, const orrery_hash_options *options)
{
    orrery_status status = extractor_copy(&resolver->arena, extractor, &resolver->extractor);

    if (status == ORRERY_OK)
        status = copy_shape(resolver, options);
    if (status == ORRERY_OK)
        status = copy_links(resolver, links, count);
    if (status != ORRERY_OK)
        return status;
    resolver->shape.seeds = resolver->seeds;
    return ring_init(&resolver->ring, &resolver->arena, &resolver->shape, resolver->link, resolver->count);
}

orrery_status orrery_resolver_hash(const orrery_extractor *extractor, const char *const *links, size_t count,
                                   const orrery_hash_options *options, orrery_resolver **resolver)
{
    orrery_hash_options known;
    struct hash_resolver *made;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!links || count == 0 || count > RESOLVER_LINKS_MAX ||
        (options && !struct_take(&known, sizeof(known), options)))
        return ORRERY_EINVAL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    arena_init(&made->arena, RESOLVER_BYTES_MAX);
    status = fill(made, extractor, links, count, options ? &known : NULL);
    if (status == ORRERY_OK)
        status = orrery_resolver_custom(&hash_calls, made, resolver);
    if (status != ORRERY_OK)
        hash_destroy(made);
    return status;
}
