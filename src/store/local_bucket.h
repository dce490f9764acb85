/*
 * src/store/bucket.h - what is known of one bucket, for store.c and the committer only.
 * Threads. What is atomic is anybody's; the rest belongs to the committer, except `past`,
 * which the committer's mutex guards.
 */
#pragma once
#include <stdatomic.h>

#include "store/store.h"

/* How an incarnation of the committer ended for a bucket whose last write had failed. */
struct ending {
    uint64_t incarnation; /* 0: none */
    uint64_t lsn;         /* the bucket's last LSN that was found on disk */
};

enum { ENDINGS_KEPT = 4 };

struct bucket {
    struct store *store;
    uint64_t id;
    struct bucket *next; /* in its hash chain */

    _Atomic uint64_t visible_lsn;
    _Atomic uint64_t visible_documents, visible_bytes; /* as of about that LSN */
    _Atomic uint64_t last_counter;                     /* given out, committed or not */

    bool counts;        /* its documents; never changes */
    struct head head;   /* as of the last LSN given out */
    uint64_t floor_lsn; /* a scope without a slot of its own counts as changed then */
    bool dropped;
    bool touched; /* by the group at hand */
    struct bucket *next_touched;
    bool in_doubt; /* a write failed, and the head has not been read again */
    struct bucket *next_in_doubt;
    struct ending past[ENDINGS_KEPT]; /* newest first */
};

/* What the head says is what readers see from here on. */
static inline void bucket_publish(struct bucket *bucket)
{
    atomic_store_explicit(&bucket->visible_documents, bucket->head.documents, memory_order_relaxed);
    atomic_store_explicit(&bucket->visible_bytes, bucket->head.document_bytes, memory_order_relaxed);
    atomic_store_explicit(&bucket->visible_lsn, bucket->head.lsn, memory_order_release);
}
