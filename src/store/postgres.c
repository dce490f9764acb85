/*
 * src/store/postgres.c - the store whose data is in PostgreSQL: opening it, its buckets, counters, and all of it at
 * once. postgres_private.h names the other parts. docs/internals/shared-stores.md has the contract, and
 * docs/internals/postgres.md how it is kept.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "keys/keys.h"
#include "store/plain.h"
#include "store/postgres_private.h"

/*
 * How long a connection may rest in a transaction before the server ends it: a query thinks, a commit does not. The commit of
 * a process that was cut off keeps all others of its bucket waiting so long.
 */
enum { SNAPSHOT_IDLE_MS = 300 * 1000, CALL_IDLE_MS = 5 * 1000 };

static const struct store_ops postgres_ops;

struct sql_param sql_number(uint8_t bytes[8], uint64_t number)
{
    put_be(bytes, number, 8);
    return (struct sql_param){ bytes, 8 };
}

/* ---- open and close ---- */

static void postgres_close(struct store *store)
{
    struct postgres *postgres = postgres_of(store);

    queue_close(postgres);
    members_leave(postgres);
    link_close(postgres->tending);
    links_close(&postgres->snapshots);
    links_close(&postgres->calls);
    for (size_t i = 0; i < postgres->chain_count; i++) {
        for (struct postgres_bucket *bucket = postgres->chains[i], *next; bucket; bucket = next) {
            next = bucket->next;
            pthread_mutex_destroy(&bucket->counter_mutex);
            pthread_mutex_destroy(&bucket->scopes_mutex);
            free(bucket->slot);
            free(bucket);
        }
    }
    assert(!postgres->moments);
    pthread_mutex_destroy(&postgres->moments_mutex);
    gets_free(&postgres->gets);
    pthread_mutex_destroy(&postgres->stats_mutex);
    pthread_mutex_destroy(&postgres->endpoints_mutex);
    free(postgres->endpoints);
    pthread_rwlock_destroy(&postgres->lock);
    free(postgres->chains);
    free(postgres->where);
    free(postgres);
}

static struct postgres *postgres_new(struct env *env, const struct store_options *options)
{
    enum { FIRST_CHAINS = 64 };
    struct postgres *postgres = heap_allocate(sizeof(*postgres));
    struct links like;

    postgres->base = (struct store){ .ops = &postgres_ops,
                                     .read_only = options->read_only,
                                     .keeps_entries = options->entries != ENTRIES_NONE,
                                     .commits_later = options->threads };
    postgres->env = env;
    postgres->where = heap_text(options->directory);
    postgres->chain_count = FIRST_CHAINS;
    postgres->chains = heap_allocate(FIRST_CHAINS * sizeof(*postgres->chains));
    like =
        (struct links){ .options = { .where = postgres->where,
                                     .sync = options->sync,
                                     .heard_ms =
                                         options->read_only || options->apart ? NULL : &postgres->heard_ms },
                        .promotions = &postgres->promotions,
                        .writable = &postgres->writable };
    thread_rwlock_init(&postgres->lock);
    pthread_mutex_init(&postgres->stats_mutex, NULL);
    pthread_mutex_init(&postgres->endpoints_mutex, NULL);
    pthread_mutex_init(&postgres->moments_mutex, NULL);
    gets_init(&postgres->gets);
    links_open(&postgres->snapshots, &like, SNAPSHOT_LINKS_MAX, SNAPSHOT_IDLE_MS);
    links_open(&postgres->calls, &like, CALL_LINKS_MAX, CALL_IDLE_MS);
    atomic_init(&postgres->writable, true);
    atomic_init(&postgres->leads, false);
    atomic_init(&postgres->full, false);
    atomic_init(&postgres->heard_ms, 0);
    atomic_init(&postgres->peers, 1);
    return postgres;
}

enum status postgres_open(struct op *op, const struct store_options *options, struct store **store)
{
    struct postgres *postgres = postgres_new(op->env, options);
    bool started = queue_open(postgres, options->threads);
    enum status st = ST_OK;

    if (!started)
        TRY(op_fail(op, ST_UNAVAILABLE, "no thread can be started for the store"));
    TRY(link_library(op));
    postgres->tending = links_connect(&postgres->calls);
    if (!postgres->tending)
        TRY(op_fail(op, ST_UNAVAILABLE, "The database cannot be reached."));
    if (options->read_only)
        TRY(postgres_schema_is_known(op, postgres->tending));
    else
        TRY(postgres_schema(op, postgres->tending));
    TRY(citus_look(op, postgres));
    if (options->apart)
        TRY(members_stay_apart(op, postgres));
    else if (!options->read_only)
        TRY(members_join(op, postgres, options->threads));
    *store = &postgres->base;
out:
    if (st != ST_OK)
        postgres_close(&postgres->base);
    return st;
}

/* ---- buckets ---- */

struct head_row head_row_of(const struct answer *answer, size_t row)
{
    return (struct head_row){ .head = { .lsn = (uint64_t)answer_number(answer, row, 0),
                                        .ts_ms = answer_number(answer, row, 1),
                                        .counter = (uint64_t)answer_number(answer, row, 4),
                                        .counts = true,
                                        .documents = (uint64_t)answer_number(answer, row, 5),
                                        .document_bytes = (uint64_t)answer_number(answer, row, 6) },
                              .epoch = (uint64_t)answer_number(answer, row, 2),
                              .dropped = answer_number(answer, row, 3) };
}

static void raise(_Atomic uint64_t *largest, uint64_t to)
{
    uint64_t seen = atomic_load(largest);

    while (seen < to && !atomic_compare_exchange_weak(largest, &seen, to))
        ;
}

void postgres_bucket_saw(struct postgres_bucket *bucket, const struct head_row *row)
{
    const struct head *head = &row->head;
    uint64_t seen = atomic_load(&bucket->seen_lsn);

    if (row->dropped)
        atomic_store(&bucket->base.is_dropped, true);
    raise(&bucket->base.redefined_lsn, row->epoch);

    while (seen < head->lsn && !atomic_compare_exchange_weak(&bucket->seen_lsn, &seen, head->lsn))
        ;
    if (seen <= head->lsn) {
        atomic_store_explicit(&bucket->seen_documents, head->documents, memory_order_relaxed);
        atomic_store_explicit(&bucket->seen_bytes, head->document_bytes, memory_order_relaxed);
    }
}

static struct postgres_bucket **chain_of(const struct postgres *postgres, uint64_t id)
{
    uint64_t mixed = id * 0x9e3779b97f4a7c15u;

    return &postgres->chains[mixed >> 32 & (postgres->chain_count - 1)];
}

/* Under the lock. */
static struct postgres_bucket *find_bucket(const struct postgres *postgres, uint64_t id)
{
    struct postgres_bucket *bucket = *chain_of(postgres, id);

    while (bucket && bucket->base.id != id)
        bucket = bucket->next;
    return bucket;
}

static void link_bucket(struct postgres *postgres, struct postgres_bucket *bucket)
{
    struct postgres_bucket **chain = chain_of(postgres, bucket->base.id);

    bucket->next = *chain;
    *chain = bucket;
}

static void grow_table(struct postgres *postgres)
{
    struct postgres_bucket **old = postgres->chains;
    size_t old_count = postgres->chain_count;

    postgres->chain_count *= 2;
    postgres->chains = heap_allocate(postgres->chain_count * sizeof(*old));
    for (size_t i = 0; i < old_count; i++) {
        for (struct postgres_bucket *bucket = old[i], *next; bucket; bucket = next) {
            next = bucket->next;
            link_bucket(postgres, bucket);
        }
    }
    free(old);
}

/* No transaction of this process is older than the bucket here, so what was before it need not be known. */
static struct postgres_bucket *new_bucket(struct postgres *postgres, uint64_t id, const struct head_row *row)
{
    struct postgres_bucket *bucket = heap_allocate(sizeof(*bucket));

    bucket->base = (struct bucket){ .store = &postgres->base, .id = id };
    bucket->known_lsn = bucket->floor_lsn = row->head.lsn;
    bucket->last = &bucket->first;
    pthread_mutex_init(&bucket->counter_mutex, NULL);
    pthread_mutex_init(&bucket->scopes_mutex, NULL);
    postgres_bucket_saw(bucket, row);
    return bucket;
}

static struct postgres_bucket *add_bucket(struct postgres *postgres, uint64_t id, const struct head_row *row)
{
    struct postgres_bucket *bucket;

    pthread_rwlock_wrlock(&postgres->lock);
    bucket = find_bucket(postgres, id); /* another thread may have added it first */
    if (!bucket) {
        if (postgres->bucket_count == postgres->chain_count)
            grow_table(postgres);
        bucket = new_bucket(postgres, id, row);
        link_bucket(postgres, bucket);
        postgres->bucket_count++;
    }
    pthread_rwlock_unlock(&postgres->lock);
    return bucket;
}

/* LINK_OK without an answer's row: there is no head yet. */
static enum link_end ask_head(struct link *link, uint64_t id, bool make, struct answer **answer)
{
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, id);
    enum link_end end = LINK_OK, got, ended;

    if (make)
        link_send(link, SQL_HEAD_MAKE, &shard, 1);
    link_send(link, SQL_HEAD, &shard, 1);
    link_sync(link);
    if (make)
        end = link_take(link, NULL);
    got = link_take(link, answer);
    ended = link_end(link);
    if (end == LINK_OK)
        end = got;
    return end == LINK_OK ? ended : end;
}

/* Twice, because the first link may have been lost while it rested. */
static enum status fetch_head(struct op *op, struct postgres *postgres, uint64_t id, bool make,
                              struct head_row *row, bool *found)
{
    struct answer *answer = NULL;
    enum link_end end = LINK_LOST;
    enum status st = ST_OK;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link = links_take(&postgres->calls);

        if (!link)
            return postgres_failed(op, NULL);
        end = ask_head(link, id, make, &answer);
        if (end != LINK_OK)
            st = postgres_failed(op, link);
        links_give(&postgres->calls, link);
        if (end == LINK_LOST)
            links_forget_idle(&postgres->calls);
    }
    if (end != LINK_OK)
        return st;
    *found = answer_rows(answer) > 0;
    *row = *found ? head_row_of(answer, 0) : (struct head_row){ .head = { .counts = true } };
    answer_free(answer);
    return ST_OK;
}

enum status postgres_bucket(struct op *op, struct store *store, uint64_t id, struct bucket **bucket)
{
    struct postgres *postgres = postgres_of(store);
    struct postgres_bucket *found;
    struct head_row row = { 0 };
    bool there = false;
    enum status st = ST_OK;

    pthread_rwlock_rdlock(&postgres->lock);
    found = find_bucket(postgres, id);
    pthread_rwlock_unlock(&postgres->lock);
    if (!found) {
        TRY(op_may_take_long(op));
        TRY(fetch_head(op, postgres, id, false, &row, &there));
        if (!there && !store->read_only)
            TRY(fetch_head(op, postgres, id, true, &row, &there));
        found = add_bucket(postgres, id, &row);
    }
    *bucket = &found->base;
out:
    return st;
}

static uint64_t postgres_lsn(const struct bucket *bucket)
{
    return atomic_load(&((const struct postgres_bucket *)bucket)->seen_lsn);
}

static bool postgres_usage(const struct bucket *bucket, struct bucket_usage *usage)
{
    const struct postgres_bucket *own = (const struct postgres_bucket *)bucket;

    usage->documents = atomic_load_explicit(&own->seen_documents, memory_order_relaxed);
    usage->bytes = atomic_load_explicit(&own->seen_bytes, memory_order_relaxed);
    return true;
}

/* ---- counters ---- */

static enum link_end ask_block(struct link *link, uint64_t id, struct answer **answer)
{
    uint8_t bytes[2][8];
    struct sql_param params[] = { sql_number(bytes[0], id), sql_number(bytes[1], COUNTER_BLOCK) };
    enum link_end end;

    link_send(link, SQL_RESERVE, params, 2);
    link_sync(link);
    end = link_take(link, answer);
    return link_end(link) == LINK_OK ? end : LINK_LOST;
}

/* A block that is lost with its connection is a gap, and no harm. */
static bool reserve_block(struct postgres *postgres, struct postgres_bucket *bucket)
{
    struct answer *answer = NULL;
    enum link_end end = LINK_LOST;
    bool reserved;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link = links_take(&postgres->calls);

        if (!link)
            return false;
        end = ask_block(link, bucket->base.id, &answer);
        if (end != LINK_OK)
            log_line(LOG_WARN, "store: no numbers could be reserved: %s", link_error(link));
        links_give(&postgres->calls, link);
        if (end == LINK_LOST)
            links_forget_idle(&postgres->calls);
    }
    reserved = end == LINK_OK && answer_rows(answer) == 1;
    if (reserved) {
        bucket->counter_end = (uint64_t)answer_number(answer, 0, 0);
        bucket->counter_next = bucket->counter_end - COUNTER_BLOCK + 1;
        assert(bucket->counter_end < COUNTER_NONE);
    }
    answer_free(answer);
    return reserved;
}

/* It has no status: a batch with COUNTER_NONE is refused when it is committed. */
static uint64_t postgres_next_counter(struct bucket *base)
{
    struct postgres_bucket *bucket = postgres_bucket_of(base);
    uint64_t counter = COUNTER_NONE;

    pthread_mutex_lock(&bucket->counter_mutex);
    if ((bucket->counter_next > 0 && bucket->counter_next <= bucket->counter_end) ||
        reserve_block(postgres_of(base->store), bucket))
        counter = bucket->counter_next++;
    pthread_mutex_unlock(&bucket->counter_mutex);
    return counter;
}

/* ---- all of it ---- */

static enum status postgres_backup(struct op *op, struct store *store, const char *directory)
{
    (void)store, (void)directory;
    return op_fail(op, ST_NOT_BUILT, "The data is in PostgreSQL: take backups by its own means.");
}

static enum status postgres_mark(struct op *op, struct store *store, struct store_mark **mark)
{
    (void)store, (void)mark;
    return op_fail(op, ST_NOT_BUILT, "There are no snapshots of data in PostgreSQL.");
}

/* No mark was ever given out. */
static void postgres_unmark(struct store *store, struct store_mark *mark)
{
    (void)store, (void)mark;
}

static enum status postgres_rewind(struct op *op, struct store *store, const struct store_mark *mark)
{
    (void)store, (void)mark;
    return op_fail(op, ST_NOT_BUILT, "There are no snapshots of data in PostgreSQL.");
}

static bool postgres_is_writable(const struct store *store)
{
    const struct postgres *postgres = (const struct postgres *)store;

    return atomic_load(&postgres->writable) && !atomic_load(&postgres->full);
}

static struct store_peers postgres_peers(struct store *store)
{
    struct postgres *postgres = postgres_of(store);

    return (struct store_peers){ .count = atomic_load(&postgres->peers),
                                 .leads = atomic_load(&postgres->leads) };
}

static void postgres_stats(struct store *store, struct store_stats *stats)
{
    struct postgres *postgres = postgres_of(store);

    pthread_mutex_lock(&postgres->stats_mutex);
    *stats = postgres->stats;
    pthread_mutex_unlock(&postgres->stats_mutex);
}

/* ---- entries are rows like all others, and never lost ---- */

static enum status postgres_entries_settled(struct op *op, struct bucket *bucket, uint64_t *lsn)
{
    (void)op, (void)bucket;
    *lsn = UINT64_MAX;
    return ST_OK;
}

static enum status postgres_entries_restore(struct op *op, struct bucket *bucket, struct batch *batch)
{
    (void)bucket, (void)batch;
    return op_fail(op, ST_CORRUPT, "entries that are rows are never lost");
}

static void postgres_entries_restored(struct bucket *bucket)
{
    (void)bucket;
}

static enum status postgres_entries_flush(struct op *op, struct store *store)
{
    (void)op, (void)store;
    return ST_OK;
}

static const struct store_ops postgres_ops = {
    .close = postgres_close,
    .bucket = postgres_bucket,
    .lsn = postgres_lsn,
    .usage = postgres_usage,
    .next_counter = postgres_next_counter,
    .snapshot = postgres_snapshot,
    .snapshot_together = postgres_snapshot_together,
    .release = postgres_release,
    .get_many = postgres_get_many,
    .get_latest = postgres_get_latest,
    .scan = postgres_scan,
    .commit_many = postgres_commit_many,
    .commit_together = postgres_commit_together,
    .commit_later = postgres_commit_later,
    .commit_end = postgres_commit_end,
    .outcome = postgres_outcome,
    .drop = postgres_drop,
    .backup = postgres_backup,
    .mark = postgres_mark,
    .unmark = postgres_unmark,
    .rewind = postgres_rewind,
    .is_writable = postgres_is_writable,
    .upkeep = members_upkeep,
    .stats = postgres_stats,
    .peers = postgres_peers,
    .announce = postgres_announce,
    .endpoints = postgres_endpoints,
    .lock_definitions = postgres_lock_definitions,
    .unlock_definitions = postgres_unlock_definitions,
    .entries_open = plain_open,
    .entries_count = plain_count,
    .entries_settled = postgres_entries_settled,
    .entries_restore = postgres_entries_restore,
    .entries_restored = postgres_entries_restored,
    .entries_flush = postgres_entries_flush,
    .next_bucket = postgres_next_bucket,
    .entries_are_rows = postgres_entries_are_rows,
    .load = postgres_load,
    .clear = postgres_clear,
    .count_members = postgres_count_members,
};
