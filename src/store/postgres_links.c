/* src/store/postgres_links.c - connections that are opened when they are first wanted, and shared from then on. */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/postgres_private.h"

enum { WAIT_SECONDS_MAX = 20 };

/*
 * A database counts how often a standby of it was promoted. One that has counted fewer than another was replaced by that one:
 * what it has since is lost, so nobody uses it. It is not asked for where there is no such count.
 */
static bool is_replaced(struct link *link, _Atomic uint64_t *promotions)
{
    struct answer *answer = NULL;
    uint64_t seen = atomic_load(promotions), count = 0;

    if (link_run(link, "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint",
                 &answer) == LINK_OK &&
        answer_rows(answer) == 1)
        count = (uint64_t)answer_number(answer, 0, 0);
    answer_free(answer);
    while (seen < count && !atomic_compare_exchange_weak(promotions, &seen, count))
        ;
    return count < seen;
}

struct link *links_connect(const struct links *like)
{
    for (size_t host = 0, hosts = link_hosts(like->options.where); host < hosts; host++) {
        struct link *link = link_open(&like->options, host);

        if (!link)
            break; /* none of the hosts takes writes */
        if (!is_replaced(link, like->promotions))
            return link;
        if (link_is_sound(link))
            log_line(LOG_ERROR, "store: the database that answers was replaced by another: it is not used");
        link_close(link);
    }
    atomic_store(like->writable, false);
    return NULL;
}

void links_open(struct links *links, const struct links *like, size_t links_max, int64_t idle_ms)
{
    *links = *like;
    links->links_max = links_max;
    links->options.idle_ms = idle_ms;
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

static bool may_open(const struct links *links)
{
    return links->open_count < links->links_max && !(links->away && links->trying > 0);
}

/* Under the mutex: false when nobody gave one back in time, or there is no use in waiting. */
static bool wait_for_one(struct links *links)
{
    struct timespec until;
    bool late = false;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS_MAX;
    while (!late && !links->away && links->idle_count == 0 && links->open_count == links->links_max)
        late = pthread_cond_timedwait(&links->returned, &links->mutex, &until) != 0;
    return links->idle_count > 0 || may_open(links);
}

static void count_out(struct links *links)
{
    pthread_mutex_lock(&links->mutex);
    assert(links->open_count > 0);
    links->open_count--;
    pthread_cond_signal(&links->returned);
    pthread_mutex_unlock(&links->mutex);
}

/* Under the mutex, which it lets go meanwhile. */
static struct link *open_one(struct links *links)
{
    struct link *link;

    links->open_count++;
    links->trying++;
    pthread_mutex_unlock(&links->mutex);
    link = links_connect(links);
    pthread_mutex_lock(&links->mutex);
    links->trying--;
    links->away = !link;
    if (!link) {
        links->open_count--;
        pthread_cond_broadcast(&links->returned); /* who waits does so in vain */
    }
    return link;
}

struct link *links_take(struct links *links)
{
    struct link *link = NULL;

    thread_assert_may_block();
    pthread_mutex_lock(&links->mutex);
    if (wait_for_one(links))
        link = links->idle_count > 0 ? links->idle[--links->idle_count] : open_one(links);
    pthread_mutex_unlock(&links->mutex);
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
    links->away = false;
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
