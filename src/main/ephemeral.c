/* src/main/ephemeral.c - temporary data directories: making one, removing one, removing those that nobody holds. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "main/directory.h"
#include "main/ephemeral.h"

static const char prefix[] = "orrery-ephemeral-";

static const char *temporary(void)
{
    const char *named = getenv("TMPDIR");

    return named && *named ? named : "/tmp";
}

/* -1 when it is no directory, or another user's, or a link to one. */
static int open_own(int parent, const char *name)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;

    if (folder >= 0 && (fstat(folder, &info) != 0 || info.st_uid != geteuid())) {
        close(folder);
        folder = -1;
    }
    return folder;
}

/* What is in the folder, however deep. Links are removed and not followed. Takes the descriptor. */
static void empty(int folder)
{
    DIR *listed = fdopendir(folder);
    struct dirent *entry;

    if (!listed) {
        close(folder);
        return;
    }
    while ((entry = readdir(listed))) {
        int inside;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            unlinkat(folder, entry->d_name, 0) == 0)
            continue;
        inside = open_own(folder, entry->d_name);
        if (inside < 0)
            continue;
        empty(inside);
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(listed);
}

static void remove_from(int parent, const char *name)
{
    int folder = open_own(parent, name);

    if (folder >= 0)
        empty(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void ephemeral_remove(const char *path)
{
    remove_from(AT_FDCWD, path);
}

/*
 * A server writes FORMAT while it holds the lock, and keeps the lock to its end. So where FORMAT is and the lock is free,
 * the owner is gone. A directory that is just being made has no FORMAT yet, and is left alone.
 */
static bool is_abandoned(int folder)
{
    int lock = faccessat(folder, "FORMAT", F_OK, 0) == 0 ? openat(folder, "LOCK", O_RDWR | O_CLOEXEC) : -1;
    bool is_free = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0;

    if (lock >= 0)
        close(lock);
    return is_free;
}

static void sweep(const char *place)
{
    DIR *listed = opendir(place);
    struct dirent *entry;

    while (listed && (entry = readdir(listed))) {
        int folder = strncmp(entry->d_name, prefix, sizeof(prefix) - 1) == 0
                         ? open_own(dirfd(listed), entry->d_name)
                         : -1;

        if (folder < 0)
            continue;
        if (is_abandoned(folder)) {
            log_line(LOG_INFO, "removing %s/%s, whose server is gone", place, entry->d_name);
            remove_from(dirfd(listed), entry->d_name);
        }
        close(folder);
    }
    if (listed)
        closedir(listed);
}

enum status ephemeral_make(struct op *op, const char **path)
{
    const char *place = temporary();
    struct buf made;

    sweep(place);
    buf_init(&made, &op->arena);
    buf_printf(&made, "%s/%sXXXXXX", place, prefix);
    buf_byte(&made, '\0');
    if (!mkdtemp(made.data))
        return op_fail(op, ST_UNAVAILABLE, "cannot make a temporary directory below %s: %s", place,
                       strerror(errno));
    *path = made.data;
    return ST_OK;
}
