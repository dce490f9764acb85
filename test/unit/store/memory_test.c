/* test/unit/store/memory_test.c - the memory backend frees what nobody can see. */
#include "store/backend.h"
#include "test.h"

/* A backend with one key, and what it holds besides. */
static void write_one(struct backend *backend, const char *key, const char *value)
{
    struct mutation mutation = { slice_of(key), value ? slice_of(value) : (struct slice){ 0 } };

    CHECK(backend->ops->write(test_op(), backend, &mutation, 1, true) == ST_OK);
}

static struct backend_snapshot *snapshot(struct backend *backend)
{
    struct backend_snapshot *taken = NULL;

    CHECK(backend->ops->snapshot(test_op(), backend, &taken) == ST_OK);
    return taken;
}

static uint64_t bytes(struct backend *backend)
{
    return backend->ops->disk_bytes(backend);
}

TEST(an_overwritten_value_is_freed_at_once_when_nobody_looks)
{
    struct backend *backend = memory_backend();

    for (int i = 0; i < 100; i++)
        write_one(backend, "key", "value");
    CHECK(bytes(backend) == 8);
    backend->ops->close(backend);
}

TEST(a_value_that_a_snapshot_sees_is_freed_with_the_snapshot)
{
    struct backend *backend = memory_backend();
    struct backend_snapshot *first, *second;

    write_one(backend, "key", "1");
    first = snapshot(backend);
    write_one(backend, "key", "22");
    second = snapshot(backend);
    write_one(backend, "key", "333");
    CHECK(bytes(backend) == 3 + 1 + 2 + 3);
    backend->ops->release(backend, first);
    CHECK(bytes(backend) == 3 + 2 + 3);
    backend->ops->release(backend, second);
    CHECK(bytes(backend) == 3 + 3);
    backend->ops->close(backend);
}

TEST(a_deleted_row_goes_with_the_last_snapshot_that_sees_it)
{
    struct backend *backend = memory_backend();
    struct backend_snapshot *taken;

    write_one(backend, "key", "1");
    write_one(backend, "key", NULL);
    CHECK(bytes(backend) == 0);
    write_one(backend, "key", "1");
    taken = snapshot(backend);
    write_one(backend, "key", NULL);
    CHECK(bytes(backend) == 4);
    backend->ops->release(backend, taken);
    CHECK(bytes(backend) == 0);
    backend->ops->close(backend);
}

TEST(a_row_deleted_and_put_again_under_a_snapshot_keeps_its_latest_value)
{
    struct backend *backend = memory_backend();
    struct backend_snapshot *old, *new;
    struct slice key = slice_of("key"), value;

    write_one(backend, "key", "1");
    old = snapshot(backend);
    write_one(backend, "key", NULL);
    write_one(backend, "key", "2");
    new = snapshot(backend);
    backend->ops->release(backend, old);
    CHECK(backend->ops->get_many(test_op(), backend, new, &key, 1, &value) == ST_OK && slice_is(value, "2"));
    CHECK(bytes(backend) == 4);
    backend->ops->release(backend, new);
    backend->ops->close(backend);
}

TEST(a_key_twice_in_one_write_has_its_last_value)
{
    struct backend *backend = memory_backend();
    struct mutation twice[] = { { slice_of("key"), slice_of("first") }, { slice_of("key"), slice_of("2") } };
    struct slice key = slice_of("key"), value;
    struct backend_snapshot *taken;

    CHECK(backend->ops->write(test_op(), backend, twice, 2, true) == ST_OK);
    taken = snapshot(backend);
    CHECK(backend->ops->get_many(test_op(), backend, taken, &key, 1, &value) == ST_OK &&
          slice_is(value, "2"));
    CHECK(bytes(backend) == 4);
    backend->ops->release(backend, taken);
    backend->ops->close(backend);
}

TEST(there_are_no_files_to_copy)
{
    struct backend *backend = memory_backend();

    CHECK(backend->ops->backup(test_op(), backend, "/anywhere") == ST_NOT_BUILT);
    backend->ops->close(backend);
}
