/*
 * src/http/pool.h - a bounded number of threads for what may wait.
 * Threads start when a task finds none idle and end when they have been idle for a while. The one
 * that became idle last is woken first: its memory is warm, and the others may come to their end.
 * Each class of tasks gets a part of the threads and a queue of its own, so that however many tasks of a class there
 * are, those of other classes find a thread. Among the tasks that may run, the oldest is next; but within a class
 * owners take turns (base/turns.h), and none has all of its threads.
 * A thread whose task works for long gives way (pace.h). It goes on with tasks of that owner, and then ends.
 *
 * Ownership. The caller owns the tasks; one that is taken runs exactly once.
 * Threads. pool_submit and pool_stats from any; pool_close from one, after the last submit.
 */
#pragma once
#include "base/exchange.h"
#include "base/turns.h"

struct pool;

struct pool_task {
    struct turn turn; /* its owner is the caller's */
    void (*run)(struct pool_task *task);
    enum exchange_class class;
    uint64_t order; /* the pool's own */
};

struct pool_limits {
    size_t threads; /* at least one */
    struct {
        size_t threads; /* that its tasks may have; at least one */
        size_t queue;   /* how many may wait */
        size_t each;    /* of its threads, those that tasks of one owner may have; 0: all */
    } class[CLASS_COUNT];
    size_t kept;     /* threads that stay when there is nothing to do */
    int64_t idle_ms; /* after which the others end */
    int64_t slow_ms; /* of a processor's time, after which a task gives way to all others (pace.h) */
    int slow_nice;   /* by so much */
};

struct pool *pool_open(const struct pool_limits *limits);

/* False when there is no thread for it and its queue is full. */
bool pool_submit(struct pool *pool, struct pool_task *task);

void pool_stats(struct pool *pool, uint64_t *threads, uint64_t *queued);

/* Runs what is queued, then ends the threads. NULL is welcome. */
void pool_close(struct pool *pool);
