/*
 * src/catalog/catalog.h - which databases and containers there are, and what each one is.
 * The other resources that lie below them, such as users and scripts, are in child.h; items are partition/'s.
 * The whole catalog is in memory. The store has it in bucket 0, one record for each resource under its rid.
 *
 * Ownership. A find or a create hands out a reference. The caller gives it back with database_release() or
 *     container_release(). A referenced struct never changes and never goes away: replacing a container makes a
 *     new struct, and a dropped container keeps its data until the last reference is back.
 * Threads. Everything may be called from any thread. Changes wait for the store; lookups never do.
 *
 * Promises
 * 1. A change is durable before anybody can find it.
 * 2. Numbers of databases and containers are never used twice.
 * 3. A dropped container's data is removed, even when the server dies in between.
 */
#pragma once
#include "base/crowd.h"
#include "base/op.h"
#include "catalog/meter.h"
#include "catalog/shape.h"
#include "index/policy.h"
#include "json/json.h"
#include "keys/epk.h"
#include "keys/rid.h"
#include "store/store.h"

struct catalog;

struct database {
    struct rid rid;
    struct slice id;
    struct slice link; /* dbs/<id> */
    uint64_t etag;
    int64_t ts_ms;
    struct meter *meter; /* for its containers that have no throughput of their own */
    /* Private to catalog.c. */
    struct arena memory;
    struct crowd references;
};

enum { PATH_SEGMENTS_MAX = 32 };

/* /a/"b c" taken apart. */
struct key_path {
    size_t count;
    struct slice segment[PATH_SEGMENTS_MAX];
};

/* No two items of a logical partition have the same values at all of these paths. */
struct unique_key {
    size_t path_count;
    struct key_path *path;
};

enum { TTL_OFF = 0, TTL_NEVER = -1 };
enum { RETENTION_NONE = 0, RETENTION_DEFAULT = -1 };

/* An older policy. Some items still have the entries that it gave them, until housekeeping indexes them again. */
struct container_policy {
    uint32_t version;
    const struct index_policy *policy; /* NULL: those items have no entries */
    struct json source;
};

/* A range that has split or merged, and the first version of the table that no longer has it. */
struct range_ancestor {
    uint32_t id;
    uint64_t gone;
};

/* A partition key range: the keys from `min` on, up to the `min` of the next range. */
struct key_range {
    uint32_t id;
    uint32_t ancestor_count;
    const struct range_ancestor *ancestor; /* all that had any of its keys, the earliest gone first */
    struct slice min;
    uint64_t version; /* of the first table that has this range */
    uint64_t lsn;     /* the container's LSN when the range was made */
    int64_t ts_ms;
};

/* All ranges of a container, in the order of keys. The first begins with the empty key. See ranges.h. */
struct range_table {
    uint32_t count, next_id; /* ids are never used twice */
    uint64_t version;        /* rises with every split and merge */
    uint64_t told_since; /* ancestors that were gone by this version may be missing from the ranges' lists */
    const uint32_t *id;  /* the id of each range, in the same order */
    const struct key_range *range;
};

struct container {
    struct rid rid;
    struct slice id;
    struct slice link; /* dbs/<database>/colls/<id> */
    uint64_t etag;
    int64_t ts_ms;
    struct json definition; /* every property but the system's, defaults filled in */
    struct database *database;

    /*
     * Where its items are: in one bucket, or in several, each with the keys of some of its ranges (parts.h). A container of
     * one bucket is its own only part. One of several has none itself: its parts do, and differ in nothing else.
     */
    struct container *const *part;
    struct container *whole; /* of which it is a part; itself, if it is none */
    uint32_t part_count, part_index;
    struct slice part_min; /* the first key of the part */
    struct bucket *bucket;
    uint64_t bucket_id; /* that of its bucket, which begins its keys */

    enum epk_version epk_version;
    size_t key_path_count;
    struct key_path key_path[PARTITION_KEY_PATHS_MAX];
    struct range_table ranges;
    bool system_key;           /* made without a partition key: all items lie in one logical partition */
    int32_t default_ttl;       /* seconds, TTL_OFF or TTL_NEVER */
    int32_t retention_minutes; /* of old versions in the log; RETENTION_DEFAULT: the server decides */
    bool
        rids_by_creation; /* the _rids of its items rise with the time of creation: not in one of before 0.2 */
    bool keeps_unique;    /* its items have entries of their unique keys: see container_record() */
    size_t unique_key_count; /* 0 when the items have no such entries */
    struct unique_key *unique_key;

    struct hash_seed
        seed;       /* of its hashes; none in a container of before 0.2, until housekeeping gives it one */
    uint32_t texts; /* enum text_entries: what entries tell of texts */
    const struct index_policy *index; /* the policy of today; NULL where the store keeps no entries */
    uint32_t policy_version; /* of that policy; 0: none. An item's record names the one it was indexed by */
    struct container_policy *index_older;
    size_t index_older_count;

    struct container_shape *shape;
    struct meter *meter;
    struct vector_shelf *vectors; /* codes of its vectors, as far as they are in memory: vector/columns.h */
    struct word_shelf *words;     /* which texts have which words, likewise: words/lists.h */
    uint64_t edition; /* rises with every new definition; splits and merges keep it, as they change no item */

    struct container_life *life; /* catalog/'s own: what changes while others use the container (entry.h) */
    struct slice name;           /* catalog/'s own: its database's rid and its id */
    struct slice stored; /* catalog/'s own, where others may change it: its record, to see whether they did */
    struct arena memory; /* catalog/'s own */
};

enum status catalog_open(struct op *op, struct store *store, struct catalog **catalog);

/* The same with a way to compute computed properties, which then may be indexed. */
enum status catalog_open_with(struct op *op, struct store *store, index_compute *compute,
                              struct catalog **catalog);
struct store *catalog_store(const struct catalog *catalog);

/* False while the store takes no writes, of items or of definitions. */
bool catalog_is_writable(const struct catalog *catalog);
void catalog_close(struct catalog *catalog); /* NULL is welcome; no references may be out */

/*
 * Settles the last change, if the store could not tell whether it took place. Until then lookups find containers as
 * they were before that change, and a write to a container that the change dropped would be lost. ST_UNAVAILABLE or
 * ST_AMBIGUOUS while the store still cannot tell.
 */
enum status catalog_settle(struct op *op, struct catalog *catalog);

/*
 * Sees what other processes have changed, as of now: one round trip where others may write, and nothing otherwise. What is
 * not done by it is seen a second later (housekeeping), and before anybody reads or writes by a definition that was replaced.
 */
enum status catalog_catch_up(struct op *op, struct catalog *catalog);
bool catalog_is_shared(const struct catalog *catalog);

/* How many processes share what containers may spend, this one among them. catalog_offers_version() tells when it changes. */
unsigned catalog_peers(const struct catalog *catalog);

/* Where clients find those that have told it: store_endpoints(). */
struct slice catalog_endpoints(struct op *op, struct catalog *catalog);

/* By rid or by id; NULL when there is none. */
struct database *catalog_find_database(struct catalog *catalog, struct slice name);
struct container *catalog_find_container(struct catalog *catalog, const struct database *database,
                                         struct slice name);
void database_release(struct database *database); /* NULL is welcome */
void container_release(struct container *container);

/*
 * An item's _rid, by its number, and back: false when it is none of the container's. SDKs resume an ORDER BY among equal
 * rows by comparing _rids, so equal rows come in the order of _rids.
 */
struct rid container_item_rid(const struct container *container, uint64_t number);
bool container_item_number(const struct container *container, const struct rid *rid, uint64_t *number);

/*
 * The definition decides which items have expired, so a transaction that removes expired items pins the definition
 * until it is committed. False when there is a newer definition, or one is about to replace this one: then the caller
 * removes nothing.
 */
bool container_pin(const struct container *container);
void container_unpin(const struct container *container);

/*
 * The version of the definition that replaced this one; NULL when this one is the newest. It lives as long as this
 * one. A reader that holds an older version needs it: the view may have items that were written under a later
 * version.
 */
const struct container *container_successor(const struct container *container);
const struct container *container_latest(const struct container *container);

/*
 * Whether it has another id by now: whoever found it by its name means another container. What is read with a snapshot that shows
 * the change of names is known to be renamed once the snapshot was taken, and a transaction is refused then.
 */
bool container_is_renamed(const struct container *container);

/*
 * The last LSN of its items that is known, of several parts the largest: what is read from now on shows at least that. Creating a
 * container takes its first LSN, as on the service, so that its first write has the next one. Containers of older programs
 * began with their first write.
 */
enum { CONTAINER_FIRST_LSN = 1 };
uint64_t container_lsn(const struct container *container);

/* Whether each of its parts is at the LSN that is named for it. */
bool container_is_at(const struct container *container, const uint64_t *lsn);

/* The same as it is now: a round trip, where other processes may write. */
enum status container_newest_lsn(struct op *op, const struct container *container, uint64_t *lsn);

/*
 * How much its items take, as of the last commits. False when an older program began the container and did not count.
 */
bool container_usage(const struct container *container, struct bucket_usage *usage);

/* Nobody refers to an earlier version of the definition any more. */
bool container_is_alone(const struct container *container);

/*
 * Housekeeping notes how many items are in line with the policy of today, because it found them so or indexed them
 * again. Anybody may ask how much of that work is done, 0 to 100. The answer is that of the newest version of the
 * container.
 */
void container_note_indexed(const struct container *container, uint64_t items);
unsigned container_indexed_percent(const struct container *container);

/*
 * Up to `limit` of those after `after` (rid bytes; empty: all), in the order in which they were made. Gives
 * references.
 */
size_t catalog_list_databases(struct catalog *catalog, struct slice after, struct database **list,
                              size_t limit);
size_t catalog_list_containers(struct catalog *catalog, const struct database *database, struct slice after,
                               struct container **list, size_t limit);

/*
 * Up to `limit` containers, those with the largest items or the longest arrays first; both are measured as a part of
 * their own limits. Gives references.
 */
size_t catalog_list_largest(struct catalog *catalog, struct container **list, size_t limit);

/* Up to `limit` containers, those that have spent most request units first. Gives references. */
size_t catalog_list_spending(struct catalog *catalog, struct container **list, size_t limit);

/* The catalog's lock is held during the call, so the filter asks nothing but the container. */
typedef bool container_filter(const struct container *container, const void *context);

/* Up to `limit` containers that pass the filter (NULL: all), in no order. Gives references. */
size_t catalog_list_where(struct catalog *catalog, container_filter *filter, const void *context,
                          struct container **list, size_t limit);

/* The one with that rid, which no other will ever have; NULL when there is none. */
struct container *catalog_find_by_rid(struct catalog *catalog, const struct rid *rid);

/* Whether there is one with that rid. */
bool catalog_has_container(struct catalog *catalog, const struct rid *rid);

enum status catalog_create_database(struct op *op, struct catalog *catalog, struct slice id,
                                    struct database **database);

/* The same with an offer (child.h) in the same commit; an undefined one means none. */
enum status catalog_create_database_with_offer(struct op *op, struct catalog *catalog, struct slice id,
                                               struct json offer, struct database **database);
enum status catalog_drop_database(struct op *op, struct catalog *catalog, struct database *database);

/*
 * `definition` has passed container_define(). A container without a partition key gets one range, whatever the count.
 * With catalog_divide() a container gets a bucket for each of its ranges, of which there are at least `buckets`. They stay
 * for as long as it lives: ranges split and merge within a bucket.
 */
void catalog_divide(struct catalog *catalog, uint32_t buckets);
enum status catalog_create_container(struct op *op, struct catalog *catalog, struct database *database,
                                     struct json definition, uint32_t range_count,
                                     struct container **container);

enum status catalog_create_container_with_offer(struct op *op, struct catalog *catalog,
                                                struct database *database, struct json definition,
                                                uint32_t range_count, struct json offer,
                                                struct container **container);

/* Gives back a reference to the container as it is now. */
enum status catalog_replace_container(struct op *op, struct catalog *catalog, struct container *old,
                                      struct json definition, struct container **container);

/* Makes the next table of ranges from the container's present one. The result lies in the op's arena. */
typedef enum status range_change(struct op *op, const struct container *now, const void *wanted,
                                 struct range_table *table);

/*
 * Gives the container another table of ranges, in one commit, however many items it has. Clients see the same etag
 * and the same time of the container as before. Gives back a reference to the new version of the container.
 */
enum status catalog_change_ranges(struct op *op, struct catalog *catalog, const struct container *old,
                                  range_change *change, const void *wanted, struct container **container);

/*
 * Forgets the older policies: no item is indexed by them any more. Clients see no change. A container that was
 * replaced meanwhile is left alone.
 */
enum status catalog_finish_reindex(struct op *op, struct catalog *catalog, struct container *container);

/*
 * Gives a container of before 0.2 a seed. Its items are then to be indexed again, because the ids of paths change.
 * Likewise unseen, and likewise nothing where the container was replaced.
 */
enum status catalog_give_seed(struct op *op, struct catalog *catalog, struct container *container);

/* `same` refuses, with ST_PRECONDITION_FAILED, a container that was replaced since the caller found it. */
enum status catalog_drop_container(struct op *op, struct catalog *catalog, struct container *container,
                                   bool same);

/*
 * Writes of the container are told to come back for so many milliseconds, 0: from now on they are not (meter.h). Where other
 * processes may write, all of them know it before they write once more, but what they are about to do once may still happen.
 */
enum status catalog_hold_container(struct op *op, struct catalog *catalog, const struct container *container,
                                   int64_t ms);

/* A container, and the LSN that each of its parts is expected to be at. */
struct container_at {
    struct container *container;
    const uint64_t *lsn;
};

/*
 * Each of two containers of a database gets the other one's id, in one commit; rids, items and ranges stay as they are.
 * ST_PRECONDITION_FAILED: one of the two, or of `unchanged`, is not at its LSNs. All parts of both are at the same later LSN then,
 * `after`, above all that they were at. No request of this process may have found either of them before, and go on: the caller sees
 * to it. Other processes find them by their new names: see container_is_renamed().
 */
enum status catalog_swap_containers(struct op *op, struct catalog *catalog, const struct container_at pair[2],
                                    const struct container_at *unchanged, size_t unchanged_count,
                                    uint64_t *after);

/* Removes the data of dropped containers that nobody refers to any more. Housekeeping calls it now and then. */
enum status catalog_sweep(struct op *op, struct catalog *catalog);

/* How many there are, for metrics. */
void catalog_count(struct catalog *catalog, size_t *databases, size_t *containers);
