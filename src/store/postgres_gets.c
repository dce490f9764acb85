/*
 * src/store/postgres_gets.c - the latest values that several requests ask for at a time share round trips. Who comes first
 * asks for all that wait with it; meanwhile the next ones gather. A database, and the connections to it, spend less on
 * many gets in one message than on as many messages.
 */
#include <assert.h>

#include "base/log.h"
#include "base/thread.h"
#include "store/postgres_private.h"

enum { LEADERS_MAX = 4, ROUND_GETS_MAX = 64 };

void gets_init(struct gets *gets)
{
    pthread_mutex_init(&gets->mutex, NULL);
    gets->first = NULL;
    gets->last = &gets->first;
    gets->leaders = 0;
}

void gets_free(struct gets *gets)
{
    assert(!gets->first && gets->leaders == 0);
    pthread_mutex_destroy(&gets->mutex);
}

/* ---- one round trip ---- */

/* `apart`: a get that fails is no other's failure. They are of several databases, one of which may be away. */
static enum link_end round_trip(struct link *link, struct get *first, bool apart)
{
    enum link_end end = LINK_OK, ended = LINK_OK;

    for (const struct get *each = first; each; each = each->next) {
        uint8_t bytes[8];
        struct sql_param params[] = { sql_number(bytes, key_bucket(each->key)), sql_key(each->key) };

        link_send(link, SQL_GET, params, 2);
        if (apart || !each->next)
            link_sync(link);
    }
    for (struct get *each = first; each; each = each->next) {
        answer_free(each->answer);
        each->end = link_take(link, &each->answer);
        end = end == LINK_OK ? each->end : end;
        if (apart || !each->next)
            ended = link_end(link);
    }
    return end == LINK_OK ? ended : end;
}

/* Twice, because the first link may have been lost while it rested. */
static void ask_for(struct postgres *postgres, struct get *first)
{
    enum link_end end = LINK_LOST;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link = links_take(&postgres->calls);

        if (!link)
            break;
        end = round_trip(link, first, postgres->is_distributed);
        if (end != LINK_OK)
            log_line(LOG_WARN, "store: the database failed: %s %s", link_state(link), link_error(link));
        links_give(&postgres->calls, link);
        if (end == LINK_LOST)
            links_forget_idle(&postgres->calls);
    }
    for (struct get *each = first; each && end == LINK_LOST; each = each->next)
        each->end = LINK_LOST;
}

/* ---- who asks ---- */

/* Under the mutex: up to so many, the first of which is to ask for all of them. */
static struct get *take_some(struct gets *gets)
{
    struct get *taken = gets->first, **at = &gets->first;

    for (size_t count = 0; *at && count < ROUND_GETS_MAX; count++)
        at = &(*at)->next;
    gets->first = *at;
    if (!gets->first)
        gets->last = &gets->first;
    *at = NULL;
    return taken;
}

/* The others are gone as soon as their owners are awake. */
static void wake_others(struct get *own)
{
    for (struct get *each = own->next, *next; each; each = next) {
        next = each->next;
        each->answered = true;
        sem_post(&each->woken);
    }
}

static void lead(struct postgres *postgres, struct get *own)
{
    struct gets *gets = &postgres->gets;
    struct get *next;

    ask_for(postgres, own);
    wake_others(own);
    pthread_mutex_lock(&gets->mutex);
    next = take_some(gets);
    gets->leaders -= !next;
    pthread_mutex_unlock(&gets->mutex);
    if (next)
        sem_post(&next->woken); /* it has not been answered: it leads */
}

void gets_ask(struct postgres *postgres, struct get *get)
{
    struct gets *gets = &postgres->gets;
    bool leads;

    thread_assert_may_block();
    sem_init(&get->woken, 0, 0);
    pthread_mutex_lock(&gets->mutex);
    leads = gets->leaders < LEADERS_MAX;
    gets->leaders += leads;
    if (!leads) {
        *gets->last = get;
        gets->last = &get->next;
    }
    assert(!leads || !gets->first); /* while somebody waits there are as many leaders as may be */
    pthread_mutex_unlock(&gets->mutex);
    while (!leads && sem_wait(&get->woken) != 0)
        ; /* a signal came between */
    if (!get->answered)
        lead(postgres, get);
    sem_destroy(&get->woken);
}
