/*
 * src/query/plan/ranges.c - from a filter to the partition keys that can pass it.
 * A set of keys is a list of boxes: each fixes some of the key's paths to a value and leaves the
 * others open. AND meets boxes, OR joins them. A condition that does not name its values one by one leaves everything
 * open, so that a set is never too small.
 */
#include <assert.h>
#include <stdlib.h>

#include "query/plan.h"
#include "query/plan/filter.h"
#include "query/plan/kinds.h"

enum {
    INFERENCE_BYTES_MAX = 32 * 1024 * 1024,
    MEETINGS_MAX = 1 << 16, /* of boxes: past it one side is enough, for it holds the meeting */
};

struct box {
    bool is_fixed[PARTITION_KEY_PATHS_MAX];
    struct json value[PARTITION_KEY_PATHS_MAX];
};

/* A set of keys. Its memory belongs to whoever holds it last: sets are used once. */
struct keys {
    bool all;
    struct box *box;
    size_t count, capacity;
};

static const struct keys every_key = { .all = true };
static const struct keys no_key = { 0 };

struct inference {
    struct op *op;
    const struct query_key *key;
};

/* More boxes than there may be are every key. */
static void add_box(struct inference *inference, struct keys *keys, const struct box *box)
{
    if (keys->all)
        return;
    if ((keys->count == keys->capacity && keys->count >= QUERY_POINTS_MAX) ||
        !arena_list_reserve(&inference->op->arena, &keys->box, &keys->capacity, keys->count + 1,
                            sizeof(*box)))
        *keys = every_key;
    else
        keys->box[keys->count++] = *box;
}

static struct keys join(struct inference *inference, struct keys a, struct keys b)
{
    if (a.all || b.all)
        return every_key;
    for (size_t i = 0; i < b.count; i++)
        add_box(inference, &a, &b.box[i]);
    return a;
}

static bool same(struct json a, struct json b)
{
    if (json_kind(a) == JSON_UNDEFINED || json_kind(b) == JSON_UNDEFINED)
        return json_kind(a) == json_kind(b);
    return json_equal(a, b);
}

/* What both boxes hold; false when a path has two values. */
static bool meet_boxes(const struct box *a, const struct box *b, struct box *both)
{
    *both = *a;
    for (size_t i = 0; i < PARTITION_KEY_PATHS_MAX; i++) {
        if (!b->is_fixed[i])
            continue;
        if (a->is_fixed[i] && !same(a->value[i], b->value[i]))
            return false;
        both->is_fixed[i] = true;
        both->value[i] = b->value[i];
    }
    return true;
}

static struct keys meet(struct inference *inference, struct keys a, struct keys b)
{
    struct keys both = no_key;
    struct box box;

    if (a.all || b.all)
        return a.all ? b : a;
    if (a.count * b.count > MEETINGS_MAX)
        return a.count < b.count ? a : b;
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++)
            if (meet_boxes(&a.box[i], &b.box[k], &box))
                add_box(inference, &both, &box);
    return both;
}

/* ---- from a filter ---- */

static bool leads_to(const struct kept_path *path, const struct slice *segment, size_t count)
{
    const struct path_traits *traits = &path->traits;

    if (path->steps.count != count || traits->has_place || traits->has_elements || traits->computed ||
        traits->is_indirect)
        return false;
    for (size_t i = 0; i < count; i++)
        if (path->steps.step[i].element || !slice_equal(path->steps.step[i].name, segment[i]))
            return false;
    return true;
}

/* Which of the key's paths it is; -1 for none. */
static int key_path(const struct inference *inference, const struct kept_path *path)
{
    for (size_t i = 0; i < inference->key->path_count; i++)
        if (leads_to(path, inference->key->path[i].segment, inference->key->path[i].count))
            return (int)i;
    return -1;
}

/* Arrays and objects are no key values: an item that has one lies with those that have none. */
static void add_value(struct inference *inference, struct keys *keys, int path, struct value value)
{
    struct box box = { 0 };

    assert(path >= 0);
    assert((size_t)path < inference->key->path_count);
    if (value.kind == JSON_UNDEFINED)
        return; /* nothing equals undefined */
    box.is_fixed[path] = true;
    if (value.kind < JSON_ARRAY) {
        box.value[path] = value_to_json(inference->op, value);
        if (json_kind(box.value[path]) != value.kind)
            *keys = every_key;
    }
    add_box(inference, keys, &box);
}

/* One value, or kinds that have one value each: null, false, true. */
static void add_interval(struct inference *inference, struct keys *keys, int path,
                         const struct interval *interval)
{
    if (interval_is_point(interval)) {
        add_value(inference, keys, path, interval->low.value);
        return;
    }
    if (interval->low.is_set || interval->high.is_set || interval->last > JSON_TRUE) {
        *keys = every_key;
        return;
    }
    for (enum json_kind kind = interval->first; kind <= interval->last; kind++)
        add_value(inference, keys, path, (struct value){ .kind = (uint8_t)kind });
}

static struct keys keys_of_values(struct inference *inference, const struct filter *filter)
{
    int path = key_path(inference, &filter->path);
    struct keys keys = path < 0 ? every_key : no_key;

    for (size_t i = 0; i < filter->interval_count && !keys.all; i++)
        add_interval(inference, &keys, path, &filter->interval[i]);
    return keys;
}

static struct keys keys_of(struct inference *inference, const struct filter *filter);

/* Whether each is one interval of one kind, at the same path below the item. */
static bool are_alike(const struct filter *a, const struct filter *b)
{
    const struct filter *both[] = { a, b };

    for (size_t i = 0; i < 2; i++)
        if (both[i]->kind != FILTER_VALUES || both[i]->interval_count != 1 ||
            !(both[i]->readers & FOR_KEYS) || both[i]->interval->is_prefix ||
            both[i]->path.traits.has_elements || both[i]->path.traits.has_place ||
            both[i]->path.traits.computed)
            return false;
    if (a->path.steps.count != b->path.steps.count)
        return false;
    for (size_t i = 0; i < a->path.steps.count; i++)
        if (!slice_equal(a->path.steps.step[i].name, b->path.steps.step[i].name))
            return false;
    return true;
}

/* Conditions of one path that leave nothing, or one value: c.pk >= 1 AND c.pk <= 1. */
static struct keys keys_of_pair(struct inference *inference, const struct filter *a, const struct filter *b)
{
    struct filter met = *a;
    struct interval both;

    if (!are_alike(a, b))
        return every_key;
    if (a->interval->last < b->interval->first || b->interval->last < a->interval->first)
        return no_key;
    if (a->interval->first != b->interval->first || a->interval->last != b->interval->last ||
        a->interval->last >= JSON_ARRAY)
        return every_key;
    both = interval_meet(a->interval, b->interval);
    met.interval = &both;
    return interval_is_empty(&both) ? no_key : keys_of_values(inference, &met);
}

enum { PAIRED_MAX = 16 }; /* of an AND's conditions: more are not compared with one another */

static struct keys keys_of_pairs(struct inference *inference, const struct filter *filter)
{
    struct keys keys = every_key;

    for (size_t i = 0; i < filter->kid_count && filter->kid_count <= PAIRED_MAX; i++)
        for (size_t k = i + 1; k < filter->kid_count; k++)
            keys = meet(inference, keys, keys_of_pair(inference, filter->kid[i], filter->kid[k]));
    return keys;
}

static struct keys keys_of_list(struct inference *inference, const struct filter *filter)
{
    bool needs_every = filter->kind == FILTER_AND;
    struct keys keys = needs_every ? keys_of_pairs(inference, filter) : no_key;

    for (size_t i = 0; i < filter->kid_count; i++) {
        struct keys more = keys_of(inference, filter->kid[i]);

        keys = needs_every ? meet(inference, keys, more) : join(inference, keys, more);
    }
    return keys;
}

/* The keys of items that can pass. */
static struct keys keys_of(struct inference *inference, const struct filter *filter)
{
    if (!(filter->readers & FOR_KEYS))
        return every_key;
    switch (filter->kind) {
    case FILTER_NONE:
        return no_key;
    case FILTER_VALUES:
        return keys_of_values(inference, filter);
    case FILTER_AND:
    case FILTER_OR:
        return keys_of_list(inference, filter);
    case FILTER_ROWS:
        return keys_of(inference, filter->kid[0]);
    default:
        return every_key;
    }
}

/* SELECT VALUE of what is undefined, whatever the item. */
static bool gives_nothing(const struct select *select)
{
    return select->value && kinds_of(select->item[0].expr) == kinds_one(JSON_UNDEFINED);
}

/* The keys of items that the statement looks at. */
static struct keys keys_of_select(struct inference *inference, const struct select *select)
{
    const struct source *first = select->source;
    struct keys keys = every_key;

    if (select->source_count == 0 || gives_nothing(select))
        return no_key;
    if (first->kind == SOURCE_SUBQUERY)
        keys = keys_of_select(inference, first->select);
    return meet(inference, keys, keys_of(inference, filter_of_select(&inference->op->arena, select)));
}

/* ---- as points ---- */

/* How many of the key's levels a box names, from the first on; 0 when it is no place at all. */
static size_t levels_of(const struct query_key *key, const struct box *box)
{
    size_t levels = 0;

    while (levels < key->path_count && box->is_fixed[levels])
        levels++;
    return key->version == EPK_MULTI || levels == key->path_count ? levels : 0;
}

static void point_of(const struct query_key *key, const struct box *box, size_t levels, struct epk *point)
{
    struct partition_key values = { .count = levels };

    assert(levels > 0);
    assert(levels <= key->path_count);
    memcpy(values.component, box->value, levels * sizeof(box->value[0]));
    if (key->system && json_kind(values.component[0]) == JSON_UNDEFINED)
        values.count = 0;
    epk_compute(key->version, &values, point);
}

static int by_epk(const void *a, const void *b)
{
    return slice_compare(epk_slice(a), epk_slice(b));
}

/* Hierarchical keys begin with the keys above them; other keys are whole, and equal or different. */
static bool is_within(const struct query_key *key, const struct epk *inner, const struct epk *outer)
{
    if (key->version != EPK_MULTI)
        return slice_equal(epk_slice(inner), epk_slice(outer));
    return inner->size >= outer->size && memcmp(inner->bytes, outer->bytes, outer->size) == 0;
}

/* In order, and none within another: what lies within a point follows it. */
static void sort_points(const struct query_key *key, struct query_ranges *ranges)
{
    size_t kept = 0;

    qsort(ranges->point, ranges->count, sizeof(*ranges->point), by_epk);
    for (size_t i = 0; i < ranges->count; i++)
        if (kept == 0 || !is_within(key, &ranges->point[i], &ranges->point[kept - 1]))
            ranges->point[kept++] = ranges->point[i];
    ranges->count = kept;
}

static void to_ranges(struct op *op, const struct query_key *key, const struct keys *keys,
                      struct query_ranges *ranges)
{
    *ranges = (struct query_ranges){ .all = keys->all };
    if (keys->all || keys->count == 0)
        return;
    ranges->point = arena_try_alloc(&op->arena, keys->count * sizeof(*ranges->point));
    if (!ranges->point) {
        ranges->all = true;
        return;
    }
    for (size_t i = 0; i < keys->count; i++) {
        size_t levels = levels_of(key, &keys->box[i]);

        if (levels == 0) {
            *ranges = (struct query_ranges){ .all = true };
            return;
        }
        point_of(key, &keys->box[i], levels, &ranges->point[ranges->count++]);
    }
    sort_points(key, ranges);
}

bool query_point_is_prefix(const struct query_key *key, const struct epk *point)
{
    struct partition_key undefined = { .count = key->path_count };
    struct epk whole;

    if (key->version != EPK_MULTI)
        return false;
    epk_compute(key->version, &undefined, &whole); /* every whole key is as long */
    return point->size < whole.size;
}

/* Points that outlive the inference. */
static void keep_points(struct op *op, struct query_ranges *ranges)
{
    struct epk *kept;

    if (ranges->count == 0)
        return;
    kept = arena_try_alloc(&op->arena, ranges->count * sizeof(*kept));
    if (kept)
        memcpy(kept, ranges->point, ranges->count * sizeof(*kept));
    else
        *ranges = (struct query_ranges){ .all = true };
    ranges->point = kept;
}

/* What it works with is given back at once: a long filter must leave the query its memory. */
enum status query_ranges(struct op *op, const struct select *select, const struct query_key *key,
                         struct query_ranges *ranges)
{
    struct inference inference = { op, key };
    struct arena callers = op->arena;
    struct arena own;
    struct keys keys;

    assert(key->path_count <= PARTITION_KEY_PATHS_MAX);
    arena_init(&own, INFERENCE_BYTES_MAX);
    op->arena = own;
    keys = keys_of_select(&inference, select);
    to_ranges(op, key, &keys, ranges);
    own = op->arena;
    op->arena = callers;
    keep_points(op, ranges);
    arena_free(&own);
    return ST_OK;
}
