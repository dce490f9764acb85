/*
 * src/main/watched.h - files that decide who may ask, and are read again when they change: keys, public keys, roles.
 * We replace such a file whole, but an editor may write into it. Then we could see half of it, and half of a key may
 * look like a key. So a changed file is read only when two looks at it saw the same, and a file that changes while it
 * is read is refused. A file that others may write is refused too, and where `is_secret` also one that they may read.
 */
#pragma once
#include <sys/stat.h>
#include <time.h>

#include "base/op.h"

/* Which version of a file was read; all zero for a file that could not be read. */
struct file_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed, written;
};

/* What watched_look() compares: the version of the file that is in use, and the version that the last look saw. */
struct file_watch {
    struct file_stamp used, seen;
};

struct watched_kind {
    const char *name; /* for messages: "key file" */
    size_t bytes_max;
    bool is_secret;
};

/* The whole file, in the op's arena; wipe it if it is secret. `stamp` is set even when the file is refused. */
enum status watched_read(struct op *op, const char *path, const struct watched_kind *kind, struct slice *text,
                         struct file_stamp *stamp);

/*
 * Whether the file has another version than the one in use, and nobody is writing it: the look before saw the same
 * version. Looks must be further apart than the ticks of a file system's clock, which are some milliseconds.
 */
bool watched_look(const char *path, struct file_watch *watch);
