/*
 * src/partition/measure.h - how large what a transaction writes is: its largest item, its longest array.
 * Noted in the container (catalog/shape.h) once it is committed.
 */
#pragma once
#include "catalog/catalog.h"
#include "catalog/shape.h"

/* The largest of a transaction, where it is larger than what the container has had before. */
struct measure {
    uint64_t item_bytes, array_count; /* 0: nothing to note */
    struct slice item_id, array_id;   /* the items they are of, as far as they are told; in the op's arena */
    char path[SHAPE_PATH_BYTES];      /* of the array */
};

/* The document may be gone when the transaction is committed: a script's is with its next message. */
void measure_document(struct op *op, struct measure *measure, const struct container *container,
                      struct json document);

/* After the commit. */
void measure_note(struct op *op, const struct measure *measure, const struct container *container);
