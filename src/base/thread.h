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

/* Of the calling thread, from 0 on in the order in which threads asked: for what each of some threads has of its own. */
unsigned thread_number(void);

void thread_forbid_blocking(void);
bool thread_may_block(void);

#define thread_assert_may_block() assert(thread_may_block())

/*
 * A thread that says so catches up before each time it waits for something new to do. What it puts off is called then, once
 * for each call and context, however often it was put off. False: on this thread nothing is put off; or there is too much.
 */
void thread_catches_up(void);
bool thread_put_off(void (*call)(void *context), void *context);
void thread_catch_up(void);

/* For what is called with the mutex held. It sees only that somebody holds it: who forgot to is found when nobody does. */
#define thread_assert_locked(mutex) assert(pthread_mutex_trylock(mutex) == EBUSY)

/*
 * Readers come and go without end: a writer must not wait for a moment without any, so those who come after him
 * wait for him. Therefore nobody who reads may begin to read once more: with a writer in between, both would wait for ever.
 */
void thread_rwlock_init(pthread_rwlock_t *lock);
