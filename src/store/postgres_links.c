/* src/store/postgres_links.c - connections that are opened when they are first wanted, and shared from then on. */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/heap.h"
#include "base/thread.h"
#include "store/postgres_private.h"

enum { WAIT_SECONDS_MAX = 20 };

void links_open(struct links *links, const char *where, bool sync, size_t links_max, int64_t idle_ms)
{
    *links = (struct links){ .where = where, .sync = sync, .links_max = links_max, .idle_ms = idle_ms };
    links->idle = heap_allocate(links_max * sizeof(*links->idle));
    pthread_mutex_init(&links->mutex, NULL);
    pthread_cond_init(&links->returned, NULL);
}

void links_close(struct links *links)
{
    links_forget_idle(links);
    assert(links->open_count == 0); /* nobody reads or writes a store that is closed */
    pthread_cond_destroy(&links->returned);
    pthread_mutex_destroy(&links->mutex);
    free(links->idle);
}

/* Under the mutex: false when nobody gave one back in time. */
static bool wait_for_one(struct links *links)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS_MAX;
    while (links->idle_count == 0 && links->open_count == links->links_max)
        if (pthread_cond_timedwait(&links->returned, &links->mutex, &until) != 0)
            return links->idle_count > 0 || links->open_count < links->links_max;
    return true;
}

static void count_out(struct links *links)
{
    pthread_mutex_lock(&links->mutex);
    assert(links->open_count > 0);
    links->open_count--;
    pthread_cond_signal(&links->returned);
    pthread_mutex_unlock(&links->mutex);
}

struct link *links_take(struct links *links)
{
    struct link *link = NULL;
    bool may_open = false;

    thread_assert_may_block();
    pthread_mutex_lock(&links->mutex);
    if (wait_for_one(links)) {
        may_open = links->idle_count == 0;
        if (may_open)
            links->open_count++;
        else
            link = links->idle[--links->idle_count];
    }
    pthread_mutex_unlock(&links->mutex);
    if (may_open) {
        link = link_open(links->where, links->sync, links->idle_ms);
        if (!link)
            count_out(links);
    }
    return link;
}

void links_give(struct links *links, struct link *link)
{
    if (!link_is_sound(link)) {
        link_close(link);
        count_out(links);
        return;
    }
    pthread_mutex_lock(&links->mutex);
    assert(links->idle_count < links->open_count);
    links->idle[links->idle_count++] = link;
    pthread_cond_signal(&links->returned);
    pthread_mutex_unlock(&links->mutex);
}

void links_forget_idle(struct links *links)
{
    struct link *link;

    do {
        link = NULL;
        pthread_mutex_lock(&links->mutex);
        if (links->idle_count > 0)
            link = links->idle[--links->idle_count];
        pthread_mutex_unlock(&links->mutex);
        if (link) {
            link_close(link);
            count_out(links);
        }
    } while (link);
}
