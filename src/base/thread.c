/* src/base/thread.c - a mark on the threads that never wait, and what they put off; locks whose writers go first. */
#include <stdatomic.h>
#include <stddef.h>

#include "base/thread.h"

unsigned thread_number(void)
{
    static atomic_uint threads;
    static _Thread_local unsigned known; /* one more than the number; 0: not yet */

    if (!known)
        known = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return known - 1;
}

static _Thread_local bool forbidden;

void thread_forbid_blocking(void)
{
    forbidden = true;
}

bool thread_may_block(void)
{
    return !forbidden;
}

enum {
    PUT_OFF_MAX = 4
}; /* mostly one: a server has one store, and a second while a snapshot of it is restored */

static _Thread_local bool catches_up;
static _Thread_local struct {
    void (*call)(void *context);
    void *context;
} put_off[PUT_OFF_MAX];
static _Thread_local size_t put_off_count;

void thread_catches_up(void)
{
    catches_up = true;
}

bool thread_put_off(void (*call)(void *context), void *context)
{
    if (!catches_up)
        return false;
    for (size_t i = 0; i < put_off_count; i++)
        if (put_off[i].call == call && put_off[i].context == context)
            return true;
    if (put_off_count == PUT_OFF_MAX)
        return false;
    put_off[put_off_count].call = call;
    put_off[put_off_count++].context = context;
    return true;
}

void thread_catch_up(void)
{
    while (put_off_count > 0) {
        put_off_count--;
        put_off[put_off_count].call(put_off[put_off_count].context);
    }
}

void thread_rwlock_init(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;

    pthread_rwlockattr_init(&attributes);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}
