/*
 * src/base/gate.h - a door at which operations wait without a thread, and which all cores pass without writing anything in
 * common (crowd.h; a door.h is one word).
 * An operation that comes to a closed gate is ST_PENDING; when the gate is opened, its op.resume() is called, and it comes
 * again. So those that wait take no thread that those inside may need to come out.
 *
 * Threads. gate_enter(), gate_try_enter() and gate_leave() from any; gate_close() and gate_open() from one at a time.
 */
#pragma once
#include <pthread.h>

#include "base/op.h"
#include "base/crowd.h"

struct gate {
    /* Private to gate.c. */
    struct crowd inside; /* while it is open, with one for the gate itself; spread then */
    bool emptied;        /* the last one has left a closed gate; guarded by the lock, as what follows */
    pthread_mutex_t lock;
    pthread_cond_t left;
    struct gate_waiter *first, **last; /* the oldest first */
};

void gate_init(struct gate *gate);
void gate_free(struct gate *gate); /* nobody is inside, and nobody waits */

/* ST_OK: the caller is inside. ST_PENDING: it is not, and op->resume() will be called. The op has a resume(). */
enum status gate_enter(struct gate *gate, struct op *op);

/* For those that can do without. */
bool gate_try_enter(struct gate *gate);
void gate_leave(struct gate *gate);

/* Nobody enters from now on; returns when nobody is inside. The caller may wait, is not inside, and the gate is open. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);
