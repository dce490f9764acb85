/* client/resolver_range.c - documents by ranges of their key, and by a table of keys, which is ranges of one. */
#include <stdlib.h>

#include "state.h"

struct range_resolver {
    struct arena arena;
    orrery_extractor extractor;
    orrery_range_options options;
    orrery_range *range;
    size_t count;
    orrery_key_type type;    /* of every end that is not null; ORRERY_KEY_NONE while there is none */
    bool has_null, is_whole; /* has_null: null is a key. is_whole: all ends are integers */
    /* Numbers of ranges in the order of their keys, where all of them are points; else NULL. */
    size_t *by_key;
};

static int compare(const struct range_resolver *resolver, const orrery_key *a, const orrery_key *b)
{
    const orrery_range_options *options = &resolver->options;

    return options->compare ? options->compare(options->context, a, b) : key_compare(a, b);
}

static orrery_status range_key(void *self, orrery_value document, orrery_held_key *key)
{
    struct range_resolver *resolver = self;

    return extractor_run(&resolver->extractor, document, key);
}

/* Whether it can be one of the ends, or be compared with them. */
static bool is_comparable(const struct range_resolver *resolver, const orrery_key *key)
{
    if (resolver->options.compare)
        return key->type != ORRERY_KEY_NONE;
    if (!key_is_ordered(key))
        return false;
    if (key->type == ORRERY_KEY_NULL)
        return resolver->has_null;
    return resolver->type == ORRERY_KEY_NONE || key->type == resolver->type;
}

/* Nothing to look for: no key, or a null where null is none. */
static bool is_missing(const struct range_resolver *resolver, const orrery_key *key)
{
    if (!key || key->type == ORRERY_KEY_NONE)
        return true;
    return key->type == ORRERY_KEY_NULL && !resolver->has_null && !resolver->options.compare;
}

/* A key of one value or a range, as it is looked for. */
struct ends {
    orrery_key low, high;
    struct arena arena; /* of what was converted */
};

static bool convert_end(const struct range_resolver *resolver, struct arena *arena, orrery_key *end)
{
    orrery_key from = *end;

    if (!resolver->options.net || resolver->options.compare || resolver->type == ORRERY_KEY_NONE)
        return true;
    if (!key_convert(arena, &from, resolver->type, end))
        return false;
    if (resolver->is_whole)
        key_round(end);
    return true;
}

/* The ends of a key: a single value begins and ends with itself. Whatever comes out, ends_free() them. */
static orrery_status ends_of(const struct range_resolver *resolver, const orrery_key *key, struct ends *ends)
{
    bool is_range = key->type == ORRERY_KEY_RANGE;

    arena_init(&ends->arena, SCRATCH_BYTES_MAX);
    if (is_range && (key->count != 2 || !key->items))
        return ORRERY_EINVAL;
    ends->low = is_range ? key->items[0] : *key;
    ends->high = is_range ? key->items[1] : *key;
    if (!convert_end(resolver, &ends->arena, &ends->low) || !convert_end(resolver, &ends->arena, &ends->high))
        return ORRERY_EKEYTYPE;
    if (!is_comparable(resolver, &ends->low) || !is_comparable(resolver, &ends->high) ||
        (!resolver->options.compare && ends->low.type != ends->high.type && !resolver->has_null))
        return ORRERY_EKEYTYPE;
    return compare(resolver, &ends->low, &ends->high) <= 0 ? ORRERY_OK : ORRERY_EINVAL;
}

static void ends_free(struct ends *ends)
{
    arena_free(&ends->arena);
}

/* Where the rows of a key begin in by_key, or would. */
static size_t first_at(const struct range_resolver *resolver, const orrery_key *key)
{
    size_t low = 0, high = resolver->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(resolver, &resolver->range[resolver->by_key[middle]].low, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_key(const struct range_resolver *resolver, size_t at, const orrery_key *key)
{
    return at < resolver->count && compare(resolver, &resolver->range[resolver->by_key[at]].low, key) == 0;
}

/* The first row that has the key; count: none. */
static size_t find_point(const struct range_resolver *resolver, const orrery_key *key)
{
    size_t at = first_at(resolver, key);

    return has_key(resolver, at, key) ? resolver->by_key[at] : resolver->count;
}

/* The first range that has the whole of the key; count: none. */
static size_t find_range(const struct range_resolver *resolver, const struct ends *ends, bool is_point)
{
    size_t i = resolver->by_key && is_point ? find_point(resolver, &ends->low) : 0;

    while (i < resolver->count && !(compare(resolver, &ends->low, &resolver->range[i].low) >= 0 &&
                                    compare(resolver, &ends->high, &resolver->range[i].high) <= 0))
        i++;
    return i;
}

static orrery_status range_create(void *self, const orrery_key *key, orrery_links *links)
{
    struct range_resolver *resolver = self;
    struct ends ends;
    orrery_status status;
    size_t found;

    if (is_missing(resolver, key))
        return ORRERY_ENOKEY;
    if (resolver->options.net && key->type == ORRERY_KEY_RANGE)
        return ORRERY_EKEYTYPE;
    status = ends_of(resolver, key, &ends);
    found = status == ORRERY_OK ? find_range(resolver, &ends, key->type != ORRERY_KEY_RANGE) : 0;
    if (status == ORRERY_OK)
        status =
            found < resolver->count ? orrery_links_add(links, resolver->range[found].link) : ORRERY_ENORANGE;
    ends_free(&ends);
    return status;
}

static orrery_status add_link(const struct range_resolver *resolver, orrery_links *links, const char *link)
{
    return resolver->options.net ? links_repeat(links, link) : orrery_links_add(links, link);
}

static orrery_status read_all(const struct range_resolver *resolver, orrery_links *links)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < resolver->count && status == ORRERY_OK; i++)
        status = add_link(resolver, links, resolver->range[i].link);
    return status;
}

static orrery_status read_rows(const struct range_resolver *resolver, const orrery_key *key,
                               orrery_links *links)
{
    orrery_status status = ORRERY_OK;

    for (size_t at = first_at(resolver, key); status == ORRERY_OK && has_key(resolver, at, key); at++)
        status = add_link(resolver, links, resolver->range[resolver->by_key[at]].link);
    return status;
}

static orrery_status read_ranges(const struct range_resolver *resolver, const struct ends *ends,
                                 orrery_links *links)
{
    orrery_status status = ORRERY_OK;

    for (size_t i = 0; i < resolver->count && status == ORRERY_OK; i++) {
        const orrery_range *range = &resolver->range[i];

        if (compare(resolver, &ends->low, &range->high) <= 0 &&
            compare(resolver, &ends->high, &range->low) >= 0)
            status = add_link(resolver, links, range->link);
    }
    return status;
}

static orrery_status read_one(const struct range_resolver *resolver, const orrery_key *key,
                              orrery_links *links)
{
    struct ends ends;
    orrery_status status;

    if (is_missing(resolver, key))
        return read_all(resolver, links);
    status = ends_of(resolver, key, &ends);
    if (status == ORRERY_OK)
        status = resolver->by_key && key->type != ORRERY_KEY_RANGE ? read_rows(resolver, &ends.low, links)
                                                                   : read_ranges(resolver, &ends, links);
    ends_free(&ends);
    return status;
}

static orrery_status range_read(void *self, const orrery_key *key, orrery_links *links)
{
    struct range_resolver *resolver = self;
    orrery_status status = ORRERY_OK;

    if (key->type != ORRERY_KEY_LIST)
        return read_one(resolver, key, links);
    for (size_t i = 0; i < key->count; i++)
        if (is_missing(resolver, &key->items[i]))
            return read_all(resolver, links);
    for (size_t i = 0; i < key->count && status == ORRERY_OK; i++)
        status = read_one(resolver, &key->items[i], links);
    return status;
}

/* A function cannot be written down, but its name can. */
static void save_options(struct state_writer *writer, const struct range_resolver *resolver)
{
    const orrery_range_options *options = &resolver->options;

    if (options->net)
        state_bool(writer, "Net", true);
    if (options->compare && options->name)
        state_text(writer, "Comparison", slice_of(options->name));
    else if (options->compare)
        writer->status = ORRERY_ESTATE;
    if (resolver->count)
        state_text(writer, "RangeType",
                   slice_of(options->compare || resolver->type == ORRERY_KEY_NONE
                                ? state_any_type
                                : state_type_name(resolver->type)));
}

static orrery_status range_save(void *self, char **json)
{
    struct range_resolver *resolver = self;
    bool is_any = resolver->options.compare || resolver->type == ORRERY_KEY_NONE;
    struct state_writer writer;

    state_begin(&writer, "Range");
    state_extractor(&writer, &resolver->extractor);
    save_options(&writer, resolver);
    state_name(&writer, "PartitionMap");
    buf_byte(&writer.out, '[');
    for (size_t i = 0; i < resolver->count; i++) {
        buf_text(&writer.out, i ? ",{\"Link\":" : "{\"Link\":");
        json_print_string(&writer.out, slice_of(resolver->range[i].link));
        state_key(&writer, "Low", &resolver->range[i].low, is_any);
        state_key(&writer, "High", &resolver->range[i].high, is_any);
        buf_byte(&writer.out, '}');
    }
    buf_byte(&writer.out, ']');
    return state_end(&writer, json);
}

static void range_destroy(void *self)
{
    struct range_resolver *resolver = self;

    arena_free(&resolver->arena);
    allocator_free(resolver);
}

static const orrery_resolver_vtbl range_calls = {
    .size = sizeof(range_calls), range_key, range_create, range_read, range_save, range_destroy
};

/* What all ends are: their one type, whether some are null, whether all are integers. */
static orrery_status look_at(struct range_resolver *resolver, const orrery_key *end)
{
    if (resolver->options.compare)
        return end->type == ORRERY_KEY_NONE ? ORRERY_EKEYTYPE : ORRERY_OK;
    if (!key_is_ordered(end))
        return ORRERY_EKEYTYPE;
    if (end->type == ORRERY_KEY_NULL) {
        resolver->has_null = true;
        return ORRERY_OK;
    }
    if (resolver->type == ORRERY_KEY_NONE) {
        resolver->type = end->type;
        resolver->is_whole = end->type == ORRERY_KEY_NUMBER;
    }
    resolver->is_whole = resolver->is_whole && end->is_integer;
    return end->type == resolver->type ? ORRERY_OK : ORRERY_EKEYTYPE;
}

static orrery_status copy_range(struct range_resolver *resolver, const orrery_range *from, orrery_range *to)
{
    const orrery_key *high = from->high.type == ORRERY_KEY_NONE ? &from->low : &from->high;
    orrery_status status;

    if (!from->link)
        return ORRERY_ELINK;
    status = look_at(resolver, &from->low);
    if (status == ORRERY_OK)
        status = look_at(resolver, high);
    if (status == ORRERY_OK && compare(resolver, &from->low, high) > 0)
        status = ORRERY_EINVAL;
    if (status == ORRERY_OK)
        status = key_copy(&resolver->arena, &from->low, &to->low);
    if (status == ORRERY_OK)
        status = key_copy(&resolver->arena, high, &to->high);
    to->link = memory_text_in(&resolver->arena, slice_of(from->link));
    return status == ORRERY_OK && !to->link ? ORRERY_ENOMEM : status;
}

static int by_low(const void *a, const void *b, void *context)
{
    const struct range_resolver *resolver = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = compare(resolver, &resolver->range[x].low, &resolver->range[y].low);

    return order ? order : (x > y) - (x < y); /* of equal keys the first row is found */
}

/* A table of keys is looked up by halves. Ranges may overlap, and are gone through. */
static orrery_status sort_points(struct range_resolver *resolver)
{
    for (size_t i = 0; i < resolver->count; i++)
        if (compare(resolver, &resolver->range[i].low, &resolver->range[i].high) != 0)
            return ORRERY_OK;
    resolver->by_key = memory_list(&resolver->arena, resolver->count, sizeof(*resolver->by_key));
    if (!resolver->by_key)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < resolver->count; i++)
        resolver->by_key[i] = i;
    qsort_r(resolver->by_key, resolver->count, sizeof(*resolver->by_key), by_low, resolver);
    return ORRERY_OK;
}

static int by_ends(const void *a, const void *b, void *context)
{
    const orrery_range *x = a, *y = b;
    int order = compare(context, &x->low, &y->low);

    return order ? order : compare(context, &x->high, &y->high);
}

/* .NET keeps a map by ranges, in which each stands once. */
static orrery_status sort_as_net(struct range_resolver *resolver)
{
    qsort_r(resolver->range, resolver->count, sizeof(*resolver->range), by_ends, resolver);
    for (size_t i = 1; i < resolver->count; i++)
        if (by_ends(&resolver->range[i - 1], &resolver->range[i], resolver) == 0)
            return ORRERY_EINVAL;
    return ORRERY_OK;
}

static orrery_status take_options(struct range_resolver *resolver, const orrery_range_options *options)
{
    orrery_range_options *kept = &resolver->options;

    if (!options)
        return ORRERY_OK;
    if (!struct_take(kept, sizeof(*kept), options))
        return ORRERY_EINVAL;
    if (kept->name && !(kept->name = memory_text_in(&resolver->arena, slice_of(kept->name))))
        return ORRERY_ENOMEM;
    return ORRERY_OK;
}

static orrery_status copy_ranges(struct range_resolver *resolver, const orrery_range *ranges, size_t count)
{
    orrery_status status = ORRERY_OK;

    resolver->range = memory_list(&resolver->arena, count, sizeof(*resolver->range));
    if (!resolver->range)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count && status == ORRERY_OK; i++) {
        status = copy_range(resolver, &ranges[i], &resolver->range[i]);
        resolver->count++;
    }
    if (status == ORRERY_OK && resolver->options.net)
        status = sort_as_net(resolver);
    return status == ORRERY_OK ? sort_points(resolver) : status;
}

orrery_status orrery_resolver_range(const orrery_extractor *extractor, const orrery_range *ranges,
                                    size_t count, const orrery_range_options *options,
                                    orrery_resolver **resolver)
{
    struct range_resolver *made;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if ((count && !ranges) || count > RESOLVER_ROWS_MAX)
        return ORRERY_EINVAL;
    made = allocator_zeroed(1, sizeof(*made));
    if (!made)
        return ORRERY_ENOMEM;
    arena_init(&made->arena, RESOLVER_BYTES_MAX);
    status = extractor_copy(&made->arena, extractor, &made->extractor);
    if (status == ORRERY_OK)
        status = take_options(made, options);
    if (status == ORRERY_OK)
        status = copy_ranges(made, ranges, count);
    if (status == ORRERY_OK)
        status = orrery_resolver_custom(&range_calls, made, resolver);
    if (status != ORRERY_OK)
        range_destroy(made);
    return status;
}

orrery_status orrery_resolver_lookup(const orrery_extractor *extractor, const orrery_lookup *rows,
                                     size_t count, const orrery_range_options *options,
                                     orrery_resolver **resolver)
{
    orrery_range *ranges;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if ((count && !rows) || count > RESOLVER_ROWS_MAX)
        return ORRERY_EINVAL;
    ranges = allocator_zeroed(count + 1, sizeof(*ranges));
    if (!ranges)
        return ORRERY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        ranges[i] = (orrery_range){ .low = rows[i].key, .link = rows[i].link };
    status = orrery_resolver_range(extractor, ranges, count, options, resolver);
    allocator_free(ranges);
    return status;
}
