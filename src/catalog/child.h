/*
 * src/catalog/child.h - the small resources of databases and containers: users, permissions, scripts,
 * client encryption keys, offers. All are alike here: an id among siblings of one type, and a body.
 * What is in memory is small, whatever clients define: a body stays in the store, and is read when somebody wants it.
 * Only the bodies of offers, and of kinds whose row says so, are in memory too.
 *
 * Ownership. As in catalog.h: a find or a change hands out a reference, given back with child_release().
 *     What is referenced never changes: a replaced one is a new struct.
 * Threads. Any. Changes wait for the store, and so may child_read_body(); lookups never do.
 *
 * Promises
 * 1. An id is taken once among the siblings of one type.
 * 2. A drop removes the resource and everything below it, in the same commit.
 * 3. What children take in memory is on the account, and none is made that it has no room for.
 */
#pragma once
#include "catalog/catalog.h"
#include "keys/record.h"

struct batch;

struct child {
    enum rid_type type;
    struct rid rid;
    struct rid parent; /* the database, container or user; for an offer, the owner of the throughput */
    struct slice id;   /* empty for an offer */
    uint64_t etag;
    int64_t ts_ms;
    struct json body;  /* every property but the system's; undefined where it is in the store alone */
    size_t body_bytes; /* wherever it is */
    /* Private to child.c. */
    struct slice place, name; /* its keys in the maps */
    atomic_uint references;
    size_t memory_bytes;
    _Alignas(16) char memory[]; /* of the keys, and of the body */
};

void child_release(struct child *child); /* NULL is welcome */

/*
 * The child's body, from memory or from the store, for as long as the op lives. The store may have a later version than
 * the caller found: then that one takes the place of `*child`. ST_NOT_FOUND when it was dropped meanwhile.
 */
enum status child_read_body(struct op *op, struct catalog *catalog, struct child **child, struct json *body);

/* By rid or by id; NULL when there is none. */
struct child *catalog_find_child(struct catalog *catalog, enum rid_type type, const struct rid *parent,
                                 struct slice name);

/* The same, and if there is none, looks whether another process has made it. May wait, then. */
enum status catalog_look_for_child(struct op *op, struct catalog *catalog, enum rid_type type,
                                   const struct rid *parent, struct slice name, struct child **child);

/* A number that rises whenever an offer is made, replaced or dropped; never 0. */
uint64_t catalog_offers_version(const struct catalog *catalog);

/* The first finds an offer by its owner, the second any child by its rid, whatever its type. */
struct child *catalog_find_offer(struct catalog *catalog, const struct rid *owner);
struct child *catalog_find_child_at(struct catalog *catalog, const struct rid *rid);

/*
 * Up to `limit` of those after `after` (of size 0: all), in the order in which they were made. Gives references. For
 * offers the parent does not matter: all of them are listed.
 */
size_t catalog_list_children(struct catalog *catalog, enum rid_type type, const struct rid *parent,
                             const struct rid *after, struct child **list, size_t limit);

/* How many there are below a parent. */
size_t catalog_count_children(struct catalog *catalog, enum rid_type type, const struct rid *parent);

/* `body` has an id that resource_id_check() has passed. */
enum status catalog_create_child(struct op *op, struct catalog *catalog, enum rid_type type,
                                 const struct rid *parent, struct json body, struct child **child);

/*
 * `if_match` is a client's condition, without data when there is none. It is checked inside the change, where nobody
 * else writes: ST_PRECONDITION_FAILED when it does not name the version that is there now.
 */
enum status catalog_replace_child(struct op *op, struct catalog *catalog, const struct child *old,
                                  struct json body, struct slice if_match, struct child **child);

/*
 * Replaces the offer and, in the same commit, gives its container `range_count` ranges: no crash leaves one of the
 * two undone. `container` is NULL when the ranges stay as they are.
 */
enum status catalog_replace_offer(struct op *op, struct catalog *catalog, const struct child *old,
                                  struct json body, struct slice if_match, const struct container *container,
                                  uint32_t range_count, struct child **child);

/* Creates the child, or replaces the sibling that has its id; `if_match` is about that sibling. */
enum status catalog_upsert_child(struct op *op, struct catalog *catalog, enum rid_type type,
                                 const struct rid *parent, struct json body, struct slice if_match,
                                 struct child **child, bool *created);

enum status catalog_drop_child(struct op *op, struct catalog *catalog, const struct child *child,
                               struct slice if_match);

/* What children take in memory, and will take, is on the account from here on. Called before others know the catalog. */
void catalog_join_account(struct catalog *catalog, struct account *account);

/* ---- for this folder; all but the loading ones are called inside a change ---- */

/* The child with that rid; gives no reference. The caller holds the lock, or is inside a change. */
struct child *child_at(struct catalog *catalog, const struct rid *rid);

enum status child_load(struct op *op, struct catalog *catalog, const struct rid *rid,
                       const struct record *record);
enum status offer_load(struct op *op, struct catalog *catalog, const struct rid *owner,
                       const struct record *record);

/*
 * offer_put() puts an offer into the batch that makes its owner; offer_add() puts it into the maps after the commit.
 * An undefined body means that there is no offer.
 */
enum status offer_put(struct op *op, struct batch *batch, const struct rid *owner, uint64_t number,
                      struct json body, struct record *record);
void offer_add(struct catalog *catalog, const struct rid *owner, const struct record *record, int64_t ts_ms);

/*
 * For everything that lies below a rid: children_drop() puts the deletions into a batch; children_retire() takes them
 * out of the maps after the commit.
 */
void children_drop(struct op *op, struct catalog *catalog, struct batch *batch, const struct rid *owner);
void children_retire(struct catalog *catalog, const struct rid *owner);
