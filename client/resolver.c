/* client/resolver.c - a resolver's life, and the three questions. */
#include <stdlib.h>

#include "resolver.h"

void scratch_init(struct op *op)
{
    *op = (struct op){ .memory_limit_bytes = SCRATCH_BYTES_MAX };
    arena_init(&op->arena, SCRATCH_BYTES_MAX);
}

bool struct_take(void *to, size_t to_bytes, const void *from)
{
    size_t bytes;

    memset(to, 0, to_bytes);
    memcpy(&bytes, from, sizeof(bytes));
    if (!struct_is_sized(from))
        return false;
    memcpy(to, from, bytes < to_bytes ? bytes : to_bytes);
    memcpy(to, &to_bytes, sizeof(to_bytes));
    return true;
}

orrery_status orrery_resolver_custom(const orrery_resolver_vtbl *calls, void *self,
                                     orrery_resolver **resolver)
{
    orrery_resolver_vtbl known;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!calls || !struct_take(&known, sizeof(known), calls) || !known.partition_key || !known.for_create ||
        !known.for_read)
        return ORRERY_EINVAL;
    *resolver = allocator_get(sizeof(**resolver));
    if (!*resolver)
        return ORRERY_ENOMEM;
    atomic_init(&(*resolver)->references, 1);
    (*resolver)->calls = known;
    (*resolver)->self = self;
    return ORRERY_OK;
}

orrery_resolver *orrery_resolver_ref(orrery_resolver *resolver)
{
    if (resolver)
        atomic_fetch_add_explicit(&resolver->references, 1, memory_order_relaxed);
    return resolver;
}

void orrery_resolver_unref(orrery_resolver *resolver)
{
    if (!resolver || atomic_fetch_sub_explicit(&resolver->references, 1, memory_order_acq_rel) > 1)
        return;
    if (resolver->calls.destroy)
        resolver->calls.destroy(resolver->self);
    allocator_free(resolver);
}

orrery_status orrery_resolver_key(orrery_resolver *resolver, const char *json, size_t size,
                                  orrery_held_key **key)
{
    orrery_json *document = NULL;
    orrery_status status;

    if (!key)
        return ORRERY_EINVAL;
    *key = NULL;
    if (!resolver)
        return ORRERY_EINVAL;
    status = orrery_json_parse(json, size, &document);
    if (status == ORRERY_OK)
        status = held_key_new(key);
    if (status == ORRERY_OK)
        status = resolver->calls.partition_key(resolver->self, orrery_json_root(document), *key);
    if (status != ORRERY_OK) {
        orrery_held_key_free(*key);
        *key = NULL;
    }
    orrery_json_free(document);
    return status;
}

typedef orrery_status resolve_call(void *self, const orrery_key *key, orrery_links *links);

static orrery_status resolve(orrery_resolver *resolver, resolve_call *call, const orrery_key *key,
                             orrery_links **links)
{
    static const orrery_key none = { .type = ORRERY_KEY_NONE };
    orrery_status status = orrery_links_new(links);

    if (status == ORRERY_OK)
        status = call(resolver->self, key ? key : &none, *links);
    if (status != ORRERY_OK) {
        orrery_links_free(*links);
        *links = NULL;
    }
    return status;
}

orrery_status orrery_resolve_create(orrery_resolver *resolver, const orrery_key *key, orrery_links **links)
{
    orrery_status status;

    if (!links)
        return ORRERY_EINVAL;
    *links = NULL;
    if (!resolver)
        return ORRERY_EINVAL;
    status = resolve(resolver, resolver->calls.for_create, key, links);
    if (status == ORRERY_OK && orrery_links_count(*links) != 1) { /* a custom one that broke its promise */
        orrery_links_free(*links);
        *links = NULL;
        return ORRERY_ECALLBACK;
    }
    return status;
}

orrery_status orrery_resolve_read(orrery_resolver *resolver, const orrery_key *key, orrery_links **links)
{
    if (!links)
        return ORRERY_EINVAL;
    *links = NULL;
    return resolver ? resolve(resolver, resolver->calls.for_read, key, links) : ORRERY_EINVAL;
}

orrery_status orrery_resolve_document(orrery_resolver *resolver, const char *json, size_t size,
                                      orrery_links **links)
{
    orrery_held_key *key = NULL;
    orrery_status status;

    if (!links)
        return ORRERY_EINVAL;
    *links = NULL;
    status = orrery_resolver_key(resolver, json, size, &key);
    if (status == ORRERY_OK)
        status = orrery_resolve_create(resolver, orrery_held_key_get(key), links);
    orrery_held_key_free(key);
    return status;
}
