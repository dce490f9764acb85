/*
 * src/housekeeping/reindex.h - after a change of an indexing policy, indexes the existing items again by the new
 * policy, a little at a time. Until that is done, queries use only the indexes that all policies in use have.
 *
 * The chore walks a container from its first item to its last. Each step rewrites the records that have an older
 * policy version, and their entries, in one transaction that expects those items unchanged. LSN, time and etag of a
 * record stay. The change log gets the record as it was, under a kind that no feed shows. The walk begins once nobody
 * uses an earlier version of the definition, so that nobody writes by an older policy behind it. After a restart it
 * begins again, and passes over the items that are done. container_indexed_percent() tells how much is done.
 *
 * Threads. One at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct reindex;

struct reindex *reindex_open(struct catalog *catalog); /* which outlives it */
void reindex_close(struct reindex *reindex);           /* NULL is welcome */

/* Works for a fraction of a second, if a container is due. A failure is tried again later. */
enum status reindex_items(struct op *op, struct reindex *reindex);
