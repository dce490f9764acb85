/*
 * src/store/local_bucket.h - what the local store knows of one bucket, for it and its committer only. All of it is in
 * the memory of this process. No other process writes, which is why an LSN costs no round trip.
 * Threads. What is atomic is anybody's; the rest belongs to the committer, except `past`,
 * which the committer's mutex guards.
 */
#pragma once
#include <stdatomic.h>

#include "store/store_private.h"

/* How an incarnation of the committer ended for a bucket whose last write had failed. */
struct ending {
    uint64_t incarnation; /* 0: none */
    uint64_t lsn;         /* the bucket's last LSN that was found on disk */
};

enum { ENDINGS_KEPT = 4 };

struct local_bucket {
    struct bucket base;
    struct local_bucket *next; /* in its hash chain */

    _Atomic uint64_t visible_lsn;
    _Atomic uint64_t visible_documents, visible_bytes; /* as of about that LSN */
    _Atomic uint64_t last_counter;                     /* given out, committed or not */

    bool counts;        /* its documents; never changes */
    struct head head;   /* as of the last LSN given out */
    uint64_t floor_lsn; /* a scope without a slot of its own counts as changed then */
    bool dropped;
    bool touched; /* by the group at hand */
    struct local_bucket *next_touched;
    bool in_doubt; /* a write failed, and the head has not been read again */
    struct local_bucket *next_in_doubt;
    struct ending past[ENDINGS_KEPT]; /* newest first */
};

static inline struct local_bucket *local_bucket_of(struct bucket *bucket)
{
    return (struct local_bucket *)bucket; /* its first member */
}

/* From here on readers see what the head says. */
static inline void local_bucket_publish(struct local_bucket *bucket)
{
    atomic_store_explicit(&bucket->visible_documents, bucket->head.documents, memory_order_relaxed);
    atomic_store_explicit(&bucket->visible_bytes, bucket->head.document_bytes, memory_order_relaxed);
    atomic_store_explicit(&bucket->visible_lsn, bucket->head.lsn, memory_order_release);
}
