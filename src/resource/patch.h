/*
 * src/resource/patch.h - partial updates: what a client asks to change in an item, and on what condition.
 *     item_patch_read(op, call, body, &patch);                            once, before the item is looked at
 *     item_patch_apply(op, container, &patch, &old, &document);           for each attempt to write it
 */
#pragma once
#include "json/patch.h"
#include "query/query.h"
#include "resource/item.h"

struct item_patch {
    struct patch changes;
    struct query *condition; /* NULL: none */
};

/* `body` is what a client sent: an array of operations, or an object with `operations` and perhaps a `condition`. */
enum status item_patch_read(struct op *op, const struct call *call, struct json body,
                            struct item_patch *patch);

/*
 * The document that is to replace the old one. ST_PATCH_CONDITION when the condition does not hold,
 * ST_BAD_REQUEST when an operation cannot be done, ST_TOO_LARGE when the item would be.
 */
enum status item_patch_apply(struct op *op, const struct container *container, const struct item_patch *patch,
                             const struct record *old, struct json *document);
