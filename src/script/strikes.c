/* src/script/strikes.c - a short list of the scripts that took too much last time. Mostly it is empty. */
#include "script/strikes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strike {
    char key[SCRIPT_KEY_BYTES_MAX + 1];
    int count; /* in a row; 0: the place is free */
    int64_t last_ms;
};

struct strikes {
    pthread_mutex_t lock;
    atomic_int used; /* places that are taken: without any nobody waits for the lock */
    struct strike list[STRIKES_SCRIPTS_MAX];
};

struct strikes *strikes_open(void)
{
    struct strikes *strikes = calloc(1, sizeof(*strikes));

    if (strikes)
        pthread_mutex_init(&strikes->lock, NULL);
    return strikes;
}

void strikes_close(struct strikes *strikes)
{
    if (!strikes)
        return;
    pthread_mutex_destroy(&strikes->lock);
    free(strikes);
}

static struct strike *find(struct strikes *strikes, const char *key)
{
    for (size_t i = 0; i < STRIKES_SCRIPTS_MAX; i++)
        if (strikes->list[i].count && strcmp(strikes->list[i].key, key) == 0)
            return &strikes->list[i];
    return NULL;
}

/* A free place, or the one whose script was at it longest ago. */
static struct strike *place_for(struct strikes *strikes, const char *key)
{
    struct strike *oldest = &strikes->list[0];

    for (size_t i = 0; i < STRIKES_SCRIPTS_MAX && oldest->count; i++)
        if (strikes->list[i].count == 0 || strikes->list[i].last_ms < oldest->last_ms)
            oldest = &strikes->list[i];
    if (oldest->count == 0)
        strikes->used++;
    *oldest = (struct strike){ 0 };
    snprintf(oldest->key, sizeof(oldest->key), "%s", key);
    return oldest;
}

bool strikes_block(struct strikes *strikes, const char *key, int64_t now_ms)
{
    const struct strike *strike;
    bool blocked;

    if (strikes->used == 0)
        return false;
    pthread_mutex_lock(&strikes->lock);
    strike = find(strikes, key);
    blocked = strike && strike->count >= STRIKES_MAX && now_ms - strike->last_ms < STRIKES_BLOCKED_MS;
    pthread_mutex_unlock(&strikes->lock);
    return blocked;
}

static void clear(struct strikes *strikes, struct strike *strike)
{
    strike->count = 0;
    strikes->used--;
}

void strikes_note(struct strikes *strikes, const char *key, bool violated, int64_t now_ms)
{
    struct strike *strike;

    if (!violated && strikes->used == 0)
        return;
    pthread_mutex_lock(&strikes->lock);
    strike = find(strikes, key);
    if (strike && !violated)
        clear(strikes, strike);
    if (violated) {
        strike = strike ? strike : place_for(strikes, key);
        strike->count++;
        strike->last_ms = now_ms;
    }
    pthread_mutex_unlock(&strikes->lock);
}
