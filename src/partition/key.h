/*
 * src/partition/key.h - partition keys as clients send them and as documents hold them.
 * Values point into the header's parsed text or into the document.
 */
#pragma once
#include "catalog/catalog.h"

enum key_use {
    KEY_OF_ITEM,  /* every level is needed */
    KEY_OF_QUERY, /* the first levels of a hierarchical key may do */
};

/* The x-ms-documentdb-partitionkey header. `present` is false when there is none. */
enum status partition_key_read(struct op *op, const struct container *container, struct slice header,
                               enum key_use use, struct partition_key *key, bool *present);

/*
 * A logical partition. Its values say which one it is. The EPK is a public hash, for which anybody can make other
 * values: it only says where the items lie.
 */
struct placed_key {
    struct partition_key values;
    struct epk epk;
};

/* Whether both have the same values, numbers as the service has them: doubles. */
bool partition_key_equal(const struct partition_key *a, const struct partition_key *b);

/* Whether the document's key begins with these values: all of its key, or the first levels of it. */
bool partition_key_begins(const struct container *container, struct json document,
                          const struct partition_key *values);

/* Whether both documents are of one logical partition. */
bool partition_key_shared(const struct container *container, struct json a, struct json b);

/* The values at the container's key paths. */
void partition_key_extract(const struct container *container, struct json document,
                           struct partition_key *key);

/* Computes the EPK of the values that `key` has. */
void partition_key_place(const struct container *container, struct placed_key *key);
