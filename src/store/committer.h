/*
 * src/store/committer.h - the one place that writes: it drains what is waiting, gives out LSNs,
 * writes one group with one sync, publishes, and wakes those who wait or calls those who do not.
 * committer_step() is a plain function: a thread of the committer's own runs it, or the
 * caller of committer_run() does, or a simulation.
 *
 * Threads. committer_run() and committer_outcome() are anybody's. Steps exclude each other.
 */
#pragma once
#include <semaphore.h>

#include "store/backend.h"
#include "store/local_bucket.h"

struct committer;
struct packed;
struct cache;

enum submission_kind {
    SUBMISSION_COMMIT,
    SUBMISSION_DROP,    /* refuse this bucket's commits from here on; those before it are done when it is */
    SUBMISSION_RECOVER, /* only try to leave the failed state */
};

/* It lies in the memory of the caller that waits for it. */
struct submission {
    enum submission_kind kind;
    struct local_bucket *bucket;
    struct batch *batch; /* SUBMISSION_COMMIT only */
    bool joined;         /* to the next: both are done, or neither. They were submitted side by side */

    enum status status;
    struct commit_stamp stamp;

    struct submission *next; /* in arrival order */
    struct op *waiting;      /* whose resume() is called; NULL: a thread waits for `done` */
    sem_t done;
};

/* What the committer writes to. The caller keeps owning all of it. */
struct committer_parts {
    struct backend *backend;
    struct packed *packed; /* NULL: index entries are keys like all others */
    struct cache *cache;   /* of documents, which is told what changes; NULL: none */
};

/* With `thread` it runs by itself until committer_free(). NULL: no thread can be started. */
struct committer *committer_new(const struct committer_parts *parts, struct env *env, bool sync, bool thread);
void committer_free(struct committer *committer); /* NULL is welcome */

/* Queues submissions side by side and waits until all are done; their statuses and stamps then tell. */
void committer_run(struct committer *committer, struct submission *submissions, size_t count);

/* The two halves of committer_run() that a test of grouping needs: queue, and do one group. */
void committer_submit(struct committer *committer, struct submission *submissions, size_t count);
bool committer_step(struct committer *committer); /* false when nothing was waiting */

/* Something beside the committer failed to write: the backend is reopened before the next group. */
void committer_suspect(struct committer *committer);

bool committer_is_threaded(const struct committer *committer); /* it goes on by itself */
bool committer_is_writable(const struct committer *committer);

/* What became of a batch; false while that cannot be told. */
bool committer_outcome(struct committer *committer, const struct local_bucket *bucket,
                       const struct batch *batch, bool *committed);

/* All but disk_bytes. */
void committer_stats(struct committer *committer, struct store_stats *stats);

/* A bucket's head as it is in the backend now; all zero when it was never written. */
enum status backend_read_head(struct op *op, struct backend *backend, uint64_t bucket, struct head *head);
