/*
 * src/store/rocksdb_runs.c - runs (packed/run_space.h) in RocksDB: files that are written beside it and then handed
 * over whole. Their keys overlap nothing, so RocksDB puts them on its last level and never touches them again.
 */
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/thread.h"
#include "store/rocksdb_private.h"

/* A long run is several files, so that the index of each stays small. */
enum { FILE_BYTES_MAX = 256 * 1024 * 1024, READAHEAD_BYTES = 1024 * 1024 };

/* ---- writing ---- */

struct run_writer {
    rocksdb_envoptions_t *env;
    rocksdb_sstfilewriter_t *file; /* the one being written; NULL: none */
    char **path;
    size_t count, file_bytes;
};

static enum status rocks_run_begin(struct op *op, struct run_space *space, struct run_writer **writer)
{
    (void)op, (void)space;
    *writer = heap_allocate_unset(sizeof(**writer));
    **writer = (struct run_writer){ .env = rocksdb_envoptions_create() };
    return ST_OK;
}

/* Files that RocksDB has taken over have another name by now. */
static void free_writer(struct run_writer *writer)
{
    if (writer->file)
        rocksdb_sstfilewriter_destroy(writer->file);
    for (size_t i = 0; i < writer->count; i++) {
        unlink(writer->path[i]);
        free(writer->path[i]);
    }
    rocksdb_envoptions_destroy(writer->env);
    free(writer->path);
    free(writer);
}

static void rocks_run_abort(struct run_space *space, struct run_writer *writer)
{
    (void)space;
    free_writer(writer);
}

static enum status begin_file(struct op *op, struct rocks *rocks, struct run_writer *writer)
{
    char path[PATH_MAX];
    char *message = NULL;

    assert(!writer->file); /* the file before has ended */
    snprintf(path, sizeof(path), "%s/%llu" ROCKS_BUILDING, rocks->directory,
             (unsigned long long)atomic_fetch_add(&rocks->files, 1));
    writer->path = heap_grow(writer->path, (writer->count + 1) * sizeof(*writer->path));
    writer->path[writer->count++] = heap_text(path);
    writer->file = rocksdb_sstfilewriter_create(writer->env, rocks->index_options);
    writer->file_bytes = 0;
    rocksdb_sstfilewriter_open(writer->file, path, &message);
    return message ? rocks_failed(op, "beginning a run", message) : ST_OK;
}

/* Synced when it is finished. */
static enum status end_file(struct op *op, struct run_writer *writer)
{
    char *message = NULL;

    if (!writer->file)
        return ST_OK;
    rocksdb_sstfilewriter_finish(writer->file, &message);
    rocksdb_sstfilewriter_destroy(writer->file);
    writer->file = NULL;
    return message ? rocks_failed(op, "writing a run", message) : ST_OK;
}

static enum status rocks_run_add(struct op *op, struct run_space *space, struct run_writer *writer,
                                 struct slice key, struct slice value)
{
    char *message = NULL;
    enum status st = ST_OK;

    if (writer->file && writer->file_bytes >= FILE_BYTES_MAX)
        TRY(end_file(op, writer));
    if (!writer->file)
        TRY(begin_file(op, rocks_of_runs(space), writer));
    rocksdb_sstfilewriter_put(writer->file, key.data, key.size, value.data, value.size, &message);
    writer->file_bytes += key.size + value.size;
    if (message)
        st = rocks_failed(op, "writing a run", message);
out:
    return st;
}

/* Nobody reads a run before it is handed over, so it need not be kept out of the snapshots that are held. */
static enum status ingest(struct op *op, struct rocks *rocks, const struct run_writer *writer)
{
    rocksdb_ingestexternalfileoptions_t *options = rocksdb_ingestexternalfileoptions_create();
    char *message = NULL;

    assert(rocks->index);
    assert(!writer->file); /* all files are finished, and synced */
    assert(writer->count > 0);
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1);
    rocksdb_ingestexternalfileoptions_set_snapshot_consistency(options, 0);
    rocksdb_ingest_external_file_cf(rocks->db, rocks->index, (const char *const *)writer->path, writer->count,
                                    options, &message);
    rocksdb_ingestexternalfileoptions_destroy(options);
    return message ? rocks_failed(op, "taking a run over", message) : ST_OK;
}

static enum status rocks_run_finish(struct op *op, struct run_space *space, struct run_writer *writer)
{
    struct rocks *rocks = rocks_of_runs(space);
    enum status st;

    TRY(end_file(op, writer));
    TRY(rocks_enter(op, rocks));
    if (writer->count > 0 &&
        !rocks->index) /* a store that was reopened for reading may have no family for runs */
        st = op_fail(op, ST_UNAVAILABLE, "The store takes no runs at the moment.");
    else if (writer->count > 0)
        st = ingest(op, rocks, writer);
    rocks_leave(rocks);
    rocks_drop_idle(rocks); /* they do not see it */
out:
    free_writer(writer);
    return st;
}

/* ---- removing ---- */

static bool has_rows(struct rocks *rocks, struct slice from, struct slice to)
{
    rocksdb_iterator_t *at = rocksdb_create_iterator_cf(rocks->db, rocks->read_latest, rocks->index);
    struct slice key;
    bool has;

    rocksdb_iter_seek(at, from.data, from.size);
    has = rocksdb_iter_valid(at);
    if (has) {
        key.data = rocksdb_iter_key(at, &key.size);
        has = slice_compare(key, to) < 0;
    }
    rocksdb_iter_destroy(at);
    return has;
}

/*
 * Whole files go at once. A file that is being compacted stays; runs should never be, but such rows get a tombstone.
 */
static void remove_files(struct rocks *rocks, struct slice from, struct slice to, char **message)
{
    rocksdb_writebatch_t *batch;

    rocksdb_delete_file_in_range_cf(rocks->db, rocks->index, from.data, from.size, to.data, to.size, message);
    if (*message || !has_rows(rocks, from, to))
        return;
    batch = rocksdb_writebatch_create();
    rocksdb_writebatch_delete_range_cf(batch, rocks->index, from.data, from.size, to.data, to.size);
    rocksdb_write(rocks->db, rocks->write_synced, batch, message);
    rocksdb_writebatch_destroy(batch);
}

static enum status rocks_run_remove(struct op *op, struct run_space *space, struct slice from,
                                    struct slice to)
{
    struct rocks *rocks = rocks_of_runs(space);
    char *message = NULL;
    enum status st;

    TRY(rocks_enter(op, rocks));
    if (rocks->index)
        remove_files(rocks, from, to, &message);
    rocks_leave(rocks);
    rocks_drop_idle(rocks); /* they hold its files */
    if (message)
        st = rocks_failed(op, "removing a run", message);
out:
    return st;
}

/* ---- reading ---- */

/* Under snapshots_mutex, as all up to rocks_run_open(). */
static void link_cursor(struct rocks *rocks, struct run_cursor *cursor)
{
    thread_assert_locked(&rocks->snapshots_mutex);
    cursor->link = &rocks->cursors;
    cursor->next = rocks->cursors;
    if (cursor->next)
        cursor->next->link = &cursor->next;
    rocks->cursors = cursor;
}

static void unlink_cursor(struct run_cursor *cursor)
{
    assert(*cursor->link == cursor); /* it is in the list */
    *cursor->link = cursor->next;
    if (cursor->next)
        cursor->next->link = cursor->link;
}

/* A cursor that has seen runs come or go is not used again. */
static bool becomes_idle(struct rocks *rocks, struct run_cursor *cursor)
{
    thread_assert_locked(&rocks->snapshots_mutex);
    assert(rocks->idle_count <= ROCKS_IDLE_MAX);
    if (cursor->once || cursor->changes != rocks->run_changes || rocks->idle_count == ROCKS_IDLE_MAX)
        return false;
    rocks->idle[rocks->idle_count++] = cursor;
    return true;
}

static struct run_cursor *make_cursor(bool once)
{
    struct run_cursor *cursor = heap_allocate_unset(sizeof(*cursor));

    *cursor = (struct run_cursor){ .read = rocksdb_readoptions_create(), .once = once };
    if (once) {
        rocksdb_readoptions_set_fill_cache(cursor->read, 0);
        rocksdb_readoptions_set_readahead_size(cursor->read, READAHEAD_BYTES);
    }
    return cursor;
}

static enum status rocks_run_open(struct op *op, struct run_space *space, bool once,
                                  struct run_cursor **cursor)
{
    struct rocks *rocks = rocks_of_runs(space);

    (void)op;
    *cursor = NULL;
    pthread_mutex_lock(&rocks->snapshots_mutex);
    if (!once && rocks->idle_count > 0) {
        *cursor = rocks->idle[--rocks->idle_count];
    } else {
        *cursor = make_cursor(once);
        (*cursor)->changes = rocks->run_changes;
        link_cursor(rocks, *cursor);
    }
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    return ST_OK;
}

/* An iterator goes before its database does, so not while that changes. */
static void free_cursor(struct rocks *rocks, struct run_cursor *cursor)
{
    readers_enter(&rocks->handle_lock);
    if (cursor->at)
        rocksdb_iter_destroy(cursor->at);
    pthread_mutex_lock(&rocks->snapshots_mutex);
    unlink_cursor(cursor);
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    readers_leave(&rocks->handle_lock);
    rocksdb_readoptions_destroy(cursor->read);
    free(cursor->key);
    free(cursor);
}

static void rocks_run_close(struct run_space *space, struct run_cursor *cursor)
{
    struct rocks *rocks = rocks_of_runs(space);
    bool idle;

    pthread_mutex_lock(&rocks->snapshots_mutex);
    idle = becomes_idle(rocks, cursor);
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    if (!idle)
        free_cursor(rocks, cursor);
}

void rocks_drop_idle(struct rocks *rocks)
{
    struct run_cursor *idle[ROCKS_IDLE_MAX];
    size_t count;

    pthread_mutex_lock(&rocks->snapshots_mutex);
    count = rocks->idle_count;
    memcpy(idle, rocks->idle, count * sizeof(idle[0]));
    rocks->idle_count = 0;
    rocks->run_changes++;
    pthread_mutex_unlock(&rocks->snapshots_mutex);
    for (size_t i = 0; i < count; i++)
        free_cursor(rocks, idle[i]);
}

void rocks_end_cursors(struct rocks *rocks)
{
    pthread_mutex_lock(&rocks->snapshots_mutex);
    for (struct run_cursor *cursor = rocks->cursors; cursor; cursor = cursor->next) {
        if (cursor->at)
            rocksdb_iter_destroy(cursor->at);
        cursor->at = NULL;
    }
    pthread_mutex_unlock(&rocks->snapshots_mutex);
}

static void seek_before(rocksdb_iterator_t *at, struct slice key)
{
    struct slice found;

    rocksdb_iter_seek_for_prev(at, key.data, key.size);
    if (!rocksdb_iter_valid(at))
        return;
    found.data = rocksdb_iter_key(at, &found.size);
    if (slice_equal(found, key))
        rocksdb_iter_prev(at);
}

/* A new iterator is nowhere yet: the next row is looked for by the key of the last one. */
static void move_cursor(struct rocks *rocks, struct run_cursor *cursor, enum run_move move, struct slice key)
{
    bool is_new = !cursor->at;

    assert(move == RUN_AT_OR_AFTER || move == RUN_BEFORE || cursor->key); /* a step begins at a row */
    if (is_new)
        cursor->at = rocksdb_create_iterator_cf(rocks->db, cursor->read, rocks->index);
    if (move == RUN_AT_OR_AFTER)
        rocksdb_iter_seek(cursor->at, key.data, key.size);
    else if (move == RUN_BEFORE)
        seek_before(cursor->at, key);
    else if (is_new && move == RUN_NEXT)
        rocksdb_iter_seek(cursor->at, cursor->key, cursor->key_bytes + 1);
    else if (is_new)
        seek_before(cursor->at, slice_make(cursor->key, cursor->key_bytes));
    else if (move == RUN_NEXT)
        rocksdb_iter_next(cursor->at);
    else
        rocksdb_iter_prev(cursor->at);
}

static void keep_key(struct run_cursor *cursor, struct slice key)
{
    if (key.size + 1 > cursor->key_capacity) {
        cursor->key_capacity = 2 * key.size + 1;
        cursor->key = heap_grow(cursor->key, cursor->key_capacity);
    }
    memcpy(cursor->key, key.data, key.size);
    cursor->key[key.size] = 0;
    cursor->key_bytes = key.size;
}

static enum status copy_row(struct op *op, struct run_cursor *cursor, struct run_row *row)
{
    char *message = NULL;
    struct slice key, value;

    row->key = (struct slice){ 0 };
    if (rocksdb_iter_valid(cursor->at)) {
        key.data = rocksdb_iter_key(cursor->at, &key.size);
        value.data = rocksdb_iter_value(cursor->at, &value.size);
        keep_key(cursor, key);
        run_row_copy(row, key, value);
        return ST_OK;
    }
    rocksdb_iter_get_error(cursor->at, &message);
    return message ? rocks_failed(op, "reading a run", message) : ST_OK;
}

static enum status rocks_run_read(struct op *op, struct run_space *space, struct run_cursor *cursor,
                                  enum run_move move, struct slice key, struct run_row *row)
{
    struct rocks *rocks = rocks_of_runs(space);
    enum status st;

    TRY(rocks_enter(op, rocks));
    if (rocks->index) {
        move_cursor(rocks, cursor, move, key);
        st = copy_row(op, cursor, row);
    } else {
        row->key = (struct slice){ 0 };
    }
    rocks_leave(rocks);
out:
    return st;
}

/* ---- settling ---- */

static enum status rocks_run_get(struct op *op, struct run_space *space, struct slice key,
                                 struct slice *value)
{
    return rocks_get_many(op, &rocks_of_runs(space)->backend, NULL, &key, 1, value);
}

static uint64_t rocks_run_reopens(struct run_space *space)
{
    return atomic_load(&rocks_of_runs(space)->reopens);
}

static void put_all(rocksdb_writebatch_t *batch, const struct settled_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rocksdb_writebatch_put(batch, rows[i].key.data, rows[i].key.size, rows[i].value.data,
                               rows[i].value.size);
}

static enum status rocks_run_settle(struct op *op, struct run_space *space, uint64_t since,
                                    const struct settled_row *rows, size_t count)
{
    struct rocks *rocks = rocks_of_runs(space);
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *message = NULL;
    enum status st;

    assert(count > 0);
    put_all(batch, rows, count);
    pthread_mutex_lock(&rocks->settle_mutex);
    TRY(rocks_enter(op, rocks));
    if (atomic_load(&rocks->reopens) == since)
        rocksdb_write(rocks->db, rocks->write_synced, batch, &message);
    else
        st = op_fail(op, ST_WRITE_CONFLICT, "The store was reopened while the index was written out.");
    rocks_leave(rocks);
    if (message)
        st = rocks_failed(op, "settling", message);
out:
    pthread_mutex_unlock(&rocks->settle_mutex);
    rocksdb_writebatch_destroy(batch);
    return st;
}

const struct run_space_ops rocks_run_ops = {
    .begin = rocks_run_begin,
    .add = rocks_run_add,
    .finish = rocks_run_finish,
    .abort = rocks_run_abort,
    .remove = rocks_run_remove,
    .open = rocks_run_open,
    .read = rocks_run_read,
    .close = rocks_run_close,
    .get = rocks_run_get,
    .reopens = rocks_run_reopens,
    .settle = rocks_run_settle,
};
