/* src/main/backup.c - copying the data directory while it is in use. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main/backup.h"
#include "store/folder.h"

/* Gives the target's path without links and dots. Its last part need not exist. */
static enum status resolve(struct op *op, const char *target, char resolved[PATH_MAX])
{
    char parent[PATH_MAX], real[PATH_MAX];
    size_t size = strlen(target);
    char *slash;

    if (realpath(target, resolved))
        return ST_OK;
    if (errno != ENOENT)
        return op_fail(op, ST_BAD_DIRECTORY, "%s cannot be used: %s", target, strerror(errno));
    while (size > 1 && target[size - 1] == '/')
        size--;
    if (size >= sizeof(parent))
        return op_fail(op, ST_BAD_DIRECTORY, "%.100s... cannot be used: its path is too long", target);
    snprintf(parent, sizeof(parent), "%.*s", (int)size, target);
    slash = strrchr(parent, '/');
    if (!slash)
        return op_fail(op, ST_BAD_DIRECTORY, "%s does not begin with /", target);
    *slash = '\0';
    if (!realpath(parent[0] ? parent : "/", real))
        return op_fail(op, ST_BAD_DIRECTORY, "there is no directory %s to make it in", parent);
    if (snprintf(resolved, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash + 1) >= PATH_MAX)
        return op_fail(op, ST_BAD_DIRECTORY, "%s cannot be used: its path is too long", target);
    return ST_OK;
}

/* A copy inside the data directory would be part of the next copy, and would be lost with the data. */
static enum status check_outside(struct op *op, const char *data, const char *target)
{
    char real[PATH_MAX];
    size_t size;

    if (!realpath(data, real))
        return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", data, strerror(errno));
    size = strlen(real);
    if (strncmp(target, real, size) != 0 || (target[size] != '/' && target[size] != '\0'))
        return ST_OK;
    return op_fail(op, ST_BAD_DIRECTORY, "%s lies inside the data directory: a copy belongs elsewhere",
                   target);
}

static enum status check_empty(struct op *op, const char *target)
{
    if (directory_is_empty(target))
        return ST_OK;
    return op_fail(op, ST_BAD_DIRECTORY, "%s is not empty: a copy needs a directory of its own", target);
}

/* The lock keeps out a second backup, and a server that is started on the unfinished copy. */
static enum status take_target(struct op *op, const char *target, int *lock)
{
    struct stat info;
    enum status st;

    if (mkdir(target, 0700) != 0 && errno != EEXIST)
        TRY(op_fail(op, ST_BAD_DIRECTORY, "cannot make %s: %s", target, strerror(errno)));
    if (stat(target, &info) != 0 || !S_ISDIR(info.st_mode))
        TRY(op_fail(op, ST_BAD_DIRECTORY, "%s is no directory", target));
    if (info.st_uid != geteuid()) /* its owner can open it again, and the certificate's key will be in it */
        TRY(op_fail(op, ST_BAD_DIRECTORY, "%s belongs to another user: a copy needs a directory of its own",
                    target));
    if (chmod(target, 0700) != 0) /* the copy is for nobody else, whoever made the directory */
        TRY(op_fail(op, ST_BAD_DIRECTORY, "%s is not ours to close to others: %s", target, strerror(errno)));
    TRY(check_empty(op, target));
    TRY(directory_lock(op, target, lock));
    TRY(check_empty(op, target)); /* another backup may have ended in between */
out:
    return st;
}

static enum status copy_certificate(struct op *op, const struct directory *directory, const char *target)
{
    const char *tls = directory_inside(op, target, "tls");

    if (access(directory->tls, F_OK) != 0)
        return ST_OK;
    if (folder_copy(directory->tls, tls, ".pem") && directory_sync(tls))
        return ST_OK;
    return op_fail(op, ST_UNAVAILABLE, "cannot copy the certificate to %s: %s", tls, strerror(errno));
}

/* Removes what fill() has made. */
static void empty(struct op *op, const char *target)
{
    static const char *const folders[] = { "store", "store.tmp", "tls" }; /* RocksDB makes store.tmp first */
    static const char *const files[] = { "FORMAT", "FORMAT.new", "LOCK" };

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        folder_remove(directory_inside(op, target, folders[i]));
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(directory_inside(op, target, files[i]));
}

static enum status fill(struct op *op, const struct directory *directory, struct store *store,
                        const char *target)
{
    enum status st;

    TRY(store_backup(op, store, directory_inside(op, target, "store")));
    TRY(copy_certificate(op, directory, target));
    TRY(directory_write_format(op, target, DIRECTORY_FORMAT));
    if (!directory_sync_parent(target))
        TRY(op_fail(op, ST_UNAVAILABLE, "cannot make %s safe: %s", target, strerror(errno)));
out:
    if (st != ST_OK)
        empty(op, target);
    return st;
}

enum status backup_make(struct op *op, const struct directory *directory, struct store *store,
                        const char *target)
{
    bool was_there = true;
    char path[PATH_MAX];
    int lock = -1;
    enum status st;

    assert(directory->lock >= 0); /* who copies it has it */
    TRY(resolve(op, target, path));
    TRY(check_outside(op, directory->path, path));
    was_there = access(path, F_OK) == 0;
    TRY(take_target(op, path, &lock));
    TRY(fill(op, directory, store, path));
out:
    if (st != ST_OK && !was_there)
        rmdir(path); /* it fails when the directory is not empty, which is well */
    if (lock >= 0)
        close(lock);
    return st;
}
