/* test/store/failure_test.c - the contract: writes that fail, before or after they happened; reopening; torture. */
#include "fixture.h"

/* The next write fails; then, with `reopen_failures`, so many reopenings. */
static void fail_next_write(struct fixture *f, bool after, int reopen_failures)
{
    faulty_fail(&f->controls, FAULTY_WRITE, 1);
    f->controls.fail_after = after;
    f->controls.reopen_failures = reopen_failures;
}

/* Writes work, or do after the first brought the store back, and go on from the LSN that readers see. */
static void check_usable(struct fixture *f)
{
    struct commit_stamp first, second;

    CHECK(put(f, 90, "later", &first) == ST_OK);
    CHECK(store_is_writable(f->store) && bucket_lsn(f->bucket) == first.lsn);
    CHECK(put(f, 90, "later still", &second) == ST_OK);
    CHECK(second.lsn == first.lsn + 1);
    CHECK(slice_is(get(f, 90), "later still"));
}

CONTRACT(a_write_that_failed_after_it_happened_is_acknowledged)
{
    struct commit_stamp before, stamp;

    if (!f->faulty)
        return;
    CHECK(put(f, 1, "old", &before) == ST_OK);
    fail_next_write(f, true, 0);
    CHECK(put(f, 1, "new", &stamp) == ST_OK);
    CHECK(f->controls.failed && stamp.lsn == before.lsn + 1);
    CHECK(bucket_lsn(f->bucket) == stamp.lsn && slice_is(get(f, 1), "new"));
    check_usable(f);
}

CONTRACT(a_write_that_failed_before_it_happened_is_refused)
{
    struct commit_stamp before;

    if (!f->faulty)
        return;
    CHECK(put(f, 1, "old", &before) == ST_OK);
    fail_next_write(f, false, 0);
    CHECK(put(f, 1, "new", NULL) == ST_UNAVAILABLE);
    CHECK(bucket_lsn(f->bucket) == before.lsn && slice_is(get(f, 1), "old"));
    check_usable(f);
}

static bool latest_is(struct fixture *f, uint64_t number, const char *text)
{
    struct slice value;

    return store_get_latest(f->op, f->bucket, key_of(f, number), &value) == ST_OK && slice_is(value, text);
}

CONTRACT(the_latest_value_after_a_failed_write_is_what_the_store_has_of_it)
{
    if (!f->faulty)
        return;
    for (int after = 0; after < 2; after++)
        for (int reopen_failures = 0; reopen_failures < 2; reopen_failures++) {
            CHECK(put(f, 1, "old", NULL) == ST_OK && latest_is(f, 1, "old"));
            fail_next_write(f, after, reopen_failures);
            CHECK((put(f, 1, "new", NULL) == ST_OK) == (after && !reopen_failures));
            CHECK(latest_is(f, 1, after ? "new" : "old")); /* the store may still wait for its reopening */
            env_advance_ms(f->op->env, 200);
            CHECK(put(f, 2, "brings it back", NULL) == ST_OK && latest_is(f, 1, after ? "new" : "old"));
            CHECK(put(f, 1, "newer", NULL) == ST_OK && latest_is(f, 1, "newer"));
        }
}

CONTRACT(a_drop_that_failed_costs_the_next_write_a_reopening_and_nothing_else)
{
    struct store_stats stats;

    if (!f->faulty)
        return;
    faulty_fail(&f->controls, FAULTY_REMOVE, 1);
    CHECK(store_drop(f->op, f->store, bucket_make(77, 0)) != ST_OK && !store_is_writable(f->store));
    CHECK(put(f, 1, "new", NULL) == ST_OK);
    store_stats(f->store, &stats);
    CHECK(stats.reopens == 1 && stats.failures == 0);
    check_usable(f);
}

CONTRACT(a_batch_that_was_lost_does_not_stand_in_the_way_of_the_next)
{
    struct batch *lost = batch_putting(f, 1, "lost"), *next = batch_putting(f, 1, "next");
    uint64_t lsn = bucket_lsn(f->bucket);
    struct commit_stamp stamp;

    if (!f->faulty)
        return;
    batch_expect(lost, 500, lsn);
    batch_expect(next, 500, lsn);
    fail_next_write(f, false, 0);
    CHECK(store_commit(f->op, f->bucket, lost, &stamp) == ST_UNAVAILABLE);
    CHECK(store_commit(f->op, f->bucket, next, &stamp) == ST_OK);
}

CONTRACT(a_batch_that_survived_its_failure_still_counts_as_a_change)
{
    struct batch *survivor = batch_putting(f, 1, "a"), *late = batch_putting(f, 1, "b");
    uint64_t lsn = bucket_lsn(f->bucket);
    struct commit_stamp stamp;

    if (!f->faulty)
        return;
    batch_expect(survivor, 500, lsn);
    batch_expect(late, 500, lsn);
    fail_next_write(f, true, 0);
    CHECK(store_commit(f->op, f->bucket, survivor, &stamp) == ST_OK);
    CHECK(store_commit(f->op, f->bucket, late, &stamp) == ST_WRITE_CONFLICT);
}

/* Ambiguous, then told by store_outcome() once the store is back. */
static void check_outcome(struct fixture *f, bool happened)
{
    struct batch *batch = batch_putting(f, 1, "new");
    struct commit_stamp stamp;
    bool committed = !happened;

    CHECK(put(f, 1, "old", NULL) == ST_OK);
    fail_next_write(f, happened, 1);
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_AMBIGUOUS);
    CHECK(!store_is_writable(f->store));
    CHECK(store_outcome(f->op, f->bucket, batch, &committed) == ST_UNAVAILABLE);
    CHECK(put(f, 2, "refused", NULL) == ST_UNAVAILABLE);
    env_advance_ms(f->op->env, 199);
    CHECK(put(f, 2, "refused", NULL) == ST_UNAVAILABLE);
    env_advance_ms(f->op->env, 1);
    CHECK(put(f, 2, "accepted", NULL) == ST_OK);
    CHECK(put(f, 3, "accepted", NULL) == ST_OK); /* LSNs are past the lost one's by now */
    CHECK(store_outcome(f->op, f->bucket, batch, &committed) == ST_OK);
    CHECK(committed == happened);
    CHECK(slice_is(get(f, 1), happened ? "new" : "old"));
    CHECK(bucket_lsn(f->bucket) == (happened ? 4 : 3));
    check_usable(f);
}

CONTRACT(an_ambiguous_write_that_happened_is_told_to_be_committed)
{
    if (f->faulty)
        check_outcome(f, true);
}

CONTRACT(an_ambiguous_write_that_did_not_happen_is_told_to_be_lost)
{
    if (f->faulty)
        check_outcome(f, false);
}

CONTRACT(asking_for_the_outcome_is_enough_to_bring_the_store_back)
{
    struct batch *batch = batch_putting(f, 1, "new");
    struct commit_stamp stamp;
    bool committed;

    if (!f->faulty)
        return;
    fail_next_write(f, true, 1);
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_AMBIGUOUS);
    env_advance_ms(f->op->env, 200);
    CHECK(store_outcome(f->op, f->bucket, batch, &committed) == ST_OK && committed);
    check_usable(f);
}

CONTRACT(each_of_several_ambiguous_writes_gets_its_own_outcome)
{
    struct batch *batch[3];
    struct commit_stamp stamp;
    bool committed;

    if (!f->faulty)
        return;
    for (int i = 0; i < 3; i++) {
        batch[i] = batch_putting(f, 1, "x");
        fail_next_write(f, i == 1, 1);
        CHECK(store_commit(f->op, f->bucket, batch[i], &stamp) == ST_AMBIGUOUS);
        env_advance_ms(f->op->env, 200);
        check_usable(f);
    }
    for (int i = 0; i < 3; i++)
        CHECK(store_outcome(f->op, f->bucket, batch[i], &committed) == ST_OK && committed == (i == 1));
}

CONTRACT(the_outcome_of_an_ordinary_batch_can_be_asked_too)
{
    struct batch *done = batch_putting(f, 1, "x"), *never = batch_putting(f, 2, "x");
    struct commit_stamp stamp;
    bool committed;

    CHECK(store_commit(f->op, f->bucket, done, &stamp) == ST_OK);
    CHECK(store_outcome(f->op, f->bucket, done, &committed) == ST_OK && committed);
    CHECK(store_outcome(f->op, f->bucket, never, &committed) == ST_OK && !committed);
}

CONTRACT(reads_go_on_while_writes_are_refused)
{
    struct slice key = key_of(f, 1), value;
    struct snapshot *taken = NULL;
    struct rows rows;

    if (!f->faulty)
        return;
    CHECK(put(f, 1, "one", NULL) == ST_OK);
    fail_next_write(f, false, 1000);
    CHECK(put(f, 1, "two", NULL) == ST_AMBIGUOUS);
    for (int i = 0; i < 3; i++) {
        CHECK(put(f, 1, "two", NULL) == ST_UNAVAILABLE);
        REQUIRE(store_snapshot(f->op, f->bucket, &taken) == ST_OK);
        CHECK(store_get_many(f->op, taken, &key, 1, &value) == ST_OK && slice_is(value, "one"));
        CHECK(store_scan(f->op, taken, range_of(f, 0, 9, false), (struct scan_limit){ 9, 999 }, &rows) ==
              ST_OK);
        CHECK(rows.count == 1);
        store_release(taken);
        env_advance_ms(f->op->env, 200);
    }
    f->controls.reopen_failures = 0;
    check_usable(f);
}

CONTRACT(a_snapshot_held_over_a_reopening_reads_right_or_not_at_all)
{
    struct slice key = key_of(f, 1), value;
    struct snapshot *taken = NULL;
    enum status st;

    if (!f->faulty)
        return;
    CHECK(put(f, 1, "one", NULL) == ST_OK);
    REQUIRE(store_snapshot(f->op, f->bucket, &taken) == ST_OK);
    fail_next_write(f, true, 0);
    CHECK(put(f, 1, "two", NULL) == ST_OK); /* with the snapshot held: reopening must not wait for it */
    st = store_get_many(f->op, taken, &key, 1, &value);
    CHECK(st == ST_UNAVAILABLE || (st == ST_OK && slice_is(value, "one")));
    store_release(taken);
    CHECK(slice_is(get(f, 1), "two"));
}

CONTRACT(a_failure_in_one_bucket_does_not_disturb_another)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET + 1);
    struct commit_stamp stamp;
    struct bucket *other;

    if (!f->faulty)
        return;
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 1, &other) == ST_OK);
    batch_put(batch, key_document(&f->op->arena, TEST_BUCKET + 1, 1), slice_of("y"));
    batch_expect(batch, 500, 0);
    CHECK(store_commit(f->op, other, batch, &stamp) == ST_OK);
    fail_next_write(f, false, 0);
    CHECK(put(f, 1, "x", NULL) == ST_UNAVAILABLE);
    CHECK(bucket_lsn(other) == 1);
    CHECK(store_commit(f->op, other, batch, &stamp) == ST_WRITE_CONFLICT); /* its mark is still there */
    check_usable(f);
}

CONTRACT(failures_and_reopenings_are_counted)
{
    struct store_stats stats;

    if (!f->faulty)
        return;
    CHECK(put(f, 1, "x", NULL) == ST_OK);
    fail_next_write(f, false, 0);
    CHECK(put(f, 1, "x", NULL) == ST_UNAVAILABLE);
    store_stats(f->store, &stats);
    CHECK(stats.commits == 1 && stats.groups == 1 && stats.failures == 1 && stats.reopens == 1);
    CHECK(stats.bytes_written > 0);
}

/* ---- dropping a bucket ---- */

static enum status put_in(struct fixture *f, uint64_t id, const char *text)
{
    struct batch *batch = batch_new(f->op, id);
    struct commit_stamp stamp;
    struct bucket *bucket;
    enum status st;

    TRY(store_bucket(f->op, f->store, id, &bucket));
    batch_put(batch, key_document(&f->op->arena, id, 1), slice_of(text));
    TRY(store_commit(f->op, bucket, batch, &stamp));
out:
    return st;
}

static size_t rows_in(struct fixture *f, uint64_t id)
{
    struct range range = { key_bucket_first(&f->op->arena, id), key_bucket_end(&f->op->arena, id), false };
    struct snapshot *taken = NULL;
    struct rows rows = { 0 };

    CHECK(store_snapshot(f->op, f->bucket, &taken) == ST_OK);
    CHECK(store_scan(f->op, taken, range, (struct scan_limit){ SIZE_MAX, SIZE_MAX }, &rows) == ST_OK);
    store_release(taken);
    return rows.count;
}

CONTRACT(a_drop_removes_all_of_its_bucket_and_nothing_else)
{
    for (uint64_t id = TEST_BUCKET - 1; id <= TEST_BUCKET + 1; id++)
        CHECK(put_in(f, id, "x") == ST_OK);
    CHECK(store_drop(f->op, f->store, TEST_BUCKET) == ST_OK);
    CHECK(rows_in(f, TEST_BUCKET) == 0);
    CHECK(rows_in(f, TEST_BUCKET - 1) == 2 && rows_in(f, TEST_BUCKET + 1) == 2);
    CHECK(store_drop(f->op, f->store, TEST_BUCKET) == ST_OK); /* may be repeated */
    CHECK(put_in(f, TEST_BUCKET + 1, "y") == ST_OK);
    if (f->durable) {
        fixture_reopen(f);
        CHECK(rows_in(f, TEST_BUCKET) == 0);
        CHECK(rows_in(f, TEST_BUCKET - 1) == 2 && rows_in(f, TEST_BUCKET + 1) == 2);
    }
}

CONTRACT(a_dropped_bucket_takes_no_more_commits)
{
    CHECK(put(f, 1, "x", NULL) == ST_OK);
    CHECK(store_drop(f->op, f->store, TEST_BUCKET) == ST_OK);
    CHECK(put(f, 1, "y", NULL) == ST_OWNER_NOT_FOUND);
    CHECK(!get(f, 1).data);
}

/* ---- torture ---- */

static enum status read_both_ways(struct fixture *f)
{
    struct slice key = key_of(f, 1), value;
    struct snapshot *taken = NULL;
    struct rows rows;
    enum status st;

    TRY(store_snapshot(f->op, f->bucket, &taken));
    TRY(store_get_many(f->op, taken, &key, 1, &value));
    TRY(store_scan(f->op, taken, range_of(f, 0, 9, false), (struct scan_limit){ 9, 999 }, &rows));
out:
    store_release(taken);
    return st;
}

/* Two rows that must always be equal. */
static enum status write_pair(struct fixture *f, const char *text)
{
    struct batch *batch = batch_putting(f, 1, text);
    struct commit_stamp stamp;

    batch_put(batch, key_of(f, 2), arena_copy(&f->op->arena, slice_of(text)));
    batch_expect(batch, 9, bucket_lsn(f->bucket));
    return store_commit(f->op, f->bucket, batch, &stamp);
}

static enum status scenario(struct fixture *f)
{
    struct bucket *bucket;
    enum status st;

    TRY(store_bucket(f->op, f->store, TEST_BUCKET + 5, &bucket));
    TRY(read_both_ways(f));
    TRY(write_pair(f, "first"));
    TRY(read_both_ways(f));
    TRY(write_pair(f, "second"));
    TRY(put_in(f, TEST_BUCKET + 5, "dropped in a moment"));
    TRY(store_drop(f->op, f->store, TEST_BUCKET + 5));
out:
    return st;
}

/* With the n-th call failing. False when there was no n-th call. */
static bool torture_once(struct fixture *f, uint64_t call, bool after)
{
    struct fixture fresh = *f;
    struct store_options options = { .sync = true };
    struct backend *backend = faulty_backend(memory_backend(), &fresh.controls);
    bool struck;
    enum status st;

    CHECK(store_open_over(f->op, backend, &options, &fresh.store) == ST_OK);
    CHECK(store_bucket(f->op, fresh.store, TEST_BUCKET, &fresh.bucket) == ST_OK);
    faulty_fail(&fresh.controls, FAULTY_ANY, call);
    fresh.controls.fail_after = after;
    st = scenario(&fresh);
    struck = fresh.controls.failed;
    CHECK(struck || st == ST_OK);
    env_advance_ms(f->op->env, 200);
    fresh.controls.fail_call = 0;
    CHECK(slice_equal(get(&fresh, 1), get(&fresh, 2)));
    check_usable(&fresh);
    CHECK(write_pair(&fresh, "after") == ST_OK);
    CHECK(slice_is(get(&fresh, 1), "after") && slice_is(get(&fresh, 2), "after"));
    store_close(fresh.store);
    return struck;
}

CONTRACT(whichever_call_fails_nothing_is_half_written_and_the_store_goes_on)
{
    if (!f->faulty || f->durable)
        return;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (torture_once(f, call, after))
            call++;
        CHECK(call > 10); /* it did reach the end of the scenario */
    }
}

/* A write fails, and then whichever call of the recovery. */
CONTRACT(whichever_call_of_a_recovery_fails_the_next_one_succeeds)
{
    if (!f->faulty)
        return;
    for (uint64_t call = 1;; call++) {
        struct batch *batch = batch_putting(f, 1, "x");
        struct commit_stamp stamp;
        bool committed = false;
        enum status st;

        faulty_fail(&f->controls, FAULTY_ANY, 1); /* the write; then the call-th after it */
        f->controls.fail_after = true;
        f->controls.fail_again = call;
        st = store_commit(f->op, f->bucket, batch, &stamp);
        if (st == ST_OK)
            break; /* the recovery has fewer calls */
        CHECK(st == ST_AMBIGUOUS && call < 10);
        f->controls.fail_call = f->controls.fail_again = 0;
        env_advance_ms(f->op->env, 200);
        CHECK(store_outcome(f->op, f->bucket, batch, &committed) == ST_OK && committed);
        check_usable(f);
    }
    f->controls.fail_again = 0;
    check_usable(f);
}
