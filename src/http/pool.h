/*
 * src/http/pool.h - a bounded number of threads for what may wait.
 * Threads start when a task finds none idle and end when they have been idle for a while. The one
 * that became idle last is woken first: its memory is warm, and the others may come to their end.
 *
 * Ownership. The caller owns the tasks; one that is taken runs exactly once.
 * Threads. pool_submit and pool_stats from any; pool_close from one, after the last submit.
 */
#pragma once
#include "base/op.h"

struct pool;

struct pool_task {
    struct pool_task *next;
    void (*run)(struct pool_task *task);
};

struct pool *pool_open(size_t threads_max, size_t queue_max);

/* False when all threads are busy and the queue is full. */
bool pool_submit(struct pool *pool, struct pool_task *task);

void pool_stats(struct pool *pool, uint64_t *threads, uint64_t *queued);

/* Runs what is queued, then ends the threads. NULL is welcome. */
void pool_close(struct pool *pool);
