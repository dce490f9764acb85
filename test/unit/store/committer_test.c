/* test/unit/store/committer_test.c - groups, step by step, and the conflicts inside them. */
#include <time.h>

#include "keys/keys.h"
#include "store/committer.h"
#include "store/gather.h"
#include "store/conflict.h"
#include "test.h"

enum { BUCKET = 3 << BUCKET_BITS };

/* A committer without a thread, over memory. */
struct bench {
    struct backend *backend;
    struct committer *committer;
    struct local_bucket bucket;
};

static void bench_init(struct bench *bench)
{
    *bench = (struct bench){ .backend = memory_backend(), .bucket = { .base.id = BUCKET } };
    bench->committer =
        committer_new(&(struct committer_parts){ .backend = bench->backend }, test_op()->env, true, false);
}

static void bench_free(struct bench *bench)
{
    committer_free(bench->committer);
    bench->backend->ops->close(bench->backend);
}

static struct batch *batch_of(uint64_t number, struct slice value)
{
    struct batch *batch = batch_new(test_op(), BUCKET);

    batch_put(batch, key_document(&test_op()->arena, BUCKET, number), value);
    return batch;
}

static struct submission submission_for(struct bench *bench, struct batch *batch)
{
    return (struct submission){ .kind = SUBMISSION_COMMIT, .bucket = &bench->bucket, .batch = batch };
}

/* Asked once for each submission: the answer takes the wake-up away. */
static bool is_done(struct submission *submission)
{
    return sem_trywait(&submission->done) == 0;
}

TEST(all_that_waits_becomes_one_group_with_one_sync)
{
    struct submission submission[5];
    struct store_stats stats;
    struct bench bench;

    bench_init(&bench);
    for (uint64_t i = 0; i < 5; i++) {
        submission[i] = submission_for(&bench, batch_of(i, slice_of("x")));
        committer_submit(bench.committer, &submission[i], 1);
    }
    CHECK(committer_step(bench.committer) && !committer_step(bench.committer));
    for (uint64_t i = 0; i < 5; i++)
        CHECK(is_done(&submission[i]) && submission[i].status == ST_OK && submission[i].stamp.lsn == i + 1);
    committer_stats(bench.committer, &stats);
    CHECK(stats.commits == 5 && stats.groups == 1 && stats.syncs == 1);
    CHECK(bench.bucket.visible_lsn == 5);
    bench_free(&bench);
}

TEST(a_group_is_bounded_and_the_rest_comes_next)
{
    size_t size = 3 << 20;
    struct slice large = slice_make(arena_alloc(&test_op()->arena, size), size);
    struct submission submission[4];
    struct store_stats stats;
    struct bench bench;

    memset((char *)large.data, 'x', size);
    bench_init(&bench);
    for (uint64_t i = 0; i < 4; i++) {
        submission[i] = submission_for(&bench, batch_of(i, large));
        committer_submit(bench.committer, &submission[i], 1);
    }
    CHECK(committer_step(bench.committer));
    CHECK(is_done(&submission[1]) && !is_done(&submission[2]));
    CHECK(committer_step(bench.committer));
    CHECK(is_done(&submission[3]) && !committer_step(bench.committer));
    committer_stats(bench.committer, &stats);
    CHECK(stats.groups == 2 && stats.commits == 4);
    bench_free(&bench);
}

/* Three large ones came first; small ones wait for one of them, and large ones that nobody waits for go together. */
TEST(a_small_batch_waits_for_one_large_one_and_not_for_all)
{
    size_t size = 1 << 20;
    struct slice large = slice_make(arena_alloc(&test_op()->arena, size), size);
    struct submission submission[6];
    struct store_stats stats;
    struct bench bench;

    memset((char *)large.data, 'x', size);
    bench_init(&bench);
    for (uint64_t i = 0; i < 6; i++) {
        submission[i] = submission_for(&bench, batch_of(i, i < 4 ? large : slice_of("x")));
        committer_submit(bench.committer, &submission[i], 1);
    }
    CHECK(committer_step(bench.committer));
    CHECK(is_done(&submission[0]) && !is_done(&submission[1]) && !is_done(&submission[4]));
    CHECK(committer_step(bench.committer));
    CHECK(is_done(&submission[4]) && is_done(&submission[5]) && !is_done(&submission[1]));
    CHECK(committer_step(bench.committer));
    CHECK(is_done(&submission[1]) && is_done(&submission[2]) && is_done(&submission[3]));
    CHECK(!committer_step(bench.committer));
    committer_stats(bench.committer, &stats);
    CHECK(stats.groups == 3 && stats.commits == 6);
    bench_free(&bench);
}

TEST(no_batch_goes_past_a_drop_however_small_it_is)
{
    size_t size = 1 << 20;
    struct slice large = slice_make(arena_alloc(&test_op()->arena, size), size);
    struct submission before, drop, after;
    struct bench bench;

    memset((char *)large.data, 'x', size);
    bench_init(&bench);
    before = submission_for(&bench, batch_of(1, large));
    drop = (struct submission){ .kind = SUBMISSION_DROP, .bucket = &bench.bucket };
    after = submission_for(&bench, batch_of(2, slice_of("x")));
    committer_submit(bench.committer, &before, 1);
    committer_submit(bench.committer, &drop, 1);
    committer_submit(bench.committer, &after, 1);
    while (committer_step(bench.committer))
        ;
    CHECK(before.status == ST_OK && drop.status == ST_OK && after.status == ST_OWNER_NOT_FOUND);
    bench_free(&bench);
}

TEST(a_batch_conflicts_with_an_earlier_one_of_its_own_group)
{
    struct batch *first = batch_of(1, slice_of("x")), *same = batch_of(2, slice_of("x"));
    struct batch *other = batch_of(3, slice_of("x"));
    struct submission submission[3];
    struct store_stats stats;
    struct bench bench;

    bench_init(&bench);
    batch_expect(first, 70, 0);
    batch_expect(same, 70, 0);
    batch_expect(other, 71, 0);
    submission[0] = submission_for(&bench, first);
    submission[1] = submission_for(&bench, same);
    submission[2] = submission_for(&bench, other);
    for (int i = 0; i < 3; i++)
        committer_submit(bench.committer, &submission[i], 1);
    CHECK(committer_step(bench.committer));
    CHECK(submission[0].status == ST_OK && submission[1].status == ST_WRITE_CONFLICT &&
          submission[2].status == ST_OK);
    CHECK(submission[2].stamp.lsn == 2);
    committer_stats(bench.committer, &stats);
    CHECK(stats.conflicts == 1 && stats.commits == 2);
    bench_free(&bench);
}

TEST(a_commit_queued_behind_its_buckets_drop_is_refused_and_one_before_it_is_done)
{
    struct submission before, drop, after;
    struct bench bench;

    bench_init(&bench);
    before = submission_for(&bench, batch_of(1, slice_of("x")));
    drop = (struct submission){ .kind = SUBMISSION_DROP, .bucket = &bench.bucket };
    after = submission_for(&bench, batch_of(2, slice_of("x")));
    committer_submit(bench.committer, &before, 1);
    committer_submit(bench.committer, &drop, 1);
    committer_submit(bench.committer, &after, 1);
    CHECK(committer_step(bench.committer));
    CHECK(before.status == ST_OK && drop.status == ST_OK && after.status == ST_OWNER_NOT_FOUND);
    bench_free(&bench);
}

TEST(a_scope_is_changed_after_its_mark_and_not_before)
{
    struct conflicts *conflicts = conflicts_new();
    struct local_bucket bucket = { .base.id = BUCKET, .floor_lsn = 10 };

    CHECK(conflicts_changed_after(conflicts, &bucket, 5, 9)); /* older than the bucket's floor */
    CHECK(!conflicts_changed_after(conflicts, &bucket, 5, 10));
    conflicts_mark(conflicts, &bucket, 5, 11);
    CHECK(conflicts_changed_after(conflicts, &bucket, 5, 10));
    CHECK(!conflicts_changed_after(conflicts, &bucket, 5, 11));
    CHECK(!conflicts_changed_after(conflicts, &bucket, 6, 10));
    conflicts_forget(conflicts, &bucket, 5);
    CHECK(!conflicts_changed_after(conflicts, &bucket, 5, 10));
    conflicts_free(conflicts);
}

/* As batches under way have: far fewer than the table holds, but enough that some share a row. */
TEST(thousands_of_scopes_that_change_at_a_time_do_not_stand_in_for_others)
{
    enum { SCOPES = 8000 };
    struct conflicts *conflicts = conflicts_new();
    struct local_bucket bucket = { .base.id = BUCKET };
    uint64_t wrong = 0;

    for (uint64_t scope = 1; scope <= SCOPES; scope++)
        conflicts_mark(conflicts, &bucket, scope * 0x9e3779b97f4a7c15u, 5);
    for (uint64_t scope = SCOPES + 1; scope <= 2 * SCOPES; scope++)
        wrong += conflicts_changed_after(conflicts, &bucket, scope * 0x9e3779b97f4a7c15u, 4);
    CHECK(wrong == 0);
    conflicts_free(conflicts);
}

/* Many times more scopes than slots: a mark may be pushed out, and is then remembered in the floor. */
TEST(a_mark_that_another_pushes_out_is_not_lost)
{
    enum { SCOPES = 200000 };
    struct conflicts *conflicts = conflicts_new();
    struct local_bucket first = { .base.id = BUCKET }, second = { .base.id = BUCKET + 1 };
    uint64_t missed = 0;

    for (uint64_t scope = 1; scope <= SCOPES; scope++) {
        conflicts_mark(conflicts, &first, scope * 0x9e3779b97f4a7c15u, scope);
        conflicts_mark(conflicts, &second, scope * 0x9e3779b97f4a7c15u, scope);
    }
    for (uint64_t scope = 1; scope <= SCOPES; scope++) {
        missed += !conflicts_changed_after(conflicts, &first, scope * 0x9e3779b97f4a7c15u, scope - 1);
        missed += !conflicts_changed_after(conflicts, &second, scope * 0x9e3779b97f4a7c15u, scope - 1);
    }
    CHECK(missed == 0);
    CHECK(first.floor_lsn < SCOPES - 16); /* recent transactions are hardly ever refused for it */
    conflicts_free(conflicts);
}

/* ---- nobody waits ---- */

enum { LEFT = 4 };

static struct {
    struct op *op;
    bool last;
} told[LEFT];
static size_t told_count;

static void note(struct op *op, bool last)
{
    told[told_count].op = op;
    told[told_count++].last = last;
}

TEST(those_who_do_not_wait_are_called_in_order_and_the_last_one_knows_it)
{
    struct op op[LEFT];
    struct submission submission[LEFT + 1];
    struct bench bench;

    bench_init(&bench);
    told_count = 0;
    for (uint64_t i = 0; i < LEFT; i++) {
        op_init(&op[i], test_op()->env, SIZE_MAX);
        op[i].resume = note;
        submission[i] = submission_for(&bench, batch_of(i, slice_of("x")));
        submission[i].waiting = &op[i];
        committer_submit(bench.committer, &submission[i], 1);
    }
    submission[LEFT] = submission_for(&bench, batch_of(LEFT, slice_of("x")));
    committer_submit(bench.committer, &submission[LEFT], 1);
    CHECK(told_count == 0 && committer_step(bench.committer));
    CHECK(told_count == LEFT && is_done(&submission[LEFT]));
    for (size_t i = 0; i < LEFT; i++) {
        CHECK(told[i].op == &op[i] && told[i].last == (i + 1 == LEFT));
        CHECK(submission[i].status == ST_OK && submission[i].stamp.lsn == i + 1);
        op_free(&op[i]);
    }
    bench_free(&bench);
}

/* ---- with a thread of its own ---- */

enum { WRITERS = 4, WRITE_MS = 9 };

/* A backend's write begins, and ends when the test lets it. */
static struct gate {
    sem_t began, may_end;
    enum status (*write)(struct op *op, struct backend *backend, const struct mutation *mutations,
                         size_t count, bool sync);
} gate;

static enum status gated_write(struct op *op, struct backend *backend, const struct mutation *mutations,
                               size_t count, bool sync)
{
    sem_post(&gate.began);
    while (sem_wait(&gate.may_end) != 0)
        ;
    env_advance_ms(op->env, GATHER_SHARE * WRITE_MS); /* so that a group is held back for so long */
    return gate.write(op, backend, mutations, count, sync);
}

static void submit_all(struct bench *bench, struct submission submissions[WRITERS], uint64_t first)
{
    for (uint64_t i = 0; i < WRITERS; i++)
        submissions[i] = submission_for(bench, batch_of(first + i, slice_of("x")));
    committer_submit(bench->committer, submissions, WRITERS);
}

static void wait_for_all(struct submission submissions[WRITERS])
{
    for (size_t i = 0; i < WRITERS; i++)
        while (sem_wait(&submissions[i].done) != 0)
            ;
}

static bool begins_within_ms(long ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&gate.began, &until) == 0;
}

/* While the first half is written the second comes; then the first half again. How many groups that makes. */
static uint64_t groups_of_two_halves(void)
{
    struct submission first[WRITERS], second[WRITERS], again[WRITERS];
    struct bench bench = { .backend = memory_backend(), .bucket = { .base.id = BUCKET } };
    struct backend_ops gated = *bench.backend->ops;
    struct store_stats stats;

    gate.write = gated.write;
    gated.write = gated_write;
    bench.backend->ops = &gated;
    sem_init(&gate.began, 0, 0);
    sem_init(&gate.may_end, 0, 0);
    bench.committer =
        committer_new(&(struct committer_parts){ .backend = bench.backend }, test_op()->env, true, true);
    submit_all(&bench, first, 0);
    while (sem_wait(&gate.began) != 0)
        ;
    submit_all(&bench, second, WRITERS);
    sem_post(&gate.may_end);
    wait_for_all(first);
    begins_within_ms(WRITE_MS / 3); /* it does not, where it is held back */
    submit_all(&bench, again, 2 * WRITERS);
    sem_post(&gate.may_end);
    sem_post(&gate.may_end);
    wait_for_all(second);
    wait_for_all(again);
    committer_stats(bench.committer, &stats);
    bench_free(&bench);
    return stats.groups;
}

/* In most of many times: on a machine that others use the test may be late. */
TEST(who_commits_again_at_once_is_in_one_group_with_those_who_waited_meanwhile)
{
    int together = 0;

    for (int i = 0; i < 20; i++)
        together += groups_of_two_halves() == 2;
    CHECK(together > 10);
}
