/*
 * src/store/postgres_queue.c - who waits for a commit. What waits for one bucket shares a transaction, and while it is
 * written the next group gathers: a bucket is bound by the latency of its commits. Buckets are written side by side, by
 * a few threads. What changes several buckets together has a transaction of its own, which its caller writes.
 */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/thread.h"
#include "store/postgres_private.h"

enum { WRITERS = 8, GROUP_BYTES_MAX = 4 * 1024 * 1024, GROUP_COMMITS_MAX = 256 };

/* ---- the queue ---- */

static void make_ready(struct queue *queue, struct postgres_bucket *bucket)
{
    bucket->next_ready = NULL;
    *queue->ready_end = bucket;
    queue->ready_end = &bucket->next_ready;
    pthread_cond_signal(&queue->arrived);
}

static void submit(struct queue *queue, struct submission_of_bucket *submissions, size_t count)
{
    struct postgres_bucket *bucket = submissions[0].bucket;

    for (size_t i = 0; i < count; i++) {
        submissions[i].next = i + 1 < count ? &submissions[i + 1] : NULL;
        sem_init(&submissions[i].done, 0, 0);
    }
    pthread_mutex_lock(&queue->mutex);
    assert(!queue->stopping); /* nobody commits to a store that is being closed */
    *bucket->last = submissions;
    bucket->last = &submissions[count - 1].next;
    if (bucket->first == submissions && !bucket->is_taken)
        make_ready(queue, bucket);
    pthread_mutex_unlock(&queue->mutex);
}

/* At least one, and as many as the bounds allow. */
static struct submission_of_bucket *take_group(struct postgres_bucket *bucket)
{
    struct submission_of_bucket *taken = bucket->first, **at = &bucket->first;
    size_t bytes = 0;

    assert(taken);
    for (size_t count = 0; *at && count < GROUP_COMMITS_MAX; count++) {
        bytes += (*at)->batch->bytes;
        if (count > 0 && bytes > GROUP_BYTES_MAX)
            break;
        at = &(*at)->next;
    }
    bucket->first = *at;
    if (!bucket->first)
        bucket->last = &bucket->first;
    *at = NULL;
    return taken;
}

/* A submission is gone as soon as its owner is awake. */
static void finish_all(struct submission_of_bucket *submission)
{
    struct op *resumed = NULL; /* the last one so far: whether it is the last of all is known at the end */

    while (submission) {
        struct submission_of_bucket *next = submission->next;
        struct op *waiting = submission->waiting;

        if (waiting && resumed)
            resumed->resume(resumed, false);
        if (waiting)
            resumed = waiting;
        else
            sem_post(&submission->done);
        submission = next;
    }
    if (resumed)
        resumed->resume(resumed, true);
}

/* ---- threads ---- */

static struct postgres_bucket *next_bucket(struct queue *queue)
{
    struct postgres_bucket *bucket;

    while (!queue->ready && !queue->stopping)
        pthread_cond_wait(&queue->arrived, &queue->mutex);
    bucket = queue->ready;
    if (bucket) {
        queue->ready = bucket->next_ready;
        if (!queue->ready)
            queue->ready_end = &queue->ready;
    }
    return bucket;
}

static void write_one(struct postgres *postgres, struct op *op, struct postgres_bucket *bucket)
{
    struct queue *queue = &postgres->queue;
    struct submission_of_bucket *group = take_group(bucket);

    bucket->is_taken = true;
    pthread_mutex_unlock(&queue->mutex);
    op_begin(op, INT64_MAX / 2);
    op->may_block = true;
    postgres_write(postgres, op, group, false);
    finish_all(group);
    pthread_mutex_lock(&queue->mutex);
    bucket->is_taken = false;
    if (bucket->first)
        make_ready(queue, bucket);
}

static void *run_writer(void *argument)
{
    struct postgres *postgres = argument;
    struct queue *queue = &postgres->queue;
    struct postgres_bucket *bucket;
    struct op op;

    op_init(&op, postgres->env, SIZE_MAX / 2);
    pthread_mutex_lock(&queue->mutex);
    while ((bucket = next_bucket(queue)))
        write_one(postgres, &op, bucket);
    pthread_mutex_unlock(&queue->mutex);
    op_free(&op);
    return NULL;
}

/* Signals are for the threads that wait for them. */
static bool start_writers(struct postgres *postgres)
{
    struct queue *queue = &postgres->queue;
    sigset_t all, before;

    queue->threads = heap_allocate(WRITERS * sizeof(*queue->threads));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (queue->thread_count < WRITERS &&
           pthread_create(&queue->threads[queue->thread_count], NULL, run_writer, postgres) == 0)
        queue->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return queue->thread_count == WRITERS;
}

bool queue_open(struct postgres *postgres, bool threads)
{
    struct queue *queue = &postgres->queue;

    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->arrived, NULL);
    queue->ready_end = &queue->ready;
    return !threads || start_writers(postgres);
}

void queue_close(struct postgres *postgres)
{
    struct queue *queue = &postgres->queue;

    pthread_mutex_lock(&queue->mutex);
    queue->stopping = true;
    pthread_cond_broadcast(&queue->arrived);
    pthread_mutex_unlock(&queue->mutex);
    for (size_t i = 0; i < queue->thread_count; i++)
        pthread_join(queue->threads[i], NULL);
    assert(!queue->ready);
    pthread_cond_destroy(&queue->arrived);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->threads);
}

/* ---- commits ---- */

static struct submission_of_bucket submission_for(struct bucket *bucket, struct batch *batch)
{
    return (struct submission_of_bucket){ .bucket = postgres_bucket_of(bucket), .batch = batch };
}

static void take_outcome(struct op *op, const struct submission_of_bucket *submission, struct commit *commit)
{
    commit->status = store_explain(op, submission->status);
    commit->error = op->error;
    commit->stamp = submission->stamp; /* an ambiguous commit that turns out well has it too */
}

static void wait_until_done(struct submission_of_bucket *submission)
{
    while (sem_wait(&submission->done) != 0)
        ; /* a signal came between */
    sem_destroy(&submission->done);
}

void postgres_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count)
{
    struct submission_of_bucket *submissions = arena_alloc(&op->arena, count * sizeof(*submissions));
    struct postgres *postgres = postgres_of(bucket->store);

    for (size_t i = 0; i < count; i++)
        submissions[i] = submission_for(bucket, commits[i].batch);
    if (postgres->queue.threads) {
        submit(&postgres->queue, submissions, count);
        for (size_t i = 0; i < count; i++)
            wait_until_done(&submissions[i]);
    } else {
        for (size_t i = 0; i + 1 < count; i++)
            submissions[i].next = &submissions[i + 1];
        postgres_write(postgres, op, submissions, false);
    }
    for (size_t i = 0; i < count; i++)
        take_outcome(op, &submissions[i], &commits[i]);
}

enum status postgres_commit_together(struct op *op, struct store *store, struct commit *commits, size_t count)
{
    struct submission_of_bucket *submissions = arena_alloc(&op->arena, count * sizeof(*submissions));

    for (size_t i = 0; i < count; i++) {
        submissions[i] = submission_for(commits[i].bucket, commits[i].batch);
        submissions[i].next = i + 1 < count ? &submissions[i + 1] : NULL;
    }
    postgres_write(postgres_of(store), op, submissions, true);
    for (size_t i = 0; i < count; i++)
        commits[i].stamp = submissions[i].stamp;
    return store_explain(op, submissions[0].status);
}

void postgres_commit_later(struct op *op, struct bucket *bucket, struct commit *commit)
{
    struct submission_of_bucket *submission = arena_alloc(&op->arena, sizeof(*submission));

    assert(op->resume);
    *submission = submission_for(bucket, commit->batch);
    submission->waiting = op;
    commit->pending = submission;
    submit(&postgres_of(bucket->store)->queue, submission, 1);
}

void postgres_commit_end(struct op *op, struct commit *commit)
{
    take_outcome(op, commit->pending, commit);
}
