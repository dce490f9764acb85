/*
 * src/partition/unique.h - the entries of unique keys: which items of a logical partition have which values.
 * An entry lies under a hash of the values and names the items whose values have that hash. The values themselves are
 * compared in the documents: items with different values may share a hash, and then share an entry. A missing value
 * counts as null.
 */
#pragma once
#include "partition/txn.h"

/* The key of the entry for a document's values of the container's `which`-th unique key. */
struct slice unique_key_of(struct arena *arena, const struct container *container, struct slice epk,
                           size_t which, struct json document);

/* Whether both documents have the same values, as the query language compares. */
bool unique_equal(const struct unique_key *key, struct json a, struct json b);

/*
 * Moves an item's entries from the values of one document to those of the next; an undefined document has none.
 * ST_EXISTS when another item has the new values. The transaction expects the entries unchanged, so of two
 * transactions that take the same values at a time one must try again. Expired items that have the new values are
 * removed.
 */
enum status unique_move(struct op *op, struct partition_txn *txn, struct slice epk, uint64_t number,
                        struct json from, struct json to);
