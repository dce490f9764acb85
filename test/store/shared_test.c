/* test/store/shared_test.c - the contract: what a store that other processes write to owes; another store over the same data is such a process. */
#include "fixture.h"

enum { SCOPE = 77 };

struct other {
    struct store *store;
    struct bucket *bucket, *definitions;
    unsigned caught_up;
};

/* False: the kind of store is not shared, and there is nothing to test. */
static bool open_other(struct fixture *f, struct other *other)
{
    struct store_options options = { .kind = STORE_POSTGRES, .directory = f->directory, .sync = true };

    *other = (struct other){ 0 };
    if (!store_is_shared(f->store))
        return false;
    if (store_open(f->op, &options, &other->store) == ST_OK &&
        store_bucket(f->op, other->store, TEST_BUCKET, &other->bucket) == ST_OK &&
        store_bucket(f->op, other->store, 0, &other->definitions) == ST_OK)
        return true;
    test_failed(__FILE__, __LINE__, "the other store cannot be opened");
    return false;
}

/* The other process redefines the bucket; gives the LSN of bucket 0. */
static uint64_t redefine(struct fixture *f, struct other *other, bool dropped)
{
    struct batch *batch = batch_new(f->op, 0);
    struct commit_stamp stamp;

    batch_redefines(batch, TEST_BUCKET, dropped);
    CHECK(store_commit(f->op, other->definitions, batch, &stamp) == ST_OK);
    return stamp.lsn;
}

static enum status write_following(struct fixture *f, uint64_t lsn)
{
    struct batch *batch = batch_putting(f, 1, "mine");
    struct commit_stamp stamp;

    batch_follows(batch, lsn);
    return store_commit(f->op, f->bucket, batch, &stamp);
}

static enum status note_catch_up(struct op *op, void *context)
{
    struct other *other = context;

    (void)op;
    other->caught_up++;
    return ST_OK;
}

CONTRACT(a_batch_that_follows_an_old_definition_is_refused_whoever_made_the_new_one)
{
    struct other other;
    uint64_t lsn;

    if (!open_other(f, &other))
        return;
    CHECK(write_following(f, 0) == ST_OK);
    lsn = redefine(f, &other, false);
    CHECK(write_following(f, lsn - 1) == ST_WRITE_CONFLICT);
    CHECK(write_following(f, lsn) == ST_OK);
    CHECK(put(f, 2, "goes by no definition", NULL) == ST_OK);
    lsn = redefine(f, &other, true);
    CHECK(write_following(f, lsn) == ST_OWNER_NOT_FOUND);
    store_close(other.store);
}

CONTRACT(who_reads_a_bucket_that_was_redefined_catches_up_first)
{
    struct snapshot *snapshot = NULL;
    struct other other;
    struct slice value;
    uint64_t lsn;

    if (!open_other(f, &other))
        return;
    store_follow(f->store, note_catch_up, &other);
    CHECK(store_get_latest(f->op, f->bucket, key_of(f, 1), &value) == ST_OK && other.caught_up == 0);
    lsn = redefine(f, &other, false);
    CHECK(store_get_latest(f->op, f->bucket, key_of(f, 1), &value) == ST_OK && other.caught_up == 1);
    CHECK(store_snapshot(f->op, f->bucket, &snapshot) == ST_OK && other.caught_up == 2);
    store_release(snapshot);
    store_note_followed(f->store, lsn);
    CHECK(bucket_followed_lsn(f->bucket) == lsn);
    CHECK(store_snapshot(f->op, f->bucket, &snapshot) == ST_OK && other.caught_up == 2);
    store_release(snapshot);
    lsn = redefine(f, &other, true);
    CHECK(store_snapshot(f->op, f->bucket, &snapshot) == ST_OWNER_NOT_FOUND && other.caught_up == 3);
    store_note_followed(f->store, lsn); /* by another thread, say, after this one had found its container */
    CHECK(store_get_latest(f->op, f->bucket, key_of(f, 1), &value) == ST_OWNER_NOT_FOUND);
    CHECK(store_snapshot(f->op, f->bucket, &snapshot) == ST_OWNER_NOT_FOUND && other.caught_up == 3);
    store_follow(f->store, NULL, NULL);
    store_close(other.store);
}

CONTRACT(expectations_hold_against_what_another_process_commits)
{
    struct commit_stamp stamp;
    struct batch *theirs, *mine;
    struct other other;
    uint64_t lsn, newest;

    if (!open_other(f, &other))
        return;
    CHECK(put(f, 1, "first", NULL) == ST_OK);
    lsn = bucket_lsn(f->bucket);
    theirs = batch_putting(f, 1, "theirs");
    batch_expect(theirs, SCOPE, lsn);
    CHECK(store_commit(f->op, other.bucket, theirs, &stamp) == ST_OK && stamp.lsn == lsn + 1);
    CHECK(bucket_lsn(f->bucket) == lsn); /* nothing of it was seen here */
    mine = batch_putting(f, 1, "mine");
    batch_expect(mine, SCOPE, lsn);
    CHECK(store_commit(f->op, f->bucket, mine, &stamp) == ST_WRITE_CONFLICT);
    CHECK(slice_is(get(f, 1), "theirs"));
    CHECK(store_newest_lsn(f->op, f->bucket, &newest) == ST_OK && newest == lsn + 1);
    store_close(other.store);
}

CONTRACT(counters_of_two_processes_are_never_the_same)
{
    struct other other;
    uint64_t mine[3], theirs[3];

    if (!open_other(f, &other))
        return;
    for (int i = 0; i < 3; i++) {
        mine[i] = bucket_next_counter(f->bucket);
        theirs[i] = bucket_next_counter(other.bucket);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            CHECK(mine[i] != theirs[j]);
    store_close(other.store);
}

CONTRACT(the_oldest_of_several_processes_leads)
{
    struct store_peers peers = store_peers(f->store);
    struct other other;

    CHECK(peers.count == 1 && peers.leads);
    if (!open_other(f, &other))
        return;
    CHECK(store_peers(other.store).count == 2 && !store_peers(other.store).leads);
    CHECK(store_upkeep(f->op, f->store) == ST_OK);
    CHECK(store_peers(f->store).count == 2 && store_peers(f->store).leads);
    store_close(other.store);
    CHECK(store_upkeep(f->op, f->store) == ST_OK && store_peers(f->store).count == 1);
}

static enum status get_by(struct fixture *f, struct snapshot *snapshot, uint64_t number, struct slice *value)
{
    struct slice key = key_of(f, number);

    return store_get_many(f->op, snapshot, &key, 1, value);
}

CONTRACT(a_snapshot_whose_bucket_moves_to_another_database_shows_its_own_commit_or_ends)
{
    struct snapshot *snapshot = NULL;
    struct slice value;
    enum status st;

    CHECK(put(f, 1, "old", NULL) == ST_OK);
    REQUIRE(store_snapshot(f->op, f->bucket, &snapshot) == ST_OK);
    CHECK(get_by(f, snapshot, 1, &value) == ST_OK && slice_is(value, "old"));
    CHECK(put(f, 1, "new", NULL) == ST_OK);
    if (fixture_moves_bucket(f)) {
        st = get_by(f, snapshot, 1, &value);
        CHECK(st == ST_UNAVAILABLE || (st == ST_OK && slice_is(value, "old")));
    }
    store_release(snapshot);
    CHECK(slice_is(get(f, 1), "new"));
}
