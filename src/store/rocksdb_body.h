/*
 * src/store/rocksdb_body.h - what the RocksDB backend is made of, for rocksdb.c, rocksdb_runs.c and rocksdb_backup.c only.
 *
 * Locks. `handle_lock` is held shared by a call, exclusively while the handle changes. `snapshots_mutex` guards the
 * lists of snapshots and cursors, what idle cursors have, and the snapshots' handles; it is taken last. `settle_mutex` is held by settling and
 * while a backup finds out what there is to copy, and taken first; `backup_mutex`, before it, by a whole backup.
 */
#pragma once
#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

#include "store/backend.h"
#include "store/cache.h"
#include "store/tidy.h"

/* How the names of files end that will be runs: those that are left over are of no use. */
#define ROCKS_BUILDING ".building"

struct backend_snapshot {
    struct backend_snapshot *next, **link; /* in the list of all */
    const rocksdb_snapshot_t *handle;      /* NULL once the database was reopened */
    rocksdb_readoptions_t *read;
};

struct run_cursor {
    struct run_cursor *next, **link; /* in the list of all */
    rocksdb_iterator_t *at;          /* NULL at first, and once the database was reopened */
    rocksdb_readoptions_t *read;
    bool once;
    uint64_t changes; /* of runs, when it was opened */
    char *key;        /* of the row where it is, and a zero byte */
    size_t key_bytes, key_capacity;
};

/* Cursors that nobody uses: making an iterator costs more than reading a page with it. */
enum { ROCKS_IDLE_MAX = 16 };

struct rocks {
    struct backend backend;
    char *directory;
    bool read_only;
    rocksdb_options_t *options, *index_options;
    rocksdb_readoptions_t *read_latest, *read_latest_cached;
    struct cache *cache; /* of documents that point reads asked for */
    rocksdb_writeoptions_t *write_synced, *write_unsynced;
    rocksdb_writebatch_t *batch; /* the committer's, reused */

    pthread_rwlock_t handle_lock;
    rocksdb_t *db;                         /* NULL when it could not be opened at all */
    rocksdb_column_family_handle_t *rows;  /* the default one, which calls without a family mean too */
    rocksdb_column_family_handle_t *index; /* NULL when an older store was opened for reading */
    atomic_uint_least64_t reopens;
    atomic_bool rests; /* as rocks_rest() was told last, since it was opened */

    pthread_mutex_t snapshots_mutex;
    struct backend_snapshot *snapshots;
    struct run_cursor *cursors;
    struct run_cursor *idle[ROCKS_IDLE_MAX]; /* of the cursors; they see all runs that are there */
    size_t idle_count;
    uint64_t run_changes; /* how many times a run came or went */

    pthread_mutex_t backup_mutex;
    pthread_mutex_t settle_mutex;
    atomic_uint_least64_t files; /* of runs, that were begun */

    struct tidy *tidy; /* gives back the space of what was dropped */
};

static inline struct rocks *rocks_of(struct backend *backend)
{
    return (struct rocks *)backend; /* its first member */
}

/* ---- rocksdb.c ---- */

/* Turns a message of RocksDB into a status, and frees it. */
enum status rocks_failed(struct op *op, const char *what, char *message);

enum status rocks_enter(struct op *op, struct rocks *rocks);
void rocks_leave(struct rocks *rocks);

/* ---- rocksdb_runs.c ---- */

/* Idle cursors are closed. */
void rocks_drop_idle(struct rocks *rocks);

/* Before the handle is closed, under the exclusive lock. */
void rocks_end_cursors(struct rocks *rocks);

extern const struct run_ops rocks_run_ops;

/* ---- rocksdb_backup.c ---- */

enum status rocks_backup(struct op *op, struct backend *backend, const char *directory);

/* What a backup that was cut off has left beside the store. */
void rocks_clear_backup(const struct rocks *rocks);
