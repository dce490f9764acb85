/* test/unit/source/shelf.h - a container with items, for the tests of this folder. */
#pragma once
#include "partition/key.h"
#include "partition/partition.h"
#include "rig.h"
#include "source/items.h"

#define BY_PK "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"

/* The partition key of a header such as ['a'], and its EPK. */
struct placed_key shelf_key(struct rig *rig, const struct container *container, const char *header);

/* Into the transaction; the id must be free. */
struct record shelf_put(struct rig *rig, struct partition_txn *txn, const char *document);

/* One committed item of the partition key that the document has. */
struct record shelf_add(struct rig *rig, const struct container *container, const char *document);

/* The ids of what the source gives from here on, joined; what is not in order is a failure of the test. */
const char *shelf_ids(struct rig *rig, struct query_source *source);
