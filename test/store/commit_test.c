/* test/store/commit_test.c - the contract: LSNs, times, counters, the change log, conflicts, threads. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/thread.h"
#include "fixture.h"

CONTRACT(lsns_rise_by_one_and_are_visible_when_told)
{
    struct commit_stamp stamp;
    uint64_t before = bucket_lsn(f->bucket);

    for (uint64_t i = 1; i <= 20; i++) {
        CHECK(put(f, i, "x", &stamp) == ST_OK);
        CHECK(stamp.lsn == before + i && bucket_lsn(f->bucket) == stamp.lsn);
    }
}

CONTRACT(buckets_have_lsns_of_their_own)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET + 1);
    struct commit_stamp stamp;
    struct bucket *other;

    CHECK(put(f, 1, "x", NULL) == ST_OK && put(f, 2, "x", NULL) == ST_OK);
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 1, &other) == ST_OK);
    batch_put(batch, key_document(&f->op->arena, TEST_BUCKET + 1, 1), slice_of("y"));
    CHECK(store_commit(f->op, other, batch, &stamp) == ST_OK && stamp.lsn == 1);
    CHECK(bucket_lsn(f->bucket) == 2 && bucket_id(other) == TEST_BUCKET + 1);
}

CONTRACT(a_thousand_buckets_are_found_again)
{
    struct bucket *bucket[1000], *again;

    for (uint64_t i = 0; i < 1000; i++)
        CHECK(store_bucket(f->op, f->store, bucket_make(100 + i, 0), &bucket[i]) == ST_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK(store_bucket(f->op, f->store, bucket_make(100 + i, 0), &again) == ST_OK);
        CHECK(again == bucket[i] && bucket_id(again) == bucket_make(100 + i, 0));
    }
}

CONTRACT(the_time_of_a_commit_never_falls_when_the_clock_is_set_back)
{
    struct commit_stamp first, second, third;

    CHECK(put(f, 1, "x", &first) == ST_OK);
    CHECK(first.ts_ms == env_now_ms(f->op->env));
    env_advance_ms(f->op->env, -5000);
    CHECK(put(f, 1, "y", &second) == ST_OK);
    CHECK(second.ts_ms == first.ts_ms);
    if (f->durable) {
        fixture_reopen(f);
        CHECK(put(f, 1, "z", &second) == ST_OK);
        CHECK(second.ts_ms == first.ts_ms);
    }
    env_advance_ms(f->op->env, 6000);
    CHECK(put(f, 1, "z", &third) == ST_OK);
    CHECK(third.ts_ms == first.ts_ms + 1000);
}

CONTRACT(records_and_changes_carry_the_stamp_of_their_commit)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;
    struct change change;
    size_t size;
    uint8_t *value = stampable(f, &size);

    batch_put_stamped(batch, key_of(f, 1), value, size);
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    CHECK(change_decode(f->op, get(f, 1), &change) == ST_OK);
    CHECK(change.lsn == stamp.lsn && change.ts_ms == stamp.ts_ms);
}

/* The whole change log, as rows. */
static struct rows read_log(struct fixture *f)
{
    struct range range = { key_kind_first(&f->op->arena, TEST_BUCKET, KEY_LOG),
                           key_kind_end(&f->op->arena, TEST_BUCKET, KEY_LOG), false };
    struct snapshot *taken = NULL;
    struct rows rows = { 0 };

    CHECK(store_snapshot(f->op, f->bucket, &taken) == ST_OK);
    CHECK(store_scan(f->op, taken, range, (struct scan_limit){ SIZE_MAX, SIZE_MAX }, &rows) == ST_OK);
    store_release(taken);
    return rows;
}

CONTRACT(the_change_log_has_every_change_in_commit_order)
{
    struct commit_stamp stamp;
    struct rows rows;
    size_t size;

    for (uint64_t commit = 1; commit <= 4; commit++) {
        struct batch *batch = batch_new(f->op, TEST_BUCKET);

        for (uint64_t i = 0; i < commit; i++) {
            struct change change = { .kind = CHANGE_CREATE,
                                     .number = 10 * commit + i,
                                     .old_record = slice_of("") };
            uint8_t *value = change_encode(f->op, &change, &size);

            batch_log(batch, value, size);
        }
        CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    }
    rows = read_log(f);
    REQUIRE(rows.count == 1 + 2 + 3 + 4);
    for (uint64_t commit = 1, at = 0; commit <= 4; commit++) {
        for (uint64_t i = 0; i < commit; i++, at++) {
            struct key_parts parts;
            struct change change;
            uint64_t lsn;
            uint32_t position;

            CHECK(key_parse(rows.row[at].key, &parts) && key_parse_log(&parts, &lsn, &position));
            CHECK(lsn == commit && position == i);
            CHECK(change_decode(f->op, rows.row[at].value, &change) == ST_OK);
            CHECK(change.lsn == commit && change.number == 10 * commit + i);
        }
    }
}

CONTRACT(a_counter_is_never_given_twice)
{
    struct batch *batch = batch_putting(f, 1, "x");
    struct commit_stamp stamp;
    uint64_t first = bucket_next_counter(f->bucket), used = 0;

    for (int i = 0; i < 10; i++)
        used = bucket_next_counter(f->bucket);
    CHECK(used == first + 10);
    batch_uses_counter(batch, used);
    batch_uses_counter(batch, first);
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    if (f->durable)
        fixture_reopen(f);
    CHECK(put(f, 2, "a commit without a counter keeps it", NULL) == ST_OK);
    if (f->durable)
        fixture_reopen(f);
    CHECK(bucket_next_counter(f->bucket) > used);
}

CONTRACT(what_was_committed_is_there_after_a_restart)
{
    struct commit_stamp stamp;
    char text[16];

    if (!f->durable)
        return;
    for (uint64_t i = 1; i <= 50; i++) {
        snprintf(text, sizeof(text), "v%llu", (unsigned long long)i);
        CHECK(put(f, i, text, &stamp) == ST_OK);
    }
    fixture_reopen(f);
    CHECK(bucket_lsn(f->bucket) == stamp.lsn);
    CHECK(slice_is(get(f, 1), "v1") && slice_is(get(f, 50), "v50"));
    CHECK(put(f, 1, "again", &stamp) == ST_OK);
    CHECK(stamp.lsn == 51);
}

/* ---- conflicts ---- */

static enum status put_expecting(struct fixture *f, uint64_t number, uint64_t scope, uint64_t lsn)
{
    struct batch *batch = batch_putting(f, number, "x");
    struct commit_stamp stamp;

    batch_expect(batch, scope, lsn);
    return store_commit(f->op, f->bucket, batch, &stamp);
}

CONTRACT(of_two_batches_from_one_snapshot_in_one_scope_the_second_conflicts)
{
    uint64_t lsn = bucket_lsn(f->bucket);

    CHECK(put_expecting(f, 1, 500, lsn) == ST_OK);
    CHECK(put_expecting(f, 2, 500, lsn) == ST_WRITE_CONFLICT);
    CHECK(!get(f, 2).data);
    CHECK(put_expecting(f, 2, 500, bucket_lsn(f->bucket)) == ST_OK);
}

enum { SCOPES = 300 };

/* A write with the scopes 1000, 1001, ... */
static enum status put_expecting_many(struct fixture *f, uint64_t lsn)
{
    struct batch *batch = batch_putting(f, 1, "x");
    struct commit_stamp stamp;

    for (uint64_t i = 0; i < SCOPES; i++)
        batch_expect(batch, 1000 + i, lsn);
    return store_commit(f->op, f->bucket, batch, &stamp);
}

CONTRACT(a_batch_may_expect_many_scopes_and_all_must_hold)
{
    static const uint64_t tried[] = { 0, 1, 2, 3, 4, 5, 100, SCOPES - 1 };
    uint64_t lsn;

    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        lsn = bucket_lsn(f->bucket);
        CHECK(put_expecting(f, 2, 1000 + tried[i], lsn) == ST_OK);
        CHECK(put_expecting_many(f, lsn) == ST_WRITE_CONFLICT);
        lsn = bucket_lsn(f->bucket);
        CHECK(put_expecting_many(f, lsn) == ST_OK); /* and it marks each of them */
        CHECK(put_expecting(f, 2, 1000 + tried[i], lsn) == ST_WRITE_CONFLICT);
    }
}

CONTRACT(other_scopes_and_other_buckets_do_not_conflict)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET + 1);
    uint64_t lsn = bucket_lsn(f->bucket);
    struct commit_stamp stamp;
    struct bucket *other;

    CHECK(put_expecting(f, 1, 500, lsn) == ST_OK);
    CHECK(put_expecting(f, 2, 501, lsn) == ST_OK);
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 1, &other) == ST_OK);
    batch_put(batch, key_document(&f->op->arena, TEST_BUCKET + 1, 1), slice_of("y"));
    batch_expect(batch, 500, bucket_lsn(other));
    CHECK(store_commit(f->op, other, batch, &stamp) == ST_OK);
}

CONTRACT(a_conflict_takes_no_lsn)
{
    uint64_t lsn = bucket_lsn(f->bucket);
    struct commit_stamp stamp;

    CHECK(put_expecting(f, 1, 500, lsn) == ST_OK);
    CHECK(put_expecting(f, 1, 500, lsn) == ST_WRITE_CONFLICT);
    CHECK(put(f, 1, "x", &stamp) == ST_OK && stamp.lsn == lsn + 2);
}

CONTRACT(an_expectation_from_before_a_restart_conflicts)
{
    if (!f->durable)
        return;
    CHECK(put_expecting(f, 1, 500, 0) == ST_OK);
    CHECK(put_expecting(f, 1, 501, 1) == ST_OK);
    fixture_reopen(f);
    CHECK(put_expecting(f, 1, 777, 1) == ST_WRITE_CONFLICT);
    CHECK(put_expecting(f, 1, 777, bucket_lsn(f->bucket)) == ST_OK);
}

/* ---- round trips ---- */

CONTRACT(a_read_check_write_costs_two_round_trips)
{
    struct slice keys[] = { key_head(&f->op->arena, TEST_BUCKET), key_of(f, 1) }, values[2];
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;
    struct head head;
    struct view view;
    int64_t start;

    CHECK(put(f, 1, "old", NULL) == ST_OK);
    f->controls.clock = f->op->env;
    f->op->work.round_trips = 0;
    start = env_now_ms(f->op->env);
    REQUIRE(view_open(f->op, f->bucket, batch, &view) == ST_OK);
    CHECK(view_get_many(f->op, &view, keys, 2, values) == ST_OK);
    CHECK(head_decode(f->op, values[0], &head) == ST_OK && slice_is(values[1], "old"));
    batch_expect(batch, 42, head.lsn);
    batch_put(batch, keys[1], slice_of("new"));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    view_close(&view);
    CHECK(f->op->work.round_trips == 2);
    if (f->faulty)
        CHECK(env_now_ms(f->op->env) - start == 2);
    f->controls.clock = NULL;
}

/* ---- threads ---- */

enum { WRITERS = 16, COMMITS_EACH = 60, COMMITS = WRITERS * COMMITS_EACH };

struct writers {
    struct fixture *f;
    atomic_uint next_writer;
    atomic_uint failures, conflicts;
    _Atomic uint64_t lsn_seen[COMMITS + 1]; /* how often each was given */
    atomic_bool stop;
};

/* Both rows in one batch, so that a reader can tell a torn one. */
static struct batch *pair_batch(struct op *op, uint64_t writer, uint64_t value)
{
    struct batch *batch = batch_new(op, TEST_BUCKET);
    struct slice text = arena_copy(&op->arena, slice_make(&value, sizeof(value)));

    batch_put(batch, key_document(&op->arena, TEST_BUCKET, 2 * writer), text);
    batch_put(batch, key_document(&op->arena, TEST_BUCKET, 2 * writer + 1), text);
    return batch;
}

/* The acknowledged commit must be what a new snapshot shows. */
static bool shows(struct op *op, struct bucket *bucket, uint64_t writer, uint64_t value, uint64_t lsn)
{
    struct slice key = key_document(&op->arena, TEST_BUCKET, 2 * writer), found;
    struct snapshot *taken = NULL;
    struct head head;
    bool right;

    if (store_snapshot(op, bucket, &taken) != ST_OK)
        return false;
    right = store_get_many(op, taken, &key, 1, &found) == ST_OK && found.size == sizeof(value) &&
            memcmp(found.data, &value, sizeof(value)) == 0 &&
            store_snapshot_head(op, taken, &head) == ST_OK && head.lsn >= lsn && bucket_lsn(bucket) >= lsn;
    store_release(taken);
    return right;
}

static void *writer_body(void *argument)
{
    struct writers *writers = argument;
    struct bucket *bucket = writers->f->bucket;
    uint64_t writer = atomic_fetch_add(&writers->next_writer, 1);
    struct op op;

    op_init(&op, env_system(), 1 << 24);
    for (uint64_t i = 1; i <= COMMITS_EACH;) {
        struct batch *batch = pair_batch(&op, writer, i);
        struct commit_stamp stamp;
        enum status st;

        batch_expect(batch, 1 + (writer * 31 + i * 7) % 5, bucket_lsn(bucket));
        st = store_commit(&op, bucket, batch, &stamp);
        if (st == ST_WRITE_CONFLICT) {
            atomic_fetch_add(&writers->conflicts, 1);
        } else if (st != ST_OK || stamp.lsn > COMMITS || !shows(&op, bucket, writer, i, stamp.lsn)) {
            atomic_fetch_add(&writers->failures, 1);
            break;
        } else {
            atomic_fetch_add(&writers->lsn_seen[stamp.lsn], 1);
            i++;
        }
        op_begin(&op, 1000000);
    }
    op_free(&op);
    return NULL;
}

static bool pair_is_whole(struct op *op, struct bucket *bucket, uint64_t writer)
{
    struct slice keys[2], values[2];
    struct snapshot *taken = NULL;
    bool whole;

    for (uint64_t i = 0; i < 2; i++)
        keys[i] = key_document(&op->arena, TEST_BUCKET, 2 * writer + i);
    if (store_snapshot(op, bucket, &taken) != ST_OK)
        return false;
    whole = store_get_many(op, taken, keys, 2, values) == ST_OK && slice_equal(values[0], values[1]);
    store_release(taken);
    return whole;
}

static void *reader_body(void *argument)
{
    struct writers *writers = argument;
    struct op op;

    op_init(&op, env_system(), 1 << 24);
    for (uint64_t i = 0; !atomic_load(&writers->stop); i++) {
        if (!pair_is_whole(&op, writers->f->bucket, i % WRITERS))
            atomic_fetch_add(&writers->failures, 1);
        op_begin(&op, 1000000);
    }
    op_free(&op);
    return NULL;
}

CONTRACT_THREADS(sixteen_threads_commit_and_every_lsn_is_given_once_and_never_half_seen)
{
    struct writers writers = { .f = f };
    pthread_t thread[WRITERS], reader;
    struct store_stats stats;

    pthread_create(&reader, NULL, reader_body, &writers);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&thread[i], NULL, writer_body, &writers);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&writers.stop, true);
    pthread_join(reader, NULL);

    CHECK(writers.failures == 0);
    for (int lsn = 1; lsn <= COMMITS; lsn++)
        CHECK(writers.lsn_seen[lsn] == 1);
    store_stats(f->store, &stats);
    CHECK(stats.commits == COMMITS && stats.conflicts == writers.conflicts);
    CHECK(stats.syncs == stats.groups && stats.groups <= stats.commits && stats.failures == 0);
    if (f->durable) {
        fixture_reopen(f);
        CHECK(bucket_lsn(f->bucket) == COMMITS);
        for (uint64_t i = 0; i < WRITERS; i++)
            CHECK(shows(f->op, f->bucket, i, COMMITS_EACH, COMMITS));
    }
}

/* ---- nobody waits ---- */

static sem_t resumed;

static void post(struct op *op, bool last)
{
    (void)op, (void)last;
    sem_post(&resumed);
}

/* As a loop thread does. */
static enum status commit_and_leave(struct fixture *f, struct batch *batch, struct commit_stamp *stamp)
{
    struct commit commit = { .batch = batch };

    f->op->may_block = false;
    f->op->resume = post;
    sem_init(&resumed, 0, 0);
    store_commit_many(f->op, f->bucket, &commit, 1);
    if (commit.status == ST_PENDING) {
        sem_wait(&resumed);
        store_commit_end(f->op, &commit);
    }
    f->op->may_block = true;
    *stamp = commit.stamp;
    return commit.status;
}

CONTRACT_THREADS(who_does_not_wait_for_a_commit_is_told_what_became_of_it)
{
    struct batch *first = batch_putting(f, 1, "x"), *second = batch_putting(f, 2, "y");
    struct commit_stamp stamp;

    batch_expect(first, 70, bucket_lsn(f->bucket));
    batch_expect(second, 70, bucket_lsn(f->bucket));
    CHECK(commit_and_leave(f, first, &stamp) == ST_OK && stamp.lsn == bucket_lsn(f->bucket));
    CHECK(slice_is(get(f, 1), "x"));
    CHECK(commit_and_leave(f, second, &stamp) == ST_WRITE_CONFLICT && !get(f, 2).data);
}

/* A loop thread in one round: it begins what has arrived, catches up, and then hears of all. */
static void *commit_three_in_a_round(void *argument)
{
    struct fixture *f = argument;
    struct commit commit[3];

    thread_catches_up();
    f->op->may_block = false;
    f->op->resume = post;
    sem_init(&resumed, 0, 0);
    for (uint64_t i = 0; i < 3; i++) {
        commit[i] = (struct commit){ .batch = batch_putting(f, i, "x") };
        store_commit_many(f->op, f->bucket, &commit[i], 1);
    }
    thread_catch_up();
    for (size_t i = 0; i < 3 && commit[i].status == ST_PENDING; i++)
        sem_wait(&resumed);
    for (size_t i = 0; i < 3 && commit[i].status == ST_PENDING; i++) {
        store_commit_end(f->op, &commit[i]);
        CHECK(commit[i].status == ST_OK && commit[i].stamp.lsn > 0);
    }
    f->op->may_block = true;
    return NULL;
}

CONTRACT_THREADS(what_a_loop_begins_in_one_round_is_one_group)
{
    struct store_stats before, after;
    pthread_t thread;

    if (f->remote)
        return;
    store_stats(f->store, &before);
    REQUIRE(pthread_create(&thread, NULL, commit_three_in_a_round, f) == 0);
    pthread_join(thread, NULL);
    store_stats(f->store, &after);
    CHECK(after.commits - before.commits == 3);
    CHECK(after.groups - before.groups == 1);
}

CONTRACT(without_a_thread_that_commits_who_may_not_wait_has_written_nothing)
{
    struct commit_stamp stamp;

    CHECK(commit_and_leave(f, batch_putting(f, 1, "x"), &stamp) == ST_WOULD_BLOCK);
    CHECK(!get(f, 1).data);
}
