/* src/store/postgres_schema.c - the tables are made and brought up to date, by whoever comes first. */
#include <stdio.h>

#include "base/log.h"
#include "store/postgres_private.h"

/* Of our advisory lock; the second key tells databases in different schemas apart. */
#define LOCK_KEYS "715517, hashtext(current_schema() || 'schema')"

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

static size_t known_version(void)
{
    size_t known = 0;

    while (sql_schema[known])
        known++;
    return known;
}

static enum status take_steps(struct op *op, struct link *link, size_t version)
{
    bool is_new = version == 0;
    size_t known = known_version();
    char raise[128];
    enum status st = ST_OK;

    if (version > known)
        TRY(op_fail(op, ST_UNAVAILABLE, "The database has schema version %zu. This program knows %zu.",
                    version, known));
    for (; version < known; version++) {
        snprintf(raise, sizeof(raise), "UPDATE orrery_schema SET version = %zu", version + 1);
        TRY(run(op, link, sql_schema[version], NULL));
        TRY(run(op, link, raise, NULL));
        log_line(LOG_DEBUG, "store: the database's schema is version %zu", version + 1);
    }
    if (is_new)
        TRY(citus_distribute(op, link));
out:
    return st;
}

enum status postgres_schema(struct op *op, struct link *link)
{
    size_t version = 0;
    enum status st;

    TRY(run(op, link, "BEGIN", NULL));
    TRY(run(op, link, "SELECT pg_advisory_xact_lock(" LOCK_KEYS ")", NULL));
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

enum status postgres_schema_is_known(struct op *op, struct link *link)
{
    struct answer *answer = NULL;
    size_t version = 0;
    enum status st;

    TRY(run(op, link, "SELECT to_regclass('orrery_schema') IS NOT NULL", &answer));
    if (!answer_rows(answer) || !answer_number(answer, 0, 0))
        TRY(op_fail(op, ST_UNAVAILABLE,
                    "There is no data of Orrery in this database, or not in its search_path."));
    TRY(read_version(op, link, &version));
    if (version != known_version())
        TRY(op_fail(op, ST_UNAVAILABLE,
                    "The database has schema version %zu, and this program reads %zu: start a server of this "
                    "version on it once, or use a newer program.",
                    version, known_version()));
out:
    answer_free(answer);
    return st;
}
