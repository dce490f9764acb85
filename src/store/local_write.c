/* src/store/local_write.c - the way to the local store's committer: commits, what became of them, drops. */
#include <assert.h>

#include "keys/keys.h"
#include "store/batch_private.h"
#include "store/local_private.h"

static struct submission submission_for(struct bucket *bucket, struct batch *batch)
{
    assert(batch->bucket == bucket->id);
    return (
        struct submission){ .kind = SUBMISSION_COMMIT, .bucket = local_bucket_of(bucket), .batch = batch };
}

static void take_outcome(struct op *op, const struct submission *submission, struct commit *commit)
{
    assert(submission->status != ST_PENDING);
    assert(submission->status != ST_OK || submission->stamp.lsn > 0);
    commit->status = store_explain(op, submission->status);
    commit->error = op->error;
    commit->stamp = submission->stamp; /* an ambiguous commit that turns out well has it too */
}

void local_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count)
{
    struct submission *submissions = arena_alloc(&op->arena, count * sizeof(*submissions));

    for (size_t i = 0; i < count; i++)
        submissions[i] = submission_for(bucket, commits[i].batch);
    committer_run(local_of(bucket->store)->committer, submissions, count);
    for (size_t i = 0; i < count; i++)
        take_outcome(op, &submissions[i], &commits[i]);
}

enum status local_commit_together(struct op *op, struct store *store, struct commit *commits, size_t count)
{
    struct submission *submissions = arena_alloc(&op->arena, count * sizeof(*submissions));

    for (size_t i = 0; i < count; i++) {
        submissions[i] = submission_for(commits[i].bucket, commits[i].batch);
        submissions[i].joined = i + 1 < count;
    }
    committer_run(local_of(store)->committer, submissions, count);
    for (size_t i = 0; i < count; i++) {
        assert(submissions[i].status == submissions[0].status); /* all or none */
        commits[i].stamp = submissions[i].stamp;
    }
    return store_explain(op, submissions[0].status);
}

/* By a thread that may not wait, for somebody who will be told: the op's memory stays as it is until then. */
void local_commit_later(struct op *op, struct bucket *bucket, struct commit *commit)
{
    struct submission *submission = arena_alloc(&op->arena, sizeof(*submission));

    assert(committer_is_threaded(local_of(bucket->store)->committer)); /* else nobody would go on with it */
    assert(op->resume);                                                /* nor would anybody be told */
    *submission = submission_for(bucket, commit->batch);
    submission->waiting = op;
    commit->pending = submission;
    committer_submit(local_of(bucket->store)->committer, submission, 1);
}

void local_commit_end(struct op *op, struct commit *commit)
{
    assert(commit->pending);
    take_outcome(op, commit->pending, commit);
}

static enum status run_submission(struct op *op, struct local *local, struct submission *submission)
{
    enum status st;

    TRY(store_check_may_write(op, &local->base));
    committer_run(local->committer, submission, 1);
    st = store_explain(op, submission->status);
out:
    return st;
}

enum status local_outcome(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed)
{
    struct submission submission = { .kind = SUBMISSION_RECOVER };
    struct local_bucket *own = local_bucket_of(bucket);
    struct local *local = local_of(bucket->store);
    enum status st = ST_OK;

    if (committer_outcome(local->committer, own, batch, committed))
        return ST_OK;
    TRY(run_submission(op, local, &submission));
    if (!committer_outcome(local->committer, own, batch, committed))
        st = op_fail(op, ST_UNAVAILABLE, "What became of the write is no longer known.");
out:
    return st;
}

enum status local_drop(struct op *op, struct store *store, uint64_t id)
{
    struct submission submission = { .kind = SUBMISSION_DROP };
    struct local *local = local_of(store);
    struct backend *backend = local->backend;
    struct bucket *bucket;
    enum status st;

    TRY(local_bucket(op, store, id, &bucket));
    submission.bucket = local_bucket_of(bucket);
    TRY(run_submission(op, local, &submission)); /* after this no commit brings a key back */
    if (local->packed)
        TRY(packed_drop(op, local->packed, id));
    st = backend->ops->remove_range(op, backend, key_bucket_first(&op->arena, id),
                                    key_bucket_end(&op->arena, id));
    if (st != ST_OK) /* a backend that has failed refuses what others write, too */
        committer_suspect(local->committer);
out:
    return st;
}
