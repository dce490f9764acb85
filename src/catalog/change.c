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
    batch_expect(batch, CATALOG_SCOPE, bucket_lsn(catalog->bucket));
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

static enum status note_commit(struct catalog *catalog, enum status st, const struct commit_stamp *stamp,
                               struct record *record)
{
    assert(st != ST_PENDING); /* a change waits for its commit */
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
                               struct bucket *bucket, struct batch *beside, struct record *record)
{
    struct commit commits[] = { { .batch = beside, .bucket = bucket },
                                { .batch = batch, .bucket = catalog->bucket } };
    enum status st;

    assert(batch_bucket(batch) == CATALOG_BUCKET);
    thread_assert_locked(&catalog->changing);
    st = store_commit_together(op, commits, 2);
    return note_commit(catalog, st, &commits[1].stamp, record);
}

void change_version(struct container *old, struct container *new)
{
    assert(old != new);
    assert(rid_equal(&old->rid, &new->rid));
    assert(old->bucket == new->bucket);          /* the items stay where they are */
    assert(!atomic_load(&old->life->successor)); /* of versions each has one next */
    assert(!atomic_load(&new->life->successor));
    atomic_fetch_add(&new->life->predecessors, 1);
    atomic_store(&old->life->successor, container_take(new));
}

void catalog_forget(struct catalog *catalog)
{
    struct known *known = &catalog->known;

    for (size_t i = 0; i < known->children_by_place.capacity; i++)
        child_release(known->children_by_place.slot[i].value);
    for (size_t i = 0; i < known->containers_by_rid.capacity; i++)
        container_release(known->containers_by_rid.slot[i].value);
    for (size_t i = 0; i < known->databases_by_rid.capacity; i++)
        database_release(known->databases_by_rid.slot[i].value);
    map_free(&known->children_by_place);
    map_free(&known->children_by_name);
    map_free(&known->databases_by_rid);
    map_free(&known->databases_by_id);
    map_free(&known->containers_by_rid);
    map_free(&known->containers_by_id);
}

/* Puts the maps that were just read in the place of the old ones. A container that the new maps lack was dropped. */
static void supersede(struct catalog *catalog, struct catalog *fresh)
{
    struct known old_ones;

    thread_assert_locked(&catalog->changing);
    pthread_rwlock_wrlock(&catalog->lock);
    old_ones = catalog->known;
    catalog->known = fresh->known;
    fresh->known = old_ones;
    claim_less(&catalog->claim, catalog->claim.bytes);
    claim_anyway(&catalog->claim, fresh->claim.bytes);
    for (size_t i = 0; i < fresh->known.containers_by_rid.capacity; i++) {
        struct map_slot *slot = &fresh->known.containers_by_rid.slot[i];
        struct container *old = slot->value;
        struct container *new = old ? map_find(&catalog->known.containers_by_rid, slot->key) : NULL;

        slot->value = NULL;
        if (new) {
            container_share(old, new, false);
            change_version(old, new);
            container_release(old); /* the maps' own reference */
        } else if (old) {
            assert(!old->life->next_dropped); /* it is dropped once */
            old->life->next_dropped = catalog->dropped;
            catalog->dropped = old;
        }
    }
    pthread_rwlock_unlock(&catalog->lock);
}

/*
 * Called after a commit that may or may not have happened. Reads the whole catalog again, because the store is right.
 */
static enum status settle(struct op *op, struct catalog *catalog)
{
    struct catalog fresh = { .store = catalog->store,
                             .compute = catalog->compute,
                             .bucket = catalog->bucket };
    enum status st;

    thread_assert_locked(&catalog->changing);
    assert(atomic_load(&catalog->in_doubt));
    thread_rwlock_init(&fresh.lock);
    /* The store takes this empty commit once it is sound again. */
    TRY(change_commit(op, catalog, batch_new(op, CATALOG_BUCKET), NULL));
    TRY(catalog_load(op, &fresh));
    supersede(catalog, &fresh);
    atomic_store(&catalog->in_doubt, false);
out:
    catalog_forget(&fresh);
    pthread_rwlock_destroy(&fresh.lock);
    return st;
}

enum status change_lock(struct op *op, struct catalog *catalog)
{
    thread_assert_may_block(); /* for the change before this one, which waits for its sync */
    pthread_mutex_lock(&catalog->changing);
    return atomic_load(&catalog->in_doubt) ? settle(op, catalog) : ST_OK;
}

void change_unlock(struct catalog *catalog)
{
    thread_assert_locked(&catalog->changing);
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
