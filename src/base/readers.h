/*
 * src/base/readers.h - a lock for what every request reads and hardly anybody changes: keys, definitions, an open handle.
 * A lock that counts its readers in one place makes all cores write that place with every request, and each waits until it
 * has the line. Here a reader takes the part that belongs to its thread, and a writer takes all parts.
 *
 * Threads. A reader leaves on the thread that entered. Nobody who reads may begin to read once more, as with
 *     thread_rwlock_init(): with a writer in between, both would wait for ever.
 *
 * Promises
 * 1. While a writer has excluded readers, nobody is inside.
 * 2. A writer goes through the parts; at each it waits for those inside, and for nobody who comes there later.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* Of so many bytes, two locks are in no cache line together, wherever they lie. */
enum { READERS_PARTS = 16, READERS_PART_BYTES = 128 };

struct readers {
    /* Private to readers.c. */
    struct readers_part {
        pthread_rwlock_t lock;
        char apart[READERS_PART_BYTES - sizeof(pthread_rwlock_t)];
    } part[READERS_PARTS];
};

void readers_init(struct readers *readers);
void readers_free(struct readers *readers); /* nobody is inside */

void readers_enter(struct readers *readers);
bool readers_try_enter(struct readers *readers); /* false: a writer is there, or waits */
void readers_leave(struct readers *readers);

/* Returns when no reader is inside; they are kept out until readers_admit(). */
void readers_exclude(struct readers *readers);
void readers_admit(struct readers *readers);
