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

static bool is_inside(const char *path, const char *folder)
{
    size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* In the data directory only `backups` is for copies: anything else there is the server's own. */
static enum status check_outside(struct op *op, const char *data, const char *target)
{
    char real[PATH_MAX];

    if (!realpath(data, real))
        return op_fail(op, ST_UNAVAILABLE, "cannot use %s: %s", data, strerror(errno));
    if (!is_inside(target, real))
        return ST_OK;
    return op_fail(op, ST_BAD_DIRECTORY, "%s lies inside the data directory: a copy belongs elsewhere",
                   target);
}

/* Below it all copies are. It is made when it is missing. */
static enum status find_base(struct op *op, const char *base, char real[PATH_MAX])
{
    if (mkdir(base, 0700) != 0 && errno != EEXIST)
        return op_fail(op, ST_BAD_DIRECTORY, "cannot make %s: %s", base, strerror(errno));
    if (!realpath(base, real))
        return op_fail(op, ST_BAD_DIRECTORY, "%s cannot be used: %s", base, strerror(errno));
    if (!directory_sync_parent(real))
        return op_fail(op, ST_UNAVAILABLE, "cannot make %s safe: %s", base, strerror(errno));
    return ST_OK;
}

/* Dots are refused as such: who writes them means another place than the name seems to say. */
static bool has_dots(const char *name)
{
    for (const char *at = name; *at; at += strspn(at, "/")) {
        size_t size = strcspn(at, "/");

        if ((size == 1 && at[0] == '.') || (size == 2 && at[0] == '.' && at[1] == '.'))
            return true;
        at += size;
    }
    return false;
}

static enum status find_target(struct op *op, const char *base, const char *name, char path[PATH_MAX])
{
    const char *given = name[0] == '/' ? name : directory_inside(op, base, name);
    enum status st;

    if (has_dots(name))
        TRY(op_fail(op, ST_BAD_DIRECTORY, "%.100s has dots that lead elsewhere: a copy needs a plain name",
                    name));
    TRY(resolve(op, given, path));
    if (!is_inside(path, base) || strcmp(path, base) == 0)
        TRY(op_fail(op, ST_BAD_DIRECTORY,
                    "%s is not below %s, where copies go: start with another --backup-dir", path, base));
out:
    return st;
}

static enum status check_empty(struct op *op, const char *target)
{
    if (directory_is_empty(target))
        return ST_OK;
    return op_fail(op, ST_BAD_DIRECTORY, "%s is not empty: a copy needs a directory of its own", target);
}

/* The copy is for nobody else, whoever made the directory. What others have put there until now, they may keep. */
static enum status close_to_others(struct op *op, const char *target, mode_t mode)
{
    enum status st;

    if (chmod(target, 0700) != 0)
        return op_fail(op, ST_BAD_DIRECTORY, "%s is not ours to close to others: %s", target,
                       strerror(errno));
    st = check_empty(op, target);
    if (st != ST_OK)
        (void)!chmod(target, mode & 07777);
    return st;
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
    TRY(check_empty(op, target));
    TRY(directory_lock(op, target, lock));
    TRY(check_empty(op, target)); /* another backup may have ended in between */
    TRY(close_to_others(op, target, info.st_mode));
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

static enum status make_at(struct op *op, const struct directory *directory, struct store *store,
                           const char *path)
{
    bool was_there = access(path, F_OK) == 0;
    int lock = -1;
    enum status st;

    TRY(take_target(op, path, &lock));
    TRY(fill(op, directory, store, path));
out:
    if (st != ST_OK && !was_there)
        rmdir(path); /* it fails when the directory is not empty, which is well */
    if (lock >= 0)
        close(lock);
    return st;
}

enum status backup_make(struct op *op, const struct directory *directory, struct store *store,
                        const char *backup_dir, const char *name, const char **made)
{
    char base[PATH_MAX], path[PATH_MAX];
    enum status st;

    assert(directory->lock >= 0); /* who copies it has it */
    TRY(find_base(op, backup_dir ? backup_dir : directory_inside(op, directory->path, "backups"), base));
    TRY(find_target(op, base, name, path));
    if (backup_dir)
        TRY(check_outside(op, directory->path, path));
    TRY(make_at(op, directory, store, path));
    *made = arena_text(&op->arena, slice_of(path));
out:
    return st;
}
