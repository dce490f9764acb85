/* src/store/rocksdb_read.c - snapshots of RocksDB, gets and scans through them, and the latest values. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "store/rocksdb_private.h"
#include "store/rows.h"

/* ---- snapshots ---- */

enum status rocks_snapshot(struct op *op, struct backend *backend, struct backend_snapshot **snapshot)
{
    struct rocks *rocks = rocks_of(backend);
    struct backend_snapshot *taken;
    enum status st;

    TRY(rocks_enter(op, rocks));
    taken = heap_allocate_unset(sizeof(*taken));
    taken->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_background_purge_on_iterator_cleanup(taken->read,
                                                                 1); /* files, buffers: not by a reader */
    pthread_mutex_lock(&rocks->snapshots_mutex);
    taken->handle = rocksdb_create_snapshot(rocks->db);
    taken->next = rocks->snapshots;
    taken->link = &rocks->snapshots;
    if (taken->next)
        taken->next->link = &taken->next;
    rocks->snapshots = taken;
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    rocksdb_readoptions_set_snapshot(taken->read, taken->handle);
    rocks_leave(rocks);
    *snapshot = taken;
out:
    return st;
}

/* A handle that is not NULL belongs to the open database: rocks_end_snapshots() sees to that. */
void rocks_release(struct backend *backend, struct backend_snapshot *snapshot)
{
    struct rocks *rocks = rocks_of(backend);

    pthread_mutex_lock(&rocks->snapshots_mutex);
    assert(*snapshot->link == snapshot); /* it is in the list: nobody has released it before */
    assert(!snapshot->handle || rocks->db);
    if (snapshot->handle)
        rocksdb_release_snapshot(rocks->db, snapshot->handle);
    *snapshot->link = snapshot->next;
    if (snapshot->next)
        snapshot->next->link = snapshot->link;
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    rocksdb_readoptions_destroy(snapshot->read);
    free(snapshot);
}

/* Under the exclusive lock, before the handle is closed. */
void rocks_end_snapshots(struct rocks *rocks)
{
    assert(rocks->db); /* the snapshots are its own, and end before it */
    pthread_mutex_lock(&rocks->snapshots_mutex);
    for (struct backend_snapshot *snapshot = rocks->snapshots; snapshot; snapshot = snapshot->next) {
        if (snapshot->handle)
            rocksdb_release_snapshot(rocks->db, snapshot->handle);
        snapshot->handle = NULL;
    }
    pthread_mutex_unlock(&rocks->snapshots_mutex);
}

/* ---- reading ---- */

/*
 * RocksDB passes over what was deleted or overwritten without a word, however much that is: in a container that is used as a
 * queue it is nearly everything. A thread that may not wait gives a scan up when it has passed over so many in a row.
 */
enum { PASSED_OVER_MAX = 16 };

/* rocks_enter(), and the snapshot's read options made ready. */
static enum status enter_snapshot(struct op *op, struct rocks *rocks, struct backend_snapshot *snapshot)
{
    enum status st;

    TRY(rocks_enter(op, rocks));
    if (snapshot->handle) {
        rocksdb_readoptions_set_read_tier(snapshot->read,
                                          op->may_block ? READ_TIER_ALL : READ_TIER_CACHE_ONLY);
        rocksdb_readoptions_set_max_skippable_internal_keys(snapshot->read,
                                                            op->may_block ? 0 : PASSED_OVER_MAX);
    } else {
        rocks_leave(rocks);
        st = op_fail(op, ST_UNAVAILABLE, "The store was reopened after a failure while this was being read.");
    }
out:
    return st;
}

/* Copies a value that RocksDB has found, or failed to find, and lets go of it. */
static enum status copy_value(struct op *op, rocksdb_pinnableslice_t *pinned, char *message,
                              struct slice *value)
{
    struct slice found;
    enum status st;

    *value = (struct slice){ 0 };
    if (message)
        return rocks_failed(op, "reading", message);
    if (!pinned)
        return ST_OK;
    found.data = rocksdb_pinnableslice_value(pinned, &found.size);
    st = row_copy_value(op, found, value);
    rocksdb_pinnableslice_destroy(pinned);
    return st;
}

static enum status get_one(struct op *op, struct rocks *rocks, const rocksdb_readoptions_t *options,
                           struct slice key, struct slice *value)
{
    rocksdb_pinnableslice_t *pinned;
    char *message = NULL;

    pinned = rocksdb_get_pinned(rocks->db, options, key.data, key.size, &message);
    return copy_value(op, pinned, message, value);
}

enum { GET_MAX = 64 };

/* All at once, so that each file's index and filter is asked for once. */
static enum status get_several(struct op *op, struct rocks *rocks, const rocksdb_readoptions_t *options,
                               const struct slice *keys, size_t count, struct slice *values)
{
    const char *data[GET_MAX] = { 0 };
    size_t size[GET_MAX] = { 0 };
    rocksdb_pinnableslice_t *pinned[GET_MAX];
    char *message[GET_MAX];
    enum status st = ST_OK;

    assert(rocks->db);
    assert(count <= GET_MAX);
    for (size_t i = 0; i < count; i++) {
        data[i] = keys[i].data;
        size[i] = keys[i].size;
    }
    rocksdb_batched_multi_get_cf(rocks->db, options, rocks->rows, count, data, size, pinned, message, false);
    for (size_t i = 0; i < count; i++) {
        enum status copied = copy_value(op, pinned[i], message[i], &values[i]);

        st = st == ST_OK ? copied : st;
    }
    return st;
}

/*
 * A call for several keys that may not use the disk gets an empty value from RocksDB 7.8 for a key that only the disk
 * has, where the answer should be "incomplete". A call for one key gets the right answer.
 */
static enum status get_each(struct op *op, struct rocks *rocks, const rocksdb_readoptions_t *options,
                            const struct slice *keys, size_t count, struct slice *values)
{
    enum status st = ST_OK;

    assert(rocks->db); /* within rocks_enter() and rocks_leave() */
    for (size_t i = 0; i < count && st == ST_OK; i++)
        st = get_one(op, rocks, options, keys[i], &values[i]);
    return st;
}

static enum status get_all(struct op *op, struct rocks *rocks, const rocksdb_readoptions_t *options,
                           const struct slice *keys, size_t count, struct slice *values)
{
    enum status st = ST_OK;

    if (count == 1 || !op->may_block)
        return get_each(op, rocks, options, keys, count, values);
    for (size_t i = 0; i < count && st == ST_OK; i += GET_MAX)
        st = get_several(op, rocks, options, keys + i, count - i < GET_MAX ? count - i : GET_MAX, values + i);
    return st;
}

static enum status get_from_snapshot(struct op *op, struct rocks *rocks, struct backend_snapshot *snapshot,
                                     const struct slice *keys, size_t count, struct slice *values)
{
    enum status st;

    TRY(enter_snapshot(op, rocks, snapshot));
    st = get_all(op, rocks, snapshot->read, keys, count, values);
    rocks_leave(rocks);
out:
    return st;
}

static enum status get_latest(struct op *op, struct rocks *rocks, const struct slice *keys, size_t count,
                              struct slice *values)
{
    const rocksdb_readoptions_t *options = op->may_block ? rocks->read_latest : rocks->read_latest_cached;
    enum status st;

    TRY(rocks_enter(op, rocks));
    st = get_all(op, rocks, options, keys, count, values);
    rocks_leave(rocks);
out:
    return st;
}

enum status rocks_get_many(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                           const struct slice *keys, size_t count, struct slice *values)
{
    struct rocks *rocks = rocks_of(backend);

    return snapshot ? get_from_snapshot(op, rocks, snapshot, keys, count, values)
                    : get_latest(op, rocks, keys, count, values);
}

static void seek_first(rocksdb_iterator_t *at, const struct range *range)
{
    if (range->reverse)
        rocksdb_iter_seek_to_last(at); /* below the upper bound */
    else
        rocksdb_iter_seek(at, range->from.data, range->from.size);
}

static struct slice iterator_key(const rocksdb_iterator_t *at)
{
    struct slice key;

    key.data = rocksdb_iter_key(at, &key.size);
    return key;
}

static struct slice iterator_value(const rocksdb_iterator_t *at)
{
    struct slice value;

    value.data = rocksdb_iter_value(at, &value.size);
    return value;
}

static enum status collect(rocksdb_iterator_t *at, const struct range *range, struct row_block *block)
{
    char *message = NULL;
    enum status st = ST_OK;

    for (seek_first(at, range); rocksdb_iter_valid(at);) {
        struct slice key = iterator_key(at), value = iterator_value(at);

        if (!row_block_takes(block, key, value))
            goto out;
        TRY(row_block_copy(block, key, value));
        if (range->reverse)
            rocksdb_iter_prev(at);
        else
            rocksdb_iter_next(at);
    }
    rocksdb_iter_get_error(at, &message);
    if (message)
        st = rocks_failed(block->op, "scanning", message);
out:
    return st;
}

enum status rocks_scan(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                       struct range range, struct scan_limit limit, struct rows *rows)
{
    struct rocks *rocks = rocks_of(backend);
    rocksdb_iterator_t *at;
    struct row_block block;
    enum status st;

    assert(snapshot); /* only get_many() reads what is there now */
    row_block_init(&block, op, limit, rows);
    if (slice_compare(range.from, range.to) >= 0) /* an empty range; RocksDB wants its bounds in order */
        return ST_OK;
    TRY(enter_snapshot(op, rocks, snapshot));
    rocksdb_readoptions_set_iterate_lower_bound(snapshot->read, range.from.data, range.from.size);
    rocksdb_readoptions_set_iterate_upper_bound(snapshot->read, range.to.data, range.to.size);
    at = rocksdb_create_iterator(rocks->db, snapshot->read);
    st = collect(at, &range, &block);
    rocksdb_iter_destroy(at);
    rocks_leave(rocks);
out:
    return st;
}
