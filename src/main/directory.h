/*
 * src/main/directory.h - the data directory: one server at a time, one format.
 *
 *     FORMAT    the format's number; a newer one than this program knows is refused
 *     LOCK      held by the server that uses the directory, with the address it listens on
 *     store/    the embedded store; store.N while a server works that has gone back to a snapshot
 *     STORE     the name of that folder; missing: store
 *     tls/      the certificate the server made for itself
 *     backups/  copies of it, unless --backup-dir says where they go
 *     snapshots/  moments to go back to (main/snapshots.h)
 *     workload.json  what was recorded with --record (main/recorded.h)
 *
 * It is its owner's alone: one that others may read, or its group may write, is refused.
 */
#pragma once
#include "base/op.h"
#include "main/migration.h"

enum { DIRECTORY_FORMAT = 2, DIRECTORY_ADDRESS_SIZE = 256 };

struct directory {
    const char *path, *store, *tls, *tls_cert, *tls_key;
    int lock; /* a file descriptor; -1 when not held */
};

/*
 * Makes the directory when it is missing and migrates it when its format is old. With `read_only` it changes nothing.
 */
enum status directory_open(struct op *op, const char *path, bool read_only, struct directory *directory);
void directory_close(struct directory *directory);

/* The same, as a program of another version would do it: tests of migrations use this. */
enum status directory_open_as(struct op *op, const struct formats *formats, const char *path, bool read_only,
                              struct directory *directory);

/*
 * From now on, and after any crash, the store is in that folder of the directory. Nothing has changed when this fails. The path of
 * the folder is `store`, which stays where it is for as long as the directory is open.
 */
enum status directory_switch(struct op *op, struct directory *directory, const char *store);

/* At the end, when nobody uses the store: it gets its usual name again. A start does the same. */
enum status directory_settle(struct op *op, struct directory *directory);

/* Writes down where the server listens, for commands that want to ask it. */
void directory_announce(const struct directory *directory, const char *address);

/* True while a process holds the directory; the address is empty when it has not said one. */
bool directory_is_held(struct op *op, const char *path, char address[DIRECTORY_ADDRESS_SIZE]);

/* --- for backup.c, migration.c and keyfile.c --- */

const char *directory_inside(struct op *op, const char *directory, const char *name);
enum status directory_lock(struct op *op, const char *path, int *lock);
bool directory_is_empty(
    const char *path); /* but for what a server that was just stopped may have left, and lost+found */

/* Writes the file whole or not at all. It is safe from a power cut once this returns. */
enum status directory_write_format(struct op *op, const char *path, int format);

/* Makes files safe that were made, renamed or removed: the first inside the directory, the second beside `path`. */
bool directory_sync(const char *path);
bool directory_sync_parent(const char *path);
