/*
 * src/store/local_read.c - snapshots of the local store, reads through them, and the latest value through the cache
 * of documents.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "keys/keys.h"
#include "keys/record.h"
#include "store/local_private.h"

static void unpin(struct local *local, struct packed_pin *pin)
{
    if (pin)
        packed_unpin(local->packed, pin);
}

/* A pin that a flush has overtaken may lack what the snapshot does not have either: both are taken again. */
static enum status take(struct op *op, struct local *local, struct backend_snapshot **taken,
                        struct packed_pin **pin)
{
    struct backend *backend = local->backend;
    struct packed *packed = local->packed;
    bool current = false;
    enum status st = ST_OK;

    while (!current) {
        *pin = packed ? packed_pin(packed) : NULL;
        TRY(backend->ops->snapshot(op, backend, taken));
        current = !packed || packed_pin_is_current(packed, *pin);
        if (current)
            break;
        backend->ops->release(backend, *taken);
        unpin(local, *pin);
    }
out:
    if (st != ST_OK)
        unpin(local, *pin);
    return st;
}

/* Of the moment that `shared` has; NULL: of now, and then mostly with the head, which is in memory while nobody writes. */
static enum status make_snapshot(struct op *op, struct bucket *bucket, struct local_snapshot *shared,
                                 struct snapshot **snapshot)
{
    const struct local_bucket *local = local_bucket_of(bucket);
    struct backend_snapshot *taken = shared ? shared->taken : NULL;
    struct packed_pin *pin = shared ? shared->pin : NULL;
    bool has_head = false;
    struct local_snapshot *made;
    struct head head = { 0 };
    uint64_t turn;
    enum status st = ST_OK;

    if (!shared) {
        has_head = local_bucket_head(local, &head, &turn);
        TRY(take(op, local_of(bucket->store), &taken, &pin));
        has_head = has_head && local_bucket_is_turn(local, turn);
    }
    made = heap_allocate_unset(sizeof(*made));
    *made = (struct local_snapshot){ .base = { .bucket = bucket, .head = head, .has_head = has_head },
                                     .taken = taken,
                                     .pin = pin };
    made->moment = shared ? shared : made;
    made->moment->sharers++;
    *snapshot = &made->base;
out:
    return st;
}

enum status local_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot)
{
    return make_snapshot(op, bucket, NULL, snapshot);
}

enum status local_snapshot_together(struct op *op, struct bucket *const *buckets, size_t count,
                                    struct snapshot **snapshots)
{
    enum status st;

    TRY(make_snapshot(op, buckets[0], NULL, &snapshots[0]));
    for (size_t i = 1; i < count; i++)
        TRY(make_snapshot(op, buckets[i], local_snapshot_of(snapshots[0]), &snapshots[i]));
out:
    return st;
}

void local_release(struct snapshot *snapshot)
{
    struct local_snapshot *moment = local_snapshot_of(snapshot)->moment;
    struct local *local = local_of(snapshot->bucket->store);

    assert((moment->pin != NULL) == (local->packed != NULL));
    assert(moment->sharers > 0);
    if (&moment->base != snapshot)
        free(local_snapshot_of(snapshot));
    if (--moment->sharers > 0)
        return;
    local->backend->ops->release(local->backend, moment->taken);
    unpin(local, moment->pin);
    free(moment);
}

enum status local_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                           struct slice *values)
{
    struct backend *backend = local_of(snapshot->bucket->store)->backend;

    return backend->ops->get_many(op, backend, local_snapshot_of(snapshot)->taken, keys, count, values);
}

enum status local_scan(struct op *op, struct snapshot *snapshot, struct range range, struct scan_limit limit,
                       struct rows *rows)
{
    struct backend *backend = local_of(snapshot->bucket->store)->backend;

    return backend->ops->scan(op, backend, local_snapshot_of(snapshot)->taken, range, limit, rows);
}

/* The cache does not remember that a key is absent: whoever asks for an absent item is mostly about to create it. */
static enum status get_through(struct op *op, struct local *local, struct slice key, struct slice *value)
{
    struct backend *backend = local->backend;
    uint64_t ticket = cache_ticket(local->cache, key);
    enum status st;

    assert(key_is_document(key)); /* the committer announces changes of documents only */
    TRY(backend->ops->get_many(op, backend, NULL, &key, 1, value));
    if (value->data)
        cache_fill(local->cache, key, *value, ticket);
out:
    return st;
}

/* Other keys than those of documents are not worth keeping. */
enum status local_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value)
{
    struct local *local = local_of(bucket->store);
    struct backend *backend = local->backend;

    if (!local->cache || !key_is_document(key))
        return backend->ops->get_many(op, backend, NULL, &key, 1, value);
    if (cache_find(local->cache, op, key, value))
        return ST_OK;
    return get_through(op, local, key, value);
}

/* ---- items by the numbers that an index gave ---- */

/* What was not found yet: keys, and where their values belong. */
struct missing {
    struct slice *key, *value;
    uint64_t *ticket;
    size_t *place, count;
};

static struct missing missing_for(struct op *op, size_t count)
{
    return (struct missing){ .key = arena_alloc(&op->arena, count * sizeof(struct slice)),
                             .value = arena_alloc(&op->arena, count * sizeof(struct slice)),
                             .ticket = arena_alloc(&op->arena, count * sizeof(uint64_t)),
                             .place = arena_alloc(&op->arena, count * sizeof(size_t)) };
}

static void miss(struct missing *missing, struct slice key, size_t place)
{
    missing->key[missing->count] = key;
    missing->place[missing->count++] = place;
}

/*
 * A content has an LSN of its own. So the latest one is what the snapshot sees, if its LSN is not above the snapshot's: the
 * next content would have a higher one, and what was deleted is not there. The record around it may be newer: a new index
 * or an attachment leaves the LSN as it is (policy version, flags). So these are for readers, and never for a transaction.
 */
static bool is_seen(struct slice latest, uint64_t lsn)
{
    return latest.data && value_stamped(latest).lsn <= lsn;
}

/* The latest values of those that the cache has not; it keeps those that are asked for again and again. */
static enum status get_latest_of(struct op *op, struct local *local, struct missing *missing)
{
    enum status st;

    for (size_t i = 0; i < missing->count; i++)
        missing->ticket[i] = cache_ticket(local->cache, missing->key[i]);
    TRY(local->backend->ops->get_many(op, local->backend, NULL, missing->key, missing->count,
                                      missing->value));
    for (size_t i = 0; i < missing->count; i++)
        if (missing->value[i].data)
            cache_fill_if_wanted(local->cache, missing->key[i], missing->value[i], missing->ticket[i]);
out:
    return st;
}

/* What was written or deleted since the snapshot. */
static enum status get_overtaken(struct op *op, struct snapshot *snapshot, struct missing *missing,
                                 uint64_t lsn, struct slice *values)
{
    size_t count = missing->count;
    enum status st = ST_OK;

    missing->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_seen(missing->value[i], lsn))
            values[missing->place[i]] = missing->value[i];
        else
            miss(missing, missing->key[i], missing->place[i]);
    }
    if (missing->count > 0)
        TRY(local_get_many(op, snapshot, missing->key, missing->count, missing->value));
    for (size_t i = 0; i < missing->count; i++)
        values[missing->place[i]] = missing->value[i];
out:
    return st;
}

enum status local_get_items(struct op *op, struct snapshot *snapshot, const struct slice *keys, size_t count,
                            struct slice *values)
{
    struct local *local = local_of(snapshot->bucket->store);
    struct missing missing;
    struct head head;
    enum status st;

    if (!local->cache)
        return local_get_many(op, snapshot, keys, count, values);
    TRY(store_snapshot_head(op, snapshot, &head));
    missing = missing_for(op, count);
    cache_find_many(local->cache, op, keys, count, values);
    for (size_t i = 0; i < count; i++) {
        assert(key_is_document(keys[i])); /* others are not announced to the cache */
        if (!is_seen(values[i], head.lsn))
            miss(&missing, keys[i], i);
    }
    if (missing.count == 0)
        goto out;
    TRY(get_latest_of(op, local, &missing));
    TRY(get_overtaken(op, snapshot, &missing, head.lsn, values));
out:
    return st;
}
