/*
 * src/http/pace.h - threads that work for long on one thing give way to all others.
 * A thread says when it begins with something and when it has ended it. If it has used the processor for some
 * milliseconds by then, its priority is lowered while it works: nobody need know before how long a thing will take, and
 * what is being done need not look at a clock. There is no way back: a system lets threads only give way. What is waited
 * for, a disk or a lock, does not count.
 *
 * Ownership. A `paced` lies in what its thread has, from pace_enter() to pace_leave().
 * Threads. pace_enter() and pace_leave() by the thread that works, pace_call() by any; the others by one.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pace;

struct paced {
    struct paced *next, *previous;
    pthread_t thread;
    pid_t id;
    int64_t began_ns; /* on the thread's own clock, which counts what it has used of a processor */
    bool is_back;     /* its priority has been lowered, in this turn or in an earlier one */
};

/*
 * A thread is born with the priority of the one that starts it. So what has given way starts none: pace_call() has the
 * thread that looks, which never gives way, call the function, some time later and once for all that asked until then.
 */
struct pace_options {
    int64_t after_ms; /* of a processor's time */
    int nice;         /* by so much it gives way */
    void (*call)(void *context);
    void *context;
};

struct pace *pace_open(const struct pace_options *options);
void pace_call(struct pace *pace);
void pace_enter(struct pace *pace, struct paced *self);
void pace_leave(struct pace *pace, struct paced *self);
void pace_close(struct pace *pace); /* when all have left; NULL is welcome */
