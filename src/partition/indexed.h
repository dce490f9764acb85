/*
 * src/partition/indexed.h - items and the index: which policy each has its entries by, and what a write changes.
 * Every record says by which version of the container's policy it was indexed. An item whose writer did not want
 * it indexed, or that would have too many entries, has one only, which says so: a query that goes by the index looks at
 * all of those too.
 */
#pragma once
#include "index/entries.h"
#include "partition/partition.h"

struct partition_txn;

/* Sets the record's policy version, and its flag when it is not to be indexed. */
void indexed_mark(const struct partition_txn *txn, struct record *record);

/*
 * From one version of an item to the next, into the transaction, all of it or nothing; NULL for one that is not there. Sets
 * the flag of one that would have too many entries, which is why the record is encoded later.
 */
enum status indexed_change(struct op *op, struct partition_txn *txn, const struct record *before,
                           struct record *after);

/* The same between two records as they were committed, into any batch. */
enum status indexed_difference(struct op *op, const struct container *container, struct batch *batch,
                               const struct record *before, const struct record *after);

/* Every term of a stored item, in order. For orrery check. */
enum status indexed_terms(struct op *op, const struct container *container, const struct record *record,
                          struct index_terms *terms);

/*
 * For queries, after their view was opened: whether every item that has a value at the path has its entry, whichever
 * of the container's policies it was indexed by.
 */
bool container_index_has(const struct container *container, const struct index_path *path);

/* The same for a computed property, by its name: `id` is of its path. */
bool container_index_computes(const struct container *container, struct slice name, path_id *id);

/* The same for a composite index, a tuple, and geometries at a path. */
bool container_index_has_composite(const struct container *container, path_id id);
bool container_index_has_tuple(const struct container *container, path_id id);
bool container_index_has_spatial(const struct container *container, const struct index_path *path);

/* The term of items that were left out of the index: they have no other. */
struct slice container_index_left_out(struct op *op);

/* No item was left out. One lookup. */
enum status container_index_is_whole(struct op *op, const struct view *view,
                                     const struct container *container, bool *whole);
