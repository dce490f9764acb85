/* client/resolver_kinds.c - different kinds of document, each with a resolver of its own. */
#include <stdlib.h>

#include "client.h"
#include "state.h"

struct kinds_resolver {
    struct arena arena;
    const char *property; /* NULL: every kind has a function */
    orrery_kind *kind;
    size_t count;
};

static bool kind_matches(const struct kinds_resolver *resolver, const orrery_kind *kind,
                         orrery_value document)
{
    struct json value;

    if (kind->matches)
        return kind->matches(kind->context, document);
    if (!kind->name) /* the one that takes what is left */
        return true;
    value = json_get(value_json(document), resolver->property);
    return json_kind(value) == JSON_STRING && slice_is(json_string(value), kind->name);
}

/* A key is the number of its kind and the key within it; reads may name the kind instead. */
static orrery_status kinds_key(void *self, orrery_value document, orrery_held_key *key)
{
    struct kinds_resolver *resolver = self;

    for (size_t i = 0; i < resolver->count; i++) {
        orrery_kind *kind = &resolver->kind[i];
        orrery_key pair[2], of_kind = { .type = ORRERY_KEY_KIND, .items = pair, .count = 2 };
        orrery_status status;

        if (!kind_matches(resolver, kind, document))
            continue;
        status = kind->resolver->calls.partition_key(kind->resolver->self, document, key);
        if (status != ORRERY_OK)
            return status;
        pair[0] = (orrery_key){ .type = ORRERY_KEY_NUMBER, .number = (double)i };
        pair[1] = *orrery_held_key_get(key);
        return orrery_held_key_put(key, &of_kind);
    }
    return ORRERY_ENORANGE;
}

/* The kind that a key names, by number or by name; NULL when there is none. */
static orrery_kind *kind_of(const struct kinds_resolver *resolver, const orrery_key *name)
{
    for (size_t i = 0; i < resolver->count; i++) {
        orrery_kind *kind = &resolver->kind[i];

        if (name->type == ORRERY_KEY_NUMBER && name->number == (double)i)
            return kind;
        if (name->type == ORRERY_KEY_TEXT && kind->name &&
            slice_is(slice_make(name->text, name->size), kind->name))
            return kind;
    }
    return NULL;
}

static orrery_status kinds_create(void *self, const orrery_key *key, orrery_links *links)
{
    orrery_kind *kind;

    if (key_is_absent(key))
        return ORRERY_ENOKEY;
    if (key->type != ORRERY_KEY_KIND || key->count != 2)
        return ORRERY_EKEYTYPE;
    kind = kind_of(self, &key->items[0]);
    if (!kind)
        return ORRERY_ENORANGE;
    return kind->resolver->calls.for_create(kind->resolver->self, &key->items[1], links);
}

/* A key without a kind may be of any that takes such keys. */
static orrery_status read_every(struct kinds_resolver *resolver, const orrery_key *key, orrery_links *links)
{
    bool is_taken = false;

    for (size_t i = 0; i < resolver->count; i++) {
        orrery_resolver *one = resolver->kind[i].resolver;
        orrery_status status = one->calls.for_read(one->self, key, links);

        if (status != ORRERY_OK && status != ORRERY_EKEYTYPE)
            return status;
        is_taken |= status == ORRERY_OK;
    }
    return is_taken ? ORRERY_OK : ORRERY_EKEYTYPE;
}

static orrery_status kinds_read(void *self, const orrery_key *key, orrery_links *links)
{
    orrery_kind *kind;

    if (key->type != ORRERY_KEY_KIND)
        return read_every(self, key, links);
    kind = key->count == 2 ? kind_of(self, &key->items[0]) : NULL;
    if (!kind)
        return ORRERY_ENORANGE;
    return kind->resolver->calls.for_read(kind->resolver->self, &key->items[1], links);
}

static orrery_status kinds_save(void *self, char **json)
{
    struct kinds_resolver *resolver = self;
    struct state_writer writer;

    state_begin(&writer, "Kinds");
    if (resolver->property)
        state_text(&writer, "KindPropertyName", slice_of(resolver->property));
    state_name(&writer, "Kinds");
    buf_byte(&writer.out, '[');
    for (size_t i = 0; i < resolver->count; i++) {
        if (resolver->kind[i].matches && !resolver->kind[i].name) /* nobody could bring it again */
            writer.status = ORRERY_ESTATE;
        buf_text(&writer.out, i ? ",{\"Name\":" : "{\"Name\":");
        if (resolver->kind[i].name)
            json_print_string(&writer.out, slice_of(resolver->kind[i].name));
        else
            buf_text(&writer.out, "null");
        if (resolver->kind[i].matches)
            state_bool(&writer, "Matches", true);
        state_resolver(&writer, "Resolver", resolver->kind[i].resolver);
        buf_byte(&writer.out, '}');
    }
    buf_byte(&writer.out, ']');
    return state_end(&writer, json);
}

static void kinds_destroy(void *self)
{
    struct kinds_resolver *resolver = self;

    for (size_t i = 0; i < resolver->count; i++)
        orrery_resolver_unref(resolver->kind[i].resolver);
    arena_free(&resolver->arena);
    allocator_free(resolver);
}

static const orrery_resolver_vtbl kinds_calls = {
    .size = sizeof(kinds_calls), kinds_key, kinds_create, kinds_read, kinds_save, kinds_destroy
};

static orrery_status copy_kind(struct kinds_resolver *resolver, const orrery_kind *from)
{
    orrery_kind *to = &resolver->kind[resolver->count];

    if (!from->resolver || (from->name && !from->matches && !resolver->property))
        return ORRERY_EINVAL;
    *to = *from;
    if (from->name) {
        to->name = memory_text_in(&resolver->arena, slice_of(from->name));
        if (!to->name)
            return ORRERY_ENOMEM;
    }
    orrery_resolver_ref(to->resolver);
    resolver->count++;
    return ORRERY_OK;
}

static orrery_status fill(struct kinds_resolver *resolver, const char *property, const orrery_kind *kinds,
                          size_t count)
{
    orrery_status status = ORRERY_OK;

    resolver->kind = memory_list(&resolver->arena, count, sizeof(*kinds));
    if (property)
        resolver->property = memory_text_in(&resolver->arena, slice_of(property));
    if (!resolver->kind || (property && !resolver->property))
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count && status == ORRERY_OK; i++)
        status = copy_kind(resolver, &kinds[i]);
    return status;
}

orrery_status orrery_resolver_kinds(const char *property, const orrery_kind *kinds, size_t count,
                                    orrery_resolver **resolver)
{
    struct kinds_resolver *made;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!kinds || count == 0 || count > RESOLVER_LINKS_MAX)
        return ORRERY_EINVAL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    arena_init(&made->arena, RESOLVER_BYTES_MAX);
    status = fill(made, property, kinds, count);
    if (status == ORRERY_OK)
        status = orrery_resolver_custom(&kinds_calls, made, resolver);
    if (status != ORRERY_OK)
        kinds_destroy(made);
    return status;
}
