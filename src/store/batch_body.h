/*
 * src/store/batch_body.h - what a batch is made of, for batch.c and the committer only.
 * While store_commit() waits, the batch belongs to the committer.
 */
#pragma once
#include "store/batch.h"
#include "store/sorted.h"

/* Nothing was committed under `scope` after `lsn`. */
struct expectation {
    uint64_t scope, lsn;
};

enum { EXPECTATIONS_FIRST = 2 }; /* enough for an item, and the id it is to have */

struct batch_change {
    struct batch_change *next;
    uint8_t *value;
    size_t size;
};

struct batch {
    struct arena *arena;
    uint64_t bucket;
    struct expectation first[EXPECTATIONS_FIRST], *expectation; /* these, or more in the arena */
    size_t expectation_count, expectation_capacity;
    uint64_t counter; /* the largest in use; 0 when there is none */
    struct sorted entries;
    struct batch_change *changes, **changes_end;
    size_t bytes; /* of keys and values, replaced ones included: what bounds a group */

    /* Where the committer put it: 0 until then, and again once it is known not to be written. */
    uint64_t lsn;
    uint64_t incarnation; /* of the committer; see committer.c, "Outcomes" */
};
