/*
 * src/main/backup.h - a copy of the data directory that a server can be started on.
 * It holds the store, the format and the certificate; the keys are no part of the data. FORMAT is
 * written last: a copy that was cut off is no data directory, and is refused as one.
 */
#pragma once
#include "main/directory.h"
#include "store/store.h"

/*
 * Into a directory that is missing or empty, while the store is in use. On failure nothing is left, and what was there
 * is as it was. The directory lies below `backup_dir`, or where that is NULL below `backups` in the data directory:
 * `name` is a path from there, or a whole one that leads there, and neither dots nor links lead out of it. `made` tells
 * where the copy is.
 */
enum status backup_make(struct op *op, const struct directory *directory, struct store *store,
                        const char *backup_dir, const char *name, const char **made);
