/*
 * src/store/postgres_members.c - which processes use the database, and whether it is there.
 * Each has a row, with the time at which it was last heard of, by the database's clock. That time decides nothing that must
 * be right: commits are judged by heads. It says among how many a throughput is shared, and who does the chores.
 */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "store/postgres_private.h"

/* Both keys of our advisory locks; the second tells databases in different schemas apart. */
#define LOCK_KEYS "715517, hashtext(current_schema() || 'definitions')"
#define APART_KEYS "715517, hashtext(current_schema() || 'apart')"

#define NOW "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

/* Silent for SILENT_MS, a process does not count; for so long, it is forgotten. */
enum { GONE_MS = 60 * 1000, TEXT_BYTES = 1024, TEND_EVERY_MS = 500 };

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

static bool say_so(struct postgres *postgres)
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

/* ---- is the database there? ---- */

/* Room for a large write is looked for by one that is taken back. Its bytes cannot be packed. */
static bool has_room(struct link *link)
{
    static const char probe[] = "BEGIN; INSERT INTO orrery_kv (shard, key, value) SELECT -1, '', "
                                "string_agg(sha256(n::text::bytea), '') FROM generate_series(1, 8192) AS n";
    bool has = link_run(link, probe, NULL) == LINK_OK;

    return link_run(link, "ROLLBACK", NULL) == LINK_OK && has;
}

static bool beat(struct postgres *postgres)
{
    bool beats = say_so(postgres);

    if (beats && atomic_load(&postgres->full) && has_room(postgres->tending))
        atomic_store(&postgres->full, false);
    atomic_store(&postgres->writable, beats); /* a commit may have found it meanwhile, and lost it again */
    return beats;
}

static void tend(struct postgres *postgres)
{
    if (postgres->tending && !beat(postgres)) {
        link_close(postgres->tending);
        postgres->tending = NULL;
    }
    if (!postgres->tending) {
        postgres->tending = links_connect(&postgres->calls);
        if (postgres->tending)
            (void)beat(postgres); /* or next time */
    }
}

/* In a thread of its own: others wait for locks, which may last, and take a database that says nothing for one that is away. */
static void *run_tender(void *argument)
{
    struct postgres *postgres = argument;
    struct timespec until;

    do {
        tend(postgres);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TEND_EVERY_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
    } while (sem_timedwait(&postgres->tender_stops, &until) != 0);
    return NULL;
}

/* Signals are for the threads that wait for them. */
static bool start_tender(struct postgres *postgres)
{
    sigset_t all, before;

    sem_init(&postgres->tender_stops, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    postgres->has_tender = pthread_create(&postgres->tender, NULL, run_tender, postgres) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return postgres->has_tender;
}

static void stop_tender(struct postgres *postgres)
{
    if (!postgres->has_tender)
        return;
    sem_post(&postgres->tender_stops);
    pthread_join(postgres->tender, NULL);
    sem_destroy(&postgres->tender_stops);
}

enum status members_upkeep(struct op *op, struct store *store)
{
    (void)op;
    if (!postgres_of(store)->has_tender)
        tend(postgres_of(store));
    return ST_OK;
}

/* ---- coming and going ---- */

enum status members_join(struct op *op, struct postgres *postgres, bool threads)
{
    struct answer *answer = NULL;
    enum status st = ST_OK;

    if (link_run(postgres->tending, "INSERT INTO orrery_member (beat) VALUES (" NOW ") RETURNING id",
                 &answer) != LINK_OK)
        TRY(postgres_failed(op, postgres->tending));
    postgres->member = (uint64_t)answer_number(answer, 0, 0);
    if (!say_so(postgres))
        TRY(postgres_failed(op, postgres->tending));
    if (threads && !start_tender(postgres))
        TRY(op_fail(op, ST_UNAVAILABLE, "no thread can be started for the store"));
out:
    answer_free(answer);
    return st;
}

void members_leave(struct postgres *postgres)
{
    char text[TEXT_BYTES];

    stop_tender(postgres);
    if (!postgres->tending || postgres->member == 0)
        return;
    snprintf(text, sizeof(text), "DELETE FROM orrery_member WHERE id = %llu",
             (unsigned long long)postgres->member);
    (void)link_run(postgres->tending, text, NULL); /* or it is found silent */
}

enum status members_stay_apart(struct op *op, struct postgres *postgres)
{
    struct answer *answer = NULL;
    enum status st = ST_OK;

    if (link_run(postgres->tending, "SELECT pg_try_advisory_lock(" APART_KEYS ")", &answer) != LINK_OK)
        TRY(postgres_failed(op, postgres->tending));
    if (!answer_number(answer, 0, 0))
        TRY(op_fail(op, ST_UNAVAILABLE, "Another copy is being made into this database at the moment."));
out:
    answer_free(answer);
    return st;
}

enum status postgres_count_members(struct op *op, struct store *store, unsigned *count)
{
    struct postgres *postgres = postgres_of(store);
    struct answer *answer = NULL;
    char text[TEXT_BYTES];
    enum status st = ST_OK;

    snprintf(text, sizeof(text), "SELECT count(*) FROM orrery_member WHERE beat >= " NOW " - %d", SILENT_MS);
    if (link_run(postgres->tending, text, &answer) != LINK_OK)
        TRY(postgres_failed(op, postgres->tending));
    *count = (unsigned)answer_number(answer, 0, 0);
out:
    answer_free(answer);
    return st;
}

/* ---- who changes definitions ---- */

/* Of a transaction, and not of the connection: the server ends it when its holder was cut off. */
static const char take_lock[] =
    "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '15s'; SELECT pg_advisory_xact_lock(" LOCK_KEYS
    ")";

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
        end = link_run(link, take_lock, NULL);
        if (end == LINK_OK)
            break;
        st = postgres_failed(op, link);
        if (end == LINK_REFUSED)
            (void)link_run(link, "ROLLBACK", NULL);
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
    if (link_run(link, "ROLLBACK", NULL) != LINK_OK)
        log_line(LOG_WARN, "store: the lock of definitions was lost: %s", link_error(link));
    links_give(&postgres->calls, link);
}
