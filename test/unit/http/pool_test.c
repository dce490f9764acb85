/* test/unit/http/pool_test.c - threads on demand, with a bound on threads and on what waits. */
#include <pthread.h>

#include "http/pool.h"
#include "test.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int running, done;
static bool released;

static void reset(void)
{
    running = done = 0;
    released = false;
}

static void wait_for_release(struct pool_task *task)
{
    (void)task;
    pthread_mutex_lock(&mutex);
    running++;
    pthread_cond_broadcast(&changed);
    while (!released)
        pthread_cond_wait(&changed, &mutex);
    done++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void wait_until(const int *counter, int value)
{
    pthread_mutex_lock(&mutex);
    while (*counter < value)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void release(void)
{
    pthread_mutex_lock(&mutex);
    released = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

TEST(threads_start_when_none_is_idle_and_then_tasks_queue_up_to_a_limit)
{
    struct pool *pool = pool_open(2, 1);
    struct pool_task tasks[4] = { { .run = wait_for_release },
                                  { .run = wait_for_release },
                                  { .run = wait_for_release },
                                  { .run = wait_for_release } };
    uint64_t threads, queued;

    reset();
    CHECK(pool_submit(pool, &tasks[0]));
    CHECK(pool_submit(pool, &tasks[1]));
    wait_until(&running, 2);
    CHECK(pool_submit(pool, &tasks[2]));
    pool_stats(pool, &threads, &queued);
    CHECK(threads == 2 && queued == 1);
    CHECK(!pool_submit(pool, &tasks[3]));
    release();
    pool_close(pool); /* what was taken runs */
    CHECK(done == 3);
}

TEST(one_thread_serves_one_task_after_another)
{
    struct pool *pool = pool_open(1, 1);
    struct pool_task tasks[2] = { { .run = wait_for_release }, { .run = wait_for_release } };
    uint64_t threads, queued;

    reset();
    release();
    for (int i = 1; i <= 100; i++) { /* it may still be busy with ending the last one, so there are two */
        CHECK(pool_submit(pool, &tasks[i % 2]));
        wait_until(&done, i);
    }
    pool_stats(pool, &threads, &queued);
    CHECK(threads == 1 && queued == 0);
    pool_close(pool);
}

TEST(every_task_runs_once)
{
    enum { COUNT = 2000 };
    static struct pool_task tasks[COUNT];
    struct pool *pool = pool_open(4, COUNT);

    reset();
    release();
    for (int i = 0; i < COUNT; i++) {
        tasks[i].run = wait_for_release;
        CHECK(pool_submit(pool, &tasks[i]));
    }
    pool_close(pool);
    CHECK(done == COUNT);
}

TEST(a_pool_without_tasks_closes)
{
    pool_close(pool_open(4, 4));
    pool_close(NULL);
}
