/* src/query/eval/groups.c - groups in a list, found through a table of their hashes. */
#include <assert.h>
#include <stdlib.h>

#include "query/eval/groups.h"

enum { TABLE_FIRST = 64, SPARE = 64 };

int hash_compare(struct hash128 a, struct hash128 b)
{
    if (a.h1 != b.h1)
        return a.h1 < b.h1 ? -1 : 1;
    return a.h2 < b.h2 ? -1 : a.h2 > b.h2;
}

/* Of two groups by their keys, where there is an order of these, and by their hashes. */
static int compare(const struct groups *groups, const struct value *key, struct hash128 hash,
                   const struct group *other)
{
    int order = 0;

    for (size_t i = 0; order == 0 && i < groups->order_count; i++) {
        order = value_compare(key[groups->order[i].key], other->key[groups->order[i].key]);
        order = groups->order[i].descending ? -order : order;
    }
    return order ? order : hash_compare(hash, other->hash);
}

static int by_order(const void *a, const void *b, void *groups)
{
    const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

    return compare(groups, x->key, x->hash, y);
}

static uint32_t *place_of(const struct groups *groups, struct hash128 hash)
{
    size_t i = hash.h2 & (groups->table_size - 1);

    assert(groups->table);
    while (groups->table[i] && hash_compare(groups->list[groups->table[i] - 1]->hash, hash) != 0)
        i = (i + 1) & (groups->table_size - 1);
    return &groups->table[i];
}

static void fill_table(struct groups *groups)
{
    memset(groups->table, 0, groups->table_size * sizeof(*groups->table));
    for (size_t i = 0; i < groups->count; i++)
        *place_of(groups, groups->list[i]->hash) = (uint32_t)i + 1;
}

static bool grow(struct groups *groups)
{
    size_t size = groups->table_size ? 2 * groups->table_size : TABLE_FIRST;
    uint32_t *table = arena_try_alloc(groups->memory, size * sizeof(*table));
    struct group **list = arena_try_alloc(groups->memory, size / 2 * sizeof(struct group *));

    if (!table || !list)
        return false;
    assert(groups->count < size / 2);
    groups->spare = 0;
    if (groups->count)
        memcpy(list, groups->list, groups->count * sizeof(*list));
    groups->list = list;
    groups->table = table;
    groups->table_size = size;
    groups->capacity = size / 2;
    fill_table(groups);
    return true;
}

void groups_sort(struct groups *groups)
{
    if (groups->count > 1)
        qsort_r(groups->list, groups->count, sizeof(*groups->list), by_order, groups);
    if (groups->keep && groups->count > groups->keep) {
        groups->spare += groups->count - groups->keep;
        groups->count = groups->keep;
        groups->bound = groups->list[groups->count - 1];
        groups->has_bound = true;
    }
    if (groups->table)
        fill_table(groups);
}

static struct group *new_group(struct groups *groups)
{
    size_t bytes = sizeof(struct group) + groups->key_count * sizeof(struct value) +
                   groups->state_count * sizeof(struct aggregate);
    struct group *group = arena_try_alloc(groups->memory, bytes);

    if (!group)
        return NULL;
    memset(group, 0, bytes);
    group->key = (struct value *)(group + 1);
    group->state = (struct aggregate *)(group->key + groups->key_count);
    for (size_t i = 0; i < groups->state_count; i++)
        group->state[i].memory = groups->memory;
    return group;
}

/* As if it were new, but for its room. */
static struct group *used_group(struct groups *groups)
{
    struct group *group = groups->list[groups->count];

    groups->spare--;
    *group = (struct group){
        .key = group->key, .state = group->state, .room = group->room, .room_bytes = group->room_bytes
    };
    for (size_t i = 0; i < groups->key_count; i++)
        group->key[i] = value_undefined;
    for (size_t i = 0; i < groups->state_count; i++)
        aggregate_reset(&group->state[i]);
    return group;
}

static bool was_given(const struct groups *groups, struct hash128 hash, const struct value *key)
{
    if (groups->was_given)
        return groups->was_given(groups->context, key, hash);
    return groups->has_after && hash_compare(hash, groups->after) <= 0;
}

static bool is_wanted(const struct groups *groups, struct hash128 hash, const struct value *key)
{
    if (was_given(groups, hash, key))
        return false;
    return !groups->has_bound || compare(groups, key, hash, groups->bound) <= 0;
}

/* Room for one more in the list and the table. */
static bool make_room(struct groups *groups)
{
    return groups->count < groups->capacity || grow(groups);
}

static struct group *add_group(struct groups *groups, struct hash128 hash)
{
    struct group *group = NULL;

    if (make_room(groups))
        group = groups->spare ? used_group(groups) : new_group(groups);
    groups->failed |= !group;
    if (!group)
        return NULL;
    assert(groups->count < groups->capacity);
    group->hash = hash;
    *place_of(groups, hash) = (uint32_t)groups->count + 1;
    groups->list[groups->count++] = group;
    return group;
}

/* `key` where groups have an order of their keys. */
static struct group *find(struct groups *groups, struct hash128 hash, const struct value *key, bool *is_new)
{
    uint32_t *place;

    *is_new = false;
    if (!is_wanted(groups, hash, key))
        return NULL;
    place = groups->table ? place_of(groups, hash) : NULL;
    if (place && *place)
        return groups->list[*place - 1];
    if (groups->keep && groups->count >= 2 * groups->keep + SPARE) {
        groups_sort(groups);
        if (!is_wanted(groups, hash, key))
            return NULL;
    }
    *is_new = true;
    return add_group(groups, hash);
}

struct group *groups_at(struct groups *groups, struct hash128 hash, bool *is_new)
{
    assert(groups->order_count == 0);
    return find(groups, hash, NULL, is_new);
}

void groups_init(struct eval *eval, struct groups *groups, const struct select *select, struct arena *memory)
{
    bool is_new;

    *groups = (struct groups){ .memory = memory,
                               .key_count = select->group_count,
                               .state_count = select->aggregate_count };
    if (select->group_count || !select->aggregate_count)
        return;
    groups_at(groups, (struct hash128){ 0 }, &is_new);
    if (groups->failed)
        eval_fail(eval, ST_QUERY_MEMORY);
}

enum { KEYS_ON_STACK = 16 };

/* The key of the row in the slots, and its hash. */
static struct hash128 evaluate_key(struct eval *eval, const struct groups *groups,
                                   const struct select *select, struct value *key)
{
    struct hash128 hash = { 0, 0 }, parts[2];

    for (size_t i = 0; i < select->group_count; i++) {
        key[i] = eval_plain(eval, eval_expr(eval, select->group[i]));
        parts[0] = hash;
        parts[1] = groups->known ? known_hash(eval->op, groups->known, key[i]) : value_hash(eval->op, key[i]);
        hash = murmur3_128(parts, sizeof(parts));
    }
    return hash;
}

/* Room for a key's bytes: twice what there was, so that a group that is used again and again takes no more and more. */
static bool key_room(struct groups *groups, struct group *group, size_t bytes)
{
    if (bytes <= group->room_bytes)
        return true;
    bytes = bytes < 2 * group->room_bytes ? 2 * group->room_bytes : bytes;
    group->room = arena_try_alloc(groups->memory, bytes);
    group->room_bytes = group->room ? bytes : 0;
    return group->room;
}

/* What a value has beside itself. */
static struct slice bytes_of(struct value value)
{
    if (value.kind == JSON_STRING)
        return value.string;
    return value.kind >= JSON_ARRAY ? json_bytes(value.json) : (struct slice){ 0 };
}

static struct value value_over(struct value value, struct slice bytes)
{
    if (value.kind == JSON_STRING)
        value.string = bytes;
    else if (value.kind >= JSON_ARRAY)
        value.json = json_from_bytes(bytes);
    return value;
}

/* The key outlives its row. */
static bool keep_key(struct groups *groups, struct group *group, const struct value *key)
{
    size_t bytes = 0;

    for (size_t i = 0; i < groups->key_count; i++)
        bytes += bytes_of(key[i]).size;
    if (!key_room(groups, group, bytes))
        return false;
    bytes = 0;
    for (size_t i = 0; i < groups->key_count; i++) {
        struct slice from = bytes_of(key[i]);

        if (from.size)
            memcpy(group->room + bytes, from.data, from.size);
        group->key[i] = value_over(key[i], slice_make(group->room + bytes, from.size));
        bytes += from.size;
    }
    return true;
}

void groups_add(struct eval *eval, struct groups *groups, const struct select *select, uint64_t counter,
                uint32_t index, uint64_t times)
{
    struct value few[KEYS_ON_STACK];
    struct value *key = select->group_count <= KEYS_ON_STACK
                            ? few
                            : arena_alloc(&eval->op->arena, select->group_count * sizeof(*key));
    struct hash128 hash = evaluate_key(eval, groups, select, key);
    bool is_new;
    struct group *group = find(groups, hash, key, &is_new);

    assert(groups->key_count == select->group_count);
    assert(groups->state_count == select->aggregate_count);
    if (groups->failed || (is_new && !keep_key(groups, group, key))) {
        eval_fail(eval, ST_QUERY_MEMORY);
        return;
    }
    if (!group)
        return;
    if (is_new || counter < group->counter) {
        group->counter = counter;
        group->index = index;
    }
    for (size_t i = 0; i < select->aggregate_count; i++) {
        const struct expr *call = select->aggregate[i];

        aggregate_add(eval, &group->state[i], call->builtin, eval_plain(eval, eval_expr(eval, call->kid[0])),
                      times);
    }
}

void groups_show(struct eval *eval, const struct group *group, const struct select *select)
{
    for (size_t i = 0; i < select->source_count; i++)
        eval->slot[select->source[i].slot] = value_undefined;
    for (size_t i = 0; i < select->group_count; i++)
        eval->result[select->group_slot + (int)i] = group->key[i];
    for (size_t i = 0; i < select->aggregate_count; i++)
        eval->result[select->aggregate[i]->slot] =
            aggregate_result(eval, &group->state[i], select->aggregate[i]->builtin);
}
