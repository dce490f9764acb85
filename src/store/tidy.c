/* src/store/tidy.c - a list of ranges, and a thread while there are any. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/tidy.h"

struct range_left {
    struct range_left *next;
    size_t from_bytes, to_bytes;
    char keys[]; /* both */
};

struct tidy {
    tidy_work *work;
    void *context;
    pthread_mutex_t mutex; /* guards the rest */
    struct range_left *first, **last;
    pthread_t thread;
    bool runs;   /* it takes another one when it is done with its own */
    bool joined; /* or was never started: there is nothing to wait for */
};

struct tidy *tidy_open(tidy_work *work, void *context)
{
    struct tidy *tidy = heap_allocate(sizeof(*tidy));

    *tidy = (struct tidy){ .work = work, .context = context, .joined = true };
    tidy->last = &tidy->first;
    pthread_mutex_init(&tidy->mutex, NULL);
    return tidy;
}

static struct range_left *take(struct tidy *tidy)
{
    struct range_left *range;

    pthread_mutex_lock(&tidy->mutex);
    range = tidy->first;
    tidy->runs = range != NULL;
    if (range)
        tidy->first = range->next;
    if (!tidy->first)
        tidy->last = &tidy->first;
    pthread_mutex_unlock(&tidy->mutex);
    return range;
}

static void *run(void *argument)
{
    struct tidy *tidy = argument;
    struct range_left *range;

    while ((range = take(tidy))) {
        tidy->work(tidy->context, slice_make(range->keys, range->from_bytes),
                   slice_make(range->keys + range->from_bytes, range->to_bytes));
        free(range);
    }
    return NULL;
}

/* Under the mutex. The one before has found the list empty, and ends without taking the mutex again. */
static void start(struct tidy *tidy)
{
    thread_assert_locked(&tidy->mutex);
    assert(!tidy->runs); /* one thread at a time */
    assert(tidy->first); /* a thread without a range would end at once */
    if (!tidy->joined)
        pthread_join(tidy->thread, NULL);
    tidy->runs = pthread_create(&tidy->thread, NULL, run, tidy) == 0;
    tidy->joined = !tidy->runs;
    if (!tidy->runs)
        log_line(LOG_WARN, "store: no thread to give space back; the next drop tries again");
}

void tidy_add(struct tidy *tidy, struct slice from, struct slice to)
{
    struct range_left *range = heap_allocate_unset(sizeof(*range) + from.size + to.size);

    *range = (struct range_left){ .from_bytes = from.size, .to_bytes = to.size };
    assert(slice_compare(from, to) < 0);
    memcpy(mempcpy(range->keys, from.data, from.size), to.data, to.size);
    pthread_mutex_lock(&tidy->mutex);
    assert(!*tidy->last); /* it points behind the last range */
    *tidy->last = range;
    tidy->last = &range->next;
    if (!tidy->runs)
        start(tidy);
    pthread_mutex_unlock(&tidy->mutex);
}

static void forget(struct tidy *tidy)
{
    struct range_left *range;

    pthread_mutex_lock(&tidy->mutex);
    while ((range = tidy->first)) {
        tidy->first = range->next;
        free(range);
    }
    tidy->last = &tidy->first;
    pthread_mutex_unlock(&tidy->mutex);
}

void tidy_close(struct tidy *tidy)
{
    forget(tidy);
    if (!tidy->joined)
        pthread_join(tidy->thread, NULL);
    assert(!tidy->first); /* nobody adds to what is being closed */
    pthread_mutex_destroy(&tidy->mutex);
    free(tidy);
}
