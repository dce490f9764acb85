/*
 * src/partition/locks.h - first come, first served, for each item that is being written.
 * A lock only avoids wasted work. Without it two writers of one item would both do their work, and the commit would
 * refuse one of them. The commit alone decides whether a write is right.
 *
 * Threads. Any; another thread than the one that acquired a lock may release it. A loop thread does not wait:
 *     ST_WOULD_BLOCK when somebody holds the lock.
 */
#pragma once
#include "base/op.h"

struct locks;
struct lock;

struct locks *locks_open(void);
void locks_close(struct locks *locks); /* NULL is welcome */

/* ST_TIMEOUT when the op's deadline passes first, ST_TOO_MANY_REQUESTS when too many wait already. */
enum status locks_acquire(struct op *op, struct locks *locks, uint64_t what, struct lock **lock);
void locks_release(struct lock *lock); /* NULL is welcome */
