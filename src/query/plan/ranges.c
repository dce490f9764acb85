/*
 * src/query/plan/ranges.c - from what a statement demands of an item to the partition keys that it can have.
 * A set of keys is a list of boxes: each fixes some of the key's paths to a value and leaves the
 * others open. AND meets boxes, OR joins them. A condition that does not name its values one by one leaves everything
 * open, so that a set is never too small. Conditions that must hold together are looked at together, path by path:
 * what they leave of a path may be one value, or none.
 */
#include <assert.h>
#include <stdlib.h>

#include "query/plan.h"
#include "query/plan/demand_private.h"

enum {
    INFERENCE_BYTES_MAX = 32 * 1024 * 1024,
    MEETINGS_MAX = 1 << 16, /* of boxes: past it one side is enough, for it holds the meeting */
    PAIRS_OF_A_STEP = 8,    /* that meet, of the operation's (base/op.h) */
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
    enum status status; /* a loop thread has no time for it, or nobody */
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

/* What a loop thread has no time for is told at the end. */
static bool may_go_on(struct inference *inference, size_t pairs)
{
    if (inference->status == ST_OK)
        inference->status = op_spend(inference->op, pairs / PAIRS_OF_A_STEP);
    return inference->status == ST_OK;
}

static struct keys meet(struct inference *inference, struct keys a, struct keys b)
{
    struct keys both = no_key;
    struct box box;

    if (a.all || b.all)
        return a.all ? b : a;
    if (a.count * b.count > MEETINGS_MAX || !may_go_on(inference, a.count * b.count))
        return a.count < b.count ? a : b;
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++)
            if (meet_boxes(&a.box[i], &b.box[k], &box))
                add_box(inference, &both, &box);
    return both;
}

/* ---- what is known of paths ---- */

/* Values at a path, of every condition on the way from the statement down to here. */
struct fact {
    const struct demand_path *path;
    struct values values;
};

enum {
    FACTS_MAX = 64,          /* more are not compared with one another */
    VALUES_MET_MAX = 1 << 12 /* of pairs: past it one side is enough */
};

struct facts {
    struct fact fact[FACTS_MAX];
    size_t count;
};

static bool same_step(const struct demand_step *a, const struct demand_step *b)
{
    if (a->is_element || b->is_element)
        return a->is_element && b->is_element && a->place == b->place;
    return slice_equal(a->name, b->name);
}

/* Whether b begins as a does. */
static bool is_above(const struct demand_path *a, const struct demand_path *b)
{
    if (a->slot != b->slot || a->count > b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_step(&a->step[i], &b->step[i]))
            return false;
    return true;
}

/* How many steps two paths share, from the same beginning. */
static size_t shared_steps(const struct demand_path *a, const struct demand_path *b)
{
    size_t count = 0;

    while (count < a->count && count < b->count && same_step(&a->step[count], &b->step[count]))
        count++;
    return count;
}

static struct json json_below(struct json json, const struct demand_step *step, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!step[i].is_element)
            json = json_member(json, step[i].name);
        else if (json_kind(json) == JSON_ARRAY && step[i].place >= 0 && step[i].place < json_count(json))
            json = json_element(json, (uint32_t)step[i].place);
        else
            json = json_undefined;
    }
    return json;
}

/* Whether one of the values may have, so many steps below, one of the others. */
static bool may_have_below(struct values values, const struct demand_step *step, size_t count,
                           struct values others)
{
    kinds kind = kinds_one(step->is_element ? JSON_ARRAY : JSON_OBJECT);

    for (size_t i = 0; i < values.count; i++) {
        const struct interval *one = &values.interval[i];

        if (!(values_kinds(values_of(one, 1)) & kind))
            continue;
        if (!interval_is_point(one) ||
            values_have(others, value_from_json(json_below(one->low.value.json, step, count))))
            return true;
    }
    return false;
}

/* A value below another is defined only where that is an object, or an array; nothing is both. */
static bool are_at_odds(const struct fact *a, const struct fact *b)
{
    size_t shared = shared_steps(a->path, b->path);

    if (a->path->slot != b->path->slot || a->path->count > b->path->count ||
        values_kinds(b->values) & kinds_one(JSON_UNDEFINED) || b->path->count == shared)
        return false;
    if (shared < a->path->count)
        return !(values_kinds(a->values) & kinds_one(JSON_UNDEFINED)) &&
               a->path->step[shared].is_element != b->path->step[shared].is_element;
    return !may_have_below(a->values, &b->path->step[shared], b->path->count - shared, b->values);
}

/* What two sets of values have in common. */
static struct values common(struct inference *inference, struct values a, struct values b)
{
    struct reader reader = { .arena = &inference->op->arena };
    struct interval *room;
    size_t count = 0;

    if (a.count * b.count > VALUES_MET_MAX || !may_go_on(inference, a.count * b.count))
        return a.count < b.count ? a : b;
    room = values_room(&reader, a.count * b.count);
    if (!room)
        return a;
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++) {
            room[count] = interval_meet(&a.interval[i], &b.interval[k]);
            count += !interval_is_empty(&room[count]);
        }
    return values_of(room, count);
}

/* What a condition says, with what is known of its path; no values when no item can have all of it. */
static struct fact met(struct inference *inference, const struct facts *facts, const struct demand *demand,
                       size_t *same)
{
    struct fact fact = { &demand->path, values_of(demand->interval, demand->interval_count) };

    *same = facts->count;
    for (size_t i = 0; i < facts->count; i++)
        if (facts->fact[i].path->count == fact.path->count && is_above(facts->fact[i].path, fact.path))
            *same = i;
    if (*same < facts->count)
        fact.values = common(inference, facts->fact[*same].values, fact.values);
    for (size_t i = 0; i < facts->count; i++)
        if (are_at_odds(&facts->fact[i], &fact) || are_at_odds(&fact, &facts->fact[i]))
            fact.values.count = 0;
    return fact;
}

static bool learn(struct inference *inference, struct facts *facts, const struct demand *demand)
{
    size_t same;
    struct fact fact = met(inference, facts, demand, &same);

    if (fact.values.count && same < FACTS_MAX) {
        facts->fact[same] = fact;
        facts->count += same == facts->count;
    }
    return fact.values.count;
}

/* The same of everything that must hold together; what is either this or that comes later. */
static bool learn_all(struct inference *inference, struct facts *facts, const struct demand *demand)
{
    switch (demand->kind) {
    case DEMAND_NONE:
        return false;
    case DEMAND_VALUES:
        return learn(inference, facts, demand);
    case DEMAND_AND:
        for (size_t i = 0; i < demand->kid_count; i++)
            if (!learn_all(inference, facts, demand->kid[i]))
                return false;
        return true;
    default:
        return true;
    }
}

/* ---- from what is demanded ---- */

static bool leads_to(const struct demand_path *path, const struct slice *segment, size_t count)
{
    if (path->count != count || path->is_hidden)
        return false;
    for (size_t i = 0; i < count; i++)
        if (path->step[i].is_element || !slice_equal(path->step[i].name, segment[i]))
            return false;
    return true;
}

/* Which of the key's paths it is; -1 for none. */
static int key_path(const struct inference *inference, const struct demand_path *path)
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
    box.is_fixed[path] = true;
    if (value.kind < JSON_ARRAY && value.kind != JSON_UNDEFINED) {
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
    if (interval->last > JSON_TRUE || interval->first == JSON_UNDEFINED) {
        *keys = every_key;
        return;
    }
    for (enum json_kind kind = interval->first; kind <= interval->last; kind++) {
        struct value value = { .kind = (uint8_t)kind };

        if (interval_has(interval, value))
            add_value(inference, keys, path, value);
    }
}

static struct keys keys_of_fact(struct inference *inference, const struct fact *fact)
{
    int path = key_path(inference, fact->path);
    struct keys keys = path < 0 ? every_key : no_key;

    for (size_t i = 0; i < fact->values.count && !keys.all; i++)
        add_interval(inference, &keys, path, &fact->values.interval[i]);
    return keys;
}

static struct keys keys_of_facts(struct inference *inference, const struct facts *facts)
{
    struct keys keys = every_key;

    for (size_t i = 0; i < facts->count; i++)
        keys = meet(inference, keys, keys_of_fact(inference, &facts->fact[i]));
    return keys;
}

static struct keys keys_of(struct inference *inference, const struct demand *demand,
                           const struct facts *known);

/* Of each that is either this or that, with what is known beside it. */
static struct keys keys_of_choices(struct inference *inference, const struct demand *demand,
                                   const struct facts *known, struct keys keys)
{
    struct keys any = no_key;

    if (demand->kind == DEMAND_AND)
        for (size_t i = 0; i < demand->kid_count; i++)
            keys = keys_of_choices(inference, demand->kid[i], known, keys);
    if (demand->kind != DEMAND_OR)
        return keys;
    for (size_t i = 0; i < demand->kid_count && !any.all; i++)
        any = join(inference, any, keys_of(inference, demand->kid[i], known));
    return meet(inference, keys, any);
}

/* The same of one condition, of which there may be many. */
static struct keys keys_of_one(struct inference *inference, const struct demand *demand,
                               const struct facts *known)
{
    size_t same;
    struct fact fact = met(inference, known, demand, &same);

    return fact.values.count ? keys_of_fact(inference, &fact) : no_key;
}

/* The keys of items that have what is demanded, and what is known of them besides. */
static struct keys keys_of(struct inference *inference, const struct demand *demand,
                           const struct facts *known)
{
    struct facts *facts;

    if (demand->kind == DEMAND_VALUES)
        return keys_of_one(inference, demand, known);
    facts = arena_try_alloc(&inference->op->arena, sizeof(*facts));
    if (!facts)
        return every_key;
    facts->count = known->count;
    memcpy(facts->fact, known->fact, known->count * sizeof(known->fact[0]));
    if (!learn_all(inference, facts, demand))
        return no_key;
    return keys_of_choices(inference, demand, facts, keys_of_facts(inference, facts));
}

/* The keys of items that the statement looks at. */
static struct keys keys_of_select(struct inference *inference, const struct select *select)
{
    static const struct facts nothing = { .count = 0 };

    return keys_of(inference, demand_of_select(&inference->op->arena, select), &nothing);
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
    struct inference inference = { .op = op, .key = key };
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
    if (inference.status != ST_OK)
        op->error = arena_text(&op->arena, slice_of(op->error)); /* it may lie in what is given back */
    arena_free(&own);
    return inference.status;
}
