/* src/http/pool.c - threads on demand, a queue when there are enough of them, a stack of the idle ones. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "http/pool.h"

enum { IDLE_SECONDS = 10, THREADS_KEPT = 2 };

struct worker {
    struct pool *pool;
    struct worker *next_idle;
    struct pool_task *task; /* handed over while it sleeps; NULL until then */
    pthread_cond_t wake;
    pthread_t thread;
};

struct pool {
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t ended;
    size_t threads, threads_max, queued, queue_max;
    size_t staying; /* threads that will look for a task again; the others are on their way out */
    struct pool_task *first, **last; /* the queue */
    struct worker *idle;
    struct worker *finished; /* the thread that ended last; whoever ends next joins it */
    bool stopping;
};

struct pool *pool_open(size_t threads_max, size_t queue_max)
{
    struct pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    *pool = (struct pool){ .threads_max = threads_max, .queue_max = queue_max, .last = &pool->first };
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->ended, NULL);
    return pool;
}

static void enqueue(struct pool *pool, struct pool_task *task)
{
    task->next = NULL;
    *pool->last = task;
    pool->last = &task->next;
    pool->queued++;
}

static struct pool_task *dequeue(struct pool *pool)
{
    struct pool_task *task = pool->first;

    if (!task)
        return NULL;
    pool->first = task->next;
    if (!pool->first)
        pool->last = &pool->first;
    pool->queued--;
    return task;
}

static void worker_free(struct worker *worker)
{
    pthread_cond_destroy(&worker->wake);
    free(worker);
}

static void join_finished(struct worker *worker)
{
    if (!worker)
        return;
    pthread_join(worker->thread, NULL);
    worker_free(worker);
}

static void leave_idle(struct pool *pool, const struct worker *worker)
{
    struct worker **at = &pool->idle;

    while (*at != worker)
        at = &(*at)->next_idle;
    *at = worker->next_idle;
}

static struct timespec after_idle_time(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_SECONDS;
    return until;
}

/* The task that woke this worker, or NULL when it should end. Whoever hands a task over takes it off the stack. */
static struct pool_task *sleep_until_task(struct pool *pool, struct worker *self)
{
    struct timespec until = after_idle_time();

    self->task = NULL;
    self->next_idle = pool->idle;
    pool->idle = self;
    while (!self->task && !pool->stopping) {
        if (pthread_cond_timedwait(&self->wake, &pool->mutex, &until) != ETIMEDOUT || self->task)
            continue;
        if (pool->staying > THREADS_KEPT)
            break;
        until = after_idle_time();
    }
    if (!self->task)
        leave_idle(pool, self);
    return self->task;
}

static struct pool_task *next_task(struct pool *pool, struct worker *self)
{
    struct pool_task *task;

    pthread_mutex_lock(&pool->mutex);
    task = dequeue(pool);
    if (!task && !pool->stopping)
        task = sleep_until_task(pool, self);
    pool->staying -= !task; /* from now on nobody may count on this thread */
    pthread_mutex_unlock(&pool->mutex);
    return task;
}

static void retire(struct pool *pool, struct worker *self)
{
    struct worker *before;

    pthread_mutex_lock(&pool->mutex);
    before = pool->finished;
    pool->finished = self;
    if (--pool->threads == 0)
        pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->mutex);
    join_finished(before);
}

static void *work(void *argument)
{
    struct worker *self = argument;
    struct pool_task *task = self->task;

    while (task) {
        task->run(task);
        task = next_task(self->pool, self);
    }
    retire(self->pool, self);
    return NULL;
}

static struct worker *worker_new(struct pool *pool, struct pool_task *task)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    pthread_condattr_t attributes;

    if (!worker)
        return NULL;
    worker->pool = pool;
    worker->task = task;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return worker;
}

/* The mutex is held, so that the new thread's id is written before anybody can ask for it. */
static bool start_worker(struct pool *pool, struct pool_task *task)
{
    struct worker *worker = worker_new(pool, task);

    if (!worker)
        return false;
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        worker_free(worker);
        return false;
    }
    pool->threads++;
    pool->staying++;
    return true;
}

static void wake_idle(struct pool *pool, struct pool_task *task)
{
    struct worker *worker = pool->idle;

    pool->idle = worker->next_idle;
    worker->task = task;
    pthread_cond_signal(&worker->wake);
}

bool pool_submit(struct pool *pool, struct pool_task *task)
{
    bool taken = true;

    pthread_mutex_lock(&pool->mutex);
    assert(!pool->stopping);
    if (pool->idle)
        wake_idle(pool, task);
    else if (pool->threads < pool->threads_max && start_worker(pool, task))
        ; /* it has the task already */
    else if (pool->staying > 0 && pool->queued < pool->queue_max)
        enqueue(pool, task);
    else
        taken = false;
    pthread_mutex_unlock(&pool->mutex);
    return taken;
}

void pool_stats(struct pool *pool, uint64_t *threads, uint64_t *queued)
{
    pthread_mutex_lock(&pool->mutex);
    *threads = pool->threads;
    *queued = pool->queued;
    pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_end(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    for (struct worker *worker = pool->idle; worker; worker = worker->next_idle)
        pthread_cond_signal(&worker->wake);
    while (pool->threads > 0)
        pthread_cond_wait(&pool->ended, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    wait_for_end(pool);
    join_finished(pool->finished);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
