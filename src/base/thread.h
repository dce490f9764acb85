/*
 * src/base/thread.h - which threads may wait.
 * A loop thread serves thousands of connections: it never waits on a store, a lock held
 * over I/O, or a child process. What can wait says so with thread_assert_may_block().
 */
#pragma once
#include <assert.h>
#include <stdbool.h>

void thread_forbid_blocking(void);
bool thread_may_block(void);

#define thread_assert_may_block() assert(thread_may_block())
