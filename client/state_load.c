/* client/state_load.c - resolvers from their saved state, ours and the .NET SDK's. */
#include "hash_ring.h"
#include "state.h"
#include "json/number.h"

struct loader {
    struct op op;
    const orrery_load_options *options;
    int depth;
    bool no_memory; /* what is missing is not the state's fault */
};

static orrery_status load(struct loader *loader, struct json state, orrery_resolver **resolver);

/* A text of the state as C has them; NULL when it is none, or has a NUL inside. */
static const char *text_of(struct loader *loader, struct json value)
{
    struct slice text;
    char *copy;

    if (json_kind(value) != JSON_STRING)
        return NULL;
    text = json_string(value);
    if (text.size && memchr(text.data, '\0', text.size))
        return NULL;
    copy = memory_text_in(&loader->op.arena, text);
    loader->no_memory |= !copy;
    return copy;
}

/* The same for an array of them; NULL when an element is none. */
static const char **texts_of(struct loader *loader, struct json array)
{
    const char **texts = memory_list(&loader->op.arena, json_count(array), sizeof(*texts));
    size_t count = 0;

    loader->no_memory |= !texts;
    if (!texts)
        return NULL;
    for (struct json_iter i = json_iter(array); json_next(&i);)
        if (!(texts[count++] = text_of(loader, i.value)))
            return NULL;
    return texts;
}

static bool is_array(struct json value, size_t count_max)
{
    return json_kind(value) == JSON_ARRAY && json_count(value) <= count_max;
}

static orrery_status load_names(struct loader *loader, struct json state, orrery_extractor *extractor)
{
    struct json names = json_get(state, "PartitionKeyPropertyNames");
    struct json separator = json_get(state, "PartitionKeySeparator");

    if (!is_array(names, RESOLVER_LINKS_MAX) || json_count(names) == 0)
        return ORRERY_ESTATE;
    extractor->property_count = json_count(names);
    extractor->properties = texts_of(loader, names);
    extractor->separator = json_kind(separator) == JSON_UNDEFINED ? "-" : text_of(loader, separator);
    return extractor->properties && extractor->separator ? ORRERY_OK : ORRERY_ESTATE;
}

/* A state whose key was found by a function has no name of a property: the caller brings the function. */
static orrery_status load_extractor(struct loader *loader, struct json state, orrery_extractor *extractor)
{
    struct json name = json_get(state, "PartitionKeyPropertyName"),
                type = json_get(state, "PartitionKeyType");

    *extractor = (orrery_extractor){ .size = sizeof(*extractor) };
    if (json_kind(type) != JSON_UNDEFINED) {
        extractor->as = json_kind(type) == JSON_STRING ? state_type_of(json_string(type)) : ORRERY_KEY_NONE;
        if (extractor->as == ORRERY_KEY_NONE)
            return ORRERY_ESTATE;
    }
    if (json_kind(name) == JSON_STRING) {
        extractor->property = text_of(loader, name);
        return extractor->property ? ORRERY_OK : ORRERY_ESTATE;
    }
    if (json_kind(json_get(state, "PartitionKeyPropertyNames")) != JSON_UNDEFINED)
        return load_names(loader, state, extractor);
    if (!loader->options || !loader->options->extractor ||
        !struct_take(extractor, sizeof(*extractor), loader->options->extractor))
        return ORRERY_ESTATE;
    name = json_get(state, "PartitionKeyFunction");
    if (json_kind(name) == JSON_STRING && (!extractor->name || !slice_is(json_string(name), extractor->name)))
        return ORRERY_ESTATE; /* another function would put documents elsewhere */
    return ORRERY_OK;
}

/* State that names no hash is the .NET SDK's: MD5, unless a hash was plugged in. */
static orrery_status load_hash(struct loader *loader, struct json state, orrery_hash *hash)
{
    struct json name = json_get(state, "HashAlgorithm"), first = json_get(state, "MostSignificantByteFirst");
    const orrery_hash *own = loader->options ? loader->options->hash : NULL, *found = NULL;

    if (json_kind(name) == JSON_STRING) {
        found = hash_by_name(json_string(name));
        if (!found && own && own->name && slice_is(json_string(name), own->name))
            found = own;
    } else if (json_kind(name) == JSON_UNDEFINED) {
        found = own ? own : &orrery_hash_md5;
    }
    if (!found)
        return ORRERY_ESTATE;
    if (!struct_take(hash, sizeof(*hash), found))
        return ORRERY_ESTATE;
    if (json_kind(first) != JSON_UNDEFINED)
        hash->msb_first = json_kind(first) == JSON_TRUE;
    return ORRERY_OK;
}

static orrery_status load_nodes(struct json state, orrery_hash_options *options)
{
    struct json nodes = json_get(state, "NumberOfVirtualNodesPerCollection");

    if (json_kind(nodes) == JSON_UNDEFINED)
        return ORRERY_OK;
    if (json_kind(nodes) != JSON_NUMBER || !json_is_int(nodes) || json_int(nodes) < 1 ||
        json_int(nodes) > VIRTUAL_NODES_MAX)
        return ORRERY_ESTATE;
    options->virtual_nodes = (int)json_int(nodes);
    return ORRERY_OK;
}

static uint32_t *seeds_of(struct loader *loader, struct json list, size_t count)
{
    uint32_t *seeds = NULL;
    size_t at = 0;

    if (is_array(list, RESOLVER_LINKS_MAX) && json_count(list) == count)
        seeds = memory_list(&loader->op.arena, count, sizeof(*seeds));
    for (struct json_iter i = json_iter(list); seeds && json_next(&i);) {
        if (json_kind(i.value) != JSON_NUMBER || !json_is_int(i.value) || json_int(i.value) < 0 ||
            json_int(i.value) > UINT32_MAX)
            return NULL;
        seeds[at++] = (uint32_t)json_int(i.value);
    }
    return seeds;
}

/* Which kind of ring, and for that of seeds the seeds: the state's, or the caller's for one that names none. */
static orrery_status load_ring_kind(struct loader *loader, struct json state, size_t links,
                                    orrery_hash_options *options)
{
    const orrery_load_options *given = loader->options;
    struct json name = json_get(state, "Ring");

    if (json_kind(name) == JSON_STRING) {
        if (!ring_of_name(json_string(name), &options->ring))
            return ORRERY_ESTATE;
        if (options->ring == ORRERY_RING_NET_SEEDS)
            options->seeds = seeds_of(loader, json_get(state, "Seeds"), links);
    } else if (json_kind(json_get(state, "HashAlgorithm")) == JSON_UNDEFINED) {
        options->ring = given && given->ring != ORRERY_RING_COMMON ? given->ring : ORRERY_RING_NET64;
        if (options->ring == ORRERY_RING_NET_SEEDS && given->seed_count == links)
            options->seeds = given->seeds;
    }
    return options->ring != ORRERY_RING_NET_SEEDS || options->seeds ? ORRERY_OK : ORRERY_ESTATE;
}

static orrery_status load_ring(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    struct json links = json_get(state, "CollectionLinks");
    orrery_hash_options options = { .size = sizeof(options) };
    orrery_extractor extractor;
    orrery_hash hash;
    const char **texts;
    orrery_status status = load_extractor(loader, state, &extractor);

    if (status == ORRERY_OK)
        status = load_hash(loader, state, &hash);
    if (status == ORRERY_OK)
        status = load_nodes(state, &options);
    if (status != ORRERY_OK)
        return status;
    if (!is_array(links, RESOLVER_LINKS_MAX) || !(texts = texts_of(loader, links)))
        return ORRERY_ESTATE;
    status = load_ring_kind(loader, state, json_count(links), &options);
    if (status != ORRERY_OK)
        return status;
    options.hash = &hash;
    return orrery_resolver_hash(&extractor, texts, json_count(links), &options, resolver);
}

static orrery_status load_any(struct loader *loader, struct json value, orrery_key *key);

static orrery_status load_tuple(struct loader *loader, struct json list, orrery_key *key)
{
    orrery_key *parts = memory_list(&loader->op.arena, json_count(list), sizeof(*parts));
    orrery_status status = parts ? ORRERY_OK : ORRERY_ENOMEM;
    size_t count = 0;

    for (struct json_iter i = json_iter(list); status == ORRERY_OK && json_next(&i);)
        status =
            json_kind(i.value) == JSON_ARRAY ? ORRERY_ESTATE : load_any(loader, i.value, &parts[count++]);
    *key = orrery_key_tuple(parts, count);
    return status;
}

/* A key that says its type. */
static orrery_status load_any(struct loader *loader, struct json value, orrery_key *key)
{
    struct json time = json_get(value, "Time"), guid = json_get(value, "Guid");

    if (json_kind(value) == JSON_ARRAY)
        return load_tuple(loader, value, key);
    *key = key_of_value(value);
    if (json_kind(time) == JSON_NUMBER && json_is_int(time))
        *key = orrery_key_time(json_int(time));
    if (json_kind(guid) == JSON_STRING)
        *key = (orrery_key){ .type = ORRERY_KEY_GUID,
                             .text = json_string(guid).data,
                             .size = json_string(guid).size };
    return key->type == ORRERY_KEY_NONE ? ORRERY_ESTATE : ORRERY_OK;
}

static orrery_status load_text(orrery_key_type type, struct slice text, orrery_key *key)
{
    int64_t time_ms;

    *key = (orrery_key){ .type = type, .text = text.data, .size = text.size };
    if (type != ORRERY_KEY_TIME)
        return ORRERY_OK;
    if (!time_parse(text, &time_ms))
        return ORRERY_ESTATE;
    *key = orrery_key_time(time_ms);
    return ORRERY_OK;
}

static orrery_status load_key(struct loader *loader, orrery_key_type type, struct json value, orrery_key *key)
{
    enum json_kind kind = json_kind(value);

    if (type == ORRERY_KEY_NONE || kind == JSON_NULL || kind == JSON_ARRAY)
        return load_any(loader, value, key);
    if (kind == JSON_STRING && type != ORRERY_KEY_NUMBER && type != ORRERY_KEY_BOOL)
        return load_text(type, json_string(value), key);
    if (kind == JSON_NUMBER && type == ORRERY_KEY_TIME) {
        *key = (orrery_key){ .type = type, .number = json_double(value) };
        return ORRERY_OK;
    }
    *key = key_of_value(value);
    return key->type == type && kind != JSON_STRING ? ORRERY_OK : ORRERY_ESTATE;
}

static orrery_status load_row(struct loader *loader, orrery_key_type type, struct json row,
                              orrery_range *range)
{
    struct json high = json_get(row, "High");
    orrery_status status = load_key(loader, type, json_get(row, "Low"), &range->low);

    range->link = text_of(loader, json_get(row, "Link"));
    range->high = (orrery_key){ .type = ORRERY_KEY_NONE };
    if (status == ORRERY_OK && json_kind(high) != JSON_UNDEFINED)
        status = load_key(loader, type, high, &range->high);
    return status == ORRERY_OK && !range->link ? ORRERY_ESTATE : status;
}

/* One end of a .NET range, which is only text: "low,high". */
static orrery_status load_end(struct loader *loader, orrery_key_type type, struct slice text, orrery_key *key)
{
    struct number_text number;
    double value;
    int64_t time_ms;

    *key = orrery_key_bytes(text.data, text.size);
    if (type == ORRERY_KEY_TEXT)
        return ORRERY_OK;
    if (type == ORRERY_KEY_TIME || type == ORRERY_KEY_GUID)
        return load_text(type, text, key);
    if (type != ORRERY_KEY_NUMBER)
        return ORRERY_ESTATE;
    if (!number_scan((const uint8_t *)text.data, (const uint8_t *)text.data + text.size, &number) ||
        number.end != (const uint8_t *)text.data + text.size ||
        !number_to_double(&number, &loader->op.arena, &value))
        return ORRERY_ESTATE;
    *key = slice_to_i64(text, &time_ms) ? orrery_key_int(time_ms) : orrery_key_number(value);
    return ORRERY_OK;
}

/* ORRERY_ESTATE too when an end has a comma of its own: nobody can tell which of them divides. */
static orrery_status load_pair(struct loader *loader, orrery_key_type type, struct slice text,
                               orrery_range *range)
{
    const char *comma = text.size ? memchr(text.data, ',', text.size) : NULL;
    struct slice low, high;
    orrery_status status;

    if (!comma)
        return ORRERY_ESTATE;
    low = slice_make(text.data, (size_t)(comma - text.data));
    high = slice_after(text, low.size + 1);
    if (high.size && memchr(high.data, ',', high.size))
        return ORRERY_ESTATE;
    status = load_end(loader, type, low, &range->low);
    return status == ORRERY_OK ? load_end(loader, type, high, &range->high) : status;
}

static orrery_status load_ranges(struct loader *loader, struct json map, orrery_key_type type,
                                 orrery_range *ranges)
{
    bool is_net = json_kind(map) == JSON_OBJECT;
    orrery_status status = ORRERY_OK;
    size_t count = 0;

    for (struct json_iter i = json_iter(map); status == ORRERY_OK && json_next(&i); count++) {
        ranges[count] = (orrery_range){ .link = NULL };
        status = is_net ? load_pair(loader, type, i.name, &ranges[count])
                        : load_row(loader, type, i.value, &ranges[count]);
        if (is_net && status == ORRERY_OK)
            status = (ranges[count].link = text_of(loader, i.value)) ? ORRERY_OK : ORRERY_ESTATE;
    }
    return status;
}

/* How ranges are looked up: those of .NET's own state as there, those that a function compares by the caller's. */
static orrery_status load_range_options(struct loader *loader, struct json state,
                                        orrery_range_options *options)
{
    const orrery_range_options *given = loader->options ? loader->options->ranges : NULL;
    struct json name = json_get(state, "Comparison");

    *options = (orrery_range_options){ .size = sizeof(*options) };
    if (given && !struct_take(options, sizeof(*options), given))
        return ORRERY_EINVAL;
    options->net = json_kind(json_get(state, "Net")) == JSON_TRUE ||
                   json_kind(json_get(state, "PartitionMap")) == JSON_OBJECT;
    if (json_kind(name) == JSON_UNDEFINED && json_kind(json_get(state, "RangeType")) != JSON_UNDEFINED)
        options->compare = NULL; /* a state of ours that says nothing of a function has none */
    if (json_kind(name) == JSON_UNDEFINED)
        return ORRERY_OK;
    return json_kind(name) == JSON_STRING && options->compare && options->name &&
                   slice_is(json_string(name), options->name)
               ? ORRERY_OK
               : ORRERY_ESTATE;
}

/* ORRERY_KEY_NONE: each end says its own. */
static orrery_status load_range_type(struct loader *loader, struct json state, orrery_key_type *type)
{
    struct json name = json_get(state, "RangeType");

    *type = loader->options ? loader->options->range_type : ORRERY_KEY_NONE;
    if (*type == ORRERY_KEY_NONE)
        *type = ORRERY_KEY_TEXT;
    if (json_kind(name) == JSON_STRING)
        *type = state_type_of(json_string(name));
    if (json_kind(name) == JSON_STRING && slice_is(json_string(name), state_any_type))
        return ORRERY_OK;
    return state_type_name(*type) ? ORRERY_OK : ORRERY_ESTATE;
}

static orrery_status load_map(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    struct json map = json_get(state, "PartitionMap");
    orrery_range_options options;
    orrery_key_type type;
    orrery_range *ranges;
    orrery_extractor extractor;
    orrery_status status = load_extractor(loader, state, &extractor);

    if (status == ORRERY_OK)
        status = load_range_options(loader, state, &options);
    if (status == ORRERY_OK)
        status = load_range_type(loader, state, &type);
    if (status != ORRERY_OK)
        return status;
    if ((json_kind(map) != JSON_ARRAY && json_kind(map) != JSON_OBJECT) ||
        json_count(map) > RESOLVER_ROWS_MAX)
        return ORRERY_ESTATE;
    ranges = memory_list(&loader->op.arena, json_count(map), sizeof(*ranges));
    if (!ranges)
        return ORRERY_ENOMEM;
    status = load_ranges(loader, map, type, ranges);
    return status == ORRERY_OK
               ? orrery_resolver_range(&extractor, ranges, json_count(map), &options, resolver)
               : status;
}

/* The function that tells this kind from others, by its name. */
static orrery_status find_match(const struct loader *loader, orrery_kind *kind)
{
    const orrery_load_options *given = loader->options;

    for (size_t i = 0; given && given->kinds && kind->name && i < given->kind_count; i++)
        if (given->kinds[i].name && given->kinds[i].matches &&
            strcmp(given->kinds[i].name, kind->name) == 0) {
            kind->matches = given->kinds[i].matches;
            kind->context = given->kinds[i].context;
            return ORRERY_OK;
        }
    return ORRERY_ESTATE;
}

static orrery_status load_kind(struct loader *loader, struct json state, orrery_kind *kind)
{
    struct json name = json_get(state, "Name");

    kind->name = text_of(loader, name);
    if (!kind->name && json_kind(name) != JSON_NULL)
        return ORRERY_ESTATE;
    if (json_kind(json_get(state, "Matches")) == JSON_TRUE && find_match(loader, kind) != ORRERY_OK)
        return ORRERY_ESTATE;
    return load(loader, json_get(state, "Resolver"), &kind->resolver);
}

static orrery_status load_kinds(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    struct json list = json_get(state, "Kinds"), property = json_get(state, "KindPropertyName");
    const char *name = text_of(loader, property);
    orrery_status status = ORRERY_OK;
    orrery_kind *kinds;
    size_t count = 0;

    if (!is_array(list, RESOLVER_LINKS_MAX) || (!name && json_kind(property) != JSON_UNDEFINED))
        return ORRERY_ESTATE;
    kinds = memory_list(&loader->op.arena, json_count(list), sizeof(*kinds));
    if (!kinds)
        return ORRERY_ENOMEM;
    for (struct json_iter i = json_iter(list); status == ORRERY_OK && json_next(&i); count++) {
        kinds[count] = (orrery_kind){ .name = NULL };
        status = load_kind(loader, i.value, &kinds[count]);
    }
    if (status == ORRERY_OK)
        status = orrery_resolver_kinds(name, kinds, count, resolver);
    while (count > 0)
        orrery_resolver_unref(kinds[--count].resolver);
    return status;
}

static orrery_status load_transition(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    struct json name = json_get(state, "ReadMode");
    orrery_resolver *current = NULL, *next = NULL;
    orrery_read_mode mode;
    orrery_status status;

    if (json_kind(name) != JSON_STRING || !state_mode_of(json_string(name), &mode))
        return ORRERY_ESTATE;
    status = load(loader, json_get(state, "CurrentResolver"), &current);
    if (status == ORRERY_OK)
        status = load(loader, json_get(state, "NextResolver"), &next);
    if (status == ORRERY_OK)
        status = orrery_resolver_transition(current, next, mode, resolver);
    orrery_resolver_unref(current);
    orrery_resolver_unref(next);
    return status;
}

static bool read_whole(struct json value, int64_t least, int64_t most, int64_t *number)
{
    *number = json_kind(value) == JSON_NUMBER && json_is_int(value) ? json_int(value) : least - 1;
    return *number >= least && *number <= most;
}

/* It asks the server, through the client that the caller brings. */
static orrery_status load_spillover(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    orrery_client *client = loader->options ? loader->options->client : NULL;
    const char *database = text_of(loader, json_get(state, "DatabaseLink"));
    struct json factor = json_get(state, "FillFactor");
    orrery_spillover_options options = { .size = sizeof(options),
                                         .prefix = text_of(loader, json_get(state, "Prefix")) };
    orrery_template shape;
    int64_t seconds;
    orrery_status status = state_shape_of(&loader->op.arena, json_get(state, "Collection"), &shape);

    if (!client || !database || !options.prefix || json_kind(factor) != JSON_NUMBER ||
        !read_whole(json_get(state, "CheckSeconds"), -1, INT32_MAX, &seconds) ||
        !read_whole(json_get(state, "QuotaInKb"), 0, INT64_MAX, &options.quota_kb))
        return ORRERY_ESTATE;
    options.fill_factor = json_double(factor);
    options.check_seconds = (int)seconds;
    options.collection = &shape;
    return status == ORRERY_OK ? orrery_resolver_spillover(client, database, &options, resolver) : status;
}

/* Each type, and the member by which state that does not name its type is known. */
static const struct {
    const char *type, *member;
    orrery_status (*load)(struct loader *loader, struct json state, orrery_resolver **resolver);
} types[] = {
    { "Hash", "CollectionLinks", load_ring },
    { "Range", "PartitionMap", load_map },
    { "Kinds", "Kinds", load_kinds },
    { "Transition", "NextResolver", load_transition },
    { "Spillover", "FillFactor", load_spillover },
};

static bool version_is_known(struct json version)
{
    return json_kind(version) == JSON_UNDEFINED ||
           (json_kind(version) == JSON_NUMBER && json_double(version) == STATE_VERSION);
}

static orrery_status load_as(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    struct json type = json_get(state, "Type");

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        bool is_it = json_kind(type) == JSON_STRING
                         ? slice_is(json_string(type), types[i].type)
                         : json_kind(type) == JSON_UNDEFINED &&
                               json_kind(json_get(state, types[i].member)) != JSON_UNDEFINED;

        if (is_it)
            return types[i].load(loader, state, resolver);
    }
    return ORRERY_ESTATE;
}

static orrery_status load(struct loader *loader, struct json state, orrery_resolver **resolver)
{
    orrery_status status;

    *resolver = NULL;
    if (json_kind(state) != JSON_OBJECT || !version_is_known(json_get(state, "Version")) ||
        loader->depth == STATE_DEPTH_MAX)
        return ORRERY_ESTATE;
    loader->depth++;
    status = load_as(loader, state, resolver);
    loader->depth--;
    return status;
}

orrery_status resolver_load_json(struct json state, const orrery_load_options *options,
                                 orrery_resolver **resolver)
{
    orrery_load_options known;
    struct loader loader = { .options = options ? &known : NULL };
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (options && !struct_take(&known, sizeof(known), options))
        return ORRERY_EINVAL;
    scratch_init(&loader.op);
    status = load(&loader, state, resolver);
    op_free(&loader.op);
    if (loader.no_memory)
        return ORRERY_ENOMEM;
    /* what the constructors refuse is a mistake in the state, and not the caller's */
    return status == ORRERY_EINVAL || status == ORRERY_ELINK || status == ORRERY_EKEYTYPE ? ORRERY_ESTATE
                                                                                          : status;
}

orrery_status orrery_resolver_load(const char *json, size_t size, const orrery_load_options *options,
                                   orrery_resolver **resolver)
{
    struct op scratch;
    struct json state;
    enum status st;
    orrery_status status;

    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    if (!json)
        return ORRERY_EINVAL;
    size = size == ORRERY_TEXT ? strlen(json) : size;
    if (size > STATE_BYTES_MAX)
        return ORRERY_ESTATE;
    scratch_init(&scratch);
    st = json_parse(&scratch, slice_make(json, size), &state);
    if (st == ST_OK)
        status = resolver_load_json(state, options, resolver);
    else
        status = st == ST_TOO_LARGE ? ORRERY_ENOMEM : ORRERY_ESTATE;
    op_free(&scratch);
    return status;
}
