/* src/http/pool.c - threads on demand, queues when there are enough of them, a stack of the idle ones. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/thread.h"
#include "http/pool.h"
#include "http/pace.h"

struct worker {
    struct pool *pool;
    struct worker *next_idle, *ended_before; /* which it joins when it ends itself */
    struct pool_task *task;                  /* handed over while it sleeps; NULL until then */
    struct turn place;                       /* among its class: the task may be gone when it ends */
    enum exchange_class class;
    struct paced paced; /* it may have stepped back: there is no way forward again */
    uint64_t back_for;  /* the owner whose task made it do so; 0: nobody's */
    pthread_cond_t wake;
    pthread_t thread;
};

struct queue {
    struct turns turns;
    size_t count;
};

struct pool {
    struct pool_limits limits;
    struct pace *pace;
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t ended;
    size_t threads;
    size_t running[CLASS_COUNT]; /* threads that have a task of the class */
    uint64_t last_order;
    struct queue queue[CLASS_COUNT];
    struct worker *idle;
    struct worker *finished; /* the thread that ended last */
    bool stopping;
};

/* False when it is full. */
static bool enqueue(struct pool *pool, struct pool_task *task)
{
    struct queue *queue = &pool->queue[task->class];

    thread_assert_locked(&pool->mutex);
    assert(pool->threads > 0); /* somebody comes to take it */
    if (queue->count >= pool->limits.class[task->class].queue)
        return false;
    task->order = ++pool->last_order;
    turns_wait(&queue->turns, &task->turn);
    queue->count++;
    return true;
}

static struct pool_task *task_of(struct turn *turn)
{
    static_assert(offsetof(struct pool_task, turn) == 0);
    return (struct pool_task *)turn;
}

/* The task of the class that is next; NULL when none may run now. */
static struct pool_task *first_task(struct pool *pool, size_t class)
{
    if (pool->running[class] >= pool->limits.class[class].threads)
        return NULL;
    return task_of(turns_first(&pool->queue[class].turns, pool->limits.class[class].each));
}

static struct pool_task *oldest_task(struct pool *pool)
{
    struct pool_task *oldest = NULL;

    for (size_t i = 0; i < CLASS_COUNT; i++) {
        struct pool_task *task = first_task(pool, i);

        if (task && (!oldest || task->order < oldest->order))
            oldest = task;
    }
    return oldest;
}

/* From now on the worker counts as one of the task's class, and of its owner. */
static void occupy(struct pool *pool, struct worker *worker, const struct pool_task *task)
{
    worker->class = task->class;
    worker->place = (struct turn){ .owner = task->turn.owner };
    turns_hold(&pool->queue[task->class].turns, &worker->place);
    pool->running[task->class]++;
}

static void vacate(struct pool *pool, struct worker *worker)
{
    assert(pool->running[worker->class] > 0);
    pool->running[worker->class]--;
    turns_release(&pool->queue[worker->class].turns, &worker->place);
}

/* NULL when none may run now. */
static struct pool_task *dequeue(struct pool *pool)
{
    struct pool_task *task = oldest_task(pool);
    struct queue *queue;

    thread_assert_locked(&pool->mutex);
    if (!task)
        return NULL;
    queue = &pool->queue[task->class];
    assert(queue->count > 0);
    turns_next(&queue->turns, pool->limits.class[task->class].each);
    queue->count--;
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

    while (*at != worker) {
        assert(*at); /* it is on the stack */
        at = &(*at)->next_idle;
    }
    *at = worker->next_idle;
}

static struct timespec after_idle_time(const struct pool *pool)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += pool->limits.idle_ms / 1000;
    until.tv_nsec += pool->limits.idle_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* The task that woke this worker; NULL when it should end. Who hands a task over takes the worker off the stack. */
static struct pool_task *sleep_until_task(struct pool *pool, struct worker *self)
{
    struct timespec until = after_idle_time(pool);

    thread_assert_locked(&pool->mutex);
    self->task = NULL;
    if (self->paced.is_back && !self->back_for && pool->threads > pool->limits.kept)
        return NULL; /* it is no good for anybody */
    self->next_idle = pool->idle;
    pool->idle = self;
    while (!self->task && !pool->stopping) {
        if (pthread_cond_timedwait(&self->wake, &pool->mutex, &until) != ETIMEDOUT || self->task)
            continue;
        if (pool->threads > pool->limits.kept || self->paced.is_back)
            break;
        until = after_idle_time(pool);
    }
    if (!self->task)
        leave_idle(pool, self);
    return self->task;
}

/* The mutex has been held since the thread found nothing to do, so nobody hands a task to a thread that ends. */
static void retire(struct pool *pool, struct worker *self)
{
    thread_assert_locked(&pool->mutex);
    assert(pool->threads > 0);
    self->ended_before = pool->finished;
    pool->finished = self;
    if (--pool->threads == 0)
        pthread_cond_signal(&pool->ended);
}

static void *work(void *argument);

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

    thread_assert_locked(&pool->mutex);
    assert(pool->threads < pool->limits.threads);
    if (!worker)
        return false;
    occupy(pool, worker, task); /* a new thread may be done with the task before we are */
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        vacate(pool, worker);
        worker_free(worker);
        return false;
    }
    pool->threads++;
    return true;
}

/* What has stepped back goes on for the owner that made it do so, and serves others only where there is nobody else. */
static bool suits(const struct worker *worker, const struct pool_task *task)
{
    return !worker->paced.is_back || (worker->back_for && worker->back_for == task->turn.owner);
}

/* An idle thread for the task, of its owner's own if there is one; NULL when there is none. */
static struct worker *find_idle(const struct pool *pool, const struct pool_task *task)
{
    struct worker *found = NULL;

    for (struct worker *worker = pool->idle; worker; worker = worker->next_idle)
        if (suits(worker, task) && (!found || worker->paced.is_back > found->paced.is_back))
            found = worker;
    return found;
}

static void wake_idle(struct pool *pool, struct worker *worker, struct pool_task *task)
{
    thread_assert_locked(&pool->mutex);
    assert(!worker->task);
    leave_idle(pool, worker);
    worker->task = task;
    occupy(pool, worker, task);
    pthread_cond_signal(&worker->wake);
}

/* A task of the queue for a thread that has nothing to do; NULL when there is none for it. */
static struct pool_task *take(struct pool *pool, struct worker *self)
{
    struct pool_task *task = oldest_task(pool);

    if (task && !suits(self, task) && !pool->stopping) {
        pace_call(pool->pace); /* has another thread take it: start_waiting() */
        return NULL;
    }
    task = dequeue(pool);
    if (task)
        occupy(pool, self, task);
    return task;
}

/* After a task, which may be gone by now. */
static struct pool_task *next_task(struct pool *pool, struct worker *self)
{
    struct pool_task *task;

    pthread_mutex_lock(&pool->mutex);
    vacate(pool, self);
    task = take(pool, self);
    if (!task && !pool->stopping)
        task = sleep_until_task(pool, self);
    if (!task && pool->stopping) /* it has left none to others that might end as well */
        task = take(pool, self);
    if (!task)
        retire(pool, self);
    pthread_mutex_unlock(&pool->mutex);
    return task;
}

static void run(struct worker *self, struct pool_task *task)
{
    uint64_t owner = self->place.owner; /* of the task, which may be gone when it has run */
    bool was_back = self->paced.is_back;

    thread_assert_may_block(); /* that is what it is for */
    pace_enter(self->pool->pace, &self->paced);
    task->run(task);
    pace_leave(self->pool->pace, &self->paced);
    if (!was_back && self->paced.is_back)
        self->back_for = owner;
}

static void *work(void *argument)
{
    struct worker *self = argument;
    struct pool_task *task = self->task;

    while (task) {
        run(self, task);
        task = next_task(self->pool, self);
    }
    join_finished(self->ended_before);
    return NULL;
}

static bool may_run(const struct pool *pool, const struct pool_task *task)
{
    return pool->running[task->class] < pool->limits.class[task->class].threads &&
           turns_may_hold(&pool->queue[task->class].turns, task->turn.owner,
                          pool->limits.class[task->class].each);
}

/* Gives the task to a thread that is idle, or to a new one; to any, rather than to none. */
static bool hand_over(struct pool *pool, struct pool_task *task)
{
    struct worker *idle = find_idle(pool, task);

    if (!may_run(pool, task))
        return false;
    if (!idle && pool->threads < pool->limits.threads && start_worker(pool, task))
        return true;
    if (!idle)
        idle = pool->idle;
    if (idle)
        wake_idle(pool, idle, task);
    return idle != NULL;
}

/* Tasks that threads which have given way left to others. */
static void start_waiting(void *context)
{
    struct pool *pool = context;
    struct pool_task *task;
    bool taken = true;

    pthread_mutex_lock(&pool->mutex);
    while (taken && (pool->idle || pool->threads < pool->limits.threads) && (task = dequeue(pool))) {
        taken = hand_over(pool, task);
        if (!taken) {
            turns_wait(&pool->queue[task->class].turns, &task->turn);
            pool->queue[task->class].count++;
        }
    }
    pthread_mutex_unlock(&pool->mutex);
}

struct pool *pool_open(const struct pool_limits *limits)
{
    struct pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    assert(limits->threads > 0);
    pool->limits = *limits;
    pool->pace = pace_open(&(struct pace_options){ limits->slow_ms, limits->slow_nice, start_waiting, pool });
    if (!pool->pace) {
        free(pool);
        return NULL;
    }
    for (size_t i = 0; i < CLASS_COUNT; i++)
        assert(limits->class[i].threads > 0);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->ended, NULL);
    return pool;
}

bool pool_submit(struct pool *pool, struct pool_task *task)
{
    bool taken;

    pthread_mutex_lock(&pool->mutex);
    assert(!pool->stopping);
    assert(task->run);
    assert(task->class < CLASS_COUNT);
    taken = hand_over(pool, task) || (pool->threads > 0 && enqueue(pool, task));
    pthread_mutex_unlock(&pool->mutex);
    return taken;
}

void pool_stats(struct pool *pool, uint64_t *threads, uint64_t *queued)
{
    pthread_mutex_lock(&pool->mutex);
    *threads = pool->threads;
    *queued = 0;
    for (size_t i = 0; i < CLASS_COUNT; i++)
        *queued += pool->queue[i].count;
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
    assert(!pool->idle);
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        assert(pool->queue[i].count == 0); /* all of it was run */
        assert(pool->running[i] == 0);
    }
    pthread_mutex_unlock(&pool->mutex);
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    thread_assert_may_block();
    wait_for_end(pool);
    join_finished(pool->finished);
    pace_close(pool->pace);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
