/*
 * src/housekeeping/trim.h - removes changes from the log that are older than they are kept, a little at a time.
 * A log that is never trimmed holds every version that an item ever had. Of the old part, trimming leaves one entry
 * for each existing item, that of its last change, so that the feed of latest versions stays whole from the
 * beginning:
 *     for a replace or a delete, it removes the entry of the version that ended, and the old record in the change
 *     it removes the changes of deletes, and of items that were indexed again
 * Trimming reads no document. A key of the bucket (key_trimmed) says how far it has come, and is written in the same
 * commit: after an interruption the next step begins where the last one ended. The feed of all versions reads only
 * what is above that place. After a crash the index is made again from old records, so changes that are not settled
 * (store_entries_settled) are not trimmed.
 *
 * The container's changeFeedPolicy says how long changes are kept, or else the server does.
 *
 * Threads. One at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct trim;

struct trim *trim_open(struct catalog *catalog); /* which outlives it */
void trim_close(struct trim *trim);              /* NULL is welcome */

/* Works for a fraction of a second, if a container is due. A failure is tried again later. */
enum status trim_logs(struct op *op, struct trim *trim, int64_t retention_ms);
