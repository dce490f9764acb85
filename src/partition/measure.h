/*
 * src/partition/measure.h - the largest item and the longest array that a transaction writes.
 * Both are noted in the container (catalog/shape.h) once the transaction is committed.
 */
#pragma once
#include "catalog/catalog.h"
#include "catalog/shape.h"

/* The largest of one transaction, as far as they are larger than anything that the container had before. */
struct measure {
    uint64_t item_bytes, array_count; /* 0: nothing to note */
    struct slice item_id, array_id; /* the ids of these items, cut to what the log takes; in the op's arena */
    char path[SHAPE_PATH_BYTES];    /* of the array */
};

/* Keeps nothing of the document: a script's document is gone with the script's next message, before the commit. */
void measure_document(struct op *op, struct measure *measure, const struct container *container,
                      struct json document);

/* Called after the commit. */
void measure_note(struct op *op, const struct measure *measure, const struct container *container);
