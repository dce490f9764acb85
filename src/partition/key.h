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

/* The values at the container's key paths. */
void partition_key_extract(const struct container *container, struct json document,
                           struct partition_key *key);

void partition_key_epk(const struct container *container, const struct partition_key *key, struct epk *epk);
