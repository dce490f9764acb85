/*
 * src/partition/unique.h - the entries of unique keys: which items of a logical partition have which values.
 * An entry lies under a hash of the values and names the items that have it. Values are compared
 * in the documents themselves, so two that share a hash are no breach, and share an entry.
 * A value that is missing counts as null.
 */
#pragma once
#include "partition/txn.h"

/* Where the entry of a document's values lies, for the container's `which`-th unique key. */
struct slice unique_key_of(struct arena *arena, const struct container *container, struct slice epk,
                           size_t which, struct json document);

/* Whether both documents have the same values, as the query language compares. */
bool unique_equal(const struct unique_key *key, struct json a, struct json b);

/*
 * Moves an item's entries from one document to the next; undefined is none. ST_EXISTS when
 * another item has the values. The entries are expected unchanged, so of two that take the same values at
 * a time one must try again. Other items that have them and have expired are removed.
 */
enum status unique_move(struct op *op, struct partition_txn *txn, struct slice epk, uint64_t number,
                        struct json from, struct json to);
