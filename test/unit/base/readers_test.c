/* test/unit/base/readers_test.c - readers on threads of their own, and a writer whom they all keep out, or who keeps out all. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/readers.h"
#include "base/thread.h"
#include "test.h"

enum { VISITORS = 4, VISITS = 2000, CHANGES = 200 };

/* Both halves are written by whoever has excluded the readers: inside they are always alike. */
struct world {
    struct readers readers;
    uint64_t half[2];
    atomic_uint torn;
};

static void *visit(void *context)
{
    struct world *world = context;

    for (int done = 0; done < VISITS;) {
        if (done % 2 == 0)
            readers_enter(&world->readers);
        else if (!readers_try_enter(&world->readers))
            continue;
        if (world->half[0] != world->half[1])
            atomic_fetch_add(&world->torn, 1);
        readers_leave(&world->readers);
        done++;
    }
    return NULL;
}

TEST(nobody_reads_while_somebody_writes)
{
    struct world world = { .half = { 0, 0 } };
    pthread_t visitor[VISITORS];

    readers_init(&world.readers);
    for (size_t i = 0; i < VISITORS; i++)
        CHECK(pthread_create(&visitor[i], NULL, visit, &world) == 0);
    for (size_t i = 0; i < CHANGES; i++) {
        readers_exclude(&world.readers);
        world.half[0]++;
        world.half[1]++;
        readers_admit(&world.readers);
    }
    for (size_t i = 0; i < VISITORS; i++)
        pthread_join(visitor[i], NULL);
    CHECK(atomic_load(&world.torn) == 0);
    readers_free(&world.readers);
}

/* Somebody on a thread of its own, which has another number than those before. */
struct comer {
    struct readers *readers;
    unsigned number;
    bool entered;
};

static void *come(void *context)
{
    struct comer *comer = context;

    comer->number = thread_number();
    comer->entered = readers_try_enter(comer->readers);
    if (comer->entered)
        readers_leave(comer->readers);
    return NULL;
}

static struct comer a_comer(struct readers *readers)
{
    struct comer comer = { .readers = readers };
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, come, &comer) == 0);
    pthread_join(thread, NULL);
    return comer;
}

TEST(a_writer_keeps_out_threads_of_every_part)
{
    struct readers readers;

    readers_init(&readers);
    readers_exclude(&readers);
    for (size_t i = 0; i < READERS_PARTS; i++)
        CHECK(!a_comer(&readers).entered);
    readers_admit(&readers);
    for (size_t i = 0; i < READERS_PARTS; i++)
        CHECK(a_comer(&readers).entered);
    readers_free(&readers);
}

TEST(threads_have_numbers_of_their_own_and_keep_them)
{
    struct readers readers;
    unsigned first, second;

    readers_init(&readers);
    first = a_comer(&readers).number;
    second = a_comer(&readers).number;
    CHECK(first != second && first != thread_number() && thread_number() == thread_number());
    readers_free(&readers);
}
