/* src/catalog/change.c - changes of the catalog: one at a time, durable before they can be found. */
#include <assert.h>

#include "base/thread.h"
#include "catalog/change.h"
#include "catalog/entry.h"

/* All changes of the catalog are one logical partition to the store. */
enum { CATALOG_SCOPE = 1 };

struct batch *change_begin(struct op *op, struct catalog *catalog)
{
    struct batch *batch = batch_new(op, CATALOG_BUCKET);

    thread_assert_locked(&catalog->changing);
    batch_expect(batch, CATALOG_SCOPE, catalog->lsn);
    return batch;
}

struct slice change_rid_text(struct op *op, const struct rid *rid)
{
    struct buf text;

    buf_init(&text, &op->arena);
    rid_print(&text, rid);
    return buf_as_slice(&text);
}

enum status change_put(struct op *op, struct batch *batch, struct slice key, struct record *record)
{
    size_t size;
    uint8_t *value;

    assert(batch_bucket(batch) == CATALOG_BUCKET);
    assert(json_kind(record->document) != JSON_UNDEFINED);
    record->etag = env_random_u64(op->env);
    value = record_encode(op, record, &size);
    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    batch_put_stamped(batch, key, value, size);
    return ST_OK;
}

void change_note_lsn(struct catalog *catalog, uint64_t lsn)
{
    catalog->lsn = lsn;
    store_note_followed(catalog->store, lsn);
}

void change_redefines(struct batch *batch, const struct rid *container, uint32_t part_count, bool dropped)
{
    for (uint32_t i = 0; i < part_count; i++)
        batch_redefines(batch, bucket_make(container_number(container), i), dropped);
}

static enum status note_commit(struct catalog *catalog, enum status st, const struct commit_stamp *stamp,
                               struct record *record)
{
    assert(st != ST_PENDING); /* a change waits for its commit */
    if (st == ST_OK)
        change_note_lsn(catalog,
                        stamp->lsn); /* it was refused if others had changed anything since the LSN before */
    if (st == ST_OK && record)
        record->ts_ms = stamp->ts_ms;
    if (st == ST_AMBIGUOUS)
        atomic_store(&catalog->in_doubt, true);
    return st;
}

enum status change_commit(struct op *op, struct catalog *catalog, struct batch *batch, struct record *record)
{
    struct commit_stamp stamp;
    enum status st;

    assert(batch_bucket(batch) == CATALOG_BUCKET);
    thread_assert_locked(&catalog->changing);
    st = store_commit(op, catalog->bucket, batch, &stamp);
    return note_commit(catalog, st, &stamp, record);
}

enum status change_commit_with(struct op *op, struct catalog *catalog, struct batch *batch,
                               struct commit *beside, size_t count, struct record *record)
{
    enum status st;

    assert(batch_bucket(batch) == CATALOG_BUCKET);
    thread_assert_locked(&catalog->changing);
    beside[count] = (struct commit){ .batch = batch, .bucket = catalog->bucket };
    st = store_commit_together(op, beside, count + 1);
    return note_commit(catalog, st, &beside[count].stamp, record);
}

void change_version(struct container *old, struct container *new)
{
    assert(old != new);
    assert(rid_equal(&old->rid, &new->rid));
    assert(old->part_count == new->part_count); /* the items stay where they are */
    assert(old->bucket == new->bucket);
    assert(!atomic_load(&old->life->successor)); /* of versions each has one next */
    assert(!atomic_load(&new->life->successor));
    atomic_fetch_add(&new->life->predecessors, 1);
    atomic_store(&old->life->successor, container_take(new));
}

/* Gives back the maps' own reference; NULL is welcome. */
static void forget_container(struct container *container)
{
    if (container)
        container_is_unknown(container);
    container_release(container);
}

static void forget_database(struct database *database)
{
    if (database)
        database_is_unknown(database);
    database_release(database);
}

void catalog_forget(struct catalog *catalog)
{
    struct known *known = &catalog->known;

    for (size_t i = 0; i < known->children_by_place.capacity; i++)
        child_release(known->children_by_place.slot[i].value);
    for (size_t i = 0; i < known->containers_by_rid.capacity; i++)
        forget_container(known->containers_by_rid.slot[i].value);
    for (size_t i = 0; i < known->databases_by_rid.capacity; i++)
        forget_database(known->databases_by_rid.slot[i].value);
    map_free(&known->children_by_place);
    map_free(&known->children_by_name);
    map_free(&known->databases_by_rid);
    map_free(&known->databases_by_id);
    map_free(&known->containers_by_rid);
    map_free(&known->containers_by_id);
}

/* A container that the new maps lack was dropped. One that did not change is in both. */
static void succeed(struct catalog *catalog, struct container *old, struct container *new)
{
    if (!new) {
        assert(!old->life->next_dropped); /* it is dropped once */
        old->life->next_dropped = catalog->dropped;
        catalog->dropped = old;
        container_is_unknown(old); /* the maps' reference is the list's */
        return;
    }
    if (new != old) {
        container_share(old, new, false);
        change_version(old, new);
    }
    forget_container(old);
}

/* Those that did not change were forgotten with the other maps. */
static void remember(const struct known *known)
{
    for (size_t i = 0; i < known->containers_by_rid.capacity; i++)
        if (known->containers_by_rid.slot[i].value)
            container_is_known(known->containers_by_rid.slot[i].value);
    for (size_t i = 0; i < known->databases_by_rid.capacity; i++)
        if (known->databases_by_rid.slot[i].value)
            database_is_known(known->databases_by_rid.slot[i].value);
}

/* Puts the maps that were just read in the place of the old ones. */
static void supersede(struct catalog *catalog, struct catalog *fresh)
{
    struct known old_ones;

    thread_assert_locked(&catalog->changing);
    readers_exclude(&catalog->lock);
    old_ones = catalog->known;
    catalog->known = fresh->known;
    fresh->known = old_ones;
    claim_less(&catalog->claim, catalog->claim.bytes);
    claim_anyway(&catalog->claim, fresh->claim.bytes);
    catalog->past = fresh->past;
    catalog->holds = fresh->holds;
    for (size_t i = 0; i < fresh->known.containers_by_rid.capacity; i++) {
        struct map_slot *slot = &fresh->known.containers_by_rid.slot[i];

        if (slot->value)
            succeed(catalog, slot->value, map_find(&catalog->known.containers_by_rid, slot->key));
        slot->value = NULL;
    }
    readers_admit(&catalog->lock);
    atomic_fetch_add(&catalog->offers_version, 1);
}

/* The store is right, whatever the maps say. */
static enum status read_anew(struct op *op, struct catalog *catalog)
{
    struct catalog fresh = {
        .store = catalog->store, .compute = catalog->compute, .bucket = catalog->bucket, .before = catalog
    };
    struct holds before = catalog->holds;
    enum status st;

    thread_assert_locked(&catalog->changing);
    readers_init(&fresh.lock);
    TRY(catalog_load(op, &fresh));
    supersede(catalog, &fresh);
    holds_tell(op->env, catalog, &before);
    change_note_lsn(catalog, fresh.lsn);
out:
    catalog_forget(&fresh);
    remember(&catalog->known);
    readers_free(&fresh.lock);
    return st;
}

/* Called after a commit that may or may not have happened. */
static enum status settle(struct op *op, struct catalog *catalog)
{
    struct commit_stamp stamp;
    enum status st;

    assert(atomic_load(&catalog->in_doubt));
    /* The store takes this empty commit once it is sound again. */
    TRY(store_commit(op, catalog->bucket, batch_new(op, CATALOG_BUCKET), &stamp));
    TRY(read_anew(op, catalog));
    atomic_store(&catalog->in_doubt, false);
out:
    return st;
}

/* Other processes may have changed something. */
static enum status catch_up(struct op *op, struct catalog *catalog)
{
    unsigned peers = store_peers(catalog->store).count;
    uint64_t lsn;
    enum status st;

    if (atomic_exchange(&catalog->peers, peers) != peers)
        atomic_fetch_add(&catalog->offers_version, 1);
    TRY(store_newest_lsn(op, catalog->bucket, &lsn));
    if (lsn > catalog->lsn)
        TRY(read_anew(op, catalog));
out:
    return st;
}

/* Under the mutex. */
static enum status see_the_store(struct op *op, struct catalog *catalog)
{
    if (atomic_load(&catalog->in_doubt))
        return settle(op, catalog);
    return store_is_shared(catalog->store) ? catch_up(op, catalog) : ST_OK;
}

enum status change_lock(struct op *op, struct catalog *catalog)
{
    enum status st;

    thread_assert_may_block(); /* for the change before this one, which waits for its sync */
    pthread_mutex_lock(&catalog->changing);
    TRY(store_lock_definitions(op, catalog->store));
    TRY(see_the_store(op, catalog));
out:
    return st;
}

void change_unlock(struct catalog *catalog)
{
    thread_assert_locked(&catalog->changing);
    store_unlock_definitions(catalog->store);
    pthread_mutex_unlock(&catalog->changing);
}

enum status catalog_settle(struct op *op, struct catalog *catalog)
{
    enum status st;

    if (!atomic_load(&catalog->in_doubt))
        return ST_OK;
    TRY(op_may_take_long(op));
    st = change_lock(op, catalog);
    change_unlock(catalog);
out:
    return st;
}

enum status catalog_catch_up(struct op *op, struct catalog *catalog)
{
    enum status st = ST_OK;

    if (!store_is_shared(catalog->store))
        return ST_OK;
    TRY(op_may_take_long(op));
    pthread_mutex_lock(&catalog->changing);
    st = see_the_store(op, catalog);
    pthread_mutex_unlock(&catalog->changing);
out:
    return st;
}

bool catalog_is_shared(const struct catalog *catalog)
{
    return store_is_shared(catalog->store);
}

unsigned catalog_peers(const struct catalog *catalog)
{
    unsigned peers = atomic_load_explicit(&catalog->peers, memory_order_relaxed);

    return peers ? peers : 1;
}

struct slice catalog_endpoints(struct op *op, struct catalog *catalog)
{
    return store_endpoints(op, catalog->store);
}

enum status change_follow(struct op *op, void *catalog)
{
    return catalog_catch_up(op, catalog);
}
