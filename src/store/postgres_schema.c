/*
 * src/store/postgres_schema.c - the tables are made and brought up to date by whoever comes first, and one server at a
 * time may write.
 * A server holds an advisory lock on a connection of its own, and has a generation, which each of its transactions
 * compares with the database's. When the connection is lost, another server may begin, and raises the generation: the
 * first one then writes nothing more.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "store/postgres_private.h"

/* Both keys of our advisory locks; the second tells databases in different schemas apart. */
#define LOCK_KEYS(which) "715517, hashtext(current_schema() || '" which "')"

enum status postgres_failed(struct op *op, const struct link *link)
{
    if (link)
        log_line(LOG_WARN, "store: the database failed: %s %s", link_state(link), link_error(link));
    return op_fail(op, ST_UNAVAILABLE, "The database cannot be reached.");
}

static enum status run(struct op *op, struct link *link, const char *text, struct answer **answer)
{
    return link_run(link, text, answer) == LINK_OK ? ST_OK : postgres_failed(op, link);
}

static enum status read_version(struct op *op, struct link *link, size_t *version)
{
    struct answer *answer = NULL;
    enum status st;

    TRY(run(op, link, "SELECT version FROM orrery_schema", &answer));
    *version = answer_rows(answer) ? (size_t)answer_number(answer, 0, 0) : 0;
out:
    answer_free(answer);
    return st;
}

static enum status take_steps(struct op *op, struct link *link, size_t version)
{
    size_t known = 0;
    char raise[128];
    enum status st = ST_OK;

    while (sql_schema[known])
        known++;
    if (version > known)
        TRY(op_fail(op, ST_UNAVAILABLE, "The database has schema version %zu. This program knows %zu.",
                    version, known));
    for (; version < known; version++) {
        snprintf(raise, sizeof(raise), "UPDATE orrery_schema SET version = %zu", version + 1);
        TRY(run(op, link, sql_schema[version], NULL));
        TRY(run(op, link, raise, NULL));
        log_line(LOG_DEBUG, "store: the database's schema is version %zu", version + 1);
    }
out:
    return st;
}

enum status postgres_schema(struct op *op, struct link *link)
{
    size_t version = 0;
    enum status st;

    TRY(run(op, link, "BEGIN", NULL));
    TRY(run(op, link, "SELECT pg_advisory_xact_lock(" LOCK_KEYS("schema") ")", NULL));
    TRY(run(op, link,
            "CREATE TABLE IF NOT EXISTS orrery_schema (one boolean PRIMARY KEY CHECK (one), version int NOT "
            "NULL);"
            "INSERT INTO orrery_schema (one, version) VALUES (true, 0) ON CONFLICT DO NOTHING",
            NULL));
    TRY(read_version(op, link, &version));
    TRY(take_steps(op, link, version));
    TRY(run(op, link, "COMMIT", NULL));
out:
    if (st != ST_OK)
        (void)link_run(link, "ROLLBACK", NULL);
    return st;
}

/* The one before may be about to end, so it waits a little. */
static enum status take_lock(struct op *op, struct link *link)
{
    enum link_end end = link_run(
        link,
        "SET lock_timeout = '3s'; SELECT pg_advisory_lock(" LOCK_KEYS("owner") "); SET lock_timeout = '20s'",
        NULL);

    if (end == LINK_REFUSED && strcmp(link_state(link), "55P03") == 0)
        return op_fail(op, ST_UNAVAILABLE, "Another server uses this database. One at a time may.");
    return end == LINK_OK ? ST_OK : postgres_failed(op, link);
}

enum status postgres_own(struct op *op, struct postgres *postgres)
{
    struct answer *answer = NULL;
    char text[160];
    uint64_t generation;
    enum status st;

    TRY(take_lock(op, postgres->guard));
    snprintf(text, sizeof(text), "UPDATE orrery_owner SET generation = generation + %d RETURNING generation",
             postgres->generation == 0);
    TRY(run(op, postgres->guard, text, &answer));
    generation = (uint64_t)answer_number(answer, 0, 0);
    if (postgres->generation && generation != postgres->generation) {
        atomic_store(&postgres->replaced, true);
        TRY(op_fail(op, ST_UNAVAILABLE,
                    "Another server has taken over the database. This one must be started anew."));
    }
    postgres->generation = generation;
out:
    answer_free(answer);
    return st;
}
