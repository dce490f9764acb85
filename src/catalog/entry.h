/*
 * src/catalog/entry.h - databases and containers as structs: made from records, counted by
 * reference. For catalog.c; what others may do with them is in catalog.h.
 */
#pragma once
#include "base/door.h"
#include "catalog/catalog.h"
#include "catalog/versions.h"
#include "keys/record.h"

/* What changes of a container while it is in use. A container itself never does. */
struct container_life {
    atomic_uint references;              /* above 0, or nobody can find it */
    struct door pins;                    /* closed: the container has a successor, or is about to have one */
    struct container *_Atomic successor; /* the version that replaced this one, and a reference to it */
    atomic_uint predecessors;            /* versions that this one replaced and somebody still refers to */
    struct container *next_dropped;      /* guarded by the catalog's lock */
    _Atomic uint64_t indexed;            /* items that are known to be indexed by the policy of today */
};

/* One more reference to the same; NULL stays NULL. */
struct database *database_take(struct database *database);
struct container *container_take(struct container *container);

/*
 * As it is stored: a definition has no number of its own, so its record has that of the ranges there.
 * Whether its items have entries of their unique keys is said in a flag, because containers of
 * the first versions have items without; and so whether its ranges are more than a number.
 */
struct record container_record(struct op *op, const struct versions *versions,
                               const struct range_table *ranges, bool keeps_unique);

/* Each with one reference, and a container with one to its database. */
struct database *database_make(const struct rid *rid, const struct record *record);
enum status container_make(struct op *op, index_compute *compute, struct database *database,
                           const struct rid *rid, const struct record *record, struct bucket *bucket,
                           struct container **container);

/*
 * A new version, which nobody can find yet, goes on with what was noted of the old one. `same` is one whose definition did
 * not change: it is the same edition, and as many of its items are indexed by the policy of today.
 */
void container_share(const struct container *old, struct container *new, bool same);

/*
 * Inside a change: no pin is taken from now on, and those that are there, which last as long as a commit, are waited for.
 * A change that came to nothing lets the definition go on, whether it had retired it or not.
 */
void container_retire(const struct container *container);
void container_go_on(const struct container *container);

/* The container's number is in its rid; its data lies under that number. */
uint64_t container_number(const struct rid *rid);

struct slice catalog_join(struct arena *arena, struct slice a, const char *middle, struct slice b);
