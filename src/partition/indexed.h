/*
 * src/partition/indexed.h - items and the index: which policy gave an item its entries, and what a write changes of
 * them. Every record names the version of the container's policy by which the item was indexed. An item is left out
 * of the index when its writer wished so, or when it would have too many entries. It then has a single entry, which
 * says so: a query that uses the index looks at all such items too.
 */
#pragma once
#include "index/entries.h"
#include "partition/partition.h"

struct partition_txn;

/* Sets the record's policy version, and RECORD_UNINDEXED when the item is not to be indexed. */
void indexed_mark(const struct partition_txn *txn, struct record *record);

/*
 * Puts the difference between the entries of two versions of an item into the transaction, all of it or nothing.
 * `before` is NULL for a new item, `after` for one that is removed. Sets RECORD_UNINDEXED in `after` when it would
 * have too many entries, so the caller encodes the record after this call.
 */
enum status indexed_change(struct op *op, struct partition_txn *txn, const struct record *before,
                           struct record *after);

/* The same for two records as they were committed, into any batch of the container's bucket. */
enum status indexed_difference(struct op *op, const struct container *container, struct batch *batch,
                               const struct record *before, const struct record *after);

/* Every term of a stored item, in order. For verify.c. */
enum status indexed_terms(struct op *op, const struct container *container, const struct record *record,
                          struct index_terms *terms);

/*
 * For queries, after they have opened their view: whether every item with a value at the path has an entry for it,
 * whichever of the container's policies the item was indexed by.
 */
bool container_index_has(const struct container *container, const struct index_path *path);

/* The same for a computed property, by its name. `id` becomes the id of its path. */
bool container_index_computes(const struct container *container, struct slice name, path_id *id);

/* The same for a composite index, a tuple, and geometries at a path. */
bool container_index_has_composite(const struct container *container, path_id id);
bool container_index_has_tuple(const struct container *container, path_id id);
bool container_index_has_spatial(const struct container *container, const struct index_path *path);

/* The same for the words of texts at a path: where they are, and whether all items have forms of words there, too. */
bool container_index_has_text(const struct container *container, const struct index_path *path,
                              struct index_text *text);

/* The single term of items that were left out of the index. */
struct slice container_index_left_out(struct op *op);

/* Whether no item was left out of the index. One lookup. */
enum status container_index_is_whole(struct op *op, const struct view *view,
                                     const struct container *container, bool *whole);
