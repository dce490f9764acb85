/*
 * src/catalog/versions.h - the indexing policies of a container: that of today, and those that some of its items
 * are still indexed by. The container's record has the number of today's; the older ones lie in the stored
 * definition under a name that no client can give and none is shown, until every item was indexed again.
 */
#pragma once
#include "catalog/catalog.h"

/* Takes the stored definition apart. `stored_version` 0 is a container whose items have no entries yet. */
enum status versions_read(struct op *op, index_compute *compute, struct container *container,
                          uint32_t stored_version);

/* What is to be stored. */
struct versions {
    uint32_t version; /* of the policy in the definition */
    struct json definition;
};

/* For a container that replaces `now`, to which nobody writes at the moment. */
enum status versions_replace(struct op *op, const struct container *now, struct json definition,
                             struct versions *after);

/* The version that the policy of a new container has. */
uint32_t versions_first(const struct bucket *bucket);
