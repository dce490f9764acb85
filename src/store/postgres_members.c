/*
 * src/store/postgres_members.c - which processes use the database.
 * Each has a row, with the time at which it was last heard of, by the database's clock. That time decides nothing that must
 * be right: commits are judged by heads. It says among how many a throughput is shared, and who does the chores.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/postgres_private.h"

/* Both keys of our advisory lock; the second tells databases in different schemas apart. */
#define LOCK_KEYS "715517, hashtext(current_schema() || 'definitions')"

#define NOW "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

/* Silent for so long, a process does not count; for so long, it is forgotten. */
enum { SILENT_MS = 5 * 1000, GONE_MS = 60 * 1000, TEXT_BYTES = 1024 };

/* ---- where clients find them ---- */

/* It goes into a statement, and into answers, as it is. */
static bool is_plain(struct slice endpoint)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[] ";

    for (size_t i = 0; i < endpoint.size; i++)
        if (!memchr(plain, endpoint.data[i], sizeof(plain) - 1))
            return false;
    return true;
}

void postgres_announce(struct store *store, struct slice endpoint)
{
    struct postgres *postgres = postgres_of(store);

    assert(is_plain(endpoint)); /* settings.c takes no other */
    pthread_mutex_lock(&postgres->endpoints_mutex);
    memcpy(postgres->announced, endpoint.data, endpoint.size);
    postgres->announced[endpoint.size] = '\0';
    pthread_mutex_unlock(&postgres->endpoints_mutex);
}

struct slice postgres_endpoints(struct op *op, struct store *store)
{
    struct postgres *postgres = postgres_of(store);
    struct slice copy = slice_of("");

    pthread_mutex_lock(&postgres->endpoints_mutex);
    if (postgres->endpoints)
        copy = arena_copy(&op->arena, slice_of(postgres->endpoints));
    pthread_mutex_unlock(&postgres->endpoints_mutex);
    return copy;
}

static void take_endpoints(struct postgres *postgres, struct slice told)
{
    char *endpoints = is_plain(told) ? strndup(told.data, told.size) : NULL;

    pthread_mutex_lock(&postgres->endpoints_mutex);
    free(postgres->endpoints);
    postgres->endpoints = endpoints;
    pthread_mutex_unlock(&postgres->endpoints_mutex);
}

/* ---- how many they are ---- */

static void take_count(struct postgres *postgres, const struct answer *answer)
{
    bool leads = (uint64_t)answer_number(answer, 0, 1) == postgres->member;
    unsigned peers = (unsigned)answer_number(answer, 0, 0);

    if (leads != atomic_exchange(&postgres->leads, leads))
        log_line(LOG_DEBUG, "store: this process %s",
                 leads ? "does the chores now" : "leaves the chores to another");
    atomic_store(&postgres->peers, peers ? peers : 1);
}

bool members_beat(struct postgres *postgres)
{
    unsigned long long member = postgres->member;
    struct answer *answer = NULL;
    char text[TEXT_BYTES];
    enum link_end end;

    pthread_mutex_lock(&postgres->endpoints_mutex);
    snprintf(
        text, sizeof(text),
        "INSERT INTO orrery_member (id, beat, endpoint) VALUES (%llu, " NOW ", nullif('%s', ''))"
        " ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, endpoint = excluded.endpoint;"
        "DELETE FROM orrery_member WHERE beat < " NOW " - %d;"
        "SELECT count(*), min(id), coalesce(string_agg(endpoint, ' ' ORDER BY id), '') FROM orrery_member"
        " WHERE beat >= " NOW " - %d",
        member, postgres->announced, GONE_MS, SILENT_MS);
    pthread_mutex_unlock(&postgres->endpoints_mutex);
    end = link_run(postgres->tending, text, &answer);
    if (end == LINK_OK && answer_rows(answer) == 1) {
        take_count(postgres, answer);
        take_endpoints(postgres, answer_bytes(answer, 0, 2));
    }
    answer_free(answer);
    return end == LINK_OK;
}

enum status members_join(struct op *op, struct postgres *postgres)
{
    struct answer *answer = NULL;
    enum status st = ST_OK;

    if (link_run(postgres->tending, "INSERT INTO orrery_member (beat) VALUES (" NOW ") RETURNING id",
                 &answer) != LINK_OK)
        TRY(postgres_failed(op, postgres->tending));
    postgres->member = (uint64_t)answer_number(answer, 0, 0);
    if (!members_beat(postgres))
        TRY(postgres_failed(op, postgres->tending));
out:
    answer_free(answer);
    return st;
}

void members_leave(struct postgres *postgres)
{
    char text[TEXT_BYTES];

    if (!postgres->tending || postgres->member == 0)
        return;
    snprintf(text, sizeof(text), "DELETE FROM orrery_member WHERE id = %llu",
             (unsigned long long)postgres->member);
    (void)link_run(postgres->tending, text, NULL); /* or it is found silent */
}

/* ---- who changes definitions ---- */

enum status postgres_lock_definitions(struct op *op, struct store *store)
{
    struct postgres *postgres = postgres_of(store);
    struct link *link = NULL;
    enum link_end end = LINK_LOST;
    enum status st;

    TRY(op_may_take_long(op));
    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        link = links_take(&postgres->calls);
        if (!link)
            TRY(postgres_failed(op, NULL));
        end = link_run(link, "SELECT pg_advisory_lock(" LOCK_KEYS ")", NULL);
        if (end == LINK_OK)
            break;
        st = postgres_failed(op, link);
        links_give(&postgres->calls, link);
        links_forget_idle(&postgres->calls);
    }
    if (end == LINK_OK) {
        st = ST_OK;
        postgres->changing = link;
    }
out:
    return st;
}

/* A lost connection has given the lock back. */
void postgres_unlock_definitions(struct store *store)
{
    struct postgres *postgres = postgres_of(store);
    struct link *link = postgres->changing;

    if (!link)
        return;
    postgres->changing = NULL;
    if (link_run(link, "SELECT pg_advisory_unlock(" LOCK_KEYS ")", NULL) != LINK_OK)
        log_line(LOG_WARN, "store: the lock of definitions was lost: %s", link_error(link));
    links_give(&postgres->calls, link);
}
