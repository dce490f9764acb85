/*
 * src/store/postgres_txn.h - one transaction, for the files that make it: postgres_commit.c, postgres_judge.c,
 * postgres_rows.c and postgres_doubt.c only.
 *
 * Threads. A transaction is one thread's. What it learns of a bucket is shared, under the bucket's scopes_mutex.
 */
#pragma once
#include "store/postgres_private.h"

/* A bucket of the transaction. */
struct part {
    struct postgres_bucket *bucket;
    struct head_row row;   /* as of the last LSN given out */
    uint64_t first_lsn;    /* the head's, before us */
    uint64_t known_lsn;    /* the bucket's, when we asked for what others did */
    struct head_row known; /* what the head must be, of a commit that is made at once */
    struct answer *others;
    bool *touched; /* of SCOPE_SLOTS, those that the group's own commits change */
};

struct mutation_of_group {
    struct slice key, value; /* value.data is NULL for a deletion */
    size_t order;
};

struct transaction {
    struct postgres *postgres;
    struct op *op; /* its arena has what is sent */
    struct link *link;
    struct submission_of_bucket *first;
    bool together, at_once;
    bool lost; /* the connection, with a commit in it */
    struct part *parts;
    size_t part_count;
    struct mutation_of_group *mutations;
    size_t mutation_count, mutation_capacity;
    size_t commits, conflicts, bytes;
};

/* ---- postgres_judge.c ---- */

/* Learns what others have committed, and gives each batch a stamp or the status by which it is refused. */
void postgres_judge(struct transaction *txn);

/* The batch was written: later ones are judged by it. */
void postgres_mark_own(struct postgres_bucket *bucket, const struct batch *batch);

struct slice postgres_scopes(struct arena *arena, const struct batch *batch);

/* ---- postgres_rows.c ---- */

/* LINK_REFUSED: nothing was written, for certain. LINK_LOST: nobody knows. */
enum link_end postgres_write_all(struct transaction *txn);

/* The same for what the caller has sent: so many statements, and COMMIT. */
enum link_end postgres_take_write(struct transaction *txn, size_t statements);

void postgres_send_advance(struct transaction *txn, const struct part *part);

/* ---- postgres_doubt.c ---- */

/* Whether the row of this LSN has this token. False while it cannot be told. */
bool postgres_find_outcome(struct postgres *postgres, uint64_t bucket, uint64_t lsn, uint64_t token,
                           bool *committed);

/* After a commit whose end is not known: each batch gets the status that it turns out to have. */
void postgres_settle(struct transaction *txn);

/* Over several databases: waits until all of them show what was committed. */
void postgres_confirm(struct transaction *txn);
