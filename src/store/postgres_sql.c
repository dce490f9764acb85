/* src/store/postgres_sql.c - the statements of the PostgreSQL store, and its schema. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "store/postgres_sql.h"

#define HEAD_COLUMNS "lsn, ts, epoch, dropped, counter, documents, bytes"
#define IN_RANGE "WHERE shard = $1 AND key >= $2 AND key < $3"
#define ROW_BYTES \
    "octet_length(key) + 6 + octet_length(value)" /* with the bucket's bytes, which the key lacks here */

/* Up to the first row that no longer fits in $5 bytes, that one included, and two rows whatever their size. */
#define SCAN_BYTES(order)                                                                                 \
    "SELECT key, value FROM (SELECT key, value, sum(" ROW_BYTES ") OVER so_far AS upto,"                  \
    " row_number() OVER so_far AS nth FROM orrery_kv " IN_RANGE " WINDOW so_far AS (ORDER BY key" order   \
    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) ORDER BY key" order " LIMIT $4) AS rows_of_range" \
    " WHERE nth <= 2 OR upto - (" ROW_BYTES ") <= $5"

static const struct {
    const char *name, *text;
} statements[SQL_PUT] = {
    [SQL_BEGIN] = { "begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" },
    [SQL_BEGIN_SNAPSHOT] = { "begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" },
    [SQL_COMMIT] = { "commit", "COMMIT" },
    [SQL_ROLLBACK] = { "rollback", "ROLLBACK" },
    [SQL_NEXT_HEAD] = { "next_head", "SELECT " HEAD_COLUMNS ", shard FROM orrery_head"
                                     " WHERE shard >= $1 AND lsn > 0 ORDER BY shard LIMIT 1" },
    [SQL_HEAD] = { "head", "SELECT " HEAD_COLUMNS " FROM orrery_head WHERE shard = $1" },
    [SQL_HEAD_MAKE] = { "head_make", "INSERT INTO orrery_head (shard) VALUES ($1) ON CONFLICT DO NOTHING" },
    [SQL_HEAD_REMOVE] = { "head_remove", "DELETE FROM orrery_head WHERE shard = $1" },
    [SQL_LOCK] = { "lock", "UPDATE orrery_head SET epoch = epoch WHERE shard = $1 RETURNING " HEAD_COLUMNS },
    [SQL_ADVANCE] = { "advance", "UPDATE orrery_head SET lsn = $2, ts = $3, counter = greatest(counter, $4),"
                                 " documents = $5, bytes = $6 WHERE shard = $1" },
    /* Refused (22012) unless the head is the one that is known. What a writer reads there needs no lock before. */
    [SQL_ADVANCE_FROM] = { "advance_from",
                           "UPDATE orrery_head SET lsn = CASE WHEN lsn = $7 AND epoch = $8 AND NOT dropped"
                           " THEN $2::bigint ELSE 1 / (lsn - lsn) END, ts = $3, counter = greatest(counter, "
                           "$4),"
                           " documents = documents + $5, bytes = bytes + $6 WHERE shard = $1" },
    [SQL_REDEFINE] = { "redefine",
                       "UPDATE orrery_head SET epoch = $2, dropped = $3::bigint <> 0 WHERE shard = $1" },
    [SQL_RESERVE] = { "reserve",
                      "UPDATE orrery_head SET counter = counter + $2 WHERE shard = $1 RETURNING counter" },
    [SQL_DROP] = { "drop", "UPDATE orrery_head SET dropped = true, epoch = epoch + 1 WHERE shard = $1" },
    [SQL_DROP_ROWS] = { "drop_rows", "DELETE FROM orrery_kv WHERE shard = $1 AND key IN"
                                     " (SELECT key FROM orrery_kv WHERE shard = $1 ORDER BY key LIMIT $2)" },
    [SQL_DROP_COMMITS] = { "drop_commits", "DELETE FROM orrery_commit WHERE shard = $1" },
    [SQL_SCOPES] = { "scopes", "SELECT lsn, scopes FROM orrery_commit WHERE shard = $1 AND lsn > $2"
                               " ORDER BY lsn DESC LIMIT $3" },
    [SQL_COMMIT_ROW] = { "commit_row", "INSERT INTO orrery_commit (shard, lsn, token, ts, scopes)"
                                       " VALUES ($1, $2, $3, $4, $5)" },
    [SQL_COMMITS_TRIM] = { "commits_trim",
                           "DELETE FROM orrery_commit WHERE shard = $1 AND lsn < $2 AND ts < $3" },
    [SQL_TOKEN] = { "token", "SELECT token FROM orrery_commit WHERE shard = $1 AND lsn = $2" },
    [SQL_GET] = { "get", "SELECT " HEAD_COLUMNS ", key IS NOT NULL, value FROM orrery_head AS head"
                         " LEFT JOIN orrery_kv AS kv ON kv.shard = head.shard AND kv.key = $2 WHERE "
                         "head.shard = $1" },
    [SQL_GET_MANY] = { "get_many",
                       "SELECT key, value FROM orrery_kv WHERE shard = $1 AND key = ANY ($2::bytea[])" },
    [SQL_SCAN] = { "scan", "SELECT key, value FROM orrery_kv " IN_RANGE " ORDER BY key LIMIT $4" },
    [SQL_SCAN_BACK] = { "scan_back",
                        "SELECT key, value FROM orrery_kv " IN_RANGE " ORDER BY key DESC LIMIT $4" },
    [SQL_SCAN_BYTES] = { "scan_bytes", SCAN_BYTES("") },
    [SQL_SCAN_BYTES_BACK] = { "scan_bytes_back", SCAN_BYTES(" DESC") },
    [SQL_DELETE] = { "delete", "DELETE FROM orrery_kv WHERE shard = $1 AND key = ANY ($2::bytea[])" },
};

/* ---- rows of one INSERT: measured faster than arrays, on one server and on Citus ---- */

static const size_t put_rows[SQL_PUT_SIZES] = { 1, 8, 32, 128 };

enum { PUT_NAME_BYTES = 16, PUT_TEXT_BYTES = 4096 };

static char put_name[SQL_PUT_SIZES][PUT_NAME_BYTES], put_text[SQL_PUT_SIZES][PUT_TEXT_BYTES];
static pthread_once_t put_once = PTHREAD_ONCE_INIT;

static void write_put(size_t which)
{
    char *text = put_text[which];
    size_t used = (size_t)snprintf(text, PUT_TEXT_BYTES, "INSERT INTO orrery_kv (shard, key, value) VALUES ");

    for (size_t i = 0; i < put_rows[which]; i++)
        used += (size_t)snprintf(text + used, PUT_TEXT_BYTES - used, "%s($1, $%zu, $%zu)", i ? ", " : "",
                                 2 * i + 2, 2 * i + 3);
    used += (size_t)snprintf(text + used, PUT_TEXT_BYTES - used,
                             " ON CONFLICT (shard, key) DO UPDATE SET value = excluded.value");
    assert(used < PUT_TEXT_BYTES);
    snprintf(put_name[which], PUT_NAME_BYTES, "put_%zu", put_rows[which]);
}

static void write_puts(void)
{
    for (size_t i = 0; i < SQL_PUT_SIZES; i++)
        write_put(i);
}

const char *sql_name(enum sql sql)
{
    assert(sql < SQL_COUNT);
    pthread_once(&put_once, write_puts);
    return sql < SQL_PUT ? statements[sql].name : put_name[sql - SQL_PUT];
}

const char *sql_text(enum sql sql)
{
    assert(sql < SQL_COUNT);
    pthread_once(&put_once, write_puts);
    return sql < SQL_PUT ? statements[sql].text : put_text[sql - SQL_PUT];
}

enum sql sql_put(size_t rows, size_t *taken)
{
    size_t which = SQL_PUT_SIZES - 1;

    assert(rows > 0);
    while (put_rows[which] > rows)
        which--;
    *taken = put_rows[which];
    return (enum sql)(SQL_PUT + which);
}

/* ---- the schema ---- */

/*
 * A step is done once, in a transaction that also raises the version. A head is updated by every commit, so its pages
 * keep room for that. Values are compressed by nobody: documents are, in part, and the rest is short.
 */
const char *const sql_schema[] = {
    "CREATE TABLE orrery_kv (shard bigint NOT NULL, key bytea NOT NULL, value bytea NOT NULL,"
    " PRIMARY KEY (shard, key));"
    "CREATE TABLE orrery_head (shard bigint PRIMARY KEY, lsn bigint NOT NULL DEFAULT 0,"
    " ts bigint NOT NULL DEFAULT 0, epoch bigint NOT NULL DEFAULT 0, dropped boolean NOT NULL DEFAULT false,"
    " counter bigint NOT NULL DEFAULT 0, documents bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT "
    "0)"
    " WITH (fillfactor = 30);"
    "CREATE TABLE orrery_commit (shard bigint NOT NULL, lsn bigint NOT NULL, token bigint NOT NULL,"
    " ts bigint NOT NULL, scopes bytea NOT NULL, PRIMARY KEY (shard, lsn));"
    "CREATE TABLE orrery_owner (one boolean PRIMARY KEY CHECK (one), generation bigint NOT NULL);"
    "INSERT INTO orrery_owner (one, generation) VALUES (true, 0)",
    "DROP TABLE orrery_owner; CREATE TABLE orrery_member (id bigserial PRIMARY KEY, beat bigint NOT NULL)",
    "ALTER TABLE orrery_member ADD COLUMN endpoint text",
    NULL,
};
