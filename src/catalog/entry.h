/*
 * src/catalog/entry.h - databases and containers as structs: made from records, counted by
 * reference. For catalog.c; what others may do with them is in catalog.h.
 */
#pragma once
#include "base/door.h"
#include "catalog/catalog.h"
#include "catalog/versions.h"
#include "keys/record.h"

/* The part of a container that changes while it is in use. The struct container itself never changes. */
struct container_life {
    struct crowd references; /* not the last one, or nobody can find it; spread while it is found */
    struct door pins;        /* closed: the container has a successor, or is about to have one */
    struct container *_Atomic successor; /* the version that replaced this one, and a reference to it */
    atomic_uint predecessors;            /* versions that this one replaced and somebody still refers to */
    struct container *next_dropped;      /* guarded by the catalog's lock */
    _Atomic uint64_t indexed;            /* items that are known to be indexed by the policy of today */
};

/*
 * The maps have a reference to what is found in them. While they have it, others take and give back theirs without writing
 * anything in common; before it is given back, or becomes a list's, it must be told that they have it no longer. Both are
 * welcome at any time by whoever changes the maps: what is told wrongly costs time, except to give back the last one unsaid.
 */
void database_is_known(struct database *database);
void database_is_unknown(struct database *database);
void container_is_known(struct container *container);
void container_is_unknown(struct container *container);

/* Takes one more reference and gives back its argument; NULL stays NULL. */
struct database *database_take(struct database *database);
struct container *container_take(struct container *container);

/*
 * The record that the store keeps for a container. A definition has no number of its own, so the record's number is the
 * number of ranges, and in the bits above RECORD_RANGE_BITS that of buckets beyond the first. One flag says whether the items have entries of their unique keys: containers of the
 * first versions of this program have items without. Another says whether the definition holds a table of ranges.
 * `kept` are the flags that a container has for life: CONTAINER_KEPT_FLAGS.
 */
enum { CONTAINER_KEPT_FLAGS = RECORD_KEEPS_UNIQUE | RECORD_RIDS_BY_CREATION };

enum { RECORD_RANGE_BITS = 32 };

struct record container_record(struct op *op, const struct versions *versions,
                               const struct range_table *ranges, uint32_t part_count, unsigned kept);
uint32_t container_record_parts(const struct record *record);
unsigned container_kept_flags(const struct container *container);

/* Each is made with one reference. A container has a reference to its database, and a part for each bucket. */
struct database *database_make(const struct rid *rid, const struct record *record);
enum status container_make(struct op *op, index_compute *compute, struct database *database,
                           const struct rid *rid, const struct record *record, struct bucket *const *buckets,
                           struct container **container);

/*
 * Hands the old version's shape and meter to the new version, which nobody can find yet. `same` says that the
 * definition did not change: then the edition stays the same, and so does the count of items indexed by the policy of
 * today.
 */
void container_share(const struct container *old, struct container *new, bool same);

/*
 * Called inside a change. container_retire() lets no new pin in and waits until the present ones are gone; each lasts
 * as long as a commit. A change that fails calls container_go_on(), which allows pins again; it may be called without
 * container_retire() before it.
 */
void container_retire(const struct container *container);
void container_go_on(const struct container *container);

/* The container's number is in its rid; its data lies under that number. */
uint64_t container_number(const struct rid *rid);

struct slice catalog_join(struct arena *arena, struct slice a, const char *middle, struct slice b);
