/* test/unit/store/mark_test.c - the backend in memory goes back to its marks, compared with a model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "test.h"

enum { KEYS = 40, MARKS = 4, ROUNDS = 300 };

/* What each key has: 0 is nothing. */
struct model {
    unsigned value[KEYS];
};

static struct slice key_number(struct op *op, unsigned key)
{
    char text[16];

    snprintf(text, sizeof(text), "key%03u", key);
    return slice_of(arena_text(&op->arena, slice_of(text)));
}

static struct slice value_number(struct op *op, unsigned value)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    return value ? slice_of(arena_text(&op->arena, slice_of(text))) : (struct slice){ 0 };
}

static void write_one(struct op *op, struct backend *backend, struct model *model, unsigned key,
                      unsigned value)
{
    struct mutation mutation = { key_number(op, key), value_number(op, value) };

    CHECK(backend->ops->write(op, backend, &mutation, 1, false) == ST_OK);
    model->value[key] = value;
}

static void check_all(struct op *op, struct backend *backend, struct backend_snapshot *snapshot,
                      const struct model *model)
{
    for (unsigned i = 0; i < KEYS; i++) {
        struct slice key = key_number(op, i), value, wanted = value_number(op, model->value[i]);

        REQUIRE(backend->ops->get_many(op, backend, snapshot, &key, 1, &value) == ST_OK);
        CHECK(!value.data == !wanted.data && (!value.data || slice_equal(value, wanted)));
    }
}

static unsigned roll(uint64_t *state, unsigned sides)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % sides;
}

TEST(each_mark_can_be_gone_back_to_however_often_and_in_any_order)
{
    struct op *op = test_op();
    struct backend *backend = memory_backend();
    struct backend_snapshot *mark[MARKS] = { NULL }, *reader;
    struct model now = { 0 }, then[MARKS], seen;
    uint64_t state = 7;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        unsigned which = roll(&state, MARKS);

        for (unsigned i = roll(&state, 12); i > 0; i--)
            write_one(op, backend, &now, roll(&state, KEYS), roll(&state, 3) ? round : 0);
        REQUIRE(backend->ops->snapshot(op, backend, &reader) == ST_OK);
        seen = now;
        if (!mark[which]) {
            REQUIRE(backend->ops->mark(op, backend, &mark[which]) == ST_OK);
            then[which] = now;
        } else if (roll(&state, 4) == 0) {
            backend->ops->unmark(backend, mark[which]);
            mark[which] = NULL;
        } else {
            backend->ops->rewind(backend, mark[which]);
            now = then[which];
        }
        check_all(op, backend, NULL, &now);
        check_all(op, backend, reader, &seen); /* who reads meanwhile sees what there was */
        backend->ops->release(backend, reader);
        for (unsigned i = 0; i < MARKS; i++)
            if (mark[i])
                check_all(op, backend, mark[i], &then[i]);
    }
    for (unsigned i = 0; i < MARKS; i++)
        if (mark[i])
            backend->ops->unmark(backend, mark[i]);
    check_all(op, backend, NULL, &now);
    backend->ops->close(backend);
}

TEST(a_row_that_is_written_over_and_over_under_a_mark_takes_no_more_memory)
{
    struct op *op = test_op();
    struct backend *backend = memory_backend();
    struct backend_snapshot *mark;
    struct model now = { 0 };
    uint64_t bytes;

    write_one(op, backend, &now, 1, 11);
    REQUIRE(backend->ops->mark(op, backend, &mark) == ST_OK);
    write_one(op, backend, &now, 1, 12);
    bytes = backend->ops->disk_bytes(backend);
    for (unsigned i = 0; i < 100; i++)
        write_one(op, backend, &now, 1, 13 + i % 80);
    CHECK(backend->ops->disk_bytes(backend) == bytes);
    backend->ops->unmark(backend, mark);
    write_one(op, backend, &now, 1, 0);
    CHECK(backend->ops->disk_bytes(backend) == 0);
    backend->ops->close(backend);
}

/* ---- runs of the packed index ---- */

static struct slice run_key_number(struct op *op, unsigned run, unsigned row)
{
    char text[24];

    snprintf(text, sizeof(text), "run%03u,%03u", run, row);
    return slice_of(arena_text(&op->arena, slice_of(text)));
}

static void write_run(struct op *op, struct backend *backend, unsigned run, unsigned rows)
{
    struct run_space *space = backend->runs;
    struct run_writer *writer;

    REQUIRE(space->ops->begin(op, space, &writer) == ST_OK);
    for (unsigned i = 0; i < rows; i++)
        CHECK(space->ops->add(op, space, writer, run_key_number(op, run, i), slice_of("page")) == ST_OK);
    CHECK(space->ops->finish(op, space, writer) == ST_OK);
}

static void remove_run(struct op *op, struct backend *backend, unsigned run)
{
    struct run_space *space = backend->runs;

    CHECK(space->ops->remove(op, space, run_key_number(op, run, 0), run_key_number(op, run + 1, 0)) == ST_OK);
}

/* All rows from the first on, each with a blank behind it, and the same backwards. */
static void check_rows(struct op *op, struct backend *backend, const char *wanted)
{
    struct run_space *space = backend->runs;
    struct run_cursor *cursor;
    struct run_row row = { 0 };
    struct buf rows;
    size_t count = 0;

    buf_init(&rows, &op->arena);
    REQUIRE(space->ops->open(op, space, false, &cursor) == ST_OK);
    CHECK(space->ops->read(op, space, cursor, RUN_AT_OR_AFTER, slice_of("a"), &row) == ST_OK);
    while (row.key.data) {
        buf_printf(&rows, "%.*s ", SLICE_ARGS(row.key));
        count++;
        CHECK(space->ops->read(op, space, cursor, RUN_NEXT, (struct slice){ 0 }, &row) == ST_OK);
    }
    CHECK(slice_is(buf_as_slice(&rows), wanted));
    CHECK(space->ops->read(op, space, cursor, RUN_BEFORE, slice_of("z"), &row) == ST_OK);
    while (row.key.data) {
        count--;
        CHECK(space->ops->read(op, space, cursor, RUN_PREVIOUS, (struct slice){ 0 }, &row) == ST_OK);
    }
    CHECK(count == 0);
    space->ops->close(space, cursor);
    free(row.memory);
}

TEST(a_mark_has_the_runs_of_its_moment_whatever_is_written_or_removed_since)
{
    struct op *op = test_op();
    struct backend *backend = memory_backend();
    struct backend_snapshot *first, *second;
    uint64_t bytes;

    write_run(op, backend, 1, 2);
    write_run(op, backend, 2, 1);
    bytes = backend->ops->disk_bytes(backend);
    REQUIRE(backend->ops->mark(op, backend, &first) == ST_OK);
    remove_run(op, backend, 1);
    write_run(op, backend, 4, 1);
    write_run(op, backend, 3, 1); /* runs may be finished in another order than their numbers' */
    check_rows(op, backend, "run002,000 run003,000 run004,000 ");
    REQUIRE(backend->ops->mark(op, backend, &second) == ST_OK);
    backend->ops->rewind(backend, first);
    check_rows(op, backend, "run001,000 run001,001 run002,000 ");
    CHECK(backend->ops->disk_bytes(backend) == bytes);
    write_run(op, backend, 3, 3); /* the number is free again: it is another run than the second mark's */
    backend->ops->rewind(backend, second);
    check_rows(op, backend, "run002,000 run003,000 run004,000 ");
    backend->ops->unmark(backend, second);
    remove_run(op, backend, 3);
    backend->ops->rewind(backend, first);
    backend->ops->unmark(backend, first);
    check_rows(op, backend, "run001,000 run001,001 run002,000 ");
    backend->ops->close(backend);
}

TEST(a_cursor_goes_on_in_a_run_that_is_removed_meanwhile)
{
    struct op *op = test_op();
    struct backend *backend = memory_backend();
    struct run_space *space = backend->runs;
    struct run_cursor *cursor;
    struct run_row row = { 0 };

    write_run(op, backend, 1, 3);
    write_run(op, backend, 2, 1);
    REQUIRE(space->ops->open(op, space, false, &cursor) == ST_OK);
    CHECK(space->ops->read(op, space, cursor, RUN_AT_OR_AFTER, run_key_number(op, 1, 1), &row) == ST_OK);
    remove_run(op, backend, 1);
    CHECK(space->ops->read(op, space, cursor, RUN_NEXT, (struct slice){ 0 }, &row) == ST_OK);
    CHECK(slice_is(row.key, "run001,002"));
    CHECK(space->ops->read(op, space, cursor, RUN_NEXT, (struct slice){ 0 }, &row) == ST_OK);
    CHECK(slice_is(row.key, "run002,000"));
    CHECK(space->ops->read(op, space, cursor, RUN_PREVIOUS, (struct slice){ 0 }, &row) == ST_OK);
    CHECK(!row.key.data);
    space->ops->close(space, cursor);
    free(row.memory);
    backend->ops->close(backend);
}
