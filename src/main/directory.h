/*
 * src/main/directory.h - the data directory: one server at a time, one format.
 *
 *     FORMAT    the format's number; a newer one than this program knows is refused
 *     LOCK      held by the server that uses the directory
 *     store/    the embedded store
 *     tls/      the certificate the server made for itself
 */
#pragma once
#include "base/op.h"

enum { DIRECTORY_FORMAT = 1 };

struct directory {
    const char *path, *store, *tls_cert, *tls_key;
    int lock; /* a file descriptor; -1 when not held */
};

/* Makes the directory when it is missing, unless it is only to be read. */
enum status directory_open(struct op *op, const char *path, bool read_only, struct directory *directory);
void directory_close(struct directory *directory);
