/* test/store/index_test.c - the contract: entries appear and go with their commits, and are walked in order. */
#include <pthread.h>

#include "fixture.h"
#include "index/set.h"
#include "keys/bytes.h"
#include "store/entries.h"

enum {
    TERMS = 24,
    NUMBERS = 50,
    PATH_TERMS = 16
}; /* the first path has so many terms, the second the rest */

/* Which entries there are. */
struct model {
    bool has[TERMS][NUMBERS];
};

/* Terms in order; some begin with the bytes of others, as far as a value can. */
static struct slice term_of(struct fixture *f, size_t term)
{
    size_t path = term / PATH_TERMS, value = term % PATH_TERMS, size = 0;
    uint8_t *bytes = arena_alloc(&f->op->arena, 64);

    put_be(bytes, 0x1122334455667700 + path, 8);
    size = 8;
    bytes[size++] = 6;
    for (size_t i = 0; i < value % 4 + 1; i++)
        bytes[size++] = (uint8_t)('a' + value / 4);
    bytes[size++] = 0;
    return slice_make(bytes, size);
}

/* Above all terms from `term` on when it is TERMS. */
static struct slice bound_of(struct fixture *f, size_t term)
{
    return term < TERMS ? term_of(f, term)
                        : index_prefix_end(&f->op->arena, slice_make(term_of(f, TERMS - 1).data, 8));
}

/* Numbers that are far apart, so that deltas between them take several bytes. */
static uint64_t number_at(size_t at)
{
    return 1 + at * at * at * 977;
}

static struct slice entry_of(struct fixture *f, size_t term, size_t number)
{
    return key_index(&f->op->arena, TEST_BUCKET, term_of(f, term), number_at(number));
}

static void toggle(struct fixture *f, struct batch *batch, struct model *model, size_t term, size_t number)
{
    bool *has = &model->has[term][number];

    if (*has)
        batch_index_remove(batch, entry_of(f, term, number));
    else
        batch_index_add(batch, entry_of(f, term, number));
    *has = !*has;
}

static void toggle_some(struct fixture *f, struct batch *batch, struct model *model, size_t count)
{
    for (size_t i = 0; i < count; i++)
        toggle(f, batch, model, test_random() % TERMS, test_random() % NUMBERS);
}

static enum status commit_some(struct fixture *f, struct model *model, size_t count)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;

    toggle_some(f, batch, model, count);
    return store_commit(f->op, f->bucket, batch, &stamp);
}

/* A walk of the model: where it is, in the order of the walk. */
struct place {
    size_t from, to; /* terms */
    bool reverse;
    uint64_t first, last;
    size_t at; /* steps done */
};

static size_t steps_of(const struct place *place)
{
    return place->to > place->from ? (place->to - place->from) * NUMBERS : 0;
}

static void entry_at(const struct place *place, size_t at, size_t *term, size_t *number)
{
    size_t step = place->reverse ? steps_of(place) - 1 - at : at;

    *term = place->from + step / NUMBERS;
    *number = step % NUMBERS;
}

/* The next entry that the model has; false at the end. */
static bool model_next(const struct model *model, struct place *place, size_t *term, size_t *number)
{
    for (; place->at < steps_of(place); place->at++) {
        entry_at(place, place->at, term, number);
        if (model->has[*term][*number] && number_at(*number) >= place->first &&
            number_at(*number) <= place->last)
            return true;
    }
    return false;
}

static void model_seek(struct place *place, size_t term, size_t number)
{
    for (; place->at < steps_of(place); place->at++) {
        size_t at_term, at_number;
        bool before;

        entry_at(place, place->at, &at_term, &at_number);
        before = at_term < term || (at_term == term && at_number < number);
        if (place->reverse)
            before = at_term > term || (at_term == term && at_number > number);
        if (!before)
            break;
    }
}

static struct place random_place(void)
{
    struct place place = { .from = test_random() % TERMS, .reverse = test_random() % 2, .last = UINT64_MAX };
    size_t path_end = place.from < PATH_TERMS ? PATH_TERMS : TERMS;

    place.to = place.from + test_random() % (path_end - place.from + 1);
    if (test_random() % 3 == 0)
        place.first = number_at(test_random() % NUMBERS) + test_random() % 2;
    if (test_random() % 3 == 0)
        place.last = number_at(test_random() % NUMBERS) - test_random() % 2;
    return place;
}

static bool same_block(struct fixture *f, const struct model *model, struct place *place,
                       const struct index_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        size_t term, number;

        if (!model_next(model, place, &term, &number) || !slice_equal(block->term, term_of(f, term)) ||
            block->number[i] != number_at(number))
            return false;
        place->at++;
    }
    return true;
}

static enum status seek_somewhere(struct fixture *f, struct index_cursor *cursor, struct place *place)
{
    size_t first = place->from < PATH_TERMS ? 0 : PATH_TERMS, end = first ? TERMS : PATH_TERMS;
    size_t term = first + test_random() % (end - first), number = test_random() % NUMBERS;

    model_seek(place, term, number);
    return index_cursor_seek(f->op, cursor, term_of(f, term), number_at(number));
}

/* `seeks` in a hundred calls are followed by a seek, which may lead backwards and then does nothing. */
static bool walk_is_right(struct fixture *f, const struct view *view, const struct model *model,
                          unsigned seeks)
{
    struct place place = random_place();
    struct index_walk walk = { bound_of(f, place.from), bound_of(f, place.to), place.first, place.last,
                               place.reverse };
    struct index_cursor *cursor = NULL;
    struct index_block block = { 0 };
    size_t term, number;
    bool right = true;
    enum status st;

    if (place.to == PATH_TERMS &&
        place.from < PATH_TERMS) /* its own path's end, and not the next one's first */
        walk.to = index_prefix_end(&f->op->arena, slice_make(term_of(f, 0).data, 8));
    TRY(index_cursor_open(f->op, view, &walk, &cursor));
    do {
        if (test_random() % 100 < seeks)
            TRY(seek_somewhere(f, cursor, &place));
        TRY(index_cursor_next(f->op, cursor, &block));
        right = same_block(f, model, &place, &block);
    } while (right && block.count);
    right = right && !model_next(model, &place, &term, &number);
out:
    index_cursor_close(cursor);
    return st == ST_OK && right;
}

static bool count_is_right(struct fixture *f, const struct view *view, const struct model *model)
{
    struct place place = random_place();
    uint64_t count = 0, expected = 0;
    size_t term, number;

    place.first = 0;
    place.last = UINT64_MAX;
    for (; model_next(model, &place, &term, &number); place.at++)
        expected++;
    return index_count(f->op, view, bound_of(f, place.from), bound_of(f, place.to), &count) == ST_OK &&
           count == expected;
}

static bool view_is_right(struct fixture *f, const struct view *view, const struct model *model, size_t walks)
{
    for (size_t i = 0; i < walks; i++)
        if (!walk_is_right(f, view, model, i % 2 ? 30 : 0) || !count_is_right(f, view, model))
            return false;
    return true;
}

static bool store_is_right(struct fixture *f, const struct model *model, size_t walks)
{
    struct view view = { 0 };
    bool right = view_open(f->op, f->bucket, NULL, &view) == ST_OK && view_is_right(f, &view, model, walks);

    view_close(&view);
    return right;
}

CONTRACT_INDEX(entries_are_walked_and_counted_as_the_commits_left_them)
{
    struct model model = { 0 };

    for (size_t i = 0; i < 40; i++) {
        CHECK(commit_some(f, &model, 1 + test_random() % 60) == ST_OK);
        CHECK(store_is_right(f, &model, 6));
    }
}

CONTRACT_INDEX(a_transaction_sees_its_own_entries)
{
    struct model model = { 0 };

    for (size_t i = 0; i < 15; i++) {
        struct batch *batch = batch_new(f->op, TEST_BUCKET);
        struct model own = model;
        struct view view = { 0 };

        CHECK(view_open(f->op, f->bucket, batch, &view) == ST_OK);
        for (size_t j = 0; j < 5; j++) {
            toggle_some(f, batch, &own, test_random() % 80);
            CHECK(view_is_right(f, &view, &own, 5));
        }
        view_close(&view);
        CHECK(store_is_right(f, &model, 2));
        CHECK(commit_some(f, &model, test_random() % 200) == ST_OK);
    }
}

CONTRACT_INDEX(a_snapshot_keeps_its_entries)
{
    enum { SNAPSHOTS = 8 };
    struct view views[SNAPSHOTS] = { 0 };
    struct model models[SNAPSHOTS], model = { 0 };

    for (size_t i = 0; i < SNAPSHOTS; i++) {
        CHECK(commit_some(f, &model, 100) == ST_OK);
        models[i] = model;
        CHECK(view_open(f->op, f->bucket, NULL, &views[i]) == ST_OK);
        if (i % 3 == 2)
            CHECK(store_entries_flush(f->op, f->store) == ST_OK);
    }
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        CHECK(view_is_right(f, &views[i], &models[i], 8));
        view_close(&views[i]);
    }
}

CONTRACT_INDEX(an_entry_added_and_removed_in_one_batch_leaves_nothing)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    size_t count;

    batch_index_add(batch, entry_of(f, 1, 1));
    batch_index_remove(batch, entry_of(f, 2, 1));
    batch_index_remove(batch, entry_of(f, 1, 1));
    batch_index_add(batch, entry_of(f, 1, 1));
    batch_index_entries(batch, &count);
    CHECK(count == 2);
    batch_index_remove(batch, entry_of(f, 1, 1));
    batch_index_add(batch, entry_of(f, 2, 1));
    batch_index_entries(batch, &count);
    CHECK(count == 0);
    CHECK(batch_is_empty(batch));
}

CONTRACT_INDEX(a_dated_entry_has_the_time_of_its_commit)
{
    for (int descending = 0; descending < 2; descending++) {
        uint8_t term[8 + ORDERED_TIME_BYTES];
        struct batch *batch = batch_new(f->op, TEST_BUCKET);
        struct commit_stamp stamp;
        struct view view = { 0 };
        struct slice key;
        uint64_t count = 0;

        put_be(term, 0x55 + (unsigned)descending, 8);
        memset(term + 8, 0xaa, ORDERED_TIME_BYTES);
        key = key_index(&f->op->arena, TEST_BUCKET, slice_make(term, sizeof(term)), 5);
        batch_index_add_dated(batch, key, key.size - 8 - ORDERED_TIME_BYTES, descending);
        CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
        ordered_put_time(term + 8, stamp.ts_ms, descending);
        CHECK(view_open(f->op, f->bucket, NULL, &view) == ST_OK);
        CHECK(index_count(f->op, &view, slice_make(term, sizeof(term)),
                          index_prefix_end(&f->op->arena, slice_make(term, sizeof(term))), &count) == ST_OK);
        CHECK(count == 1);
        view_close(&view);
    }
}

/* Removes the entry of the time before and adds that of its own commit. */
static enum status date_again(struct fixture *f, int64_t before_ms, bool descending,
                              struct commit_stamp *stamp)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    uint8_t term[8 + ORDERED_TIME_BYTES];
    struct slice key;

    put_be(term, 0x77 + (unsigned)descending, 8);
    if (before_ms) {
        ordered_put_time(term + 8, before_ms, descending);
        batch_index_remove(batch, key_index(&f->op->arena, TEST_BUCKET, slice_make(term, sizeof(term)), 5));
    }
    memset(term + 8, descending ? 0x00 : 0xff, ORDERED_TIME_BYTES);
    key = key_index(&f->op->arena, TEST_BUCKET, slice_make(term, sizeof(term)), 5);
    batch_index_add_dated(batch, key, key.size - 8 - ORDERED_TIME_BYTES, descending);
    return store_commit(f->op, f->bucket, batch, stamp);
}

CONTRACT_INDEX(an_entry_dated_within_the_same_second_stays)
{
    for (int descending = 0; descending < 2; descending++) {
        uint8_t path[8];
        struct commit_stamp first, second;
        struct view view = { 0 };
        uint64_t count = 0;

        CHECK(date_again(f, 0, descending, &first) == ST_OK);
        CHECK(date_again(f, first.ts_ms, descending, &second) == ST_OK);
        put_be(path, 0x77 + (unsigned)descending, 8);
        CHECK(view_open(f->op, f->bucket, NULL, &view) == ST_OK);
        CHECK(index_count(f->op, &view, slice_make(path, 8),
                          index_prefix_end(&f->op->arena, slice_make(path, 8)), &count) == ST_OK);
        CHECK(count == 1);
        view_close(&view);
    }
}

CONTRACT_INDEX(a_write_that_failed_leaves_no_entries_and_one_that_happened_does)
{
    struct model model = { 0 };

    if (!f->faulty)
        return;
    for (size_t i = 0; i < 20; i++) {
        struct model after = model;
        enum status st;

        f->controls.fail_after = i % 2;
        faulty_fail(&f->controls, FAULTY_WRITE, 1);
        st = commit_some(f, &after, 40);
        CHECK(st == (i % 2 ? ST_OK : ST_UNAVAILABLE));
        if (st == ST_OK)
            model = after;
        CHECK(store_is_right(f, &model, 3));
        CHECK(commit_some(f, &model, 10) == ST_OK);
        CHECK(store_is_right(f, &model, 3));
    }
}

CONTRACT_INDEX(entries_are_there_after_a_clean_close)
{
    struct model model = { 0 };

    if (!f->durable)
        return;
    for (size_t i = 0; i < 6; i++) {
        CHECK(commit_some(f, &model, 150) == ST_OK);
        if (i % 2)
            fixture_reopen(f);
        CHECK(store_is_right(f, &model, 6));
    }
}

CONTRACT_INDEX(a_dropped_bucket_has_no_entries)
{
    struct model model = { 0 }, none = { 0 };

    CHECK(commit_some(f, &model, 100) == ST_OK);
    CHECK(store_drop(f->op, f->store, TEST_BUCKET) == ST_OK);
    CHECK(store_is_right(f, &none, 5));
}

/* ---- one writer, several readers ---- */

enum { READERS = 3, ROUNDS = 60 };

/*
 * Each round has one number; its commit puts the number under one term and takes the round before out of another,
 * so that a reader knows from a count alone whether it saw whole commits.
 */
struct reader {
    struct fixture *f;
    atomic_bool *done;
    bool right;
};

/* Both paths in one view. */
static enum status count_all(struct op *op, const struct view *view, uint64_t *count)
{
    struct fixture own = { .op = op };
    uint64_t first, second;
    enum status st;

    TRY(index_count(op, view, bound_of(&own, 0), bound_of(&own, PATH_TERMS), &first));
    TRY(index_count(op, view, bound_of(&own, PATH_TERMS), bound_of(&own, TERMS), &second));
    *count = first + second;
out:
    return st;
}

static bool one_look(struct fixture *f, struct op *op)
{
    struct view view = { 0 };
    uint64_t count = 0;
    struct head head;
    bool right;

    right = view_open(op, f->bucket, NULL, &view) == ST_OK &&
            store_snapshot_head(op, view.snapshot, &head) == ST_OK && count_all(op, &view, &count) == ST_OK &&
            count == (head.lsn ? 10 : 0);
    view_close(&view);
    return right;
}

static void *read_all_the_time(void *argument)
{
    struct reader *reader = argument;
    struct op op;

    op_init(&op, reader->f->op->env, 64 << 20);
    reader->right = true;
    while (!atomic_load(reader->done) && reader->right) {
        op_begin(&op, INT64_MAX / 2);
        op.may_block = true;
        reader->right = one_look(reader->f, &op);
    }
    op_free(&op);
    return NULL;
}

static enum status write_round(struct fixture *f, size_t round)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;

    for (size_t i = 0; i < 10; i++) {
        if (round > 0)
            batch_index_remove(batch, entry_of(f, (round - 1 + i) % TERMS, (round - 1) % NUMBERS));
        batch_index_add(batch, entry_of(f, (round + i) % TERMS, round % NUMBERS));
    }
    return store_commit(f->op, f->bucket, batch, &stamp);
}

CONTRACT_INDEX_THREADS(readers_see_the_entries_of_whole_commits)
{
    struct reader readers[READERS];
    pthread_t threads[READERS];
    atomic_bool done = false;

    for (size_t i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ f, &done, false };
        pthread_create(&threads[i], NULL, read_all_the_time, &readers[i]);
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        CHECK(write_round(f, round) == ST_OK);
        if (round % 20 == 19)
            CHECK(store_entries_flush(f->op, f->store) == ST_OK);
    }
    atomic_store(&done, true);
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(readers[i].right);
    }
}
