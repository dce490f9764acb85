/* test/store/together_test.c - the contract: batches of several buckets that are committed all or none, and snapshots over them. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"

enum { SCOPE = 77 };

/* Two buckets, and a batch for each. */
struct pair {
    struct bucket *bucket[2];
    struct commit commit[2];
};

static struct slice key_in(struct fixture *f, const struct bucket *bucket, uint64_t number)
{
    return key_document(&f->op->arena, bucket_id(bucket), number);
}

static void begin_pair(struct fixture *f, struct pair *pair, const char *text)
{
    for (size_t i = 0; i < 2; i++) {
        struct batch *batch;

        REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + i, &pair->bucket[i]) == ST_OK);
        batch = batch_new(f->op, TEST_BUCKET + i);
        batch_put(batch, key_in(f, pair->bucket[i], 1), slice_of(text));
        pair->commit[i] = (struct commit){ .batch = batch, .bucket = pair->bucket[i] };
    }
}

static struct slice latest(struct fixture *f, const struct pair *pair, size_t which)
{
    struct slice value = { 0 };

    CHECK(store_get_latest(f->op, pair->bucket[which], key_in(f, pair->bucket[which], 1), &value) == ST_OK);
    return value;
}

static bool both_are(struct fixture *f, const struct pair *pair, const char *text)
{
    return slice_is(latest(f, pair, 0), text) && slice_is(latest(f, pair, 1), text);
}

CONTRACT(batches_of_two_buckets_are_committed_together_each_with_its_own_lsn)
{
    struct pair pair;

    CHECK(put(f, 5, "x", NULL) == ST_OK && put(f, 6, "x", NULL) == ST_OK);
    begin_pair(f, &pair, "both");
    CHECK(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    CHECK(pair.commit[0].stamp.lsn == 3 && pair.commit[1].stamp.lsn == 1);
    CHECK(bucket_lsn(pair.bucket[0]) == 3 && bucket_lsn(pair.bucket[1]) == 1);
    CHECK(both_are(f, &pair, "both"));
}

CONTRACT(an_expectation_of_one_batch_that_does_not_hold_refuses_all)
{
    struct commit_stamp stamp;
    struct batch *other;
    struct pair pair;

    for (size_t which = 0; which < 2; which++) {
        begin_pair(f, &pair, "old");
        REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
        begin_pair(f, &pair, "new");
        for (size_t i = 0; i < 2; i++)
            batch_expect(pair.commit[i].batch, SCOPE, bucket_lsn(pair.bucket[i]));
        other = batch_new(f->op, TEST_BUCKET + which);
        batch_expect(other, SCOPE, bucket_lsn(pair.bucket[which]));
        batch_put(other, key_in(f, pair.bucket[which], 2), slice_of("other"));
        REQUIRE(store_commit(f->op, pair.bucket[which], other, &stamp) == ST_OK);
        CHECK(store_commit_together(f->op, pair.commit, 2) == ST_WRITE_CONFLICT);
        CHECK(pair.commit[0].status == ST_WRITE_CONFLICT && pair.commit[1].status == ST_WRITE_CONFLICT);
        CHECK(both_are(f, &pair, "old"));
        CHECK(bucket_lsn(pair.bucket[which]) == stamp.lsn);
    }
}

CONTRACT(a_batch_that_expects_the_last_commit_is_refused_behind_any_other)
{
    struct pair pair;
    uint64_t last;

    begin_pair(f, &pair, "old");
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    last = bucket_lsn(pair.bucket[0]);
    for (uint64_t named = last; named <= last + 2; named += 2) { /* before it, and behind it */
        REQUIRE(put(f, 9, "x", NULL) == ST_OK);                  /* it names no scope */
        begin_pair(f, &pair, "new");
        batch_expect_last(pair.commit[0].batch, named);
        CHECK(store_commit_together(f->op, pair.commit, 2) == (named == last ? ST_WRITE_CONFLICT : ST_OK));
        CHECK(both_are(f, &pair, named == last ? "old" : "new"));
    }
}

CONTRACT(a_set_that_was_refused_leaves_no_marks)
{
    struct commit_stamp stamp;
    struct batch *other;
    struct pair pair;
    uint64_t seen;

    begin_pair(f, &pair, "old");
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    seen = bucket_lsn(pair.bucket[0]);
    begin_pair(f, &pair, "new");
    batch_expect(pair.commit[0].batch, SCOPE, seen);
    batch_expect(pair.commit[1].batch, SCOPE, 0);
    other = batch_new(f->op, TEST_BUCKET + 1);
    batch_expect(other, SCOPE, bucket_lsn(pair.bucket[1]));
    batch_put(other, key_in(f, pair.bucket[1], 2), slice_of("other"));
    REQUIRE(store_commit(f->op, pair.bucket[1], other, &stamp) == ST_OK);
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_WRITE_CONFLICT);
    other = batch_new(f->op, TEST_BUCKET);
    batch_expect(other, SCOPE, seen);
    batch_put(other, key_in(f, pair.bucket[0], 2), slice_of("other"));
    CHECK(store_commit(f->op, pair.bucket[0], other, &stamp) == ST_OK); /* its scope was not touched */
}

CONTRACT(a_dropped_bucket_refuses_the_whole_set)
{
    struct pair pair;

    begin_pair(f, &pair, "old");
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    REQUIRE(store_drop(f->op, f->store, TEST_BUCKET + 1) == ST_OK);
    begin_pair(f, &pair, "new");
    CHECK(store_commit_together(f->op, pair.commit, 2) == ST_OWNER_NOT_FOUND);
    CHECK(slice_is(latest(f, &pair, 0), "old"));
    CHECK(!latest(f, &pair, 1).data);
}

CONTRACT(the_last_batch_holds_the_stamps_of_the_others)
{
    size_t size = 24 + STAMP_BYTES;
    uint8_t *value = arena_alloc(&f->op->arena, size);
    struct commit_stamp told;
    struct slice stored;
    struct pair pair;

    begin_pair(f, &pair, "x");
    memset(value, 0, size);
    batch_put_stamped(pair.commit[1].batch, key_in(f, pair.bucket[1], 9), value, size);
    batch_holds_stamps(pair.commit[1].batch, value + 24);
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    REQUIRE(store_get_latest(f->op, pair.bucket[1], key_in(f, pair.bucket[1], 9), &stored) == ST_OK);
    CHECK(value_check(f->op, "test", stored, 0, size) == ST_OK); /* the checksum covers what was told */
    told = stamp_decode((const uint8_t *)stored.data + 24);
    CHECK(told.lsn == pair.commit[0].stamp.lsn && told.ts_ms == pair.commit[0].stamp.ts_ms);
    CHECK(value_stamped(stored).lsn == pair.commit[1].stamp.lsn);
}

CONTRACT(whichever_way_the_write_of_a_set_fails_all_of_it_is_there_or_nothing)
{
    struct pair pair;

    if (!f->faulty)
        return;
    for (int way = 0; way < 4; way++) {
        bool committed = false, after = way % 2;
        enum status st;

        begin_pair(f, &pair, "old");
        REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
        begin_pair(f, &pair, "new");
        faulty_fail(&f->controls, FAULTY_WRITE, 1);
        f->controls.fail_after = after;
        f->controls.reopen_failures = way / 2;
        st = store_commit_together(f->op, pair.commit, 2);
        CHECK(f->controls.failed);
        if (st == ST_AMBIGUOUS) {
            env_advance_ms(f->op->env, 1000);
            for (size_t i = 0; i < 2; i++) {
                REQUIRE(store_outcome(f->op, pair.bucket[i], pair.commit[i].batch, &committed) == ST_OK);
                CHECK(committed == after);
            }
        } else {
            CHECK(st == (after ? ST_OK : ST_UNAVAILABLE));
        }
        CHECK(both_are(f, &pair, after ? "new" : "old"));
    }
}

CONTRACT(a_set_is_there_whole_after_a_restart)
{
    struct pair pair;

    if (!f->durable)
        return;
    begin_pair(f, &pair, "kept");
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    fixture_reopen(f);
    begin_pair(f, &pair, "not committed");
    CHECK(both_are(f, &pair, "kept"));
}

CONTRACT(snapshots_taken_together_are_of_one_moment_and_released_in_any_order)
{
    struct snapshot *snapshot[2];
    struct slice key, value;
    struct pair pair;

    begin_pair(f, &pair, "old");
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    for (size_t first = 0; first < 2; first++) {
        REQUIRE(store_snapshot_together(f->op, pair.bucket, 2, snapshot) == ST_OK);
        begin_pair(f, &pair, "new");
        REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
        store_release(snapshot[first]);
        key = key_in(f, pair.bucket[1 - first], 1);
        CHECK(store_get_many(f->op, snapshot[1 - first], &key, 1, &value) == ST_OK);
        CHECK(slice_is(value, first == 0 ? "old" : "new"));
        store_release(snapshot[1 - first]);
    }
}

/* ---- with writers beside ---- */

struct writer {
    struct store *store;
    _Atomic bool stop;
};

static void *write_pairs(void *argument)
{
    struct writer *writer = argument;
    struct op op;

    op_init(&op, env_system(), SIZE_MAX);
    for (int n = 0; !atomic_load(&writer->stop); n++) {
        struct commit commit[2];
        char text[16];

        op_begin(&op, 60000);
        op.may_block = true;
        snprintf(text, sizeof(text), "%d", n);
        for (size_t i = 0; i < 2; i++) {
            commit[i] = (struct commit){ .batch = batch_new(&op, TEST_BUCKET + i) };
            CHECK(store_bucket(&op, writer->store, TEST_BUCKET + i, &commit[i].bucket) == ST_OK);
            batch_put(commit[i].batch, key_document(&op.arena, TEST_BUCKET + i, 1), slice_of(text));
        }
        CHECK(store_commit_together(&op, commit, 2) == ST_OK);
    }
    op_free(&op);
    return NULL;
}

CONTRACT_THREADS(readers_never_see_one_half_of_a_set)
{
    struct writer writer = { .store = f->store };
    struct snapshot *snapshot[2];
    struct slice value[2], key;
    struct pair pair;
    pthread_t thread;

    begin_pair(f, &pair, "first");
    REQUIRE(store_commit_together(f->op, pair.commit, 2) == ST_OK);
    REQUIRE(pthread_create(&thread, NULL, write_pairs, &writer) == 0);
    for (int round = 0; round < 300; round++) {
        REQUIRE(store_snapshot_together(f->op, pair.bucket, 2, snapshot) == ST_OK);
        for (size_t i = 0; i < 2; i++) {
            key = key_in(f, pair.bucket[i], 1);
            CHECK(store_get_many(f->op, snapshot[i], &key, 1, &value[i]) == ST_OK);
        }
        CHECK(slice_equal(value[0], value[1]));
        store_release(snapshot[0]);
        store_release(snapshot[1]);
    }
    atomic_store(&writer.stop, true);
    pthread_join(thread, NULL);
}
