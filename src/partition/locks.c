/* src/partition/locks.c - a table of locks that exist only while somebody holds or wants them. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/heap.h"
#include "base/thread.h"
#include "partition/locks.h"

/* Every waiter holds a thread, so the writers of one item must leave some threads to other requests. */
enum { WAITERS_MAX = 32 };

enum { SHARDS = 64 }; /* so that writers of different items seldom meet at a mutex */

struct waiter {
    pthread_cond_t turn;
    bool granted;
    struct waiter *next;
};

struct lock {
    uint64_t what;
    struct shard *shard;
    struct waiter *first, **last; /* in order of arrival; the holder is not among them */
    size_t waiting;
    struct lock *next;
};

struct shard {
    pthread_mutex_t mutex;
    struct lock *locks;
};

struct locks {
    struct shard shard[SHARDS];
};

struct locks *locks_open(void)
{
    struct locks *locks = heap_allocate(sizeof(*locks));

    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&locks->shard[i].mutex, NULL);
    return locks;
}

void locks_close(struct locks *locks)
{
    if (!locks)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        assert(!locks->shard[i].locks);
        pthread_mutex_destroy(&locks->shard[i].mutex);
    }
    free(locks);
}

static struct lock *find(const struct shard *shard, uint64_t what)
{
    struct lock *lock = shard->locks;

    while (lock && lock->what != what)
        lock = lock->next;
    return lock;
}

static struct lock *add(struct shard *shard, uint64_t what)
{
    struct lock *lock = heap_allocate(sizeof(*lock));

    thread_assert_locked(&shard->mutex);
    assert(!find(shard, what)); /* of an item there is one lock at a time */
    *lock = (struct lock){ .what = what, .shard = shard, .next = shard->locks };
    lock->last = &lock->first;
    shard->locks = lock;
    return lock;
}

static void leave_queue(struct lock *lock, struct waiter *waiter)
{
    struct waiter **link = &lock->first;

    thread_assert_locked(&lock->shard->mutex);
    assert(lock->waiting > 0);
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    if (lock->last == &waiter->next)
        lock->last = link;
    lock->waiting--;
}

static struct timespec deadline_of(struct op *op)
{
    int64_t left_ms = op->deadline_ms - env_monotonic_ms(op->env);
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    if (left_ms > 3600 * 1000)
        left_ms = 3600 * 1000;
    if (left_ms < 0)
        left_ms = 0;
    at.tv_sec += left_ms / 1000;
    at.tv_nsec += left_ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Called with the shard's mutex held. */
static bool wait_for_turn(struct op *op, struct lock *lock)
{
    struct waiter waiter = { 0 };
    struct timespec deadline = deadline_of(op);
    pthread_condattr_t attributes;
    int late = 0;

    thread_assert_may_block();
    thread_assert_locked(&lock->shard->mutex);
    assert(lock->waiting < WAITERS_MAX);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&waiter.turn, &attributes);
    pthread_condattr_destroy(&attributes);
    *lock->last = &waiter;
    lock->last = &waiter.next;
    lock->waiting++;
    while (!waiter.granted && !late)
        late = pthread_cond_timedwait(&waiter.turn, &lock->shard->mutex, &deadline);
    if (!waiter.granted)
        leave_queue(lock, &waiter);
    pthread_cond_destroy(&waiter.turn);
    return waiter.granted;
}

enum status locks_acquire(struct op *op, struct locks *locks, uint64_t what, struct lock **lock)
{
    struct shard *shard = &locks->shard[what % SHARDS];
    bool got = true, full = false, held;

    pthread_mutex_lock(&shard->mutex);
    *lock = find(shard, what);
    held = *lock != NULL;
    if (held && !op->may_block)
        got = false;
    else if (held && (*lock)->waiting >= WAITERS_MAX)
        full = true;
    else if (held)
        got = wait_for_turn(op, *lock);
    else
        *lock = add(shard, what);
    pthread_mutex_unlock(&shard->mutex);
    if (got && !full)
        return ST_OK;
    *lock = NULL;
    if (!op->may_block)
        return op_fail_as(op, ST_WOULD_BLOCK);
    if (full)
        return op_fail(
            op, ST_TOO_MANY_REQUESTS,
            "Request rate is large: too many requests write the same item. Please retry after sometime.");
    return op_fail(op, ST_TIMEOUT,
                   "Request timed out. More info: https://aka.ms/cosmosdb-tsg-request-timeout");
}

static void remove_lock(struct lock *lock)
{
    struct lock **link = &lock->shard->locks;

    thread_assert_locked(&lock->shard->mutex);
    assert(lock->waiting == 0); /* who waits for it would be left behind */
    while (*link != lock)
        link = &(*link)->next;
    *link = lock->next;
}

void locks_release(struct lock *lock)
{
    struct shard *shard;
    struct waiter *next;

    if (!lock)
        return;
    shard = lock->shard;
    pthread_mutex_lock(&shard->mutex);
    next = lock->first;
    assert(find(shard, lock->what) == lock); /* it is held, and released once */
    assert((next == NULL) == (lock->waiting == 0));
    if (next) { /* it holds the lock from now on, even before it wakes */
        leave_queue(lock, next);
        next->granted = true;
        pthread_cond_signal(&next->turn);
    } else {
        remove_lock(lock);
    }
    pthread_mutex_unlock(&shard->mutex);
    if (!next)
        free(lock);
}
