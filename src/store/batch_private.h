/*
 * src/store/batch_private.h - what a batch is made of, for batch.c and the committer only.
 * While store_commit() waits, the batch belongs to the committer.
 */
#pragma once
#include "keys/record.h"
#include "store/batch.h"
#include "store/sorted.h"

/* Nothing was committed under `scope` after `lsn`. */
struct expectation {
    uint64_t scope, lsn;
};

#define FOLLOWS_ANY UINT64_MAX

/* A bucket that is redefined with the batch. */
struct redefined {
    struct redefined *next;
    uint64_t bucket;
    bool dropped;
};

struct batch_change {
    struct batch_change *next;
    uint8_t *value;
    size_t size;
};

struct batch {
    struct arena *arena;
    uint64_t bucket;
    struct expectation *expectation;
    size_t expectation_count, expectation_capacity;
    struct expectation first[2]; /* most batches name an item, and at most another id for it */
    bool expects_last;
    uint64_t last_lsn;  /* that of the bucket's last commit, if it expects one */
    uint64_t counter;   /* the largest in use; 0 when there is none */
    uint64_t above_lsn; /* its own LSN is above it, whatever the bucket's was */
    uint64_t follows;   /* definitions as of this LSN of bucket 0; FOLLOWS_ANY: it goes by none */
    struct redefined *redefined;
    int64_t documents, document_bytes; /* more, or less, than before */
    uint8_t *stamps; /* room for those of the batches before it in its set; NULL: it does not hold them */
    struct sorted entries;
    struct batch_change *changes, **changes_end;
    struct batch_index_entry
        *index; /* the first `index_sorted` in key order, each key once; the rest as it came */
    size_t index_count, index_sorted, index_capacity;
    size_t bytes; /* of keys and values, replaced ones included: what bounds a group */

    /* Where the committer put it: 0 until then, and again once it is known not to be written. */
    uint64_t lsn;
    uint64_t incarnation; /* of the committer; see committer.c, "Outcomes" */
    bool unfenced; /* it may yet be written, though it is not there: see postgres_commit.c, "At once" */
};

/*
 * Writes the time of the commit into the keys that have a place for it. Those keys are writable:
 * batch_index_add_dated() asks for that. With its time, such a key may equal one that the batch removes, when an item
 * is written twice in a second.
 */
void batch_index_date(struct batch *batch, int64_t ts_ms);

/* Whether that may be the LSN of the bucket's last commit before it. */
bool batch_follows_last(const struct batch *batch, uint64_t lsn);

/* To what it is with this batch: the bucket's next LSN, and a time that is never before the last one's. */
void batch_advance_head(const struct batch *batch, struct head *head, int64_t now_ms);
