/* client/resolver_range.c - documents by ranges of their key, and by a table of keys, which is ranges of one. */
#include <stdlib.h>

#include "state.h"

struct range_resolver {
    struct arena arena;
    orrery_extractor extractor;
    orrery_range *range;
    size_t count;
    orrery_key_type type; /* of every end; ORRERY_KEY_NONE while there is no range */
};

static orrery_status range_key(void *self, orrery_value document, orrery_held_key *key)
{
    struct range_resolver *resolver = self;

    return extractor_run(&resolver->extractor, document, key);
}

/* The ends of a key: a single value begins and ends with itself. */
static orrery_status ends_of(const struct range_resolver *resolver, const orrery_key *key,
                             const orrery_key **low, const orrery_key **high)
{
    bool is_range = key->type == ORRERY_KEY_RANGE;

    if (is_range && (key->count != 2 || !key->items))
        return ORRERY_EINVAL;
    *low = is_range ? &key->items[0] : key;
    *high = is_range ? &key->items[1] : key;
    if (!key_is_ordered(*low) || !key_is_ordered(*high))
        return ORRERY_EKEYTYPE;
    if (resolver->count && ((*low)->type != resolver->type || (*high)->type != resolver->type))
        return ORRERY_EKEYTYPE;
    return (*low)->type == (*high)->type && key_compare(*low, *high) <= 0 ? ORRERY_OK : ORRERY_EINVAL;
}

static orrery_status range_create(void *self, const orrery_key *key, orrery_links *links)
{
    struct range_resolver *resolver = self;
    const orrery_key *low, *high;
    orrery_status status;

    if (key_is_absent(key))
        return ORRERY_ENOKEY;
    status = ends_of(resolver, key, &low, &high);
    if (status != ORRERY_OK)
        return status;
    for (size_t i = 0; i < resolver->count; i++) {
        const orrery_range *range = &resolver->range[i];

        if (key_compare(low, &range->low) >= 0 && key_compare(high, &range->high) <= 0)
            return orrery_links_add(links, range->link);
    }
    return ORRERY_ENORANGE;
}

static orrery_status read_all(const struct range_resolver *resolver, orrery_links *links)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < resolver->count && status == ORRERY_OK; i++)
        status = orrery_links_add(links, resolver->range[i].link);
    return status;
}

static orrery_status read_one(const struct range_resolver *resolver, const orrery_key *key,
                              orrery_links *links)
{
    const orrery_key *low, *high;
    orrery_status status;

    if (key_is_absent(key))
        return read_all(resolver, links);
    status = ends_of(resolver, key, &low, &high);
    for (size_t i = 0; i < resolver->count && status == ORRERY_OK; i++) {
        const orrery_range *range = &resolver->range[i];

        if (key_compare(low, &range->high) <= 0 && key_compare(high, &range->low) >= 0)
            status = orrery_links_add(links, range->link);
    }
    return status;
}

static orrery_status range_read(void *self, const orrery_key *key, orrery_links *links)
{
    struct range_resolver *resolver = self;
    orrery_status status = ORRERY_OK;

    if (key->type != ORRERY_KEY_LIST)
        return read_one(resolver, key, links);
    for (size_t i = 0; i < key->count; i++)
        if (key_is_absent(&key->items[i]))
            return read_all(resolver, links);
    for (size_t i = 0; i < key->count && status == ORRERY_OK; i++)
        status = read_one(resolver, &key->items[i], links);
    return status;
}

static orrery_status range_save(void *self, char **json)
{
    struct range_resolver *resolver = self;
    struct state_writer writer;

    state_begin(&writer, "Range");
    state_extractor(&writer, &resolver->extractor);
    if (resolver->count)
        state_text(&writer, "RangeType", slice_of(state_type_name(resolver->type)));
    state_name(&writer, "PartitionMap");
    buf_byte(&writer.out, '[');
    for (size_t i = 0; i < resolver->count; i++) {
        buf_text(&writer.out, i ? ",{\"Link\":" : "{\"Link\":");
        json_print_string(&writer.out, slice_of(resolver->range[i].link));
        state_key(&writer, "Low", &resolver->range[i].low);
        state_key(&writer, "High", &resolver->range[i].high);
        buf_byte(&writer.out, '}');
    }
    buf_byte(&writer.out, ']');
    return state_end(&writer, json);
}

static void range_destroy(void *self)
{
    struct range_resolver *resolver = self;

    arena_free(&resolver->arena);
    free(resolver);
}

static const orrery_resolver_vtbl range_calls = {
    .size = sizeof(range_calls), range_key, range_create, range_read, range_save, range_destroy
};

static orrery_status copy_range(struct range_resolver *resolver, const orrery_range *from, orrery_range *to)
{
    const orrery_key *high = from->high.type == ORRERY_KEY_NONE ? &from->low : &from->high;
    orrery_status status;

    if (!from->link)
        return ORRERY_ELINK;
    if (!key_is_ordered(&from->low) || !key_is_ordered(high))
        return ORRERY_EKEYTYPE;
    if (resolver->count == 0)
        resolver->type = from->low.type;
    if (from->low.type != resolver->type || high->type != resolver->type)
        return ORRERY_EKEYTYPE;
    if (key_compare(&from->low, high) > 0)
        return ORRERY_EINVAL;
    status = key_copy(&resolver->arena, &from->low, &to->low);
    if (status == ORRERY_OK)
        status = key_copy(&resolver->arena, high, &to->high);
    to->link = memory_text_in(&resolver->arena, slice_of(from->link));
    return status == ORRERY_OK && !to->link ? ORRERY_ENOMEM : status;
}

static orrery_status fill(struct range_resolver *resolver, const orrery_extractor *extractor,
                          const orrery_range *ranges, size_t count)
{
    orrery_status status = extractor_copy(&resolver->arena, extractor, &resolver->extractor);

    if (status != ORRERY_OK)
        return status;
    resolver->range = memory_list(&resolver->arena, count, sizeof(*resolver->range));
    if (!resolver->range)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count && status == ORRERY_OK; i++) {
        status = copy_range(resolver, &ranges[i], &resolver->range[i]);
        resolver->count++;
    }
    return status;
}

orrery_status orrery_resolver_range(const orrery_extractor *extractor, const orrery_range *ranges,
                                    size_t count, orrery_resolver **resolver)
{
    struct range_resolver *made;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if ((count && !ranges) || count > RESOLVER_ROWS_MAX)
        return ORRERY_EINVAL;
    made = calloc(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    arena_init(&made->arena, RESOLVER_BYTES_MAX);
    status = fill(made, extractor, ranges, count);
    if (status == ORRERY_OK)
        status = orrery_resolver_custom(&range_calls, made, resolver);
    if (status != ORRERY_OK)
        range_destroy(made);
    return status;
}

orrery_status orrery_resolver_lookup(const orrery_extractor *extractor, const orrery_lookup *rows,
                                     size_t count, orrery_resolver **resolver)
{
    orrery_range *ranges;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if ((count && !rows) || count > RESOLVER_ROWS_MAX)
        return ORRERY_EINVAL;
    ranges = calloc(count + 1, sizeof(*ranges));
    if (!ranges)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        ranges[i] = (orrery_range){ .low = rows[i].key, .link = rows[i].link };
    status = orrery_resolver_range(extractor, ranges, count, resolver);
    free(ranges);
    return status;
}
