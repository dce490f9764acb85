/* src/base/door.c - a counter of those inside, with a mark that it is closed, in one word. */
#include <assert.h>

#include "base/door.h"
#include "base/thread.h"

#define CLOSED 0x80000000U

void door_init(struct door *door)
{
    atomic_init(&door->word, 0);
    door->emptied = false;
    pthread_mutex_init(&door->lock, NULL);
    pthread_cond_init(&door->left, NULL);
}

void door_free(struct door *door)
{
    assert((atomic_load(&door->word) & ~CLOSED) == 0);
    pthread_cond_destroy(&door->left);
    pthread_mutex_destroy(&door->lock);
}

/* No step is taken into a closed door and back, so that it becomes empty once only. */
bool door_enter(struct door *door)
{
    unsigned now = atomic_load(&door->word);

    do {
        if (now & CLOSED)
            return false;
        assert(now < CLOSED - 1);
    } while (!atomic_compare_exchange_weak(&door->word, &now, now + 1));
    return true;
}

/* The one word tells whether somebody waits for exactly this caller; else the door may be gone after the step. */
void door_leave(struct door *door)
{
    unsigned before = atomic_fetch_sub(&door->word, 1);

    assert((before & ~CLOSED) > 0);
    if (before != (CLOSED | 1))
        return;
    pthread_mutex_lock(&door->lock);
    assert(!door->emptied);
    door->emptied = true;
    pthread_cond_signal(&door->left);
    pthread_mutex_unlock(&door->lock);
}

void door_close(struct door *door)
{
    unsigned before = atomic_fetch_or(&door->word, CLOSED);

    thread_assert_may_block();
    assert(!(before & CLOSED));
    if (before == 0)
        return;
    pthread_mutex_lock(&door->lock);
    while (!door->emptied)
        pthread_cond_wait(&door->left, &door->lock);
    door->emptied = false;
    pthread_mutex_unlock(&door->lock);
    assert(atomic_load(&door->word) == CLOSED);
}

void door_open(struct door *door)
{
    atomic_fetch_and(&door->word, ~CLOSED);
}
