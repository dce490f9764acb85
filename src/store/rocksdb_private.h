/*
 * src/store/rocksdb_private.h - what the RocksDB backend is made of, for the files rocksdb*.c only.
 *
 * Locks, in the order in which they are taken.
 *     backup_mutex     held by a whole backup
 *     settle_mutex     held while the index settles, and while a backup finds out what there is to copy
 *     handle_lock      held shared by every call, and exclusively while the handle changes
 *     snapshots_mutex  guards the lists of snapshots and cursors, the idle cursors, and the snapshots' handles
 */
#pragma once
#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <string.h>

#include "base/readers.h"
#include "store/backend.h"
#include "store/tidy.h"

/* Files that will become runs have names that end so. A file with such a name that a crash left over is of no use. */
#define ROCKS_BUILDING ".building"

enum { READ_TIER_ALL = 0, READ_TIER_CACHE_ONLY = 1 };

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
    struct run_space runs;
    char *directory;
    bool read_only;
    rocksdb_options_t *options, *index_options;
    rocksdb_readoptions_t *read_latest, *read_latest_cached;
    rocksdb_writeoptions_t *write_synced, *write_unsynced;
    rocksdb_writebatch_t *batch; /* the committer's, reused */

    struct readers handle_lock;
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

static inline struct rocks *rocks_of_runs(struct run_space *runs)
{
    return (struct rocks *)((char *)runs - offsetof(struct rocks, runs));
}

/* RocksDB tells kinds of errors apart by the first words of their messages. */
static inline bool rocks_says(const char *message, const char *first_words)
{
    return strncmp(message, first_words, strlen(first_words)) == 0;
}

/* ---- rocksdb_new.c ---- */

/* While a database is held, what RocksDB cannot allocate is taken from the reserve. */
void rocks_hold_new(void);
void rocks_release_new(void);

/* ---- rocksdb.c ---- */

/* Turns a message of RocksDB into a status, and frees it. */
enum status rocks_failed(struct op *op, const char *what, char *message);

/* Every call begins with this, and ends with rocks_leave(). A loop thread does not wait for a reopening. */
enum status rocks_enter(struct op *op, struct rocks *rocks);
void rocks_leave(struct rocks *rocks);

/* ---- rocksdb_open.c ---- */

rocksdb_options_t *rocks_options(const struct store_options *given, rocksdb_cache_t *cache);
rocksdb_options_t *rocks_index_options(rocksdb_cache_t *cache);

/* Each sets `db` and the families, or leaves `db` NULL. The first also removes what an earlier process left half done. */
enum status rocks_open_handle(struct op *op, struct rocks *rocks);
enum status rocks_open_for_writing(struct op *op, struct rocks *rocks);
enum status rocks_open_for_reading(struct op *op, struct rocks *rocks);

/* A call of backend.h: options change while it is open. */
enum status rocks_rest(struct op *op, struct backend *backend, bool rests);

/* Under the exclusive lock, or when nobody else is there. Ends snapshots and cursors first. */
void rocks_close_handle(struct rocks *rocks);

/* ---- rocksdb_read.c: calls of backend.h, and ---- */

enum status rocks_snapshot(struct op *op, struct backend *backend, struct backend_snapshot **snapshot);
void rocks_release(struct backend *backend, struct backend_snapshot *snapshot);
enum status rocks_get_many(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                           const struct slice *keys, size_t count, struct slice *values);
enum status rocks_scan(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                       struct range range, struct scan_limit limit, struct rows *rows);

/* Called under the exclusive lock, before the handle is closed. */
void rocks_end_snapshots(struct rocks *rocks);

/* ---- rocksdb_runs.c ---- */

/* Closes the idle cursors. Called when a run has come or gone. */
void rocks_drop_idle(struct rocks *rocks);

/* Before the handle is closed, under the exclusive lock. */
void rocks_end_cursors(struct rocks *rocks);

extern const struct run_space_ops rocks_run_ops;

/* ---- rocksdb_backup.c ---- */

enum status rocks_backup(struct op *op, struct backend *backend, const char *directory);

/* Removes what a backup that was cut off has left beside the store. */
void rocks_clear_backup(const struct rocks *rocks);
