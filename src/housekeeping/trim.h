/*
 * src/housekeeping/trim.h - takes out of the change log what is older than it is to be kept, a little at a time.
 * A log that is never trimmed has every version that an item ever had. Trimming leaves of what is old one entry for each
 * item that is there, that of its last change, so that the feed of latest versions stays whole from the beginning:
 *     of a replace or a delete, the entry of the version that it ended goes, and the old record in its own
 *     a delete, and an item indexed again, go themselves
 * No document is read for it. How far it has come is a key of the bucket (key_trimmed), written in the same commit: whatever
 * comes between, the next step begins where the last one ended. The feed of all versions reads only what is above.
 * The index is made again from old records after a crash: what is not settled (store_entries_settled) is not trimmed.
 *
 * How long changes are kept is said by the container's changeFeedPolicy, or else by the server.
 *
 * Threads. One at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct trim;

struct trim *trim_open(struct catalog *catalog); /* which outlives it */
void trim_close(struct trim *trim);              /* NULL is welcome */

/* Does what is due, for a fraction of a second. A failure is tried again later. */
enum status trim_logs(struct op *op, struct trim *trim, int64_t retention_ms);
