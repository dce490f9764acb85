/* test/store/view_test.c - the contract: a view is its snapshot with the batch's writes in place. */
#include "fixture.h"

enum { KEYS = 60 };

/* The naive model: what each key should hold; empty text for none. */
struct model {
    char text[KEYS][8];
};

static bool has(const struct model *model, uint64_t number)
{
    return model->text[number][0] != '\0';
}

/* Writes a random set into the batch and the model alike. */
static void write_randomly(struct fixture *f, struct batch *batch, struct model *model, size_t writes)
{
    for (size_t i = 0; i < writes; i++) {
        uint64_t number = test_random() % KEYS;
        char *text = model->text[number];

        if (test_random() % 3 == 0) {
            text[0] = '\0';
            batch_delete(batch, key_of(f, number));
        } else {
            snprintf(text, sizeof(model->text[0]), "%u", (unsigned)(test_random() % 100000));
            batch_put(batch, key_of(f, number), arena_copy(&f->op->arena, slice_of(text)));
        }
    }
}

static size_t row_bytes(struct fixture *f, const struct model *model, uint64_t number)
{
    return key_of(f, number).size + strlen(model->text[number]);
}

/* Walks the model as view_scan() should walk the store, comparing on the way. */
static bool scan_is_right(struct fixture *f, const struct model *model, struct range range, uint64_t from,
                          uint64_t to, struct scan_limit limit, const struct rows *rows)
{
    size_t count = 0, bytes = 0;

    for (uint64_t step = 0; from + step < to; step++) {
        uint64_t number = range.reverse ? to - 1 - step : from + step;

        if (!has(model, number))
            continue;
        if (count == limit.rows || (count > 0 && bytes + row_bytes(f, model, number) > limit.bytes))
            return rows->count == count && rows->more;
        if (count == rows->count || !slice_equal(rows->row[count].key, key_of(f, number)) ||
            !slice_is(rows->row[count].value, model->text[number]))
            return false;
        bytes += row_bytes(f, model, number);
        count++;
    }
    return rows->count == count && !rows->more;
}

static bool one_scan(struct fixture *f, const struct view *view, const struct model *model)
{
    uint64_t from = test_random() % KEYS, to = test_random() % (KEYS + 1);
    struct range range = range_of(f, from, to, test_random() % 2);
    struct scan_limit limit = { test_random() % 3 ? 1 + test_random() % 20 : SIZE_MAX,
                                test_random() % 2 ? 1 + test_random() % 300 : SIZE_MAX };
    struct rows rows;

    return view_scan(f->op, view, range, limit, &rows) == ST_OK &&
           scan_is_right(f, model, range, from, to, limit, &rows);
}

static bool all_gets(struct fixture *f, const struct view *view, const struct model *model)
{
    struct slice keys[KEYS], values[KEYS];
    uint64_t trips = f->op->work.round_trips;

    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = key_of(f, i);
    if (view_get_many(f->op, view, keys, KEYS, values) != ST_OK || f->op->work.round_trips > trips + 1)
        return false;
    for (uint64_t i = 0; i < KEYS; i++)
        if (has(model, i) ? !slice_is(values[i], model->text[i]) : values[i].data != NULL)
            return false;
    return true;
}

CONTRACT(a_view_agrees_with_a_naive_model_whatever_is_written)
{
    struct model model = { 0 };
    struct commit_stamp stamp;
    struct view view;

    for (int round = 0; round < 150; round++) {
        struct batch *batch = batch_new(f->op, TEST_BUCKET);

        REQUIRE(view_open(f->op, f->bucket, batch, &view) == ST_OK);
        write_randomly(f, batch, &model, test_random() % 40);
        for (int i = 0; i < 20; i++)
            CHECK(one_scan(f, &view, &model));
        CHECK(all_gets(f, &view, &model));
        view_close(&view);
        CHECK(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    }
}

CONTRACT(a_scan_goes_on_past_rows_that_the_batch_deletes)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET), *deletes = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;
    struct view view;
    struct rows rows;

    for (uint64_t i = 0; i < 500; i++)
        batch_put(batch, key_of(f, i), slice_of("x"));
    REQUIRE(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    for (uint64_t i = 0; i < 499; i++)
        batch_delete(deletes, key_of(f, i));
    REQUIRE(view_open(f->op, f->bucket, deletes, &view) == ST_OK);
    CHECK(view_scan(f->op, &view, range_of(f, 0, 500, false), (struct scan_limit){ 2, SIZE_MAX }, &rows) ==
          ST_OK);
    CHECK(rows.count == 1 && !rows.more && slice_equal(rows.row[0].key, key_of(f, 499)));
    view_close(&view);
}

CONTRACT(a_few_deletions_cost_a_scan_no_second_round_trip)
{
    struct batch *batch = batch_new(f->op, TEST_BUCKET), *deletes = batch_new(f->op, TEST_BUCKET);
    struct commit_stamp stamp;
    struct view view;
    struct rows rows;

    for (uint64_t i = 0; i < 100; i++)
        batch_put(batch, key_of(f, i), slice_of("x"));
    REQUIRE(store_commit(f->op, f->bucket, batch, &stamp) == ST_OK);
    for (uint64_t i = 0; i < 5; i++)
        batch_delete(deletes, key_of(f, i));
    REQUIRE(view_open(f->op, f->bucket, deletes, &view) == ST_OK);
    f->op->work.round_trips = 0;
    CHECK(view_scan(f->op, &view, range_of(f, 0, 100, false), (struct scan_limit){ 10, SIZE_MAX }, &rows) ==
          ST_OK);
    CHECK(rows.count == 10 && rows.more && f->op->work.round_trips == 1);
    view_close(&view);
}

CONTRACT(what_the_batch_has_is_not_asked_of_the_store)
{
    struct batch *batch = batch_putting(f, 1, "mine");
    struct slice value;
    struct view view;

    REQUIRE(view_open(f->op, f->bucket, batch, &view) == ST_OK);
    f->op->work.round_trips = 0;
    CHECK(view_get(f->op, &view, key_of(f, 1), &value) == ST_OK && slice_is(value, "mine"));
    CHECK(f->op->work.round_trips == 0);
    view_close(&view);
}
