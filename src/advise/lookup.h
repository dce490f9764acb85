/*
 * src/advise/lookup.h - which items of a container have these ids, whatever their partition keys. Asked through the index,
 * as a query is.
 */
#pragma once
#include "base/op.h"
#include "catalog/catalog.h"
#include "json/json.h"

enum { LOOKUP_IDS_MAX = 192 };

struct lookup_ids {
    struct slice id[LOOKUP_IDS_MAX];
    size_t count;
    bool whole; /* the items are wanted, and not only whether they are there */
};

struct lookup {
    size_t count; /* items that were found; an id may have several, in different partitions */
    struct json item[LOOKUP_IDS_MAX * 2]; /* objects, with the id at least */
};

/* The items lie in the op's arena; when more are found than there is room for, some are left out. */
enum status lookup_items(struct op *op, const struct container *container, const struct lookup_ids *ids,
                         struct lookup *found);

/* The only item with that id; undefined when there is none, or when there are several. `several` tells which. */
struct json lookup_one(const struct lookup *found, struct slice id, bool *several);
