/*
 * src/catalog/map.h - bytes to pointer, by hashing. The map does not copy keys: a key lives in the entry that it
 * leads to.
 */
#pragma once
#include "base/slice.h"

struct map_slot {
    struct slice key;
    void *value;
};

struct map {
    struct map_slot *slot;
    size_t count, used, capacity; /* `used` counts the places of removed entries too */
};

void map_free(struct map *map);
void *map_find(const struct map *map, struct slice key);      /* NULL when absent */
void map_put(struct map *map, struct slice key, void *value); /* replaces */
void map_remove(struct map *map, struct slice key);
