/*
 * src/store/rocksdb_backup.c - a copy of the store while it is in use.
 *
 * It is a checkpoint of RocksDB: tables and finished logs are linked, and the log in use is copied as far as it is
 * written. A backup flushes nothing, because on a nearly full disk a failed flush would stop the server's writes. A
 * reopening waits until the checkpoint is made. So does settling: RocksDB lists the files first and reads the log
 * then, and the log must not speak of a run that came between the two. With links that takes a moment. Links to
 * another disk cannot be made. The checkpoint is then made beside the store and copied from there, and nobody waits
 * for the copying.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/thread.h"
#include "store/folder.h"
#include "store/rocksdb_private.h"

/* More than the log in use, which is the only thing that takes space beside the store. */
static const uint64_t beside_bytes_min = 256 * 1024 * 1024;

static void path_beside(const struct rocks *rocks, const char *ending, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s%s", rocks->directory, ending);
}

void rocks_clear_backup(const struct rocks *rocks)
{
    static const char *const endings[] = { ".copy", ".copy.tmp" }; /* RocksDB makes the second one first */
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        path_beside(rocks, endings[i], path);
        folder_remove(path);
    }
}

/* Two mounts of one disk do not take links either: trying is the only way to know. */
static bool takes_links(const struct rocks *rocks, const char *directory)
{
    char from[PATH_MAX], to[PATH_MAX];
    bool linked;

    snprintf(from, sizeof(from), "%s/CURRENT", rocks->directory);
    snprintf(to, sizeof(to), "%s.link", directory);
    linked = link(from, to) == 0;
    if (linked)
        unlink(to);
    return linked || errno != EXDEV;
}

static bool has_room(const struct rocks *rocks)
{
    struct statvfs disk;

    return statvfs(rocks->directory, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize >= beside_bytes_min;
}

static enum status make_checkpoint(struct op *op, struct rocks *rocks, const char *directory)
{
    const uint64_t never_flush = UINT64_MAX;
    rocksdb_checkpoint_t *checkpoint;
    char *message = NULL;
    enum status st;

    thread_assert_locked(&rocks->backup_mutex); /* it is taken before settle_mutex */
    pthread_mutex_lock(&rocks->settle_mutex);
    TRY(rocks_enter(op, rocks));
    checkpoint = rocksdb_checkpoint_object_create(rocks->db, &message);
    if (!message)
        rocksdb_checkpoint_create(checkpoint, directory, never_flush, &message);
    if (checkpoint)
        rocksdb_checkpoint_object_destroy(checkpoint);
    rocks_leave(rocks);
    if (message)
        st = rocks_failed(op, "backing up", message);
out:
    pthread_mutex_unlock(&rocks->settle_mutex);
    return st;
}

static enum status copy_checkpoint(struct op *op, struct rocks *rocks, const char *directory)
{
    char beside[PATH_MAX];
    enum status st;

    thread_assert_locked(&rocks->backup_mutex); /* there is one place beside the store */
    if (access(directory, F_OK) == 0)
        return op_fail(op, ST_UNAVAILABLE, "%s is there already", directory);
    path_beside(rocks, ".copy", beside);
    TRY(make_checkpoint(op, rocks, beside));
    if (!folder_copy(beside, directory, "")) {
        st = op_fail(op, ST_UNAVAILABLE, "cannot copy to %s: %s", directory, strerror(errno));
        folder_remove(directory);
    }
out:
    rocks_clear_backup(rocks);
    return st;
}

enum status rocks_backup(struct op *op, struct backend *backend, const char *directory)
{
    struct rocks *rocks = rocks_of(backend);
    enum status st;

    pthread_mutex_lock(&rocks->backup_mutex);
    if (takes_links(rocks, directory) || !has_room(rocks))
        st = make_checkpoint(op, rocks, directory);
    else
        st = copy_checkpoint(op, rocks, directory);
    pthread_mutex_unlock(&rocks->backup_mutex);
    return st;
}
