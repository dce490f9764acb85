/*
 * src/catalog/change.h - the inside of the catalog: its maps, and how they are changed. For this folder.
 *     st = change_lock(op, catalog);          one change at a time; settles one that was in doubt
 *     batch = change_begin(op, catalog);
 *     change_put(op, batch, key, &record);    any number of these
 *     change_commit(op, catalog, batch, ...); durable: now the maps may be changed
 *     change_unlock(catalog);
 */
#pragma once
#include <pthread.h>

#include "base/readers.h"
#include "catalog/child.h"
#include "catalog/hold.h"
#include "catalog/map.h"
#include "catalog/past.h"
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
    uint32_t buckets; /* that a new container has at least; 0: it has one, however many its ranges are */
    struct catalog
        *before;  /* while it is read anew: what did not change is taken from there. NULL otherwise */
    uint64_t lsn; /* of the bucket: everything up to it is known here. Guarded by `changing` */
    pthread_mutex_t
        changing; /* held over a whole change, its commit included; guards `past`, `holds` and `claim` */
    struct past past;
    struct holds holds;
    struct claim claim;  /* what children take in memory */
    struct readers lock; /* guards what follows; never held over I/O, and never taken twice by a thread */
    struct known known;
    struct container *dropped; /* data still to be removed */
    _Atomic uint64_t offers_version;
    atomic_uint peers;    /* as of the last catching up */
    atomic_bool in_doubt; /* whether the last commit happened: settled before the next one */
};

/* A change lies between these two. change_unlock() is called even when change_lock() has failed. */
enum status change_lock(struct op *op, struct catalog *catalog);
void change_unlock(struct catalog *catalog);

struct batch *change_begin(struct op *op, struct catalog *catalog);

/* The rid as clients see it, in the op's arena. */
struct slice change_rid_text(struct op *op, const struct rid *rid);

/* Gives the record a new etag. */
enum status change_put(struct op *op, struct batch *batch, struct slice key, struct record *record);

/*
 * The container is written by what this change makes of it, or no longer: other processes may not go on by what they know.
 */
void change_redefines(struct batch *batch, const struct rid *container, uint32_t part_count, bool dropped);

/* Everything up to this LSN is in the maps, or will be before the change is unlocked. change_commit() says so by itself. */
void change_note_lsn(struct catalog *catalog, uint64_t lsn);

/* Writes the time into the record, which may be NULL. */
enum status change_commit(struct op *op, struct catalog *catalog, struct batch *batch, struct record *record);

/* The same with batches of other buckets: all or none. `beside` has room for one more. */
enum status change_commit_with(struct op *op, struct catalog *catalog, struct batch *batch,
                               struct commit *beside, size_t count, struct record *record);

/* For the store, which finds out that others have redefined something. */
store_catch_up change_follow;

/*
 * A change of a container's ranges, alone or in one batch with another change, such as that of its offer.
 * ranges_change_put() puts it into the batch. ranges_change_end() takes the status of the commit and gives back a
 * reference to the new version of the container.
 */
struct ranges_change {
    const struct container *of;
    range_change *change;
    const void *wanted;
    struct container *now; /* ranges_change_put() leaves these two for ranges_change_end() */
    struct record record;
};
enum status ranges_change_put(struct op *op, struct catalog *catalog, struct batch *batch,
                              struct ranges_change *part);
enum status ranges_change_end(struct op *op, struct catalog *catalog, struct ranges_change *part,
                              enum status st, struct container **container);

/*
 * Called before the maps lead to the new version: a reader that holds the old version and meets an item of the new
 * one then finds the new version as its successor.
 */
void change_version(struct container *old, struct container *new);

/* catalog_load() reads everything that the store has into empty maps; catalog_forget() empties the maps. */
enum status catalog_load(struct op *op, struct catalog *catalog);
void catalog_forget(struct catalog *catalog);

/*
 * Adding puts a resource into the maps, which take over the caller's reference. Retiring takes it out of them: the
 * data of a retired container is removed once its last reference is back. Two that were swapped have each other's name,
 * and nobody finds one of them under its new name and the other under its old one.
 */
void catalog_add_database(struct catalog *catalog, struct database *database);
void catalog_add_container(struct catalog *catalog, struct container *container);
void catalog_add_swapped(struct catalog *catalog, struct container *first, struct container *second);
void catalog_retire_database(struct catalog *catalog, const struct rid *rid);
void catalog_retire_container(struct catalog *catalog, struct container *container);

/* Gives no reference. The caller is inside a change, or holds the lock. */
struct container *catalog_with_id(const struct catalog *catalog, const struct database *database,
                                  struct slice id);

/* The map's entries whose keys begin with `prefix` and come after `after`, in key order; the caller frees them. */
struct map_slot *catalog_sorted(const struct map *map, struct slice prefix, struct slice after,
                                size_t *count);

/*
 * ST_OWNER_NOT_FOUND when the owner was dropped since the caller found it. The rid is looked for and not the id,
 * because a new resource may have the same id by now.
 */
enum status catalog_check_owner(struct op *op, struct catalog *catalog, const struct rid *owner);
