/*
 * src/advise/belonging.h - how items name the item that they belong to: its id, and the values of its partition key.
 * Found by asking: sampled items are fetched, and the owners whose ids they have. A path counts when every one of them has its
 * owner's value there.
 */
#pragma once
#include "advise/look.h"

struct belonging {
    const struct look *owners, *parts;
    const struct tree *tree; /* of the parts */
    const struct node *id;   /* where they have the owner's id */

    const struct node
        *key[PARTITION_KEY_PATHS_MAX]; /* found: for each path of the owners' key; NULL: nowhere */
};

enum status belonging_find(struct op *op, struct belonging *belonging);
