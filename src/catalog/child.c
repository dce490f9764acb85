/*
 * src/catalog/child.c - users, permissions, scripts, client encryption keys and offers: in memory and in the store.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/thread.h"
#include "catalog/change.h"
#include "catalog/entry.h"
#include "catalog/split.h"
#include "keys/bytes.h"
#include "keys/kind.h"
#include "token/token.h"

/* Offers have three bytes for their number. */
enum { OFFER_NUMBER_MAX = (1 << 24) - 1 };

/* --- structs --- */

void child_release(struct child *child)
{
    unsigned before;

    if (!child)
        return;
    before = atomic_fetch_sub(&child->references, 1);
    assert(before > 0);
    if (before == 1)
        free(child);
}

static struct child *child_take(struct child *child)
{
    if (child) {
        unsigned before = atomic_fetch_add(&child->references, 1);

        assert(before > 0); /* the maps' own, or its maker's */
    }
    return child;
}

/* A child's rid begins with its parent's rid. An offer's rid does not name its owner. */
static struct rid parent_of(const struct rid *rid)
{
    enum rid_type type = rid_type(rid);
    const struct kind *kind = kind_of_type(type);
    struct rid parent = *rid;

    if (type == RID_TYPE_OFFER)
        parent.size = 0;
    else if (kind && kind->below == RID_TYPE_DATABASE)
        parent.size = RID_DATABASE_BYTES;
    else
        parent.size = RID_CONTAINER_BYTES;
    return parent;
}

/*
 * --- keys of the maps: type and parent, then the number (by place, so that siblings are in order) or the id (by
 * name) ---
 */

enum { NUMBER_BYTES = 8, KEY_BYTES_MAX = 1 + RID_BYTES_MAX + 4 * RESOURCE_ID_CHARS_MAX };

static size_t put_siblings(char *key, enum rid_type type, const struct rid *parent)
{
    key[0] = (char)type;
    memcpy(key + 1, parent->bytes, parent->size);
    return 1u + parent->size;
}

static struct slice place_key(char *key, const struct rid *rid)
{
    struct rid parent = parent_of(rid);
    size_t size = put_siblings(key, rid_type(rid), &parent);

    put_be((uint8_t *)key + size, rid_number(rid), NUMBER_BYTES);
    return slice_make(key, size + NUMBER_BYTES);
}

/* Absent when the id is longer than any id may be. */
static struct slice name_key(char *key, enum rid_type type, const struct rid *parent, struct slice id)
{
    size_t size = put_siblings(key, type, parent);

    if (id.size > KEY_BYTES_MAX - size)
        return (struct slice){ 0 };
    if (id.size)
        memcpy(key + size, id.data, id.size);
    return slice_make(key, size + id.size);
}

static bool stays_in_memory(enum rid_type type)
{
    return type == RID_TYPE_OFFER || kind_of_type(type)->flags & KIND_IN_MEMORY;
}

static struct slice id_of(enum rid_type type, struct json body)
{
    return type == RID_TYPE_OFFER ? slice_of("") : json_string(json_get(body, "id"));
}

/* Copies the bytes to the memory that is left, and moves on behind them. */
static struct slice take_copy(char **left, struct slice bytes)
{
    char *copy = *left;

    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    *left += bytes.size;
    return slice_make(copy, bytes.size);
}

static struct child *child_make(const struct rid *rid, const struct rid *parent, const struct record *record)
{
    enum rid_type type = rid_type(rid);
    char place_room[KEY_BYTES_MAX], name_room[KEY_BYTES_MAX];
    struct slice id = id_of(type, record->document), body = json_bytes(record->document);
    struct slice place = place_key(place_room, rid), name = name_key(name_room, type, parent, id);
    size_t bytes = sizeof(struct child) + place.size + name.size + (stays_in_memory(type) ? body.size : 0);
    struct child *child = heap_allocate(bytes);
    char *left = child->memory;

    assert(name.data); /* resource_id_check() has passed the id, so the key has room for it */
    *child = (struct child){ .type = type, .rid = *rid, .parent = *parent, .memory_bytes = bytes };
    child->etag = record->etag;
    child->ts_ms = record->ts_ms;
    child->body_bytes = body.size;
    if (stays_in_memory(type))
        child->body = json_from_bytes(take_copy(&left, body));
    child->place = take_copy(&left, place);
    child->name = take_copy(&left, name);
    child->id = slice_after(child->name, name.size - id.size);
    assert(left == (char *)child + bytes);
    atomic_init(&child->references, 1);
    return child;
}

/* --- the maps --- */

struct child *child_at(struct catalog *catalog, const struct rid *rid)
{
    char key[KEY_BYTES_MAX];

    return map_find(&catalog->known.children_by_place, place_key(key, rid));
}

static struct child *with_name(struct catalog *catalog, enum rid_type type, const struct rid *parent,
                               struct slice id)
{
    char key[KEY_BYTES_MAX];
    struct slice name = name_key(key, type, parent, id);

    return name.data ? map_find(&catalog->known.children_by_name, name) : NULL;
}

/* Raises the version of the offers, so that those who computed something from offers do it again. */
static void note_change(struct catalog *catalog, const struct child *child)
{
    if (child->type == RID_TYPE_OFFER)
        atomic_fetch_add(&catalog->offers_version, 1);
}

uint64_t catalog_offers_version(const struct catalog *catalog)
{
    return 1 + atomic_load_explicit(&catalog->offers_version, memory_order_acquire);
}

/* Takes the reference that the child was made with. */
static void add(struct catalog *catalog, struct child *child)
{
    assert(child);
    readers_exclude(&catalog->lock);
    assert(!map_find(&catalog->known.children_by_place, child->place)); /* no number is used twice */
    map_put(&catalog->known.children_by_place, child->place, child);
    map_put(&catalog->known.children_by_name, child->name, child);
    readers_admit(&catalog->lock);
    claim_anyway(&catalog->claim, child->memory_bytes);
    note_change(catalog, child);
}

static void retire(struct catalog *catalog, struct child *child)
{
    thread_assert_locked(&catalog->changing);
    readers_exclude(&catalog->lock);
    assert(map_find(&catalog->known.children_by_place, child->place) == child);
    map_remove(&catalog->known.children_by_place, child->place);
    map_remove(&catalog->known.children_by_name, child->name);
    readers_admit(&catalog->lock);
    claim_less(&catalog->claim, child->memory_bytes);
    note_change(catalog, child);
    child_release(child);
}

/* Readers always find one of the two. */
static void exchange(struct catalog *catalog, struct child *old, struct child *new)
{
    thread_assert_locked(&catalog->changing);
    assert(old && new);
    assert(rid_equal(&old->rid, &new->rid));
    assert(rid_equal(&old->parent, &new->parent));
    readers_exclude(&catalog->lock);
    assert(map_find(&catalog->known.children_by_place, old->place) == old);
    map_remove(&catalog->known.children_by_name, old->name); /* the new one may have another id */
    map_put(&catalog->known.children_by_place, new->place, new);
    map_put(&catalog->known.children_by_name, new->name, new);
    readers_admit(&catalog->lock);
    claim_anyway(&catalog->claim, new->memory_bytes);
    claim_less(&catalog->claim, old->memory_bytes);
    note_change(catalog, new);
    child_release(old);
}

static bool names(enum rid_type type, const struct rid *parent, struct slice name, struct rid *rid)
{
    struct rid owner;

    if (type == RID_TYPE_OFFER)
        return rid_parse_offer(name, rid);
    if (!rid_parse(name, rid) || rid_type(rid) != type)
        return false;
    owner = parent_of(rid);
    return rid_equal(&owner, parent);
}

/* Finds a child by rid or by id. A name never means two children: no child gets an id that is a sibling's rid. */
static struct child *called(struct catalog *catalog, enum rid_type type, const struct rid *parent,
                            struct slice name)
{
    struct child *child = NULL;
    struct rid rid;

    if (names(type, parent, name, &rid))
        child = child_at(catalog, &rid);
    if (!child && type != RID_TYPE_OFFER)
        child = with_name(catalog, type, parent, name);
    return child;
}

struct child *catalog_find_child(struct catalog *catalog, enum rid_type type, const struct rid *parent,
                                 struct slice name)
{
    struct child *child;

    readers_enter(&catalog->lock);
    child = child_take(called(catalog, type, parent, name));
    readers_leave(&catalog->lock);
    return child;
}

enum status catalog_look_for_child(struct op *op, struct catalog *catalog, enum rid_type type,
                                   const struct rid *parent, struct slice name, struct child **child)
{
    enum status st = ST_OK;

    *child = catalog_find_child(catalog, type, parent, name);
    if (*child)
        return ST_OK;
    TRY(catalog_catch_up(op, catalog));
    *child = catalog_find_child(catalog, type, parent, name);
out:
    return st;
}

struct child *catalog_find_offer(struct catalog *catalog, const struct rid *owner)
{
    struct child *child;

    readers_enter(&catalog->lock);
    child = child_take(with_name(catalog, RID_TYPE_OFFER, owner, slice_of("")));
    readers_leave(&catalog->lock);
    return child;
}

struct child *catalog_find_child_at(struct catalog *catalog, const struct rid *rid)
{
    struct child *child;

    readers_enter(&catalog->lock);
    child = child_take(child_at(catalog, rid));
    readers_leave(&catalog->lock);
    return child;
}

size_t catalog_list_children(struct catalog *catalog, enum rid_type type, const struct rid *parent,
                             const struct rid *after, struct child **list, size_t limit)
{
    static const struct rid nobody = { 0 };
    char prefix[KEY_BYTES_MAX], last[KEY_BYTES_MAX];
    size_t prefix_size = put_siblings(prefix, type, type == RID_TYPE_OFFER ? &nobody : parent);
    struct slice from = after->size ? place_key(last, after) : slice_of("");
    struct map_slot *slots;
    size_t count;

    readers_enter(&catalog->lock);
    slots = catalog_sorted(&catalog->known.children_by_place, slice_make(prefix, prefix_size), from, &count);
    if (count > limit)
        count = limit;
    for (size_t i = 0; i < count; i++)
        list[i] = child_take(slots[i].value);
    readers_leave(&catalog->lock);
    free(slots);
    return count;
}

size_t catalog_count_children(struct catalog *catalog, enum rid_type type, const struct rid *parent)
{
    const struct map *map = &catalog->known.children_by_place;
    size_t count = 0;

    readers_enter(&catalog->lock);
    for (size_t i = 0; i < map->capacity; i++) {
        const struct child *child = map->slot[i].value;

        count += child && child->type == type && rid_equal(&child->parent, parent);
    }
    readers_leave(&catalog->lock);
    return count;
}

/* --- bodies --- */

static struct slice store_key(struct arena *arena, const struct child *child)
{
    if (child->type == RID_TYPE_OFFER)
        return key_offer(arena, rid_slice(&child->parent));
    return key_catalog(arena, rid_slice(&child->rid));
}

enum status child_read_body(struct op *op, struct catalog *catalog, struct child **child, struct json *body)
{
    struct child *found = *child;
    struct record record;
    struct slice value;
    enum status st = ST_OK;

    *body = found->body;
    if (stays_in_memory(found->type))
        goto out;
    TRY(store_get_latest(op, catalog->bucket, store_key(&op->arena, found), &value));
    if (!value.data)
        TRY(op_fail_as(op, ST_NOT_FOUND));
    TRY(record_decode(op, value, &record));
    *body = record.document;
    if (record.etag != found->etag) {
        *child = child_make(&found->rid, &found->parent, &record);
        child_release(found);
    }
out:
    return st;
}

void catalog_join_account(struct catalog *catalog, struct account *account)
{
    struct claim claim = { .account = account, .holder = HOLDER_DEFINITIONS };

    assert(!catalog->claim.account);
    claim_anyway(&claim, catalog->claim.bytes);
    catalog->claim = claim;
}

/* --- loading --- */

/* As in catalog.c: one that did not change is not made anew. */
static struct child *unchanged_or_new(struct catalog *catalog, const struct rid *rid,
                                      const struct rid *parent, const struct record *record)
{
    struct child *known = catalog->before ? child_at(catalog->before, rid) : NULL;

    return known && known->etag == record->etag ? child_take(known) : child_make(rid, parent, record);
}

enum status child_load(struct op *op, struct catalog *catalog, const struct rid *rid,
                       const struct record *record)
{
    struct rid parent = parent_of(rid);

    if (!kind_of_type(rid_type(rid)) || json_kind(json_get(record->document, "id")) != JSON_STRING ||
        json_string(json_get(record->document, "id")).size == 0)
        return op_fail(op, ST_CORRUPT, "the catalog has a malformed key");
    if (catalog_check_owner(op, catalog, &parent) != ST_OK)
        return op_fail(op, ST_CORRUPT, "the catalog has a resource without its owner");
    add(catalog, unchanged_or_new(catalog, rid, &parent, record));
    return ST_OK;
}

enum status offer_load(struct op *op, struct catalog *catalog, const struct rid *owner,
                       const struct record *record)
{
    enum rid_type type = rid_type(owner);

    if ((type != RID_TYPE_DATABASE && type != RID_TYPE_CONTAINER) || record->number > OFFER_NUMBER_MAX ||
        catalog_check_owner(op, catalog, owner) != ST_OK)
        return op_fail(op, ST_CORRUPT, "the catalog has an offer without its resource");
    offer_add(catalog, owner, record, record->ts_ms);
    return ST_OK;
}

/* --- changes: inside one nobody else writes the maps, so it may read them without the lock --- */

static struct slice link_of(struct json permission)
{
    struct slice link = json_string(json_get(permission, "resource"));

    while (link.size && link.data[0] == '/')
        link = slice_after(link, 1);
    while (link.size && link.data[link.size - 1] == '/')
        link.size--;
    return link;
}

/* Whether two permissions are about the same resource, or about the same partition key in it. */
static bool same_grant(struct json a, struct json b)
{
    struct json key = json_get(a, "resourcePartitionKey"), other = json_get(b, "resourcePartitionKey");

    return slice_equal(link_of(a), link_of(b)) &&
           (json_kind(key) == JSON_UNDEFINED ? json_kind(other) == JSON_UNDEFINED : json_equal(key, other));
}

/*
 * A user has at most one permission for a resource, so that it is clear which mode counts. Older versions of this
 * program allowed two, and these may stay: `old` is the permission that the body replaces, NULL when it is new.
 */
static bool is_granted(const struct catalog *catalog, enum rid_type type, const struct rid *user,
                       struct json body, const struct child *old)
{
    const struct map *map = &catalog->known.children_by_place;

    if (type != RID_TYPE_PERMISSION || (old && same_grant(old->body, body)))
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        const struct child *child = map->slot[i].value;

        if (child && child->type == type && rid_equal(&child->parent, user) && same_grant(child->body, body))
            return true;
    }
    return false;
}

/*
 * The account decides whether there is room in memory for what a body adds to it. Nobody else changes the claim before
 * the child is made, so the room is only asked for here.
 */
static enum status check_memory(struct op *op, struct catalog *catalog, enum rid_type type, struct json body)
{
    struct claim *claim = &catalog->claim;
    size_t bytes = sizeof(struct child) + KEY_BYTES_MAX + (stays_in_memory(type) ? json_bytes(body).size : 0);

    if (claim_more(claim, bytes)) {
        claim_less(claim, bytes);
        return ST_OK;
    }
    if (claim->bytes + bytes <= account_share(claim->account, claim->holder))
        return op_fail(op, ST_TOO_MANY_REQUESTS,
                       "There is not enough memory at this time. Please retry after sometime.");
    return op_fail(op, ST_FORBIDDEN,
                   "The server has no memory for more users, permissions, scripts, keys and offers "
                   "(--memory). Delete some of them first.");
}

/* There is a limit to what all below one parent take, whatever their kinds. */
static enum status check_bytes(struct op *op, struct catalog *catalog, enum rid_type type,
                               const struct rid *parent, struct json body, const struct child *old)
{
    const struct map *map = &catalog->known.children_by_place;
    size_t bytes = json_bytes(body).size;

    for (size_t i = 0; i < map->capacity; i++) {
        const struct child *child = map->slot[i].value;

        if (child && child != old && rid_equal(&child->parent, parent))
            bytes += child->body_bytes;
    }
    if (bytes <= CATALOG_CHILDREN_BYTES_MAX)
        return check_memory(op, catalog, type, body);
    return op_fail(op, ST_FORBIDDEN,
                   "The scripts of a container, or the other definitions below one resource, may take %d MB "
                   "together. Delete some of them first.",
                   CATALOG_CHILDREN_BYTES_MAX >> 20);
}

/* A new rid whose text is no sibling's id. */
static struct rid next_rid(struct op *op, struct catalog *catalog, enum rid_type type,
                           const struct rid *parent, uint64_t *number)
{
    struct rid rid;

    do {
        *number = bucket_next_counter(catalog->bucket);
        rid = rid_make(type, parent, *number);
    } while (with_name(catalog, type, parent, change_rid_text(op, &rid)));
    return rid;
}

static enum status create(struct op *op, struct catalog *catalog, enum rid_type type,
                          const struct rid *parent, struct json body, struct child **child)
{
    struct batch *batch = change_begin(op, catalog);
    struct record record = { .document = body };
    uint64_t number;
    struct rid rid;
    enum status st;

    TRY(catalog_check_owner(op, catalog, parent));
    if (called(catalog, type, parent, json_string(json_get(body, "id"))) ||
        is_granted(catalog, type, parent, body, NULL))
        TRY(op_fail_as(op, ST_EXISTS));
    if (catalog_count_children(catalog, type, parent) >= CATALOG_CHILDREN_MAX)
        TRY(op_fail(op, ST_FORBIDDEN, "There may be at most %d resources of this kind.",
                    CATALOG_CHILDREN_MAX));
    TRY(check_bytes(op, catalog, type, parent, body, NULL));
    rid = next_rid(op, catalog, type, parent, &number);
    assert(!child_at(catalog, &rid)); /* no number is used twice */
    batch_uses_counter(batch, number);
    TRY(change_put(op, batch, key_catalog(&op->arena, rid_slice(&rid)), &record));
    TRY(change_commit(op, catalog, batch, &record));
    *child = child_take(child_make(&rid, parent, &record));
    add(catalog, *child);
out:
    return st;
}

enum status catalog_create_child(struct op *op, struct catalog *catalog, enum rid_type type,
                                 const struct rid *parent, struct json body, struct child **child)
{
    enum status st = change_lock(op, catalog);

    if (st == ST_OK)
        st = create(op, catalog, type, parent, body, child);
    change_unlock(catalog);
    return st;
}

static enum status check_match(struct op *op, struct slice if_match, const struct child *now)
{
    if (!if_match.data || etag_matches(if_match, now->etag, now->ts_ms))
        return ST_OK;
    return op_fail_as(op, ST_PRECONDITION_FAILED);
}

/* Finds the present version of a child, and checks the client's condition against it. */
static enum status current(struct op *op, struct catalog *catalog, const struct child *seen,
                           struct slice if_match, struct child **now)
{
    *now = child_at(catalog, &seen->rid);
    if (!*now)
        return op_fail_as(op, ST_NOT_FOUND);
    return check_match(op, if_match, *now);
}

static enum status check_replace(struct op *op, struct catalog *catalog, const struct child *now,
                                 struct json body)
{
    struct child *other;

    if (now->type == RID_TYPE_OFFER)
        return ST_OK;
    other = called(catalog, now->type, &now->parent, json_string(json_get(body, "id")));
    if ((other && other != now) || is_granted(catalog, now->type, &now->parent, body, now))
        return op_fail_as(op, ST_EXISTS);
    return check_bytes(op, catalog, now->type, &now->parent, body, now);
}

/* `ranges` is a change of ranges that goes into the same commit, or NULL. */
static enum status replace(struct op *op, struct catalog *catalog, struct child *now, struct json body,
                           struct ranges_change *ranges, struct child **child)
{
    struct batch *batch = change_begin(op, catalog);
    struct record record = { .document = body };
    enum status st;

    TRY(check_replace(op, catalog, now, body));
    if (now->type == RID_TYPE_OFFER)
        record.number = rid_number(&now->rid);
    TRY(change_put(op, batch, store_key(&op->arena, now), &record));
    if (ranges)
        TRY(ranges_change_put(op, catalog, batch, ranges));
    TRY(change_commit(op, catalog, batch, &record));
    *child = child_take(child_make(&now->rid, &now->parent, &record));
    exchange(catalog, now, *child);
out:
    return st;
}

enum status catalog_replace_child(struct op *op, struct catalog *catalog, const struct child *old,
                                  struct json body, struct slice if_match, struct child **child)
{
    struct child *now;
    enum status st;

    TRY(change_lock(op, catalog));
    TRY(current(op, catalog, old, if_match, &now));
    TRY(replace(op, catalog, now, body, NULL, child));
out:
    change_unlock(catalog);
    return st;
}

enum status catalog_replace_offer(struct op *op, struct catalog *catalog, const struct child *old,
                                  struct json body, struct slice if_match, const struct container *container,
                                  uint32_t range_count, struct child **child)
{
    struct range_spread wanted = { range_count };
    struct ranges_change ranges = { .of = container, .change = range_spread, .wanted = &wanted };
    struct container *after = NULL;
    struct child *now;
    enum status st;

    TRY(change_lock(op, catalog));
    TRY(current(op, catalog, old, if_match, &now));
    TRY(replace(op, catalog, now, body, container ? &ranges : NULL, child));
out:
    st = ranges_change_end(op, catalog, &ranges, st, &after);
    change_unlock(catalog);
    container_release(after);
    return st;
}

enum status catalog_upsert_child(struct op *op, struct catalog *catalog, enum rid_type type,
                                 const struct rid *parent, struct json body, struct slice if_match,
                                 struct child **child, bool *created)
{
    struct child *now;
    enum status st;

    TRY(change_lock(op, catalog));
    now = with_name(catalog, type, parent, json_string(json_get(body, "id")));
    *created = !now;
    if (now)
        TRY(check_match(op, if_match, now));
    if (now)
        TRY(replace(op, catalog, now, body, NULL, child));
    else
        TRY(create(op, catalog, type, parent, body, child));
out:
    change_unlock(catalog);
    return st;
}

enum status catalog_drop_child(struct op *op, struct catalog *catalog, const struct child *child,
                               struct slice if_match)
{
    struct batch *batch;
    struct child *now;
    enum status st;

    assert(child->type != RID_TYPE_OFFER); /* it goes with its owner, and no other rid begins with its own */
    TRY(change_lock(op, catalog));
    TRY(current(op, catalog, child, if_match, &now));
    batch = change_begin(op, catalog);
    batch_delete(batch, store_key(&op->arena, now));
    children_drop(op, catalog, batch, &now->rid);
    TRY(change_commit(op, catalog, batch, NULL));
    children_retire(catalog, &now->rid);
    retire(catalog, now);
out:
    change_unlock(catalog);
    return st;
}

/* --- offers, which come with their resource --- */

enum status offer_put(struct op *op, struct batch *batch, const struct rid *owner, uint64_t number,
                      struct json body, struct record *record)
{
    *record = (struct record){ .document = body, .number = number };
    if (json_kind(body) == JSON_UNDEFINED)
        return ST_OK;
    if (number > OFFER_NUMBER_MAX)
        return op_fail(op, ST_FORBIDDEN, "There have been too many resources in this account.");
    batch_uses_counter(batch, number);
    return change_put(op, batch, key_offer(&op->arena, rid_slice(owner)), record);
}

void offer_add(struct catalog *catalog, const struct rid *owner, const struct record *record, int64_t ts_ms)
{
    struct record made = *record;
    struct rid rid;

    if (json_kind(record->document) == JSON_UNDEFINED)
        return;
    assert(record->number <= OFFER_NUMBER_MAX); /* offer_put() and offer_load() refuse others */
    made.ts_ms = ts_ms;
    rid = rid_offer((uint32_t)record->number);
    add(catalog, child_make(&rid, owner, &made));
}

/* --- what goes with its owner --- */

static bool lies_below(const struct child *child, const struct rid *owner)
{
    return child->parent.size >= owner->size && memcmp(child->parent.bytes, owner->bytes, owner->size) == 0;
}

void children_drop(struct op *op, struct catalog *catalog, struct batch *batch, const struct rid *owner)
{
    const struct map *map = &catalog->known.children_by_place;

    thread_assert_locked(&catalog->changing);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slot[i].value && lies_below(map->slot[i].value, owner))
            batch_delete(batch, store_key(&op->arena, map->slot[i].value));
}

void children_retire(struct catalog *catalog, const struct rid *owner)
{
    const struct map *map = &catalog->known.children_by_place;

    thread_assert_locked(&catalog->changing);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slot[i].value && lies_below(map->slot[i].value, owner))
            retire(catalog, map->slot[i].value);
}
