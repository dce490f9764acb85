/* src/script/children.c - the pool of children: grown when somebody waits, shrunk when nobody does. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/thread.h"
#include "script/children.h"

enum {
    CHILD_PATIENCE_MS = 20,
    CHILD_IDLE_MS = 5000,
    LOOK_MS = 1000,
    TROUBLE_MS = 1000,
    WAIT_MS = 10 * 1000, /* for a child, before one is told to come back */
    CHILDREN_KEPT = 1,
    FAILURES_MAX = 5,
};

struct children {
    struct script_options options;
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t freed;  /* a child is idle, or none can be started */
    pthread_cond_t wanted; /* the keeper has something to do */
    struct script_child *idle;
    size_t idle_count, count; /* of all of them, those that are being started too */
    size_t waiting;
    int64_t waiting_since_ms; /* the first of those who wait, or the last that was served */
    int failures;             /* one after the other */
    int64_t trouble_until_ms; /* none could be started: those who ask before then are told at once */
    bool used, stopping;
    pthread_t keeper;
};

static int64_t now_ms(const struct children *children)
{
    return env_monotonic_ms(children->options.env);
}

/* The mutex is held. */
static void wait_ms(struct children *children, pthread_cond_t *condition, int64_t ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(condition, &children->mutex, &until);
}

/* ---- the keeper ---- */

static void put_idle(struct children *children, struct script_child *child)
{
    *child_next(child) = children->idle;
    *child_idle_since_ms(child) = now_ms(children);
    children->idle = child;
    children->idle_count++;
    pthread_cond_signal(&children->freed);
}

static bool wants_one(const struct children *children)
{
    if (!children->used || now_ms(children) < children->trouble_until_ms)
        return false;
    if (children->count < CHILDREN_KEPT)
        return true;
    return children->waiting && !children->idle && children->count < children->options.children_max &&
           now_ms(children) - children->waiting_since_ms >= CHILD_PATIENCE_MS;
}

/* The mutex is held, but not while the child starts. */
static void start_one(struct children *children)
{
    struct script_child *child;
    bool killed;

    children->count++;
    children->waiting_since_ms = now_ms(children);
    pthread_mutex_unlock(&children->mutex);
    child = child_start(children->options.env, children->options.program, &killed);
    if (!child)
        log_line(LOG_WARN, "cannot run scripts: %s does not start", children->options.program);
    pthread_mutex_lock(&children->mutex);
    if (child) {
        children->failures = 0;
        put_idle(children, child);
        return;
    }
    children->count--;
    if (killed && ++children->failures < FAILURES_MAX)
        return;
    children->trouble_until_ms = now_ms(children) + TROUBLE_MS;
    pthread_cond_broadcast(&children->freed);
}

/* The one that has been idle for longest, when it has been so for too long; NULL when there is none. */
static struct script_child *take_tired(struct children *children)
{
    struct script_child **at = &children->idle, *tired;

    if (children->idle_count <= CHILDREN_KEPT)
        return NULL;
    while (*child_next(*at))
        at = child_next(*at);
    tired = *at;
    if (now_ms(children) - *child_idle_since_ms(tired) < CHILD_IDLE_MS)
        return NULL;
    *at = NULL;
    children->idle_count--;
    children->count--;
    return tired;
}

static void rest(struct children *children)
{
    if (!children->used || (!children->waiting && children->idle_count <= CHILDREN_KEPT &&
                            now_ms(children) >= children->trouble_until_ms))
        pthread_cond_wait(&children->wanted, &children->mutex);
    else
        wait_ms(children, &children->wanted, children->waiting ? CHILD_PATIENCE_MS : LOOK_MS);
}

static void *keep(void *argument)
{
    struct children *children = argument;

    pthread_mutex_lock(&children->mutex);
    while (!children->stopping) {
        struct script_child *tired = take_tired(children);

        if (tired)
            child_end(tired);
        else if (wants_one(children))
            start_one(children);
        else
            rest(children);
    }
    while (children->idle) {
        struct script_child *child = children->idle;

        children->idle = *child_next(child);
        child_end(child);
    }
    pthread_mutex_unlock(&children->mutex);
    return NULL;
}

/* ---- those who use them ---- */

struct children *children_open(const struct script_options *options)
{
    struct children *children = calloc(1, sizeof(*children));
    pthread_condattr_t attributes;

    if (!children)
        return NULL;
    children->options = *options;
    pthread_mutex_init(&children->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&children->freed, &attributes);
    pthread_cond_init(&children->wanted, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&children->keeper, NULL, keep, children) == 0)
        return children;
    free(children);
    return NULL;
}

void children_close(struct children *children)
{
    if (!children)
        return;
    pthread_mutex_lock(&children->mutex);
    children->stopping = true;
    pthread_cond_signal(&children->wanted);
    pthread_mutex_unlock(&children->mutex);
    pthread_join(children->keeper, NULL);
    pthread_cond_destroy(&children->freed);
    pthread_cond_destroy(&children->wanted);
    pthread_mutex_destroy(&children->mutex);
    free(children);
}

static enum status missing(struct op *op)
{
    return op_fail(
        op, ST_NOT_BUILT,
        "This server cannot run scripts: the program orrery-js is missing or does not start. It is "
        "built where libjavascriptcoregtk-4.1-dev and libseccomp-dev are installed.");
}

/* The mutex is held; it looks up now and then, because clients go away. */
static enum status wait_for_idle(struct op *op, struct children *children)
{
    int64_t until_ms = now_ms(children) + WAIT_MS;
    enum status st = ST_OK;

    while (!children->idle) {
        TRY(op_check(op));
        if (children->stopping)
            TRY(op_fail(op, ST_UNAVAILABLE, "The server is stopping."));
        if (children->count == 0 && now_ms(children) < children->trouble_until_ms)
            TRY(missing(op));
        if (now_ms(children) >= until_ms)
            TRY(op_fail(
                op, ST_TOO_MANY_REQUESTS,
                "Request rate is large: too many scripts are under way. Please retry after sometime."));
        wait_ms(children, &children->freed, LOOK_MS);
    }
out:
    return st;
}

enum status children_take(struct op *op, struct children *children, struct script_child **child)
{
    enum status st;

    thread_assert_may_block();
    pthread_mutex_lock(&children->mutex);
    children->used = true;
    if (children->waiting++ == 0)
        children->waiting_since_ms = now_ms(children);
    if (!children->idle)
        pthread_cond_signal(&children->wanted);
    TRY(wait_for_idle(op, children));
    *child = children->idle;
    children->idle = *child_next(*child);
    children->idle_count--;
out:
    children->waiting--;
    children->waiting_since_ms = now_ms(children);
    pthread_mutex_unlock(&children->mutex);
    return st;
}

void children_give_back(struct children *children, struct script_child *child, bool good)
{
    if (!good)
        child_end(child);
    pthread_mutex_lock(&children->mutex);
    if (good)
        put_idle(children, child);
    else
        children->count--;
    if (!good || children->idle_count > CHILDREN_KEPT)
        pthread_cond_signal(&children->wanted);
    pthread_mutex_unlock(&children->mutex);
}

size_t children_count(struct children *children)
{
    size_t count;

    pthread_mutex_lock(&children->mutex);
    count = children->count;
    pthread_mutex_unlock(&children->mutex);
    return count;
}
