/*
 * src/catalog/change.h - the inside of the catalog: what is known, and how it is changed. For this folder.
 *     st = change_lock(op, catalog);          one change at a time; settles one that was in doubt
 *     batch = change_begin(op, catalog);
 *     change_put(op, batch, key, &record);    any number of these
 *     change_commit(op, catalog, batch, ...); durable: now the maps may be changed
 *     change_unlock(catalog);
 */
#pragma once
#include <pthread.h>

#include "catalog/child.h"
#include "catalog/map.h"
#include "keys/keys.h"
#include "keys/record.h"

enum { CATALOG_BUCKET = 0 };

struct known {
    struct map databases_by_rid, databases_by_id;
    struct map containers_by_rid, containers_by_id; /* the latter under database rid + id */
    struct map children_by_place, children_by_name; /* child.c spells their keys */
};

struct catalog {
    struct store *store;
    index_compute *compute; /* of computed properties; may be NULL */
    struct bucket *bucket;
    pthread_mutex_t changing; /* held over a whole change, its commit included */
    pthread_rwlock_t lock;    /* guards what follows; never held over I/O, nor taken by one who holds it */
    struct known known;
    struct container *dropped; /* data still to be removed */
    _Atomic uint64_t offers_version;
    atomic_bool in_doubt; /* whether the last commit happened: settled before the next one */
};

/* Between these two, whether change_lock() succeeds or not. */
enum status change_lock(struct op *op, struct catalog *catalog);
void change_unlock(struct catalog *catalog);

struct batch *change_begin(struct op *op, struct catalog *catalog);

/* As clients see it, in the op's arena. */
struct slice change_rid_text(struct op *op, const struct rid *rid);

/* Gives the record a new etag. */
enum status change_put(struct op *op, struct batch *batch, struct slice key, struct record *record);

/* Writes the time into the record, which may be NULL. */
enum status change_commit(struct op *op, struct catalog *catalog, struct batch *batch, struct record *record);

/*
 * A change of a container's ranges, by itself or with something else that must not be without it: put into a batch, and
 * ended with what became of that. `container` is the new version, and a reference.
 */
struct ranges_change {
    const struct container *of;
    range_change *change;
    const void *wanted;
    struct container *now; /* these two from one call to the other */
    struct record record;
};
enum status ranges_change_put(struct op *op, struct catalog *catalog, struct batch *batch,
                              struct ranges_change *part);
enum status ranges_change_end(struct op *op, struct catalog *catalog, struct ranges_change *part,
                              enum status st, struct container **container);

/* Before the maps lead to the new version: whoever has an item of the new one's finds the way to it from the old. */
void change_version(struct container *old, struct container *new);

/* Everything that the store has, into empty maps; and out of them again. */
enum status catalog_load(struct op *op, struct catalog *catalog);
void catalog_forget(struct catalog *catalog);

/* Into the maps, which take the reference; and out of them: the data of a container goes when its last reference is back. */
void catalog_add_database(struct catalog *catalog, struct database *database);
void catalog_add_container(struct catalog *catalog, struct container *container);
void catalog_retire_database(struct catalog *catalog, const struct rid *rid);
void catalog_retire_container(struct catalog *catalog, struct container *container);

/* Without a reference; inside a change, or with the lock held. */
struct container *catalog_with_id(const struct catalog *catalog, const struct database *database,
                                  struct slice id);

/* The map's entries whose keys begin with `prefix` and come after `after`, in key order; the caller frees them. */
struct map_slot *catalog_sorted(const struct map *map, struct slice prefix, struct slice after,
                                size_t *count);

/* The owner may have been dropped since the caller found it. Its id is no proof: another may have it now. */
enum status catalog_check_owner(struct op *op, struct catalog *catalog, const struct rid *owner);
