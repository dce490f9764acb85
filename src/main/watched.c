/* src/main/watched.c - files that are read again when they change. */
#include "main/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The file's group may read a secret, because a service often runs with that group. */
static enum status check_mode(struct op *op, const char *path, const struct watched_kind *kind,
                              const struct stat *info)
{
    mode_t forbidden = S_IWGRP | S_IWOTH | (kind->is_secret ? S_IRWXO : 0);

    if (!S_ISREG(info->st_mode))
        return op_fail(op, ST_BAD_REQUEST, "the %s %s is no file", kind->name, path);
    if (info->st_mode & forbidden)
        return op_fail(op, ST_BAD_REQUEST, "the %s %s can be %s by others (mode %03o): chmod %s it",
                       kind->name, path, kind->is_secret ? "read or changed" : "changed",
                       (unsigned)info->st_mode & 0777, kind->is_secret ? "600" : "go-w");
    return ST_OK;
}

static struct file_stamp stamp_of(const struct stat *info)
{
    return (struct file_stamp){ info->st_dev, info->st_ino, info->st_size, info->st_ctim, info->st_mtim };
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_stamp(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           same_time(a->changed, b->changed) && same_time(a->written, b->written);
}

static enum status cannot_read(struct op *op, const char *path, const struct watched_kind *kind)
{
    return op_fail(op, ST_BAD_REQUEST, "cannot read the %s %s: %s", kind->name, path, strerror(errno));
}

/* If somebody writes the file meanwhile, its stamp differs afterwards. */
static enum status read_whole(struct op *op, const char *path, const struct watched_kind *kind, int file,
                              const struct file_stamp *stamp, struct slice *text)
{
    char *room = arena_alloc(&op->arena, kind->bytes_max);
    struct file_stamp after;
    struct stat info;
    size_t size = 0;
    ssize_t got;

    while ((got = read(file, room + size, kind->bytes_max - size)) > 0)
        size += (size_t)got;
    *text = slice_make(room, size); /* for the caller to wipe */
    if (got < 0 || fstat(file, &info) != 0)
        return cannot_read(op, path, kind);
    if (size == kind->bytes_max)
        return op_fail(op, ST_BAD_REQUEST, "cannot read the %s %s: it is too large to be one", kind->name,
                       path);
    after = stamp_of(&info);
    if ((off_t)size != stamp->size || !same_stamp(&after, stamp))
        return op_fail(op, ST_BAD_REQUEST, "the %s %s is being written", kind->name, path);
    return ST_OK;
}

enum status watched_read(struct op *op, const char *path, const struct watched_kind *kind, struct slice *text,
                         struct file_stamp *stamp)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    enum status st;

    *text = slice_of("");
    *stamp = (struct file_stamp){ 0 };
    if (file < 0 || fstat(file, &info) != 0)
        TRY(cannot_read(op, path, kind));
    *stamp = stamp_of(&info);
    TRY(check_mode(op, path, kind, &info));
    TRY(read_whole(op, path, kind, file, stamp, text));
out:
    if (file >= 0)
        close(file);
    return st;
}

bool watched_look(const char *path, struct file_watch *watch)
{
    struct file_stamp before = watch->seen;
    struct stat info;

    watch->seen = stat(path, &info) == 0 ? stamp_of(&info) : (struct file_stamp){ 0 };
    return !same_stamp(&watch->seen, &watch->used) && same_stamp(&watch->seen, &before);
}
