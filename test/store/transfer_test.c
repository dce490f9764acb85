/* test/store/transfer_test.c - the contract: all of a store as rows, which are put as they are, without a commit. */
#include "fixture.h"
#include "store/transfer.h"

static struct slice head_of(struct fixture *f, const struct head *head)
{
    uint8_t *bytes = arena_alloc(&f->op->arena, HEAD_BYTES);

    return slice_make(bytes, head_encode(head, bytes));
}

static const struct head made = {
    .lsn = 41, .ts_ms = 7000, .counter = 12, .counts = true, .documents = 2, .document_bytes = 9
};

static void load_bucket(struct fixture *f, uint64_t id)
{
    struct row rows[] = { { key_document(&f->op->arena, id, 1), slice_of("one") },
                          { key_document(&f->op->arena, id, 2), slice_of("two") },
                          { key_index(&f->op->arena, id, slice_of("a term"), 2), slice_of("") },
                          { key_head(&f->op->arena, id), head_of(f, &made) } };

    CHECK(store_load(f->op, f->store, rows, sizeof(rows) / sizeof(rows[0])) == ST_OK);
}

static bool next_is(struct fixture *f, uint64_t from, uint64_t id, uint64_t lsn)
{
    struct snapshot *snapshot = NULL;
    struct bucket_found found = { 0 };
    bool is_there = false;

    if (store_snapshot(f->op, f->bucket, &snapshot) != ST_OK)
        return false;
    CHECK(store_next_bucket(f->op, snapshot, from, &found, &is_there) == ST_OK);
    store_release(snapshot);
    return is_there && found.id == id && found.head.lsn == lsn && !found.dropped;
}

static bool is_last(struct fixture *f, uint64_t from)
{
    struct snapshot *snapshot = NULL;
    struct bucket_found found;
    bool is_there = false;

    if (store_snapshot(f->op, f->bucket, &snapshot) != ST_OK)
        return false;
    CHECK(store_next_bucket(f->op, snapshot, from, &found, &is_there) == ST_OK);
    store_release(snapshot);
    return !is_there || found.dropped;
}

CONTRACT(rows_are_put_as_they_are_and_a_head_goes_on_from_there)
{
    struct snapshot *snapshot = NULL;
    struct bucket *bucket;
    struct head head;
    struct slice value;
    struct commit_stamp stamp;
    struct batch *batch;

    load_bucket(f, TEST_BUCKET + 1);
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 1, &bucket) == ST_OK);
    REQUIRE(store_snapshot(f->op, bucket, &snapshot) == ST_OK);
    CHECK(store_snapshot_head(f->op, snapshot, &head) == ST_OK);
    CHECK(head.lsn == made.lsn && head.ts_ms == made.ts_ms && head.counter == made.counter && head.counts);
    CHECK(head.documents == made.documents && head.document_bytes == made.document_bytes);
    store_release(snapshot);
    CHECK(store_get_latest(f->op, bucket, key_document(&f->op->arena, TEST_BUCKET + 1, 2), &value) == ST_OK);
    CHECK(slice_is(value, "two"));
    batch = batch_new(f->op, TEST_BUCKET + 1);
    batch_put(batch, key_document(&f->op->arena, TEST_BUCKET + 1, 3), slice_of("three"));
    CHECK(store_commit(f->op, bucket, batch, &stamp) == ST_OK);
    CHECK(stamp.lsn == made.lsn + 1 && stamp.ts_ms >= made.ts_ms);
    CHECK(bucket_next_counter(bucket) > made.counter);
}

CONTRACT(a_row_without_a_value_is_removed)
{
    struct row gone = { .key = key_document(&f->op->arena, TEST_BUCKET + 1, 1) };
    struct bucket *bucket;
    struct slice value;

    load_bucket(f, TEST_BUCKET + 1);
    CHECK(store_load(f->op, f->store, &gone, 1) == ST_OK);
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 1, &bucket) == ST_OK);
    CHECK(store_get_latest(f->op, bucket, gone.key, &value) == ST_OK && !value.data);
    CHECK(store_get_latest(f->op, bucket, key_document(&f->op->arena, TEST_BUCKET + 1, 2), &value) == ST_OK);
    CHECK(slice_is(value, "two"));
}

CONTRACT(buckets_are_found_in_order_and_those_without_a_head_are_none)
{
    struct row row = { key_document(&f->op->arena, TEST_BUCKET + 2, 1), slice_of("no head") };

    CHECK(is_last(f, 0));
    CHECK(put(f, 1, "x", NULL) == ST_OK);
    load_bucket(f, TEST_BUCKET + 1);
    CHECK(store_load(f->op, f->store, &row, 1) == ST_OK);
    load_bucket(f, TEST_BUCKET + 3);
    CHECK(next_is(f, 0, TEST_BUCKET, 1) && next_is(f, TEST_BUCKET, TEST_BUCKET, 1));
    CHECK(next_is(f, TEST_BUCKET + 1, TEST_BUCKET + 1, 41) &&
          next_is(f, TEST_BUCKET + 2, TEST_BUCKET + 3, 41));
    CHECK(is_last(f, TEST_BUCKET + 4));
    CHECK(store_drop(f->op, f->store, TEST_BUCKET + 3) == ST_OK);
    CHECK(is_last(f, TEST_BUCKET + 2));
}

CONTRACT(a_bucket_that_was_cleared_is_as_if_it_had_never_been)
{
    struct bucket *bucket;
    struct slice value;

    load_bucket(f, TEST_BUCKET + 1);
    load_bucket(f, TEST_BUCKET + 2);
    CHECK(store_clear(f->op, f->store, TEST_BUCKET + 1) == ST_OK);
    CHECK(next_is(f, 0, TEST_BUCKET + 2, 41));
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 1, &bucket) == ST_OK);
    CHECK(bucket_lsn(bucket) == 0);
    CHECK(store_get_latest(f->op, bucket, key_document(&f->op->arena, TEST_BUCKET + 1, 1), &value) == ST_OK);
    CHECK(!value.data);
    REQUIRE(store_bucket(f->op, f->store, TEST_BUCKET + 2, &bucket) == ST_OK);
    CHECK(bucket_lsn(bucket) == 41);
}

CONTRACT(one_snapshot_shows_all_buckets_as_of_its_moment)
{
    struct slice key = key_document(&f->op->arena, TEST_BUCKET + 1, 1), value;
    struct snapshot *snapshot = NULL;
    struct bucket_found found;
    struct rows rows;
    bool is_there;

    REQUIRE(store_snapshot(f->op, f->bucket, &snapshot) == ST_OK);
    load_bucket(f, TEST_BUCKET + 1);
    CHECK(store_get_many(f->op, snapshot, &key, 1, &value) == ST_OK && !value.data);
    CHECK(store_next_bucket(f->op, snapshot, 0, &found, &is_there) == ST_OK && !is_there);
    store_release(snapshot);
    REQUIRE(store_snapshot(f->op, f->bucket, &snapshot) == ST_OK);
    CHECK(store_scan(f->op, snapshot,
                     (struct range){ key_bucket_first(&f->op->arena, TEST_BUCKET + 1),
                                     key_bucket_end(&f->op->arena, TEST_BUCKET + 1), false },
                     (struct scan_limit){ 100, 100000 }, &rows) == ST_OK);
    CHECK(rows.count == 4); /* two documents, the head, and what was put as an entry */
    CHECK(rows.count == 4 && key_is_kind(rows.row[2].key, KEY_HEAD) && key_is_index(rows.row[3].key));
    store_release(snapshot);
}
