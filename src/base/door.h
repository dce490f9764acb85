/*
 * src/base/door.h - a place that many enter and leave, and that one may close and wait until it is empty.
 * Entering and leaving an open door is one atomic step each, on a loop thread too. Whoever closes it sleeps until the last
 * one inside has left, and may free the door then: nobody who has left touches it any more.
 *
 * Threads. door_enter() and door_leave() from any; door_close() and door_open() from one at a time.
 */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct door {
    /* Private to door.c. */
    atomic_uint word; /* how many are inside, and whether it is closed */
    bool emptied;     /* the last one has left a closed door; guarded by the lock */
    pthread_mutex_t lock;
    pthread_cond_t left;
};

void door_init(struct door *door);
void door_free(struct door *door); /* nobody is inside */

/* False when it is closed: the caller is not inside then. */
bool door_enter(struct door *door);
void door_leave(struct door *door);

/* Nobody enters from now on; returns when nobody is inside. The caller may wait, and the door is open. */
void door_close(struct door *door);

/* Welcome on one that is open. */
void door_open(struct door *door);
