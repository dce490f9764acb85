/* test/unit/http/pool_test.c - threads on demand, with a bound on threads and on what waits. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "http/pool.h"
#include "test.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int running, done;
static bool released;
static char notes[8]; /* names of tasks, in the order in which they ran */

static void reset(void)
{
    running = done = 0;
    released = false;
    memset(notes, 0, sizeof(notes));
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

static void count_done(struct pool_task *task)
{
    (void)task;
    pthread_mutex_lock(&mutex);
    done++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Tasks that write down their names, of one thread at a time. */
struct noted {
    struct pool_task task; /* the first member */
    char name;
};

static void note(struct pool_task *task)
{
    notes[strlen(notes)] = ((struct noted *)task)->name;
}

/* Not for ever: a task that is lost fails the test. */
static void wait_until(const int *counter, int value)
{
    struct timespec until;
    int late = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&mutex);
    while (*counter < value && !late)
        late = pthread_cond_timedwait(&changed, &mutex, &until);
    CHECK(!late);
    pthread_mutex_unlock(&mutex);
}

static void release(void)
{
    pthread_mutex_lock(&mutex);
    released = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* What is quick takes less, of a processor's time, however slow the machine is. */
enum { SLOW_MS = 200 };

/* Quick tasks may have all threads. */
static struct pool_limits limits_of(size_t threads, size_t queue, size_t scan_threads, size_t scan_queue,
                                    int64_t idle_ms)
{
    return (struct pool_limits){ .threads = threads,
                                 .class = { [CLASS_QUICK] = { threads, queue },
                                            [CLASS_SCANS] = { scan_threads, scan_queue },
                                            [CLASS_SCRIPTS] = { 1, queue } },
                                 .kept = 2,
                                 .idle_ms = idle_ms,
                                 .slow_ms = SLOW_MS,
                                 .slow_nice = 1 };
}

static struct pool *open_limited(size_t threads, size_t queue, size_t scan_threads, size_t scan_queue,
                                 int64_t idle_ms)
{
    struct pool_limits limits = limits_of(threads, queue, scan_threads, scan_queue, idle_ms);

    return pool_open(&limits);
}

static struct pool *open_pool(size_t threads, size_t queue)
{
    return open_limited(threads, queue, threads, queue, 10000);
}

TEST(threads_start_when_none_is_idle_and_then_tasks_queue_up_to_a_limit)
{
    struct pool *pool = open_pool(2, 1);
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
    struct pool *pool = open_pool(1, 1);
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
    struct pool *pool = open_pool(4, COUNT);

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
    pool_close(open_pool(4, 4));
    pool_close(NULL);
}

/* --- slow tasks --- */

TEST(slow_tasks_get_their_part_of_the_threads_and_leave_the_others_free)
{
    struct pool *pool = open_limited(3, 10, 2, 1, 10000);
    struct pool_task slow[4] = { { .run = wait_for_release, .class = CLASS_SCANS },
                                 { .run = wait_for_release, .class = CLASS_SCANS },
                                 { .run = wait_for_release, .class = CLASS_SCANS },
                                 { .run = wait_for_release, .class = CLASS_SCANS } };
    struct pool_task quick[2] = { { .run = count_done }, { .run = count_done } };
    uint64_t threads, queued;

    reset();
    CHECK(pool_submit(pool, &slow[0]) && pool_submit(pool, &slow[1]) && pool_submit(pool, &slow[2]));
    wait_until(&running, 2);
    CHECK(!pool_submit(pool, &slow[3])); /* their queue has room for one */
    pool_stats(pool, &threads, &queued);
    CHECK(threads == 2 && queued == 1);
    for (int i = 0; i < 2; i++) { /* though a slow one waits, and has waited longer */
        CHECK(pool_submit(pool, &quick[i]));
        wait_until(&done, i + 1);
    }
    CHECK(running == 2);
    release();
    wait_until(&running, 3); /* the one that waited has a thread now */
    pool_close(pool);
    CHECK(done == 5);
}

TEST(a_slow_task_that_may_run_waits_behind_older_ones_only)
{
    struct pool *pool = open_limited(1, 10, 1, 10, 10000);
    struct pool_task first = { .run = wait_for_release };
    struct noted tasks[4] = { { .task = { .run = note, .class = CLASS_SCANS }, .name = 'a' },
                              { .task = { .run = note }, .name = 'b' },
                              { .task = { .run = note, .class = CLASS_SCANS }, .name = 'c' },
                              { .task = { .run = note }, .name = 'd' } };

    reset();
    CHECK(pool_submit(pool, &first));
    wait_until(&running, 1);
    for (size_t i = 0; i < 4; i++)
        CHECK(pool_submit(pool, &tasks[i].task));
    release();
    pool_close(pool);
    CHECK(strcmp(notes, "abcd") == 0);
}

/* --- threads that end --- */

TEST(threads_end_when_they_are_idle_but_for_two)
{
    enum { COUNT = 8 };
    struct pool *pool = open_limited(COUNT, 0, COUNT, 0, 0);
    struct pool_task tasks[COUNT];
    uint64_t threads = 0, queued;

    reset();
    for (int i = 0; i < COUNT; i++) {
        tasks[i] = (struct pool_task){ .run = wait_for_release };
        CHECK(pool_submit(pool, &tasks[i]));
    }
    wait_until(&running, COUNT);
    pool_stats(pool, &threads, &queued);
    CHECK(threads == COUNT);
    release();
    while (threads > 2) { /* a pool that keeps more hangs here, and the test's time ends */
        sched_yield();
        pool_stats(pool, &threads, &queued);
    }
    CHECK(threads == 2);
    pool_close(pool);
}

/* Its thread ends whenever it has nothing to do: a task that is left to one on its way out would be lost. */
TEST(a_thread_that_ends_takes_no_task_with_it)
{
    enum { ROUNDS = 3000, COUNT = 4 };
    struct pool *pool = open_limited(1, COUNT, 1, COUNT, 0);
    static struct pool_task tasks[ROUNDS][COUNT];
    int taken = 0;

    reset();
    for (int i = 0; i < ROUNDS && done == taken; i++) {
        for (int k = 0; k < COUNT; k++) {
            tasks[i][k] = (struct pool_task){ .run = count_done, .class = k % CLASS_COUNT };
            taken +=
                pool_submit(pool, &tasks[i][k]); /* not while the one thread that may be there is ending */
        }
        wait_until(&done, taken);
    }
    pool_close(pool);
    CHECK(done == taken && taken == ROUNDS * COUNT);
}

/* ---- owners ---- */

static struct pool *open_shared(size_t script_threads, size_t each)
{
    return pool_open(&(struct pool_limits){ .threads = 8,
                                            .class = { [CLASS_QUICK] = { 8, 8 },
                                                       [CLASS_SCANS] = { 8, 8 },
                                                       [CLASS_SCRIPTS] = { script_threads, 8, each } },
                                            .kept = 2,
                                            .idle_ms = 10000,
                                            .slow_ms = SLOW_MS,
                                            .slow_nice = 1 });
}

TEST(owners_take_turns_however_many_tasks_of_one_came_first)
{
    struct pool *pool = open_shared(1, 0);
    struct pool_task first = { .run = wait_for_release, .class = CLASS_SCRIPTS, .turn = { .owner = 1 } };
    struct noted tasks[5] = { 0 };

    reset();
    CHECK(pool_submit(pool, &first));
    wait_until(&running, 1);
    for (size_t i = 0; i < 5; i++) {
        tasks[i] = (struct noted){ .task = { .run = note, .class = CLASS_SCRIPTS }, .name = (char)('a' + i) };
        tasks[i].task.turn.owner = i < 4 ? 1 : 2;
        CHECK(pool_submit(pool, &tasks[i].task));
    }
    release();
    pool_close(pool);
    CHECK(strcmp(notes, "aebcd") == 0);
}

TEST(one_owner_leaves_threads_of_its_class_for_others)
{
    struct pool *pool = open_shared(4, 3);
    struct pool_task crowd[5], other = { .run = count_done, .class = CLASS_SCRIPTS, .turn = { .owner = 2 } };
    uint64_t threads, queued;

    reset();
    for (size_t i = 0; i < 5; i++) {
        crowd[i] = (struct pool_task){ .run = wait_for_release, .class = CLASS_SCRIPTS };
        crowd[i].turn.owner = 1;
        CHECK(pool_submit(pool, &crowd[i]));
    }
    wait_until(&running, 3);
    CHECK(pool_submit(pool, &other));
    wait_until(&done, 1);
    pool_stats(pool, &threads, &queued);
    CHECK(queued == 2);
    release();
    pool_close(pool);
    CHECK(done == 6);
}

/* --- threads that give way --- */

/* A task that writes down the priority of its thread. */
struct ranked {
    struct pool_task task; /* the first member */
    int usual, nice;
};

static void rank(struct pool_task *task)
{
    ((struct ranked *)task)->nice = getpriority(PRIO_PROCESS, 0);
    count_done(task);
}

/* Works until it is made to give way; one that never is hangs here, and the test's time ends. */
static void toil(struct pool_task *task)
{
    struct ranked *ranked = (struct ranked *)task;

    while (getpriority(PRIO_PROCESS, 0) == ranked->usual)
        ;
    rank(task);
}

static void run_ranked(struct pool *pool, struct ranked *ranked, uint64_t owner,
                       void (*run)(struct pool_task *task))
{
    int before = done;

    *ranked = (struct ranked){ .task = { .run = run, .class = CLASS_SCANS, .turn = { .owner = owner } },
                               .usual = getpriority(PRIO_PROCESS, 0) };
    CHECK(pool_submit(pool, &ranked->task));
    wait_until(&done, before + 1);
}

TEST(what_works_for_long_gives_way_while_it_works_and_only_its_owners_tasks_get_its_thread)
{
    struct pool *pool = open_limited(4, 4, 4, 4, 60000);
    struct ranked ranked;

    reset();
    run_ranked(pool, &ranked, 7, rank);
    CHECK(ranked.nice == ranked.usual); /* before it is known how long it takes */
    run_ranked(pool, &ranked, 7, toil);
    CHECK(ranked.nice == ranked.usual + 1);
    for (uint64_t i = 0; i < 20; i++) {
        run_ranked(pool, &ranked, i % 5, rank); /* 0 is nobody */
        CHECK(ranked.nice == ranked.usual);
    }
    pool_close(pool);
}

static void wait_and_rank(struct pool_task *task)
{
    wait_for_release(task);
    rank(task);
}

TEST(what_waits_does_not_give_way)
{
    struct pool *pool = open_limited(2, 4, 2, 4, 60000);
    struct ranked slow, waits = { .task = { .run = wait_and_rank } };

    reset();
    CHECK(pool_submit(pool, &waits.task));
    wait_until(&running, 1);
    run_ranked(pool, &slow, 7, toil); /* by its end both have been looked at, more than once */
    release();
    wait_until(&done, 3);
    CHECK(waits.nice == slow.usual);
    pool_close(pool);
}

/* A new thread is born with the priority of the one that starts it. */
TEST(a_task_behind_one_that_gave_way_gets_a_thread_that_has_not)
{
    struct pool *pool = open_limited(2, 4, 1, 4, 60000);
    struct ranked slow = { .task = { .run = toil, .class = CLASS_SCANS, .turn = { .owner = 1 } },
                           .usual = getpriority(PRIO_PROCESS, 0) };
    struct ranked next = { .task = { .run = rank, .class = CLASS_SCANS, .turn = { .owner = 2 } } };
    struct pool_task first = { .run = wait_for_release, .class = CLASS_SCANS };

    reset();
    CHECK(pool_submit(pool, &first));
    wait_until(&running, 1);
    CHECK(pool_submit(pool, &slow.task) && pool_submit(pool, &next.task));
    release();
    wait_until(&done, 3);
    CHECK(slow.nice == slow.usual + 1 && next.nice == slow.usual);
    pool_close(pool);
}

/* The one thread has given way when it finds tasks of others, and nobody else comes to take them. */
TEST(a_pool_that_closes_leaves_no_task_to_a_thread_that_never_comes)
{
    enum { ROUNDS = 100 };
    struct pool_limits limits = limits_of(1, 4, 1, 4, 60000);

    limits.slow_ms = 1;
    for (int i = 0; i < ROUNDS; i++) {
        struct pool *pool = pool_open(&limits);
        struct ranked slow = { .task = { .run = toil, .turn = { .owner = 1 } },
                               .usual = getpriority(PRIO_PROCESS, 0) };
        struct pool_task next = { .run = count_done, .turn = { .owner = 2 } };

        reset();
        CHECK(pool_submit(pool, &slow.task) && pool_submit(pool, &next));
        pool_close(pool);
        CHECK(done == 2);
    }
}

TEST(where_there_are_no_other_threads_a_task_takes_one_that_gave_way)
{
    struct pool *pool = open_limited(1, 4, 1, 4, 60000);
    struct ranked ranked;

    reset();
    run_ranked(pool, &ranked, 1, toil);
    run_ranked(pool, &ranked, 2, rank);
    pool_close(pool);
}
