/* src/catalog/map.c - open addressing; a removed entry leaves its key's place marked. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/heap.h"
#include "catalog/map.h"

enum { CAPACITY_FIRST = 64 };

/* The place of a key, or the place where it would go. A removed entry has a key but no value. */
static struct map_slot *place(const struct map *map, struct slice key)
{
    size_t mask = map->capacity - 1;
    size_t at = murmur3_128(key.data, key.size).h1 & mask;

    assert((map->capacity & mask) == 0); /* a power of two */
    assert(map->used < map->capacity);   /* a free place ends the search */
    while (map->slot[at].key.data && !slice_equal(map->slot[at].key, key))
        at = (at + 1) & mask;
    return &map->slot[at];
}

static void rebuild(struct map *map)
{
    struct map old = *map;
    size_t capacity = CAPACITY_FIRST; /* always a power of two */

    while (capacity < 4 * (old.count + 1))
        capacity *= 2;
    *map = (struct map){ .slot = heap_allocate(capacity * sizeof(struct map_slot)), .capacity = capacity };
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slot[i].value)
            map_put(map, old.slot[i].key, old.slot[i].value);
    free(old.slot);
}

void map_free(struct map *map)
{
    free(map->slot);
    *map = (struct map){ 0 };
}

void *map_find(const struct map *map, struct slice key)
{
    return map->capacity ? place(map, key)->value : NULL;
}

void map_put(struct map *map, struct slice key, void *value)
{
    struct map_slot *slot;

    assert(key.data); /* without it the place would be free */
    assert(value);    /* without it the entry would be a removed one */
    if (2 * (map->used + 1) > map->capacity)
        rebuild(map);
    slot = place(map, key);
    map->used += !slot->key.data;
    map->count += !slot->value;
    *slot = (struct map_slot){ key, value };
}

void map_remove(struct map *map, struct slice key)
{
    struct map_slot *slot = map->capacity ? place(map, key) : NULL;

    if (!slot || !slot->value)
        return;
    assert(map->count > 0);
    /* The entry is about to be freed, and the key with it: an empty key keeps the place taken. */
    *slot = (struct map_slot){ { "", 0 }, NULL };
    map->count--;
}
