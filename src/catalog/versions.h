/*
 * src/catalog/versions.h - the indexing policies of a container: the policy of today, and older ones by which some
 * items are still indexed. The container's record has the version of today's policy. The stored definition holds the
 * older ones, under a name that clients can neither give nor see, until every item was indexed again. Under another
 * such name it holds the seed of the container's hashes, which is a part of its policy, because the ids of paths are
 * hashes.
 */
#pragma once
#include "catalog/catalog.h"

/*
 * Reads the policies out of the stored definition. `keeps_entries`: the store does. `stored_version` 0 means that the items have
 * no entries yet.
 */
enum status versions_read(struct op *op, index_compute *compute, struct container *container,
                          bool keeps_entries, uint32_t stored_version);

/* What the container's record will hold. */
struct versions {
    uint32_t version; /* of the policy in the definition */
    struct json definition;
    bool has_seed;
};

/*
 * For a new definition that replaces `now`. The caller has retired `now`, so no removal of expired items is going on.
 */
enum status versions_replace(struct op *op, const struct container *now, struct json definition,
                             struct versions *after);

/* For a new container, which gets a seed. */
void versions_first(struct op *op, const struct bucket *bucket, struct json definition,
                    struct versions *versions);

/* For a container that has no seed: the same definition, with one, by which all items are to be indexed again. */
enum status versions_give_seed(struct op *op, const struct container *now, struct versions *after);

/* For the same definition, once no item is indexed by an older policy. */
enum status versions_without_older(struct op *op, const struct container *now, struct versions *after);
