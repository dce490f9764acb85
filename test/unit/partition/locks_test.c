/* test/unit/partition/locks_test.c - locks: one holder, first come first served, and a deadline. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "partition/locks.h"
#include "test.h"

enum { THREADS = 6, ROUNDS = 500 };

TEST(different_things_are_locked_independently_and_the_same_thing_again_once_it_is_free)
{
    struct locks *locks = locks_open();
    struct lock *a = NULL, *b = NULL, *same_shard = NULL;

    CHECK(locks_acquire(test_op(), locks, 1, &a) == ST_OK);
    CHECK(locks_acquire(test_op(), locks, 2, &b) == ST_OK);
    CHECK(locks_acquire(test_op(), locks, 1 + 64, &same_shard) == ST_OK);
    locks_release(a);
    CHECK(locks_acquire(test_op(), locks, 1, &a) == ST_OK);
    locks_release(a);
    locks_release(same_shard);
    locks_release(b);
    locks_release(NULL);
    locks_close(locks);
    locks_close(NULL);
}

TEST(waiting_ends_at_the_deadline)
{
    struct locks *locks = locks_open();
    struct lock *held = NULL, *wanted = NULL;
    struct op late;

    op_init(&late, test_op()->env, SIZE_MAX);
    op_begin(&late, 0);
    CHECK(locks_acquire(test_op(), locks, 7, &held) == ST_OK);
    CHECK(locks_acquire(&late, locks, 7, &wanted) == ST_TIMEOUT && !wanted);
    locks_release(held);
    CHECK(locks_acquire(&late, locks, 7, &wanted) == ST_OK); /* what is free needs no waiting */
    locks_release(wanted);
    op_free(&late);
    locks_close(locks);
}

TEST(a_thread_that_may_not_wait_gets_what_is_free)
{
    struct locks *locks = locks_open();
    struct lock *held = NULL, *wanted = NULL;
    struct op quick;

    op_init(&quick, test_op()->env, SIZE_MAX);
    quick.may_block = false;
    CHECK(locks_acquire(&quick, locks, 7, &held) == ST_OK);
    CHECK(locks_acquire(&quick, locks, 7, &wanted) == ST_WOULD_BLOCK && !wanted);
    locks_release(held);
    CHECK(locks_acquire(&quick, locks, 7, &wanted) == ST_OK);
    locks_release(wanted);
    op_free(&quick);
    locks_close(locks);
}

/* --- order: each thread says when it is about to wait, and the next one starts when it does --- */

struct queue {
    struct locks *locks;
    struct env *env;
    atomic_int waiting, order[THREADS], served;
};

struct waiter {
    struct queue *queue;
    pthread_t thread;
    int number;
};

static void *wait_in_line(void *context)
{
    struct waiter *waiter = context;
    struct queue *queue = waiter->queue;
    struct lock *lock = NULL;
    struct op op;

    op_init(&op, queue->env, SIZE_MAX);
    atomic_fetch_add(&queue->waiting, 1);
    if (locks_acquire(&op, queue->locks, 9, &lock) == ST_OK)
        atomic_store(&queue->order[atomic_fetch_add(&queue->served, 1)], waiter->number);
    locks_release(lock);
    op_free(&op);
    return NULL;
}

/* A shard's mutex is free only while its waiters wait: a probe of the same shard gets in behind them. */
static void let_it_queue(struct queue *queue, int count)
{
    while (atomic_load(&queue->waiting) < count)
        sched_yield();
    for (int i = 0; i < 2000; i++) {
        struct lock *probe = NULL;

        CHECK(locks_acquire(test_op(), queue->locks, 9 + 64, &probe) == ST_OK);
        locks_release(probe);
        sched_yield();
    }
}

TEST(who_came_first_is_served_first)
{
    struct queue queue = { .locks = locks_open(), .env = test_op()->env };
    struct waiter waiters[THREADS];
    struct lock *held = NULL;

    CHECK(locks_acquire(test_op(), queue.locks, 9, &held) == ST_OK);
    for (int i = 0; i < THREADS; i++) {
        waiters[i] = (struct waiter){ .queue = &queue, .number = i };
        REQUIRE(pthread_create(&waiters[i].thread, NULL, wait_in_line, &waiters[i]) == 0);
        let_it_queue(&queue, i + 1);
    }
    CHECK(atomic_load(&queue.served) == 0);
    locks_release(held);
    for (int i = 0; i < THREADS; i++)
        pthread_join(waiters[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(atomic_load(&queue.order[i]) == i);
    locks_close(queue.locks);
}

/* --- many threads on few things, some of them giving up --- */

struct guarded {
    struct locks *locks;
    struct env *env;
    int held[3]; /* each guarded by its lock, and by nothing else */
    atomic_int overlaps, timeouts;
};

static void *hammer(void *context)
{
    struct guarded *guarded = context;
    struct op op;

    op_init(&op, guarded->env, SIZE_MAX);
    for (int i = 0; i < ROUNDS; i++) {
        struct lock *lock = NULL;
        int what = i % 3;

        op_begin(&op, i % 7 == 0 ? 0 : INT64_MAX / 2);
        if (locks_acquire(&op, guarded->locks, (uint64_t)what, &lock) != ST_OK) {
            atomic_fetch_add(&guarded->timeouts, 1);
            continue;
        }
        if (guarded->held[what]++ != 0)
            atomic_fetch_add(&guarded->overlaps, 1);
        guarded->held[what]--;
        locks_release(lock);
    }
    op_free(&op);
    return NULL;
}

TEST(a_thing_has_one_holder_however_many_want_it_and_give_up)
{
    struct guarded guarded = { .locks = locks_open(), .env = test_op()->env };
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, hammer, &guarded) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&guarded.overlaps) == 0);
    locks_close(guarded.locks); /* which finds that nobody holds anything */
}

/* --- a bound on those who wait, since each of them holds a thread --- */

static void *acquire_and_release(void *locks)
{
    struct lock *lock = NULL;
    struct op op;

    op_init(&op, env_system(), SIZE_MAX);
    while (locks_acquire(&op, locks, 7, &lock) == ST_TOO_MANY_REQUESTS)
        sched_yield(); /* the one who tries whether there is room was in line for a moment */
    locks_release(lock);
    op_free(&op);
    return NULL;
}

TEST(when_many_wait_for_one_thing_the_next_is_sent_away)
{
    enum { WAITERS_MAX = 32 };
    struct locks *locks = locks_open();
    struct lock *held = NULL, *wanted = NULL;
    pthread_t waiter[WAITERS_MAX];
    struct op late;
    enum status st;

    op_init(&late, test_op()->env, SIZE_MAX);
    op_begin(&late, 0);
    REQUIRE(locks_acquire(test_op(), locks, 7, &held) == ST_OK);
    for (int i = 0; i < WAITERS_MAX; i++)
        REQUIRE(pthread_create(&waiter[i], NULL, acquire_and_release, locks) == 0);
    /* Until the last of them waits there is room for this one, which is out of time at once. */
    while ((st = locks_acquire(&late, locks, 7, &wanted)) == ST_TIMEOUT) {
        op_begin(&late, 0);
        sched_yield();
    }
    CHECK(st == ST_TOO_MANY_REQUESTS && !wanted);
    locks_release(held);
    for (int i = 0; i < WAITERS_MAX; i++)
        pthread_join(waiter[i], NULL);
    CHECK(locks_acquire(&late, locks, 7, &wanted) == ST_OK);
    locks_release(wanted);
    op_free(&late);
    locks_close(locks);
}
