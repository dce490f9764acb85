/* src/script/children.c - the pool of children: grown when somebody waits, shrunk when nobody does. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
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

/* A thread that waits. A child that becomes free is handed to the one whose turn it is and to nobody else. */
struct waiter {
    struct turn turn; /* the first member */
    int64_t since_ms;
    struct script_child *child; /* NULL until then */
    pthread_cond_t served;
};

struct children {
    struct script_options options;
    pthread_condattr_t monotonic;
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t wanted; /* the keeper has something to do */
    struct script_child *idle;
    size_t idle_count, count; /* of all of them, those that are being started too */
    struct turns turns;       /* those who wait; and children that are taken hold places */
    size_t waiting;
    int64_t served_ms, started_ms; /* the last time that somebody was, and one was */
    int failures;                  /* one after the other */
    int64_t trouble_until_ms;      /* none could be started: those who ask before then are told at once */
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

    thread_assert_locked(&children->mutex);
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

static struct waiter *waiter_of(struct turn *turn)
{
    static_assert(offsetof(struct waiter, turn) == 0);
    return (struct waiter *)turn;
}

/* How many children one owner may have. */
static size_t each_max(const struct children *children)
{
    return children->options.children_max - children->options.children_max / SCRIPT_CHILDREN_KEPT_PART;
}

/* The last idle child is not for an owner that has a child for every core: another is started for that one. */
static size_t each_of_idle(const struct children *children)
{
    bool is_last = children->idle_count == 1 && children->count < children->options.children_max;

    return is_last && children->options.cores < each_max(children) ? children->options.cores
                                                                   : each_max(children);
}

/* Who is next; NULL when nobody waits who may have a child. */
static struct waiter *first_waiter(const struct children *children)
{
    return waiter_of(turns_first(&children->turns, each_max(children)));
}

static void hand_over(struct children *children, struct script_child *child, uint64_t owner)
{
    *child_place(child) = (struct turn){ .owner = owner };
    turns_hold(&children->turns, child_place(child));
}

static void serve(struct children *children, struct waiter *waiter, struct script_child *child)
{
    thread_assert_locked(&children->mutex);
    assert(!waiter->child);
    assert(children->waiting > 0);
    children->waiting--;
    hand_over(children, child, waiter->turn.owner);
    waiter->child = child;
    children->served_ms = now_ms(children);
    pthread_cond_signal(&waiter->served);
}

static struct script_child *take_idle(struct children *children)
{
    struct script_child *child = children->idle;

    assert(children->idle_count > 0);
    children->idle = *child_next(child);
    children->idle_count--;
    return child;
}

static void put_idle(struct children *children, struct script_child *child)
{
    thread_assert_locked(&children->mutex);
    assert(child);
    *child_next(child) = children->idle;
    *child_idle_since_ms(child) = now_ms(children);
    children->idle = child;
    children->idle_count++;
    assert(children->idle_count <= children->count);
}

/* After a child has become idle, or a place of an owner: none is idle while somebody waits who may have it. */
static void serve_all(struct children *children)
{
    while (children->idle) {
        struct waiter *next = waiter_of(turns_next(&children->turns, each_of_idle(children)));

        if (!next)
            return;
        serve(children, next, take_idle(children));
    }
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/*
 * While a core has no child, one waiting thread is reason enough for another child. When every core has one, more
 * children would only share the cores. They are needed only when nobody is served: then all children must be stuck.
 */
static int64_t lacking_since_ms(const struct children *children, const struct waiter *first)
{
    int64_t since_ms = later(first->since_ms, children->started_ms);

    return children->count < children->options.cores ? since_ms : later(since_ms, children->served_ms);
}

static bool wants_one(const struct children *children)
{
    const struct waiter *first = first_waiter(children);

    if (!children->used || now_ms(children) < children->trouble_until_ms)
        return false;
    if (children->count < CHILDREN_KEPT)
        return true;
    return first && children->count < children->options.children_max &&
           now_ms(children) - lacking_since_ms(children, first) >= CHILD_PATIENCE_MS;
}

static void wake_all(struct children *children)
{
    for (struct turn *first = children->turns.first; first; first = first->next)
        for (struct turn *turn = first; turn; turn = turn->behind)
            pthread_cond_signal(&waiter_of(turn)->served);
}

/* The mutex is held before and after, but not while the child starts. */
static void start_one(struct children *children)
{
    struct script_child *child;
    bool killed;

    thread_assert_locked(&children->mutex);
    children->count++;
    children->started_ms = now_ms(children);
    serve_all(children); /* the last child is begun: an idle one need no longer be kept */
    pthread_mutex_unlock(&children->mutex);
    child = child_start(children->options.env, children->options.program, &killed);
    if (!child)
        log_line(LOG_WARN, "cannot run scripts: %s does not start", children->options.program);
    pthread_mutex_lock(&children->mutex);
    if (child) {
        children->failures = 0;
        put_idle(children, child);
        serve_all(children);
        return;
    }
    assert(children->count > 0);
    children->count--;
    if (killed && ++children->failures < FAILURES_MAX)
        return;
    children->trouble_until_ms = now_ms(children) + TROUBLE_MS;
    wake_all(children);
}

/* Takes out the child that has been idle for longest, if that is too long; otherwise NULL. */
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
    assert(children->count >= children->idle_count);
    children->idle_count--;
    children->count--;
    return tired;
}

static void rest(struct children *children)
{
    bool lacking = first_waiter(children) != NULL;

    if (!children->used ||
        (!lacking && children->idle_count <= CHILDREN_KEPT && now_ms(children) >= children->trouble_until_ms))
        pthread_cond_wait(&children->wanted, &children->mutex);
    else
        wait_ms(children, &children->wanted, lacking ? CHILD_PATIENCE_MS : LOOK_MS);
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
    assert(children->waiting == 0);                  /* nobody waits any more */
    assert(children->count == children->idle_count); /* and all were given back */
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

    if (!children)
        return NULL;
    children->options = *options;
    pthread_mutex_init(&children->mutex, NULL);
    pthread_condattr_init(&children->monotonic);
    pthread_condattr_setclock(&children->monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&children->wanted, &children->monotonic);
    if (pthread_create(&children->keeper, NULL, keep, children) == 0)
        return children;
    free(children);
    return NULL;
}

void children_close(struct children *children)
{
    if (!children)
        return;
    thread_assert_may_block();
    pthread_mutex_lock(&children->mutex);
    assert(!children->stopping);
    children->stopping = true;
    pthread_cond_signal(&children->wanted);
    pthread_mutex_unlock(&children->mutex);
    pthread_join(children->keeper, NULL);
    pthread_cond_destroy(&children->wanted);
    pthread_condattr_destroy(&children->monotonic);
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

static void join_line(struct children *children, uint64_t owner, struct waiter *waiter)
{
    *waiter = (struct waiter){ .turn = { .owner = owner }, .since_ms = now_ms(children) };
    pthread_cond_init(&waiter->served, &children->monotonic);
    turns_wait(&children->turns, &waiter->turn);
    children->waiting++;
    pthread_cond_signal(&children->wanted);
}

static void leave_line(struct children *children, struct waiter *waiter)
{
    assert(children->waiting > 0);
    turns_leave(&children->turns, &waiter->turn);
    children->waiting--;
}

/* The mutex is held. The thread wakes now and then to look whether its client is still there. */
static enum status wait_in_line(struct op *op, struct children *children, uint64_t owner,
                                struct script_child **child)
{
    struct waiter waiter;
    enum status st = ST_OK;

    join_line(children, owner, &waiter);
    while (!waiter.child) {
        TRY(op_check(op));
        if (children->stopping)
            TRY(op_fail(op, ST_UNAVAILABLE, "The server is stopping."));
        if (children->count == 0 && now_ms(children) < children->trouble_until_ms)
            TRY(missing(op));
        if (now_ms(children) - waiter.since_ms >= WAIT_MS)
            TRY(op_fail(
                op, ST_TOO_MANY_REQUESTS,
                "Request rate is large: too many scripts are under way. Please retry after sometime."));
        wait_ms(children, &waiter.served, LOOK_MS);
    }
    *child = waiter.child;
out:
    if (st != ST_OK)
        leave_line(children, &waiter);
    pthread_cond_destroy(&waiter.served);
    return st;
}

enum status children_take(struct op *op, struct children *children, uint64_t owner,
                          struct script_child **child)
{
    enum status st = ST_OK;

    thread_assert_may_block();
    pthread_mutex_lock(&children->mutex);
    children->used = true;
    if (children->idle && turns_may_hold(&children->turns, owner, each_of_idle(children))) {
        assert(!turns_first(&children->turns, each_of_idle(children))); /* nobody is passed over */
        *child = take_idle(children);
        hand_over(children, *child, owner);
    } else {
        st = wait_in_line(op, children, owner, child);
    }
    pthread_mutex_unlock(&children->mutex);
    return st;
}

/* A child that is killed counts until it has ended: no other is started beside it. */
static void bury(struct children *children, struct script_child *child)
{
    child_end(child);
    pthread_mutex_lock(&children->mutex);
    children->count--;
    pthread_cond_signal(&children->wanted);
    pthread_mutex_unlock(&children->mutex);
}

void children_give_back(struct children *children, struct script_child *child, bool good)
{
    thread_assert_may_block();
    pthread_mutex_lock(&children->mutex);
    assert(children->count > children->idle_count); /* this one was taken */
    turns_release(&children->turns, child_place(child));
    if (good)
        put_idle(children, child);
    serve_all(children);
    if (children->idle_count > CHILDREN_KEPT)
        pthread_cond_signal(&children->wanted);
    pthread_mutex_unlock(&children->mutex);
    if (!good)
        bury(children, child);
}

void children_count(struct children *children, size_t *count, size_t *waiting)
{
    pthread_mutex_lock(&children->mutex);
    *count = children->count;
    *waiting = children->waiting;
    pthread_mutex_unlock(&children->mutex);
}
