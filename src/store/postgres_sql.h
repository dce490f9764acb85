/*
 * src/store/postgres_sql.h - every statement that the store sends to PostgreSQL, in one table.
 * Five rules hold for them. test/unit/store/postgres_sql_test.c reads the table for those which only a cluster would
 * punish:
 * 1. a bucket is locked by UPDATE of its head, never by SELECT ... FOR UPDATE, which loses updates while Citus moves
 *    a shard;
 * 2. the row of a commit is a plain INSERT, never an upsert: its unique (shard, lsn) fences an LSN that was given
 *    twice;
 * 3. a COMMIT that failed is settled by the token in that row, and never tried again blindly;
 * 4. writers read committed rows under the head's lock. Nothing here is SERIALIZABLE;
 * 5. a statement is about one shard, and binds every table in it to that one. It asks for nothing that each database
 *    of a cluster has for itself: a clock, locks by number, numbers of transactions.
 * Names of tables have no schema: the connection's search_path says where they are.
 */
#pragma once
#include <stddef.h>

/* Rows of one INSERT. Many rows go in the largest that fits, and the rest in smaller ones. */
enum { SQL_PUT_SIZES = 4 };

enum sql {
    SQL_BEGIN,
    SQL_BEGIN_SNAPSHOT,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_NEXT_HEAD, /* the only one over all buckets */
    SQL_HEAD,
    SQL_HEAD_MAKE,
    SQL_LOCK,
    SQL_HEAD_REMOVE,
    SQL_ADVANCE,
    SQL_ADVANCE_FROM,
    SQL_REDEFINE,
    SQL_RESERVE,
    SQL_DROP,
    SQL_DROP_ROWS,
    SQL_DROP_COMMITS,
    SQL_SCOPES,
    SQL_COMMIT_ROW,
    SQL_COMMITS_TRIM,
    SQL_TOKEN,
    SQL_GET,
    SQL_GET_MANY,
    SQL_SCAN,
    SQL_SCAN_BACK,
    SQL_SCAN_BYTES,
    SQL_SCAN_BYTES_BACK,
    SQL_DELETE,
    SQL_PUT, /* and the sizes behind it */
    SQL_COUNT = SQL_PUT + SQL_PUT_SIZES,
};

/* What the statement is called on the server, and its text, which lives as long as the program. */
const char *sql_name(enum sql sql);
const char *sql_text(enum sql sql);

/* The statement that puts as many as possible of `rows`, and how many those are. */
enum sql sql_put(size_t rows, size_t *taken);

/* The steps of the schema, from nothing to version 1, to version 2 and so on; NULL behind the last. */
extern const char *const sql_schema[];
