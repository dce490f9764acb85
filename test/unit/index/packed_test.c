/* test/unit/index/packed_test.c - the packed keeper beside a table of what it must say. */
#include "packed_world.h"
#include "test.h"

static const struct packed_options in_memory = { .delta_bytes = SIZE_MAX,
                                                 .filter_bytes = 1 << 20,
                                                 .merge_runs = 4 };

TEST(a_pin_sees_what_was_committed_when_it_was_taken_and_nothing_else)
{
    struct backend *backend = memory_backend();
    struct world *world = world_new(test_op(), backend, &in_memory);

    for (size_t step = 0; step < 400; step++) {
        world_commit(world, world_random(WORLD_BUCKETS), world_random(30));
        if (world_random(3) == 0)
            world_look(world, world_random(WORLD_VIEWS));
        if (world_random(10) == 0)
            world_lose(world, world_random(WORLD_BUCKETS), 20);
        if (!world_check_views(world))
            break;
    }
    CHECK(world_check_views(world));
    world_look(world, 0);
    CHECK(world_check_all(world, &world->view[0]));
    world_free(world);
    backend->ops->close(backend);
}
