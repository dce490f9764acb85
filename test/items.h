/* test/items.h - short ways to write and read items, for tests above the store. */
#pragma once
#include "partition/key.h"
#include "partition/partition.h"
#include "rig.h"

enum { FIRST_WRITE = CONTAINER_FIRST_LSN + 1 }; /* the LSN of a container's first write */

#define BY_PK "{'id':'c','partitionKey':{'paths':['/pk'],'version':2}}"

/* The key of a document, or of a header such as ['a']; in the op's arena. */
struct placed_key *key_of_document(struct op *op, const struct container *container, struct json document);
struct placed_key *key_of_header(struct op *op, const struct container *container, const char *header);

/* Each is one transaction. The document tells its own partition. */
enum status item_create(struct rig *rig, const struct container *container, const char *document,
                        struct record *item);
enum status item_replace(struct rig *rig, const struct container *container, const char *id,
                         const char *document, struct record *item);
enum status item_delete(struct rig *rig, const struct container *container, const char *key, const char *id);

/* False when there is none. */
bool item_read(struct rig *rig, const struct container *container, const char *key, const char *id,
               struct record *item);

/* Whether what the head counts is what is there. */
bool container_counts(const struct container *container, const struct rows *documents);

/*
 * Promises 1, 6 and 9, where nothing has expired: each document has its entries and each entry its document, those of
 * the index too, and every LSN has changes.
 */
bool container_is_whole(struct rig *rig, const struct container *container);

/* Rows of one kind in the container's bucket. */
struct rows rows_of_kind(struct rig *rig, const struct container *container, char kind);
