/* src/catalog/find.c - databases and containers in memory: put into the maps, found and listed. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/thread.h"
#include "catalog/change.h"
#include "catalog/entry.h"

/* --- the maps --- */

/* Everything is in both of its maps, or in neither. */
static void assert_agree(const struct map *by_rid, const struct map *by_id)
{
    assert(by_rid->count == by_id->count);
}

void catalog_add_database(struct catalog *catalog, struct database *database)
{
    readers_exclude(&catalog->lock);
    database_is_known(database); /* by the reference that the maps take */
    map_put(&catalog->known.databases_by_rid, rid_slice(&database->rid), database);
    map_put(&catalog->known.databases_by_id, database->id, database);
    assert_agree(&catalog->known.databases_by_rid, &catalog->known.databases_by_id);
    readers_admit(&catalog->lock);
}

void catalog_add_container(struct catalog *catalog, struct container *container)
{
    assert(!container_successor(container)); /* only the newest version can be found */
    readers_exclude(&catalog->lock);
    container_is_known(container); /* by the reference that the maps take */
    map_put(&catalog->known.containers_by_rid, rid_slice(&container->rid), container);
    map_put(&catalog->known.containers_by_id, container->name, container);
    assert_agree(&catalog->known.containers_by_rid, &catalog->known.containers_by_id);
    readers_admit(&catalog->lock);
}

void catalog_add_swapped(struct catalog *catalog, struct container *first, struct container *second)
{
    struct container *const both[] = { first, second };
    struct known *known = &catalog->known;

    thread_assert_locked(&catalog->changing);
    readers_exclude(&catalog->lock);
    for (int i = 0; i < 2; i++) {
        assert(map_find(&known->containers_by_rid, rid_slice(&both[i]->rid)));
        assert(map_find(&known->containers_by_id, both[i]->name)); /* the other one, until now */
        container_is_known(both[i]);
        map_put(&known->containers_by_rid, rid_slice(&both[i]->rid), both[i]);
        map_put(&known->containers_by_id, both[i]->name, both[i]);
    }
    assert_agree(&known->containers_by_rid, &known->containers_by_id);
    readers_admit(&catalog->lock);
}

/* From now on nobody finds the container. Its data is removed when the last reference is back. */
void catalog_retire_container(struct catalog *catalog, struct container *container)
{
    thread_assert_locked(&catalog->changing);
    readers_exclude(&catalog->lock);
    assert(map_find(&catalog->known.containers_by_rid, rid_slice(&container->rid)) == container);
    map_remove(&catalog->known.containers_by_rid, rid_slice(&container->rid));
    map_remove(&catalog->known.containers_by_id, container->name);
    assert_agree(&catalog->known.containers_by_rid, &catalog->known.containers_by_id);
    assert(!container->life->next_dropped); /* it is dropped once */
    assert(catalog->dropped != container);
    container->life->next_dropped = catalog->dropped;
    catalog->dropped = container;
    container_is_unknown(container); /* the reference of the maps is the list's */
    readers_admit(&catalog->lock);
}

void catalog_retire_database(struct catalog *catalog, const struct rid *rid)
{
    struct database *database;

    thread_assert_locked(&catalog->changing);
    readers_exclude(&catalog->lock);
    database = map_find(&catalog->known.databases_by_rid, rid_slice(rid));
    assert(database); /* the same change has asked catalog_check_owner() */
    map_remove(&catalog->known.databases_by_rid, rid_slice(&database->rid));
    map_remove(&catalog->known.databases_by_id, database->id);
    assert_agree(&catalog->known.databases_by_rid, &catalog->known.databases_by_id);
    readers_admit(&catalog->lock);
    database_is_unknown(database);
    database_release(database);
}

struct database *catalog_find_database(struct catalog *catalog, struct slice name)
{
    struct database *database = NULL;
    struct rid rid;

    readers_enter(&catalog->lock);
    if (rid_parse(name, &rid) && rid.size == RID_DATABASE_BYTES)
        database = map_find(&catalog->known.databases_by_rid, rid_slice(&rid));
    if (!database)
        database = map_find(&catalog->known.databases_by_id, name);
    database_take(database);
    readers_leave(&catalog->lock);
    return database;
}

struct container *catalog_with_id(const struct catalog *catalog, const struct database *database,
                                  struct slice id)
{
    char name[RID_DATABASE_BYTES + 4 * RESOURCE_ID_CHARS_MAX];

    assert(database->rid.size == RID_DATABASE_BYTES);
    if (id.size > sizeof(name) - RID_DATABASE_BYTES)
        return NULL;
    memcpy(name, database->rid.bytes, RID_DATABASE_BYTES);
    memcpy(name + RID_DATABASE_BYTES, id.data, id.size);
    return map_find(&catalog->known.containers_by_id, slice_make(name, RID_DATABASE_BYTES + id.size));
}

struct container *catalog_find_container(struct catalog *catalog, const struct database *database,
                                         struct slice name)
{
    struct container *container = NULL;
    struct rid rid;

    readers_enter(&catalog->lock);
    if (rid_parse(name, &rid) && rid.size == RID_CONTAINER_BYTES &&
        memcmp(rid.bytes, database->rid.bytes, RID_DATABASE_BYTES) == 0)
        container = map_find(&catalog->known.containers_by_rid, rid_slice(&rid));
    if (!container)
        container = catalog_with_id(catalog, database, name);
    container_take(container);
    readers_leave(&catalog->lock);
    return container;
}

/* --- lists: rid order is the order of creation --- */

static int by_key(const void *a, const void *b)
{
    return slice_compare(((const struct map_slot *)a)->key, ((const struct map_slot *)b)->key);
}

struct map_slot *catalog_sorted(const struct map *map, struct slice prefix, struct slice after, size_t *count)
{
    struct map_slot *list = heap_allocate((map->count + 1) * sizeof(*list));

    *count = 0;
    for (size_t i = 0; i < map->capacity; i++) {
        struct map_slot slot = map->slot[i];

        if (slot.value && slot.key.size >= prefix.size &&
            slice_equal(slice_make(slot.key.data, prefix.size), prefix) && slice_compare(slot.key, after) > 0)
            list[(*count)++] = slot;
    }
    assert(*count <= map->count); /* for which the list has room */
    qsort(list, *count, sizeof(*list), by_key);
    return list;
}

size_t catalog_list_databases(struct catalog *catalog, struct slice after, struct database **list,
                              size_t limit)
{
    struct map_slot *slots;
    size_t count;

    readers_enter(&catalog->lock);
    slots = catalog_sorted(&catalog->known.databases_by_rid, slice_of(""), after, &count);
    if (count > limit)
        count = limit;
    for (size_t i = 0; i < count; i++)
        list[i] = database_take(slots[i].value);
    readers_leave(&catalog->lock);
    free(slots);
    return count;
}

size_t catalog_list_containers(struct catalog *catalog, const struct database *database, struct slice after,
                               struct container **list, size_t limit)
{
    struct map_slot *slots;
    size_t count;

    readers_enter(&catalog->lock);
    slots = catalog_sorted(&catalog->known.containers_by_rid, rid_slice(&database->rid), after, &count);
    if (count > limit)
        count = limit;
    for (size_t i = 0; i < count; i++)
        list[i] = container_take(slots[i].value);
    readers_leave(&catalog->lock);
    free(slots);
    return count;
}

/* How near a container is to a limit, in thousandths of it; 0 when nothing was written to it. */
static uint64_t largeness(const struct container *container)
{
    uint64_t item = 1000 * atomic_load_explicit(&container->shape->item_bytes, memory_order_relaxed);
    uint64_t array = 1000 * atomic_load_explicit(&container->shape->array_count, memory_order_relaxed);

    item = item ? item / ITEM_BYTES_MAX + 1 : 0;
    array = array / ARRAY_COUNT_SENSIBLE;
    return item > array ? item : array;
}

static uint64_t spending(const struct container *container)
{
    return meter_spent(container->meter);
}

struct most {
    uint64_t (*weight)(const struct container *container); /* 0: it is not listed */
    struct container **list;
    uint64_t *weighed; /* the weight of each, kept because it may grow meanwhile */
    size_t count, limit;
};

/* Puts the container in its place among the heaviest so far. When there is no room, the lightest one goes. */
static void insert_by_weight(struct most *most, struct container *new)
{
    uint64_t weight = most->weight(new);
    size_t at = most->count;

    while (at > 0 && most->weighed[at - 1] < weight)
        at--;
    if (weight == 0 || at == most->limit)
        return;
    assert(most->count <= most->limit);
    if (most->count == most->limit)
        most->count--;
    memmove(most->list + at + 1, most->list + at, (most->count - at) * sizeof(struct container *));
    memmove(most->weighed + at + 1, most->weighed + at, (most->count - at) * sizeof(uint64_t));
    most->list[at] = new;
    most->weighed[at] = weight;
    most->count++;
}

static size_t list_most(struct catalog *catalog, uint64_t (*weight)(const struct container *container),
                        struct container **list, size_t limit)
{
    const struct map *map = &catalog->known.containers_by_rid;
    uint64_t weighed[METRIC_CONTAINERS_MAX];
    struct most most = { .weight = weight, .list = list, .weighed = weighed };

    most.limit = limit < METRIC_CONTAINERS_MAX ? limit : METRIC_CONTAINERS_MAX;
    readers_enter(&catalog->lock);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slot[i].value)
            insert_by_weight(&most, map->slot[i].value);
    for (size_t i = 0; i < most.count; i++)
        container_take(list[i]);
    readers_leave(&catalog->lock);
    return most.count;
}

size_t catalog_list_largest(struct catalog *catalog, struct container **list, size_t limit)
{
    return list_most(catalog, largeness, list, limit);
}

size_t catalog_list_spending(struct catalog *catalog, struct container **list, size_t limit)
{
    return list_most(catalog, spending, list, limit);
}

size_t catalog_list_where(struct catalog *catalog, container_filter *filter, const void *context,
                          struct container **list, size_t limit)
{
    const struct map *map = &catalog->known.containers_by_rid;
    size_t count = 0;

    readers_enter(&catalog->lock);
    for (size_t i = 0; i < map->capacity && count < limit; i++) {
        struct container *container = map->slot[i].value;

        if (container && (!filter || filter(container, context)))
            list[count++] = container_take(container);
    }
    readers_leave(&catalog->lock);
    return count;
}

struct container *catalog_find_by_rid(struct catalog *catalog, const struct rid *rid)
{
    struct container *found;

    readers_enter(&catalog->lock);
    found = map_find(&catalog->known.containers_by_rid, rid_slice(rid));
    if (found)
        container_take(found);
    readers_leave(&catalog->lock);
    return found;
}

bool catalog_has_container(struct catalog *catalog, const struct rid *rid)
{
    bool found;

    readers_enter(&catalog->lock);
    found = map_find(&catalog->known.containers_by_rid, rid_slice(rid)) != NULL;
    readers_leave(&catalog->lock);
    return found;
}

void catalog_count(struct catalog *catalog, size_t *databases, size_t *containers)
{
    readers_enter(&catalog->lock);
    *databases = catalog->known.databases_by_rid.count;
    *containers = catalog->known.containers_by_rid.count;
    readers_leave(&catalog->lock);
}
