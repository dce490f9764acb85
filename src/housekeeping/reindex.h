/*
 * src/housekeeping/reindex.h - after a change of an indexing policy: brings the entries of the items that are there in
 * line with the new one, a little at a time. Until it is done, queries use only what all policies in use have.
 *
 * A container is walked from its first item to its last; each step rewrites the records that have an older policy
 * version, and their entries, in one transaction that expects those items unchanged. LSN, time and etag of a
 * record stay; the change log has how it was, under a kind that no feed shows. It begins once nobody works by an earlier
 * version of the definition, so that what it has passed stays in line. After a restart it begins again, and
 * passes over what is done. How much is done is told by container_indexed_percent().
 *
 * Threads. One at a time.
 */
#pragma once
#include "catalog/catalog.h"

struct reindex;

struct reindex *reindex_open(struct catalog *catalog); /* which outlives it */
void reindex_close(struct reindex *reindex);           /* NULL is welcome */

/* Does what is due, for a fraction of a second. A failure is tried again later. */
enum status reindex_items(struct op *op, struct reindex *reindex);
