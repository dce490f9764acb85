/* src/base/thread.c - a mark on the threads that never wait; locks whose writers go first. */
#include "base/thread.h"

static _Thread_local bool forbidden;

void thread_forbid_blocking(void)
{
    forbidden = true;
}

bool thread_may_block(void)
{
    return !forbidden;
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
