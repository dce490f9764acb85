/* test/unit/packed/packed_test.c - the packed index beside a table of what it must say. */
#include <stdlib.h>

#include "keys/keys.h"
#include "packed_world.h"
#include "store/faulty.h"
#include "test.h"

/* Nothing is written out by itself. */
static const struct packed_options in_memory = { .delta_bytes = SIZE_MAX,
                                                 .filter_bytes = 1 << 20,
                                                 .merge_runs = 4 };

/* Every commit becomes a run, and three runs become one. */
static const struct packed_options at_once = {
    .delta_bytes = 1, .filter_bytes = 1 << 20, .page_bytes = 1 << 20, .merge_runs = 3
};

/* A run now and then, and entries in memory above it. */
static const struct packed_options now_and_then = {
    .delta_bytes = 90000, .filter_bytes = 4096, .page_bytes = 1 << 18, .merge_runs = 2
};

static void some_steps(struct world *world, size_t steps)
{
    bool same = true;

    for (size_t step = 0; step < steps && same; step++) {
        CHECK(world_commit(world, world_random(WORLD_BUCKETS), world_random(30)));
        if (world_random(3) == 0)
            world_look(world, world_random(WORLD_VIEWS));
        if (world_random(10) == 0)
            world_lose(world, world_random(WORLD_BUCKETS), 20);
        same = world_check_views(world);
    }
    CHECK(same);
}

static void check_now(struct world *world)
{
    world_look(world, 0);
    CHECK(world_check_all(world, &world->view[0]));
}

static void steps_with(const struct packed_options *options, size_t steps)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, options);

    some_steps(world, steps);
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

TEST(a_pin_sees_what_was_committed_when_it_was_taken_and_nothing_else)
{
    steps_with(&in_memory, 300);
}

TEST(writing_out_and_merging_change_nothing_that_a_pin_sees)
{
    steps_with(&at_once, 150);
    steps_with(&now_and_then, 300);
}

TEST(a_thread_of_its_own_writes_out_and_merges)
{
    struct packed_options options = now_and_then;

    options.threads = true;
    steps_with(&options, 300);
    options.delta_bytes = 1;
    steps_with(&options, 150);
}

TEST(what_is_settled_is_there_after_a_crash_and_nothing_else)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &now_and_then);

    for (int i = 0; i < 12; i++) {
        some_steps(world, 40);
        world_crash(world);
        check_now(world);
    }
    world_free(world);
    backend->ops->close(backend);
}

TEST(a_flush_leaves_nothing_to_be_rebuilt)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &in_memory);
    uint64_t lsn[WORLD_BUCKETS];

    some_steps(world, 60);
    CHECK(world_commit(world, 0, 0)); /* without entries it counts as well */
    memcpy(lsn, world->lsn, sizeof(lsn));
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    world_crash(world);
    CHECK(memcmp(lsn, world->lsn, sizeof(lsn)) == 0);
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

TEST(nothing_is_written_out_before_all_of_a_lost_group_is_forgotten)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &in_memory);

    some_steps(world, 60);
    for (size_t i = 0; i < 2; i++)
        world_begin_commit(world, i, 20);
    packed_forget(world->packed, world_bucket(0), world->lsn[0]);
    CHECK(packed_flush(world->op, world->packed) == ST_UNAVAILABLE);
    packed_forget(world->packed, world_bucket(1), world->lsn[1]);
    packed_committed(world->packed);
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

static struct packed_stats stats_of(struct world *world)
{
    struct packed_stats stats = { 0 };

    packed_stats(world->packed, &stats);
    return stats;
}

TEST(stats_tell_of_memory_runs_and_merges)
{
    struct op *op = test_op();
    struct backend *backend = memory_backend();
    struct world *world = world_new(op, backend, &in_memory);
    struct packed_stats stats;

    for (size_t i = 0; i < 2; i++) {
        world_commit(world, 0, 50);
        stats = stats_of(world);
        CHECK(stats.memory_bytes > 0 && stats.runs == i && stats.merges == 0);
        CHECK(packed_flush(op, world->packed) == ST_OK);
    }
    stats = stats_of(world);
    CHECK(stats.runs == 2 && stats.run_bytes > 0);
    for (size_t i = 0; i < 20; i++) {
        world_commit(world, 0, 50);
        CHECK(packed_flush(op, world->packed) == ST_OK);
    }
    stats = stats_of(world);
    CHECK(stats.merges > 0 && stats.runs < 22);
    world_free(world);
    backend->ops->close(backend);
}

TEST(hundreds_of_runs_are_read_and_merged)
{
    enum { RUNS = 300 };
    struct packed_options options = in_memory;
    struct backend *backend = memory_backend();
    struct world *world;

    options.merge_runs = RUNS + 1;
    world = world_new(test_op(), backend, &options);
    for (size_t i = 0; i < RUNS; i++) {
        world_commit(world, 0, 20);
        CHECK(packed_flush(world->op, world->packed) == ST_OK);
    }
    CHECK(stats_of(world).runs == RUNS);
    check_now(world);
    world_close(world);
    world->options.merge_runs = 3;
    world_open(world);
    world_commit(world, 0, 20);
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    CHECK(stats_of(world).runs < RUNS / 10 && stats_of(world).merges >= RUNS / 100);
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

static uint64_t run_bytes(struct backend *backend)
{
    struct run_cursor *cursor;
    struct run_row row = { 0 };
    uint64_t bytes = 0;
    struct op *op = test_op();

    CHECK(backend->runs->ops->open(op, backend->runs, true, &cursor) == ST_OK);
    CHECK(backend->runs->ops->read(op, backend->runs, cursor, RUN_AT_OR_AFTER, slice_of(""), &row) == ST_OK);
    while (row.key.data) {
        bytes += row.key.size + row.value.size;
        CHECK(backend->runs->ops->read(op, backend->runs, cursor, RUN_NEXT, slice_of(""), &row) == ST_OK);
    }
    backend->runs->ops->close(backend->runs, cursor);
    free(row.memory);
    return bytes;
}

TEST(what_a_dropped_bucket_had_is_gone_after_merges)
{
    const struct packed_options small = { .delta_bytes = 1 << 20, .filter_bytes = 1 << 20, .merge_runs = 2 };
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &small);
    uint64_t before;

    some_steps(world, 60);
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    before = run_bytes(backend);
    some_steps(world, 3);
    for (size_t bucket = 0; bucket < WORLD_BUCKETS - 1; bucket++)
        world_drop(world, bucket);
    CHECK(world_commit(world, WORLD_BUCKETS - 1, 1));
    CHECK(packed_flush(world->op, world->packed) == ST_OK); /* and merges the two */
    check_now(world);
    CHECK(run_bytes(backend) < before / 2);
    world_free(world);
    backend->ops->close(backend);
}

TEST(the_space_of_a_dropped_bucket_comes_back_by_itself)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &in_memory);

    for (int i = 0; i < 100; i++)
        CHECK(world_commit(world, 0, 30));
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    CHECK(world_commit(world, 1, 30));
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    CHECK(run_bytes(backend) > 8000);
    world_drop(world, 0);
    CHECK(run_bytes(backend) < 8000);
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

TEST(the_space_of_what_was_dropped_before_a_restart_comes_back_too)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &in_memory);
    struct op *op = world->op;
    uint64_t id = world_bucket(0);

    for (int i = 0; i < 100; i++)
        CHECK(world_commit(world, 0, 30));
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    CHECK(backend->ops->remove_range(op, backend, key_bucket_first(&op->arena, id),
                                     key_bucket_end(&op->arena, id)) == ST_OK);
    world_crash(world);
    CHECK(world_commit(world, 1, 30));
    CHECK(packed_flush(world->op, world->packed) == ST_OK);
    CHECK(run_bytes(backend) < 8000);
    world_free(world);
    backend->ops->close(backend);
}

static void write_stray_run(struct backend *backend)
{
    struct run_writer *writer;
    struct op *op = test_op();

    REQUIRE(backend->runs->ops->begin(op, backend->runs, &writer) == ST_OK);
    CHECK(backend->runs->ops->add(op, backend->runs, writer, slice_make("\0\0\0\0\0\0\1\0stray", 13),
                                  slice_of("?")) == ST_OK);
    CHECK(backend->runs->ops->finish(op, backend->runs, writer) == ST_OK);
}

TEST(a_run_that_no_manifest_lists_is_removed)
{
    struct backend *backend = memory_backend();
    struct world *world;

    write_stray_run(backend);
    world = world_new(test_op(), backend, &at_once);
    CHECK(run_bytes(backend) == 0);
    CHECK(world_commit(world, 0, 20));
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

TEST(a_lost_run_is_told_and_not_passed_over)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &at_once);
    struct packed *packed;

    some_steps(world, 5);
    world_close(world);
    CHECK(backend->runs->ops->remove(test_op(), backend->runs, slice_of(""), slice_make("\xff", 1)) == ST_OK);
    CHECK(packed_open(test_op(), backend->runs, &at_once, &packed) == ST_CORRUPT);
    world_forget(world);
    backend->ops->close(backend);
}

TEST(runs_are_kept_while_a_pin_reads_them_and_removed_then)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &at_once);
    uint64_t held;

    some_steps(world, 20);
    world_look(world, 1);
    for (int i = 0; i < 20; i++)
        CHECK(world_commit(world, 0, 20));
    CHECK(world_check_all(world, &world->view[1]));
    held = run_bytes(backend);
    for (size_t i = 0; i < WORLD_VIEWS; i++)
        world_look(world, i);
    CHECK(world_commit(world, 0, 1));
    CHECK(run_bytes(backend) < held);
    world_free(world);
    backend->ops->close(backend);
}

#ifdef ORRERY_ROCKSDB

static struct backend *open_rocksdb(const char *directory)
{
    const struct store_options options = {
        .kind = STORE_ROCKSDB, .directory = directory, .sync = true, .cache_bytes = 1 << 20
    };
    struct backend *backend = NULL;

    if (rocksdb_backend(test_op(), &options, &backend) != ST_OK)
        abort();
    return backend;
}

static bool cursor_finds_a_row(struct backend *backend)
{
    struct run_space *runs = backend->runs;
    struct run_cursor *cursor = NULL;
    struct run_row row = { 0 };
    bool found;

    CHECK(runs->ops->open(test_op(), runs, false, &cursor) == ST_OK);
    CHECK(runs->ops->read(test_op(), runs, cursor, RUN_AT_OR_AFTER, slice_of(""), &row) == ST_OK);
    found = row.key.data != NULL;
    runs->ops->close(runs, cursor);
    free(row.memory);
    return found;
}

TEST(a_cursor_that_was_used_before_sees_the_runs_that_came_and_went_since)
{
    struct backend *backend = open_rocksdb(test_directory());

    CHECK(!cursor_finds_a_row(backend));
    write_stray_run(backend);
    CHECK(cursor_finds_a_row(backend));
    CHECK(backend->ops->reopen(test_op(), backend) == ST_OK);
    CHECK(cursor_finds_a_row(backend));
    CHECK(backend->runs->ops->remove(test_op(), backend->runs, slice_of(""), slice_make("\xff", 1)) == ST_OK);
    CHECK(!cursor_finds_a_row(backend));
    backend->ops->close(backend);
}

TEST(on_disk_a_pin_sees_what_it_saw_while_runs_come_and_go)
{
    const char *directory = test_directory();
    struct world *world = world_new(test_op(), open_rocksdb(directory), &at_once);

    for (int round = 0; round < 4; round++) {
        some_steps(world, 40);
        check_now(world);
        world_close(world);
        world->backend->ops->close(world->backend);
        world->backend = open_rocksdb(directory);
        world->options.threads = round % 2;
        world_open(world);
        world_recall(world);
        check_now(world);
    }
    world_close(world);
    world->backend->ops->close(world->backend);
    world_forget(world);
}

static void reopen_now_and_then(struct world *world)
{
    if (world_random(20) == 0)
        CHECK(world->backend->ops->reopen(world->op, world->backend) == ST_OK);
}

TEST(a_pin_reads_on_when_the_store_on_disk_is_reopened)
{
    struct backend *backend = open_rocksdb(test_directory());
    struct world *world = world_new(test_op(), backend, &at_once);

    some_steps(world, 20);
    world_look(world, 1);
    world->disturb = reopen_now_and_then;
    for (int i = 0; i < 3; i++) {
        CHECK(world_check_all(world, &world->view[1]));
        CHECK(world_commit(world, 1, 20));
    }
    world->disturb = NULL;
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
}

#endif

/* Whichever call fails, before or after it has happened, a crash right behind it leaves what is settled. */
static bool survives(unsigned kinds, uint64_t call, bool after)
{
    struct faulty_controls controls = { 0 };
    struct backend *backend = faulty_backend(memory_backend(), &controls);
    struct packed_options options = at_once;
    struct world *world = world_new(test_op(), backend, &options);
    bool failed;

    for (int i = 0; i < 3; i++)
        CHECK(world_commit(world, world_random(WORLD_BUCKETS), 25));
    controls.fail_after = after;
    faulty_fail(&controls, kinds, call);
    for (int i = 0; i < 4; i++)
        if (!world_commit(world, world_random(WORLD_BUCKETS), 25))
            break;
    failed = controls.failed;
    faulty_fail(&controls, 0, 0);
    check_now(world); /* the failure itself loses nothing */
    world_crash(world);
    check_now(world);
    CHECK(world_commit(world, 0, 25));
    check_now(world);
    world_free(world);
    backend->ops->close(backend);
    return failed;
}

TEST(whichever_call_of_the_backend_fails_nothing_that_is_settled_is_lost)
{
    for (uint64_t call = 1; survives(FAULTY_RUN, call, false); call++)
        ;
    for (uint64_t call = 1; survives(FAULTY_RUN, call, true); call++)
        ;
    for (uint64_t call = 1; survives(FAULTY_RUN_READ | FAULTY_GET, call, false); call++)
        ;
}
