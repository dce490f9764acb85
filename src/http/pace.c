/* src/http/pace.c - a thread that looks, every few milliseconds while there is work, who has been at it for long. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "http/pace.h"

enum {
    LOOKS = 4, /* in the time that a thread may work */
    TURN_NS = 300000,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000
};

struct pace {
    struct pace_options options;
    pthread_mutex_t mutex; /* guards everything below, and whoever is in the list */
    pthread_cond_t wake;
    struct paced *first;
    bool sleeps, stopping, called;
    pthread_t thread;
};

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now = { 0 };

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* It has not left, so it has not ended. */
static int64_t worked_ns(const struct paced *one)
{
    clockid_t clock;

    if (pthread_getcpuclockid(one->thread, &clock) != 0)
        return 0;
    return nanoseconds(clock) - one->began_ns;
}

/* What sched_setattr(2) takes. The C library of Debian 12 does not have it, and the kernel's header does not go with <sched.h>. */
struct turns {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t turn_ns, deadline_ns, period_ns;
};

enum { KEEP_POLICY = 8 };

/* Its turns get short, too: whoever wakes up waits for the end of one. A system before Linux 6.12 passes over that. */
static void put_back(const struct paced *one, int nice)
{
    struct turns wanted = { .size = sizeof(wanted), .flags = KEEP_POLICY, .turn_ns = TURN_NS };

    errno = 0;
    wanted.nice = getpriority(PRIO_PROCESS, (id_t)one->id) + nice;
    if (syscall(SYS_sched_setattr, one->id, &wanted, 0) != 0)
        setpriority(PRIO_PROCESS, (id_t)one->id, wanted.nice);
}

static void look_at(const struct pace *pace, struct paced *one)
{
    if (one->is_back || worked_ns(one) < pace->options.after_ms * NS_PER_MS)
        return;
    put_back(one, pace->options.nice);
    one->is_back = true;
}

/* While nobody works it sleeps for as long as that is so. */
static void rest(struct pace *pace)
{
    struct timespec until;

    thread_assert_locked(&pace->mutex);
    if (!pace->first) {
        pace->sleeps = true;
        pthread_cond_wait(&pace->wake, &pace->mutex);
        pace->sleeps = false;
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += pace->options.after_ms * NS_PER_MS / LOOKS;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    pthread_cond_timedwait(&pace->wake, &pace->mutex, &until);
}

/* Without the mutex: what is called may have locks of its own, under which others come and go here. */
static void call(struct pace *pace)
{
    if (!pace->called)
        return;
    pace->called = false;
    pthread_mutex_unlock(&pace->mutex);
    pace->options.call(pace->options.context);
    pthread_mutex_lock(&pace->mutex);
}

static void *look(void *argument)
{
    struct pace *pace = argument;

    pthread_mutex_lock(&pace->mutex);
    while (!pace->stopping) {
        for (struct paced *one = pace->first; one; one = one->next)
            look_at(pace, one);
        call(pace);
        if (!pace->called && !pace->stopping)
            rest(pace);
    }
    pthread_mutex_unlock(&pace->mutex);
    return NULL;
}

/* Signals are for the threads that wait for them. */
static bool start(struct pace *pace)
{
    sigset_t all, before;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&pace->thread, NULL, look, pace) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct pace *pace_open(const struct pace_options *options)
{
    struct pace *pace = calloc(1, sizeof(*pace));
    pthread_condattr_t attributes;

    if (!pace)
        return NULL;
    assert(options->after_ms > 0 && options->nice > 0);
    pace->options = *options;
    pthread_mutex_init(&pace->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pace->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (start(pace))
        return pace;
    pthread_cond_destroy(&pace->wake);
    pthread_mutex_destroy(&pace->mutex);
    free(pace);
    return NULL;
}

void pace_enter(struct pace *pace, struct paced *self)
{
    if (!self->id)
        self->id = gettid();
    self->thread = pthread_self();
    self->began_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    self->previous = NULL;
    pthread_mutex_lock(&pace->mutex);
    assert(!pace->stopping);
    self->next = pace->first;
    if (self->next)
        self->next->previous = self;
    pace->first = self;
    if (pace->sleeps)
        pthread_cond_signal(&pace->wake);
    pthread_mutex_unlock(&pace->mutex);
}

void pace_leave(struct pace *pace, struct paced *self)
{
    pthread_mutex_lock(&pace->mutex);
    if (self->previous)
        self->previous->next = self->next;
    else
        pace->first = self->next;
    if (self->next)
        self->next->previous = self->previous;
    pthread_mutex_unlock(&pace->mutex);
}

void pace_call(struct pace *pace)
{
    pthread_mutex_lock(&pace->mutex);
    pace->called = true;
    pthread_cond_signal(&pace->wake);
    pthread_mutex_unlock(&pace->mutex);
}

void pace_close(struct pace *pace)
{
    if (!pace)
        return;
    assert(!pace->first); /* nobody works any more */
    pthread_mutex_lock(&pace->mutex);
    pace->stopping = true;
    pthread_cond_signal(&pace->wake);
    pthread_mutex_unlock(&pace->mutex);
    pthread_join(pace->thread, NULL);
    pthread_cond_destroy(&pace->wake);
    pthread_mutex_destroy(&pace->mutex);
    free(pace);
}
