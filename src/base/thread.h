/*
 * src/base/thread.h - which threads may wait, and for whom.
 * A loop thread serves thousands of connections: it never waits on a store, a lock held
 * over I/O, or a child process. What can wait says so with thread_assert_may_block().
 */
#pragma once
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

void thread_forbid_blocking(void);
bool thread_may_block(void);

#define thread_assert_may_block() assert(thread_may_block())

/* For what is called with the mutex held. It sees only that somebody holds it: who forgot to is found when nobody does. */
#define thread_assert_locked(mutex) assert(pthread_mutex_trylock(mutex) == EBUSY)

/*
 * Readers come and go without end: a writer must not wait for a moment without any, so those who come after him
 * wait for him. Therefore nobody who reads may begin to read once more: with a writer in between, both would wait for ever.
 */
void thread_rwlock_init(pthread_rwlock_t *lock);
