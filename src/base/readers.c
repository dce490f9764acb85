/* src/base/readers.c - a lock for each of some threads; a writer takes them in order, so that two writers do not block each other. */
#include "base/readers.h"
#include "base/thread.h"

void readers_init(struct readers *readers)
{
    for (size_t i = 0; i < READERS_PARTS; i++)
        thread_rwlock_init(&readers->part[i].lock);
}

void readers_free(struct readers *readers)
{
    for (size_t i = 0; i < READERS_PARTS; i++)
        pthread_rwlock_destroy(&readers->part[i].lock);
}

static pthread_rwlock_t *own(struct readers *readers)
{
    return &readers->part[thread_number() % READERS_PARTS].lock;
}

void readers_enter(struct readers *readers)
{
    pthread_rwlock_rdlock(own(readers));
}

bool readers_try_enter(struct readers *readers)
{
    return pthread_rwlock_tryrdlock(own(readers)) == 0;
}

void readers_leave(struct readers *readers)
{
    pthread_rwlock_unlock(own(readers));
}

void readers_exclude(struct readers *readers)
{
    for (size_t i = 0; i < READERS_PARTS; i++)
        pthread_rwlock_wrlock(&readers->part[i].lock);
}

void readers_admit(struct readers *readers)
{
    for (size_t i = READERS_PARTS; i-- > 0;)
        pthread_rwlock_unlock(&readers->part[i].lock);
}
