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
    _Atomic uint64_t visible_counter;
    _Atomic int64_t visible_ts_ms;
    _Atomic uint64_t turn;         /* odd while a write may have more than what is visible */
    _Atomic uint64_t last_counter; /* given out, committed or not */

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

/* From here on a snapshot may have more than what is visible. */
static inline void local_bucket_begin_turn(struct local_bucket *bucket)
{
    atomic_store(&bucket->turn, atomic_load_explicit(&bucket->turn, memory_order_relaxed) | 1);
}

/* From here on readers see what the head says. */
static inline void local_bucket_publish(struct local_bucket *bucket)
{
    local_bucket_begin_turn(bucket);
    atomic_store_explicit(&bucket->visible_documents, bucket->head.documents, memory_order_release);
    atomic_store_explicit(&bucket->visible_bytes, bucket->head.document_bytes, memory_order_release);
    atomic_store_explicit(&bucket->visible_counter, bucket->head.counter, memory_order_release);
    atomic_store_explicit(&bucket->visible_ts_ms, bucket->head.ts_ms, memory_order_release);
    atomic_store_explicit(&bucket->visible_lsn, bucket->head.lsn, memory_order_release);
    atomic_store_explicit(&bucket->turn, atomic_load_explicit(&bucket->turn, memory_order_relaxed) + 1,
                          memory_order_release);
}

/*
 * The head that a snapshot has, if one is taken between the two and the second says that the turn is the same: then no write was
 * under way meanwhile. False: it has to be read.
 */
static inline bool local_bucket_head(const struct local_bucket *bucket, struct head *head, uint64_t *turn)
{
    *turn = atomic_load_explicit(&bucket->turn, memory_order_acquire);
    *head = (struct head){
        .documents = atomic_load_explicit(&bucket->visible_documents, memory_order_acquire),
        .document_bytes = atomic_load_explicit(&bucket->visible_bytes, memory_order_acquire),
        .counter = atomic_load_explicit(&bucket->visible_counter, memory_order_acquire),
        .ts_ms = atomic_load_explicit(&bucket->visible_ts_ms, memory_order_acquire),
        .lsn = atomic_load_explicit(&bucket->visible_lsn, memory_order_acquire),
        .counts = bucket->counts,
    };
    return *turn % 2 == 0;
}

static inline bool local_bucket_is_turn(const struct local_bucket *bucket, uint64_t turn)
{
    return atomic_load_explicit(&bucket->turn, memory_order_acquire) == turn;
}
