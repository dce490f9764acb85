/* test/store/read_test.c - the contract: gets, scans, limits and snapshots. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"
#include "keys/record.h"

static const struct scan_limit no_limit = { SIZE_MAX, SIZE_MAX };

/* Puts one row for each number below `count`, with its number as text. */
static void put_numbers(struct fixture *f, uint64_t count)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;
    char text[24];

    for (uint64_t number = 0; number < count; number++) {
        snprintf(text, sizeof(text), "%03llu", (unsigned long long)number);
        batch_put(batch, key_of(f, number), arena_copy(&f->op->arena, slice_of(text)));
    }
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
}

static struct snapshot *snapshot(struct fixture *f)
{
    struct snapshot *taken = NULL;

    CHECK(store_snapshot(f->op, f->bucket, &taken) == ST_OK);
    return taken;
}

CONTRACT(a_value_comes_back_as_it_was_put)
{
    CHECK(put(f, 1, "one", NULL) == ST_OK);
    CHECK(slice_is(get(f, 1), "one"));
}

CONTRACT(an_empty_value_is_not_an_absent_one)
{
    CHECK(put(f, 1, "", NULL) == ST_OK);
    CHECK(get(f, 1).data && get(f, 1).size == 0);
    CHECK(!get(f, 2).data);
}

CONTRACT(get_many_answers_each_key_in_its_place)
{
    struct slice keys[] = { key_of(f, 2), key_of(f, 99), key_of(f, 0), key_of(f, 2) }, values[4];
    struct snapshot *taken;

    put_numbers(f, 3);
    taken = snapshot(f);
    CHECK(store_get_many(f->op, taken, keys, 4, values) == ST_OK);
    CHECK(slice_is(values[0], "002") && !values[1].data && slice_is(values[2], "000") &&
          slice_is(values[3], "002"));
    store_release(taken);
}

CONTRACT(a_scan_gives_the_rows_of_its_range_in_order)
{
    struct snapshot *taken;
    struct rows rows;

    put_numbers(f, 10);
    taken = snapshot(f);
    CHECK(store_scan(f->op, taken, range_of(f, 3, 7, false), no_limit, &rows) == ST_OK);
    CHECK(rows.count == 4 && !rows.more);
    for (uint64_t i = 0; i < rows.count; i++)
        CHECK(slice_equal(rows.row[i].key, key_of(f, 3 + i)) && rows.row[i].value.data[2] == (char)('3' + i));
    store_release(taken);
}

CONTRACT(a_reverse_scan_gives_the_same_rows_largest_first)
{
    struct snapshot *taken;
    struct rows rows;

    put_numbers(f, 10);
    taken = snapshot(f);
    CHECK(store_scan(f->op, taken, range_of(f, 3, 7, true), no_limit, &rows) == ST_OK);
    CHECK(rows.count == 4 && !rows.more);
    for (uint64_t i = 0; i < rows.count; i++)
        CHECK(slice_equal(rows.row[i].key, key_of(f, 6 - i)));
    store_release(taken);
}

CONTRACT(a_scan_past_the_last_row_or_of_nothing_is_empty)
{
    struct snapshot *taken;
    struct rows rows;

    put_numbers(f, 3);
    taken = snapshot(f);
    for (int reverse = 0; reverse < 2; reverse++) {
        CHECK(store_scan(f->op, taken, range_of(f, 3, 9, reverse), no_limit, &rows) == ST_OK &&
              rows.count == 0);
        CHECK(store_scan(f->op, taken, range_of(f, 2, 2, reverse), no_limit, &rows) == ST_OK &&
              rows.count == 0);
        CHECK(store_scan(f->op, taken, range_of(f, 2, 1, reverse), no_limit, &rows) == ST_OK &&
              rows.count == 0);
        CHECK(!rows.more);
    }
    store_release(taken);
}

CONTRACT(more_is_told_only_when_a_row_was_left_out)
{
    struct snapshot *taken;
    struct rows rows;

    put_numbers(f, 5);
    taken = snapshot(f);
    for (int reverse = 0; reverse < 2; reverse++) {
        for (size_t limit = 1; limit <= 6; limit++) {
            struct scan_limit at_most = { limit, SIZE_MAX };

            CHECK(store_scan(f->op, taken, range_of(f, 0, 5, reverse), at_most, &rows) == ST_OK);
            CHECK(rows.count == (limit < 5 ? limit : 5));
            CHECK(rows.more == (limit < 5));
        }
    }
    store_release(taken);
}

CONTRACT(a_byte_limit_counts_keys_and_values_and_lets_one_row_through)
{
    size_t row_bytes = key_of(f, 0).size + 3;
    struct snapshot *taken;
    struct rows rows;

    put_numbers(f, 5);
    taken = snapshot(f);
    for (int reverse = 0; reverse < 2; reverse++) {
        struct range range = range_of(f, 0, 5, reverse);

        CHECK(store_scan(f->op, taken, range, (struct scan_limit){ 9, 1 }, &rows) == ST_OK);
        CHECK(rows.count == 1 && rows.more);
        CHECK(store_scan(f->op, taken, range, (struct scan_limit){ 9, 2 * row_bytes }, &rows) == ST_OK);
        CHECK(rows.count == 2 && rows.more);
        CHECK(store_scan(f->op, taken, range, (struct scan_limit){ 9, 2 * row_bytes - 1 }, &rows) == ST_OK);
        CHECK(rows.count == 1 && rows.more);
        CHECK(store_scan(f->op, taken, range, (struct scan_limit){ 9, 5 * row_bytes }, &rows) == ST_OK);
        CHECK(rows.count == 5 && !rows.more);
    }
    store_release(taken);
}

CONTRACT(a_snapshot_does_not_see_what_is_committed_after_it)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct slice keys[] = { key_of(f, 0), key_of(f, 1), key_of(f, 50) }, values[3];
    struct commit_stamp stamp;
    struct snapshot *taken;
    struct rows rows;

    put_numbers(f, 3);
    taken = snapshot(f);
    batch_put(batch, keys[0], slice_of("new"));
    batch_delete(batch, keys[1]);
    batch_put(batch, keys[2], slice_of("added"));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);

    CHECK(store_get_many(f->op, taken, keys, 3, values) == ST_OK);
    CHECK(slice_is(values[0], "000") && slice_is(values[1], "001") && !values[2].data);
    CHECK(store_scan(f->op, taken, range_of(f, 0, 99, false), no_limit, &rows) == ST_OK && rows.count == 3);
    store_release(taken);
    CHECK(slice_is(get(f, 0), "new") && !get(f, 1).data && slice_is(get(f, 50), "added"));
}

CONTRACT(many_snapshots_each_see_their_own_time)
{
    enum { TIMES = 20 };
    struct snapshot *taken[TIMES];
    struct slice key = key_of(f, 1), value;
    char text[16];

    for (int i = 0; i < TIMES; i++) {
        snprintf(text, sizeof(text), "%d", i);
        CHECK(put(f, 1, text, NULL) == ST_OK);
        taken[i] = snapshot(f);
    }
    for (int step = 0; step < TIMES; step++) {
        int i = step * 7 % TIMES; /* released in a mixed order */

        CHECK(store_get_many(f->op, taken[i], &key, 1, &value) == ST_OK);
        snprintf(text, sizeof(text), "%d", i);
        CHECK(slice_is(value, text));
        store_release(taken[i]);
    }
}

CONTRACT(a_snapshot_and_its_head_agree)
{
    struct commit_stamp stamp;
    struct snapshot *before, *after;
    struct head head;

    before = snapshot(f);
    CHECK(put(f, 1, "x", &stamp) == ST_OK);
    after = snapshot(f);
    CHECK(put(f, 1, "y", NULL) == ST_OK);
    CHECK(store_snapshot_head(f->op, before, &head) == ST_OK && head.lsn == stamp.lsn - 1);
    CHECK(store_snapshot_head(f->op, after, &head) == ST_OK && head.lsn == stamp.lsn);
    CHECK(head.ts_ms == stamp.ts_ms);
    store_release(before);
    store_release(after);
}

CONTRACT(reads_count_their_round_trips_and_bytes)
{
    struct slice keys[] = { key_of(f, 0), key_of(f, 1), key_of(f, 77) }, values[3];
    struct work *work = &f->op->work;
    struct snapshot *taken;
    struct rows rows;
    struct head head;

    put_numbers(f, 5);
    taken = snapshot(f);
    *work = (struct work){ 0 };
    CHECK(store_get_many(f->op, taken, keys, 3, values) == ST_OK);
    CHECK(work->round_trips == 1 && work->bytes_read == 6);
    CHECK(store_scan(f->op, taken, range_of(f, 0, 5, false), no_limit, &rows) == ST_OK);
    CHECK(work->round_trips == 2 && work->bytes_read == 21);
    CHECK(store_snapshot_head(f->op, taken, &head) == ST_OK);
    CHECK(store_snapshot_head(f->op, taken, &head) == ST_OK);
    CHECK(work->round_trips == 2); /* the head comes with the snapshot, where nobody writes */
    store_release(taken);
}

CONTRACT(what_is_larger_than_the_operation_may_hold_is_refused)
{
    size_t size = 100000;
    char *large = arena_alloc(&f->op->arena, size);
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct slice key = key_of(f, 1), value;
    struct commit_stamp stamp;
    struct snapshot *taken;
    struct rows rows;
    struct op small;

    memset(large, 'x', size);
    batch_put(batch, key, slice_make(large, size));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    taken = snapshot(f);
    op_init(&small, f->op->env, size / 2);
    CHECK(store_get_many(&small, taken, &key, 1, &value) == ST_TOO_LARGE);
    CHECK(store_scan(&small, taken, range_of(f, 0, 5, false), no_limit, &rows) == ST_TOO_LARGE);
    op_free(&small);
    store_release(taken);
}

CONTRACT(a_loop_thread_may_read_what_is_in_memory_and_never_commits)
{
    struct commit_stamp stamp;
    struct snapshot *taken = NULL;
    struct slice value;

    CHECK(put(f, 1, "one", NULL) == ST_OK);
    f->op->may_block = false;
    if (f->remote) {
        CHECK(store_snapshot(f->op, f->bucket, &taken) == ST_WOULD_BLOCK && !taken);
        CHECK(store_get_latest(f->op, f->bucket, key_of(f, 1), &value) == ST_WOULD_BLOCK);
    } else {
        CHECK(slice_is(get(f, 1), "one"));
    }
    CHECK(store_commit(f->op, f->bucket, batch_putting(f, 1, "two"), &stamp) == ST_WOULD_BLOCK);
    f->op->may_block = true;
    CHECK(slice_is(get(f, 1), "one"));
}

/* Asked twice: the second time a store may have kept it. */
static bool latest_is(struct fixture *f, uint64_t number, const char *text)
{
    struct slice first, second;

    CHECK(store_get_latest(f->op, f->bucket, key_of(f, number), &first) == ST_OK);
    CHECK(store_get_latest(f->op, f->bucket, key_of(f, number), &second) == ST_OK);
    return text ? slice_is(first, text) && slice_is(second, text) : !first.data && !second.data;
}

CONTRACT(the_latest_value_is_that_of_the_last_commit)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;

    CHECK(latest_is(f, 1, NULL));
    CHECK(put(f, 1, "one", NULL) == ST_OK && latest_is(f, 1, "one"));
    CHECK(put(f, 1, "two", NULL) == ST_OK && latest_is(f, 1, "two"));
    batch_delete(batch, key_of(f, 1));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK && latest_is(f, 1, NULL));
    CHECK(put(f, 1, "", NULL) == ST_OK && latest_is(f, 1, ""));
}

/* ---- many at a time ---- */

enum { READERS = 16, READS_EACH = 100, READ_ROWS = 50 };

struct readers {
    struct fixture *f;
    atomic_uint next, failures;
};

static bool reads_own(struct op *op, struct bucket *bucket, uint64_t number)
{
    struct slice value = { 0 };
    char text[24];

    snprintf(text, sizeof(text), "%03llu", (unsigned long long)number);
    if (store_get_latest(op, bucket, key_document(&op->arena, TEST_BUCKET, number), &value) != ST_OK)
        return false;
    return number < READ_ROWS ? slice_is(value, text) : !value.data;
}

static void *read_many(void *argument)
{
    struct readers *readers = argument;
    unsigned reader = atomic_fetch_add(&readers->next, 1);
    struct op op;

    op_init(&op, env_system(), 1 << 24);
    op.may_block = true;
    for (unsigned i = 0; i < READS_EACH; i++) {
        if (!reads_own(&op, readers->f->bucket, (reader * 31 + i * 7) % (2 * READ_ROWS)))
            atomic_fetch_add(&readers->failures, 1);
        op_begin(&op, 1000000);
        op.may_block = true;
    }
    op_free(&op);
    return NULL;
}

CONTRACT_THREADS(of_many_who_ask_for_latest_values_at_a_time_each_gets_its_own)
{
    struct readers readers = { .f = f };
    pthread_t thread[READERS];

    put_numbers(f, READ_ROWS);
    for (int i = 0; i < READERS; i++)
        pthread_create(&thread[i], NULL, read_many, &readers);
    for (int i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    CHECK(readers.failures == 0);
}

CONTRACT(whoever_may_not_wait_gives_up_where_very_much_was_deleted)
{
    enum { ROWS = 2000, STEPS = 400 };
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct snapshot *before, *after;
    struct commit_stamp stamp;
    struct rows rows;

    put_numbers(f, ROWS);
    before = snapshot(f); /* so that what is deleted stays */
    for (uint64_t number = 0; number < ROWS - 1; number++)
        batch_delete(batch, key_of(f, number));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    after = snapshot(f);
    f->op->may_block = false;
    f->op->steps_left = STEPS;
    CHECK(store_scan(f->op, after, range_of(f, 0, ROWS, false), no_limit, &rows) == ST_WOULD_BLOCK);
    f->op->steps_left = STEPS;
    CHECK(store_scan(f->op, after, range_of(f, 0, ROWS - 1, true), no_limit, &rows) == ST_WOULD_BLOCK);
    f->op->may_block = true;
    CHECK(store_scan(f->op, after, range_of(f, 0, ROWS, false), no_limit, &rows) == ST_OK && rows.count == 1);
    store_release(before);
    store_release(after);
}

/* ---- heads ---- */

enum { HEADS = 300 };

struct heads {
    struct fixture *f;
    atomic_bool done;
    atomic_int failures, looked;
};

/* The head that a snapshot tells is the row that it has. */
static bool tells_its_head(struct op *op, struct bucket *bucket)
{
    struct slice key = key_head(&op->arena, TEST_BUCKET), value;
    struct snapshot *taken = NULL;
    struct head told, read;
    bool same = false;

    if (store_snapshot(op, bucket, &taken) != ST_OK)
        return false;
    if (store_snapshot_head(op, taken, &told) == ST_OK &&
        store_get_many(op, taken, &key, 1, &value) == ST_OK && head_decode(op, value, &read) == ST_OK)
        same = told.lsn == read.lsn && told.ts_ms == read.ts_ms && told.counter == read.counter &&
               told.counts == read.counts && told.documents == read.documents &&
               told.document_bytes == read.document_bytes;
    store_release(taken);
    return same;
}

static void *look_at_heads(void *context)
{
    struct heads *heads = context;
    struct op op;

    op_init(&op, heads->f->op->env, 1 << 20);
    while (!atomic_load(&heads->done)) {
        op_begin(&op, 1000000);
        op.may_block = true;
        if (!tells_its_head(&op, heads->f->bucket))
            atomic_fetch_add(&heads->failures, 1);
        atomic_fetch_add(&heads->looked, 1);
    }
    op_free(&op);
    return NULL;
}

CONTRACT_THREADS(a_snapshot_tells_the_head_that_it_has)
{
    struct heads heads = { .f = f };
    pthread_t thread;

    if (f->remote) /* it has no such row */
        return;
    REQUIRE(pthread_create(&thread, NULL, look_at_heads, &heads) == 0);
    for (uint64_t i = 0; i < HEADS || heads.looked < HEADS; i++)
        CHECK(put(f, i % HEADS, "text", NULL) == ST_OK);
    atomic_store(&heads.done, true);
    pthread_join(thread, NULL);
    CHECK(tells_its_head(f->op, f->bucket));
    CHECK(heads.failures == 0);
}

/* ---- items ---- */

static uint64_t put_record(struct fixture *f, uint64_t number)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp = { 0 };
    size_t size;
    uint8_t *record = stampable(f, &size);

    batch_put_stamped(batch, key_of(f, number), record, size);
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    return stamp.lsn;
}

/* LSNs of the items 1 to 3 as the snapshot has them, 0 for one that it has not; often, so that a cache takes part. */
static void check_items(struct fixture *f, struct snapshot *snapshot, const uint64_t lsn[3])
{
    struct slice keys[3] = { key_of(f, 1), key_of(f, 2), key_of(f, 3) }, values[3];

    for (int round = 0; round < 4; round++) {
        REQUIRE(store_get_items(f->op, snapshot, keys, 3, values) == ST_OK);
        for (size_t i = 0; i < 3; i++)
            CHECK(values[i].data ? value_stamped(values[i]).lsn == lsn[i] : lsn[i] == 0);
    }
}

CONTRACT(items_are_those_that_the_snapshot_sees_however_often_they_are_read_before_and_after)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct snapshot *first, *second, *third;
    uint64_t one = put_record(f, 1), two = put_record(f, 2), again, three;
    struct commit_stamp stamp;

    REQUIRE(store_snapshot(f->op, f->bucket, &first) == ST_OK);
    check_items(f, first, (uint64_t[]){ one, two, 0 });
    again = put_record(f, 1);
    three = put_record(f, 3);
    REQUIRE(store_snapshot(f->op, f->bucket, &second) == ST_OK);
    check_items(f, first, (uint64_t[]){ one, two, 0 });
    check_items(f, second, (uint64_t[]){ again, two, three });
    check_items(f, first, (uint64_t[]){ one, two, 0 });
    batch_delete(batch, key_of(f, 2));
    CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    REQUIRE(store_snapshot(f->op, f->bucket, &third) == ST_OK);
    check_items(f, third, (uint64_t[]){ again, 0, three });
    check_items(f, second, (uint64_t[]){ again, two, three });
    check_items(f, first, (uint64_t[]){ one, two, 0 });
    store_release(first);
    store_release(second);
    store_release(third);
}
