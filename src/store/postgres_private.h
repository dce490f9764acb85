/*
 * src/store/postgres_private.h - the store whose data is in PostgreSQL, for postgres*.c only.
 *
 *     postgres.c         opening, buckets, counters, all of it at once
 *     postgres_schema.c  the tables are made and brought up to date;  postgres_members.c  who uses them
 *     postgres_links.c    connections that are shared
 *     postgres_read.c    snapshots and reads;  postgres_gets.c  single values, several in a round trip
 *     postgres_commit.c  one transaction (postgres_txn.h): heads locked, batches judged by postgres_judge.c, rows written by
 *                        postgres_rows.c, doubt settled by postgres_doubt.c;  postgres_drop.c  a bucket's end
 *     postgres_transfer.c  all of it as rows
 *     postgres_queue.c   who waits for a commit: groups by bucket, and the threads that write them
 *     postgres_citus.c   what differs when the tables are spread over several databases
 *     postgres_link.c    libpq;  postgres_sql.c  every statement
 *
 * One bucket is one shard. Its key is what follows the bucket's bytes in a key of keys/keys.h.
 */
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "keys/keys.h"
#include "store/batch_private.h"
#include "store/postgres_link.h"
#include "store/store_private.h"

/* ---- postgres_links.c ---- */

/* Two pools, because who holds a snapshot may wait for a call, and must never wait for another snapshot's end. */
enum { SNAPSHOT_LINKS_MAX = 24, CALL_LINKS_MAX = 12 };

struct links {
    struct link_options options;
    _Atomic uint64_t *promotions; /* the most that any database of ours has counted */
    atomic_bool *writable;        /* false as soon as no connection is to be had */
    size_t links_max;
    pthread_mutex_t mutex;
    pthread_cond_t returned;
    struct link **idle; /* the last one used is taken first */
    size_t idle_count, open_count;
    bool away;       /* the last attempt to connect failed */
    unsigned trying; /* so many find out whether it still is; the others do not wait for that */
};

/* Of `like` it takes where to connect, and how. */
void links_open(struct links *links, const struct links *like, size_t links_max, int64_t idle_ms);
void links_close(struct links *links);

/* A link of the caller's own; NULL when there is no connection to be had. */
struct link *links_connect(const struct links *like);

/*
 * Waits for a link. NULL: there is none to be had, which is told at once while it is known.  One that rested may have been lost meanwhile: its first statement
 * tells. Who then has written nothing closes the others that rest, and tries once more.
 */
struct link *links_take(struct links *links);
void links_give(struct links *links, struct link *link); /* a lost one is closed */
void links_forget_idle(struct links *links);

/* ---- postgres_gets.c ---- */

/* A latest value that is asked for. It lies in the memory of who waits for it. */
struct get {
    struct slice key;
    enum link_end end;
    struct answer *answer; /* of SQL_GET; the caller's to free */

    struct get *next;
    sem_t woken;
    bool answered;
};

struct gets {
    pthread_mutex_t mutex;
    struct get *first, **last; /* that wait */
    unsigned leaders;          /* so many ask the database at the moment, each for some */
};

struct postgres;

void gets_init(struct gets *gets);
void gets_free(struct gets *gets);
void gets_ask(struct postgres *postgres, struct get *get);

/* ---- the store ---- */

/* A row of HEAD_COLUMNS. */
struct head_row {
    struct head head;
    uint64_t epoch;
    bool dropped;
};

/* When each scope was last changed: slots are shared by scopes that hash alike, which refuses now and then without need. */
enum { SCOPE_SLOTS = 4096 };

struct postgres_bucket {
    struct bucket base;
    struct postgres_bucket *next; /* in its hash chain */

    _Atomic uint64_t seen_lsn; /* the largest that was acknowledged to us, or read */
    _Atomic uint64_t seen_documents, seen_bytes;

    pthread_mutex_t counter_mutex;
    uint64_t counter_next, counter_end; /* of the block that we have reserved */

    pthread_mutex_t scopes_mutex; /* guards what follows */
    uint64_t known_lsn;           /* up to here the slots have every commit, whoever made it */
    uint64_t floor_lsn;           /* an expectation below it is refused */
    uint64_t *slot;               /* SCOPE_SLOTS of them, once something was committed */
    struct head_row known_row;    /* the head as of known_lsn, if its LSN is that */
    unsigned others_write;        /* so many commits more are made as if others wrote to it, too */

    struct submission_of_bucket *first, **last; /* what waits; guarded by the queue's mutex */
    bool is_taken;                              /* a thread writes a group of it */
    struct postgres_bucket *next_ready;
};

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct postgres_bucket *ready, **ready_end; /* buckets with something that waits, and no thread at it */
    bool stopping;
    pthread_t *threads;
    size_t thread_count;
};

struct postgres {
    struct store base;
    struct env *env;
    char *where;
    struct links snapshots, calls;

    pthread_rwlock_t lock; /* guards the table of buckets */
    struct postgres_bucket **chains;
    size_t chain_count, bucket_count; /* the former a power of two */

    pthread_mutex_t moments_mutex;
    struct moment *moments; /* that snapshots hold open (postgres_read.c) */

    struct link *tending; /* the upkeep's own */
    pthread_t tender;     /* which does it, where there are threads */
    sem_t tender_stops;
    bool has_tender;
    struct link *changing; /* holds the lock of definitions, while somebody has it; guarded by that */
    bool is_distributed;   /* the tables are (postgres_citus.c); never changes */
    uint64_t member;       /* our number among the processes that use the database */
    atomic_uint peers;
    pthread_mutex_t endpoints_mutex; /* guards the next two */
    char announced[STORE_ENDPOINT_MAX + 1];
    char *endpoints; /* of all members, with blanks between; NULL until it is known */
    _Atomic uint64_t promotions;
    _Atomic int64_t heard_ms; /* when the database last said something */
    atomic_bool writable, leads;
    atomic_bool full; /* it had no room for a write; the upkeep finds out when it has */

    struct gets gets;
    struct queue queue;
    pthread_mutex_t stats_mutex;
    struct store_stats stats;
};

static inline struct postgres *postgres_of(struct store *store)
{
    return (struct postgres *)store; /* its first member */
}

static inline struct postgres_bucket *postgres_bucket_of(struct bucket *bucket)
{
    return (struct postgres_bucket *)bucket; /* its first member */
}

/* A number as a parameter; `bytes` stay where they are until it is sent. */
struct sql_param sql_number(uint8_t bytes[8], uint64_t number);

/* The key as the table has it. */
static inline struct sql_param sql_key(struct slice key)
{
    return (struct sql_param){ key.data + BUCKET_KEY_BYTES, key.size - BUCKET_KEY_BYTES };
}

/* ---- postgres_schema.c ---- */

/* Makes the tables, or brings them up to date, under a lock. */
enum status postgres_schema(struct op *op, struct link *link);

/* For those who only read: ST_UNAVAILABLE, with the reason, where the tables are not there, or are of another version. */
enum status postgres_schema_is_known(struct op *op, struct link *link);

/* ---- postgres_citus.c ---- */

/* Spreads tables that were just made, where Citus is there to do it. */
enum status citus_distribute(struct op *op, struct link *link);

/* Finds out whether they are spread. */
enum status citus_look(struct op *op, struct postgres *postgres);

/* Nobody commits to the buckets, nor is halfway through, until citus_let_go(). NULL: they cannot be locked. */
struct link *citus_hold(struct op *op, struct postgres *postgres, struct bucket *const *buckets,
                        size_t count);
void citus_let_go(struct postgres *postgres, struct link *link); /* NULL is welcome */

/* ---- postgres_members.c ---- */

/*
 * A process that uses the database says so every second or so. Whoever has been silent for a while does not count, and the
 * oldest of the others leads.
 */
enum status members_join(struct op *op, struct postgres *postgres, bool threads);
void members_leave(struct postgres *postgres);
void postgres_announce(struct store *store, struct slice endpoint);
struct slice postgres_endpoints(struct op *op, struct store *store);

/* Finds out whether the database is there, and tells the others that we are: for stores without threads, as one does it. */
enum status members_upkeep(struct op *op, struct store *store);

/* Nobody else is apart at the same time, for as long as the connection lasts. ST_UNAVAILABLE: somebody is. */
enum status members_stay_apart(struct op *op, struct postgres *postgres);
enum status postgres_count_members(struct op *op, struct store *store, unsigned *count);

enum status postgres_lock_definitions(struct op *op, struct store *store);
void postgres_unlock_definitions(struct store *store);

/* ---- postgres.c ---- */

/* Reads or makes the head. */
enum status postgres_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket);

/* So many counters are reserved at a time. */
enum { COUNTER_BLOCK = 1024 };

struct head_row head_row_of(const struct answer *answer, size_t row);

/* The bucket has come so far. */
void postgres_bucket_saw(struct postgres_bucket *bucket, const struct head_row *row);

/* Logs why, and tells the client that the database cannot be reached. */
enum status postgres_failed(struct op *op, const struct link *link);

/* ---- postgres_read.c ---- */

enum status postgres_snapshot(struct op *op, struct bucket *bucket, struct snapshot **snapshot);
enum status postgres_snapshot_together(struct op *op, struct bucket *const *buckets, size_t count,
                                       struct snapshot **snapshots);
void postgres_release(struct snapshot *snapshot);
enum status postgres_get_many(struct op *op, struct snapshot *snapshot, const struct slice *keys,
                              size_t count, struct slice *values);
enum status postgres_get_latest(struct op *op, struct bucket *bucket, struct slice key, struct slice *value);
enum status postgres_scan(struct op *op, struct snapshot *snapshot, struct range range,
                          struct scan_limit limit, struct rows *rows);

/* One statement through a snapshot. */
enum status postgres_ask(struct op *op, struct snapshot *snapshot, enum sql sql,
                         const struct sql_param *params, size_t count, struct answer **answer);

/* Keys as an array of the database. */
struct sql_param sql_key_array(struct arena *arena, const struct slice *keys, size_t count);

/* ---- postgres_commit.c ---- */

/* A batch that is to be committed. It lies in the memory of who waits for it. */
struct submission_of_bucket {
    struct postgres_bucket *bucket;
    struct batch *batch;
    enum status status;
    struct commit_stamp stamp;
    int64_t dated_ms; /* the time that its entries have by now, because it was tried before; 0: none */

    struct submission_of_bucket *next;
    struct op *waiting; /* whose resume() is called; NULL: a thread waits for `done` */
    sem_t done;
};

/*
 * One transaction. `together`: each is of another bucket, in any order, and all are committed or none. Else all are of
 * one bucket, and each is judged by itself.
 */
void postgres_write(struct postgres *postgres, struct op *op, struct submission_of_bucket *first,
                    bool together);

/* ---- postgres_doubt.c ---- */

enum status postgres_outcome(struct op *op, struct bucket *bucket, const struct batch *batch,
                             bool *committed);

/* ---- postgres_drop.c ---- */

enum status postgres_drop(struct op *op, struct store *store, uint64_t id);

/* Of a bucket: rows, a few thousand at a time, and its commits. */
enum link_end postgres_remove_rows(struct link *link, uint64_t id);

/* ---- postgres_transfer.c ---- */

enum status postgres_next_bucket(struct op *op, struct snapshot *snapshot, uint64_t from,
                                 struct bucket_found *found, bool *is_there);
bool postgres_entries_are_rows(const struct store *store);
enum status postgres_load(struct op *op, struct store *store, const struct row *rows, size_t count);
enum status postgres_clear(struct op *op, struct store *store, uint64_t id);

/* ---- postgres_queue.c ---- */

/* False: no thread can be started. Without threads, who commits writes. */
bool queue_open(struct postgres *postgres, bool threads);
void queue_close(struct postgres *postgres);

void postgres_commit_many(struct op *op, struct bucket *bucket, struct commit *commits, size_t count);
enum status postgres_commit_together(struct op *op, struct store *store, struct commit *commits,
                                     size_t count);
void postgres_commit_later(struct op *op, struct bucket *bucket, struct commit *commit);
void postgres_commit_end(struct op *op, struct commit *commit);
