/* test/unit/base/door_test.c - a door lets in while it is open, and is closed when nobody is inside. */
#include <stdlib.h>

#include "base/door.h"
#include "test.h"

enum { VISITORS = 4, VISITS = 2000, CLOSINGS = 200 };

TEST(nobody_enters_a_closed_door_until_it_is_opened)
{
    struct door door;

    door_init(&door);
    CHECK(door_enter(&door) && door_enter(&door));
    door_leave(&door);
    door_leave(&door);
    door_close(&door);
    CHECK(!door_enter(&door));
    door_open(&door);
    CHECK(door_enter(&door));
    door_leave(&door);
    door_free(&door);
}

TEST(a_door_that_is_open_may_be_opened)
{
    struct door door;

    door_init(&door);
    CHECK(door_enter(&door));
    door_open(&door);
    door_leave(&door);
    door_close(&door);
    door_free(&door);
}

/* `guarded` is written by whoever has closed the door, and read by those inside: never at once. */
struct world {
    struct door door;
    uint64_t guarded;
    atomic_uint torn;
};

static void *visit(void *context)
{
    struct world *world = context;

    for (int done = 0; done < VISITS;) {
        uint64_t before;

        if (!door_enter(&world->door))
            continue;
        before = world->guarded;
        if (before != world->guarded)
            atomic_fetch_add(&world->torn, 1);
        door_leave(&world->door);
        done++;
    }
    return NULL;
}

TEST(who_closes_a_door_is_alone_until_it_is_opened)
{
    struct world world = { 0 };
    pthread_t thread[VISITORS];

    door_init(&world.door);
    for (int i = 0; i < VISITORS; i++)
        REQUIRE(pthread_create(&thread[i], NULL, visit, &world) == 0);
    for (int i = 0; i < CLOSINGS; i++) {
        door_close(&world.door);
        world.guarded++;
        door_open(&world.door);
    }
    for (int i = 0; i < VISITORS; i++)
        pthread_join(thread[i], NULL);
    CHECK(world.guarded == CLOSINGS && world.torn == 0);
    door_free(&world.door);
}

static void *leave(void *door)
{
    door_leave(door);
    return NULL;
}

/* The sanitizers see it when one who leaves touches the door afterwards. */
TEST(a_door_that_was_closed_may_be_freed_at_once)
{
    for (int i = 0; i < CLOSINGS; i++) {
        struct door *door = malloc(sizeof(*door));
        pthread_t thread[2];

        REQUIRE(door);
        door_init(door);
        CHECK(door_enter(door) && door_enter(door));
        for (int k = 0; k < 2; k++)
            REQUIRE(pthread_create(&thread[k], NULL, leave, door) == 0);
        door_close(door);
        door_free(door);
        free(door);
        for (int k = 0; k < 2; k++)
            pthread_join(thread[k], NULL);
    }
}
