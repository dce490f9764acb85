/* src/json/names.c - finding a name that repeats, in constant time for each name. */
#include <assert.h>

#include "json/names.h"

static const uint64_t MULTIPLIER = 0x9e3779b97f4a7c15u;

void names_init(struct names *names, struct arena *arena)
{
    names->arena = arena;
    names->entries = names->local;
    names->count = 0;
    names->capacity = NAMES_LOCAL;
    names->spare = NULL;
    names->spare_size = 0;
    names->secret = (uintptr_t)names * MULTIPLIER; /* the system places the stack at random */
}

static uint64_t mix(uint64_t a)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * MULTIPLIER;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash is of the text without the tag in front: one load of both would wait for two stores. */
static uint32_t hash_name(uint64_t secret, struct slice name)
{
    const uint8_t *at = (const uint8_t *)name.data;
    size_t left = name.size;
    uint64_t hash = secret ^ left;

    for (; left > 8; left -= 8, at += 8)
        hash = mix(hash ^ load_u64(at)) ^ secret;
    if (left)
        hash ^= load_u64(at) << (64 - 8 * left); /* no bits of what lies behind */
    hash = mix(hash);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool same_name(const struct name_entry *entry, const uint8_t *output, struct slice name)
{
    return slice_equal(string_at(output + entry->name_at), name);
}

static void table_insert(struct object_names *object, uint32_t hash, size_t number)
{
    size_t slot = hash & (object->table_size - 1);

    while (object->table[slot])
        slot = (slot + 1) & (object->table_size - 1);
    object->table[slot] = (uint32_t)number + 1;
}

/* A table of at least four slots for each name, so that it is good for twice as many. */
static bool grow_table(struct names *names, struct object_names *object)
{
    size_t count = names_count(names, object), size = 4 * NAMES_DIRECT_MAX;

    while (size < 4 * count)
        size *= 2;
    if (names->spare_size >= size) {
        object->table = names->spare;
        size = names->spare_size;
        names->spare_size = 0;
    } else {
        object->table = arena_try_alloc(names->arena, size * sizeof(*object->table));
    }
    if (!object->table)
        return false;
    memset(object->table, 0, size * sizeof(*object->table));
    object->table_size = size;
    for (size_t i = 0; i < count; i++)
        table_insert(object, names->entries[object->first + i].hash, i);
    return true;
}

static struct name_entry *find(const struct names *names, const struct object_names *object,
                               const uint8_t *output, struct slice name, uint32_t hash)
{
    struct name_entry *entries = names->entries + object->first;
    size_t mask = object->table_size - 1;

    if (!object->table) {
        for (size_t i = 0; i < names_count(names, object); i++)
            if (entries[i].hash == hash && same_name(&entries[i], output, name))
                return &entries[i];
        return NULL;
    }
    for (size_t slot = hash & mask; object->table[slot]; slot = (slot + 1) & mask) {
        struct name_entry *entry = &entries[object->table[slot] - 1];

        if (entry->hash == hash && same_name(entry, output, name))
            return entry;
    }
    return NULL;
}

static bool make_room(struct names *names, struct object_names *object)
{
    size_t count = names_count(names, object);

    if (!arena_list_reserve(names->arena, &names->entries, &names->capacity, names->count + 1,
                            sizeof(*names->entries)))
        return false;
    if (count < NAMES_DIRECT_MAX || (object->table && 2 * count < object->table_size))
        return true;
    return grow_table(names, object);
}

struct name_entry *names_add(struct names *names, struct object_names *object, const uint8_t *output,
                             size_t name_at)
{
    struct slice name = string_at(output + name_at);
    uint32_t hash = hash_name(names->secret, name);
    uint64_t bit = (uint64_t)1 << (hash >> 26);
    struct name_entry *entry;

    if (object->seen & bit) {
        entry = find(names, object, output, name, hash);
        if (entry) {
            object->repeated = true;
            return entry;
        }
    }
    if (!make_room(names, object))
        return NULL;
    object->seen |= bit;
    if (object->table)
        table_insert(object, hash, names_count(names, object));
    assert(names->count < names->capacity);
    entry = &names->entries[names->count++];
    *entry = (struct name_entry){ .hash = hash, .name_at = (uint32_t)name_at };
    return entry;
}

void names_end(struct names *names, struct object_names *object)
{
    assert(names->count >= object->first); /* objects end in turn */
    names->count = object->first;
    if (object->table_size > names->spare_size) {
        names->spare = object->table;
        names->spare_size = object->table_size;
    }
}
