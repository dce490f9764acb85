/*
 * src/store/postgres_link.h - one connection to PostgreSQL, in pipeline mode; postgres_link.c is the only file that
 * knows libpq, which is opened at run time.
 *     link_send(link, SQL_GET, params, 2);
 *     link_sync(link);                            from here on it is on its way: one round trip
 *     if (link_take(link, &rows) == LINK_OK) ...  once for each link_send(), in their order
 *     link_end(link)                              once for each link_sync()
 * Statements are prepared when a connection first uses them, in the same round trip.
 *
 * Ownership. The rows of an answer belong to whoever took them, until answer_free().
 * Threads. A link is used by one thread at a time, which waits, and never for long: 30 s for an answer, and no more than
 *     SILENT_MS when nothing came on any other link either. Then the link is lost.
 */
#pragma once
#include <stdatomic.h>

#include "base/op.h"
#include "base/slice.h"
#include "store/postgres_sql.h"

struct link;
struct answer;

/* A parameter: a number of 8 bytes, big-endian, or bytes as they are. */
struct sql_param {
    const void *data;
    size_t size;
};

/* What became of a statement. */
enum link_end {
    LINK_OK,
    LINK_REFUSED, /* the server says why: link_state() */
    LINK_SKIPPED, /* one before it in the same round trip was refused */
    LINK_LOST,    /* nobody knows: the connection is gone, or nothing came in time */
};

/* Before the first connection. ST_NOT_BUILT: libpq is not on this machine. */
enum status link_library(struct op *op);

/* A database that says nothing for so long, to anybody, is away, though the connections to it may seem sound. */
enum { SILENT_MS = 5 * 1000 };

struct link_options {
    const char *where;
    bool sync;
    int64_t idle_ms; /* how long the server lets it rest in a transaction */
    _Atomic int64_t
        *heard_ms; /* when something last came, on any link that shares it; the monotonic clock's. NULL:
                                  nobody asks for little now and then, so that silence says nothing */
};

/* NULL, with a reason in the log, when there is no connection. `first_host`: of several, which one to begin with. */
struct link *link_open(const struct link_options *options, size_t first_host);
size_t link_hosts(const char *where); /* how many the text names; 1 at least */
void link_close(struct link *link);   /* NULL is welcome */
bool link_is_sound(const struct link *link);

/* Text without parameters, any number of statements, waited for: the answer to the last. For what is seldom done. */
enum link_end link_run(struct link *link, const char *text, struct answer **answer);

void link_send(struct link *link, enum sql sql, const struct sql_param *params, size_t count);
void link_sync(struct link *link);
enum link_end link_take(struct link *link, struct answer **answer); /* `answer` may be NULL */
enum link_end link_end(struct link *link);

/* What was sent and not taken is passed over, when there is time for it: for a ROLLBACK that nobody waits for. */
void link_leave(struct link *link);

/* The five letters of the last refusal, and its text. */
const char *link_state(const struct link *link);
const char *link_error(const struct link *link);

size_t answer_rows(const struct answer *answer);
int64_t answer_number(const struct answer *answer, size_t row, size_t column); /* a bigint, or a boolean */
struct slice answer_bytes(const struct answer *answer, size_t row, size_t column);
size_t answer_changed(const struct answer *answer); /* rows that the statement wrote or removed */
void answer_free(struct answer *answer);            /* NULL is welcome */
