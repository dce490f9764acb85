/*
 * src/store/postgres_commit.c - one transaction, in two round trips, or at once in one.
 *
 *     BEGIN; UPDATE head ... RETURNING; commits of others since the last one that we know    the head is locked
 *     DELETE, INSERT rows; INSERT one row for each commit; UPDATE head; COMMIT
 *
 * Between the two, each batch is judged (postgres_judge.c). What is written is in postgres_rows.c, what becomes of it when the
 * connection is lost in postgres_doubt.c.
 *
 * At once. Where no other process writes to the bucket, the head is what it was after our last commit. Batches are judged by
 * that, and all is sent together, with an UPDATE of the head that is refused if the head is another. Then nothing was written,
 * and it is done the other way. What was sent on a connection that was lost may arrive later, when no lock tells of it: the LSN
 * that it would have is given to an empty commit, before anybody is told that nothing was written.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/log.h"
#include "store/postgres_txn.h"

enum {
    OTHERS_MAX = 1000,
    OTHERS_WRITE = 16, /* commits after one that others were found to have come before */
};

/* ---- the first round trip ---- */

static int by_bucket(const void *a, const void *b)
{
    uint64_t left = ((const struct part *)a)->bucket->base.id,
             right = ((const struct part *)b)->bucket->base.id;

    return left < right ? -1 : left > right;
}

static bool *no_slots(struct op *op)
{
    bool *touched = arena_alloc(&op->arena, SCOPE_SLOTS * sizeof(*touched));

    memset(touched, 0, SCOPE_SLOTS * sizeof(*touched));
    return touched;
}

/* Heads are locked in the order of their ids, so that two transactions never wait for each other. */
static void list_parts(struct transaction *txn)
{
    size_t count = 0;

    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        count++;
    txn->parts = arena_alloc(&txn->op->arena, count * sizeof(*txn->parts));
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        if (txn->together || txn->part_count == 0)
            txn->parts[txn->part_count++] =
                (struct part){ .bucket = each->bucket, .touched = no_slots(txn->op) };
    qsort(txn->parts, txn->part_count, sizeof(*txn->parts), by_bucket);
}

static void ask_part(struct transaction *txn, struct part *part)
{
    struct postgres_bucket *bucket = part->bucket;
    uint8_t bytes[3][8];
    struct sql_param params[] = { sql_number(bytes[0], bucket->base.id),
                                  { 0 },
                                  sql_number(bytes[2], OTHERS_MAX + 1) };

    pthread_mutex_lock(&bucket->scopes_mutex);
    if (!bucket->slot)
        bucket->slot = heap_allocate(SCOPE_SLOTS * sizeof(*bucket->slot));
    part->known_lsn = bucket->known_lsn;
    pthread_mutex_unlock(&bucket->scopes_mutex);
    params[1] = sql_number(bytes[1], part->known_lsn);
    link_send(txn->link, SQL_LOCK, params, 1);
    link_send(txn->link, SQL_SCOPES, params, 3);
}

static enum link_end take_part(struct transaction *txn, struct part *part)
{
    struct answer *head = NULL;
    enum link_end locked = link_take(txn->link, &head), asked = link_take(txn->link, &part->others);

    if (locked == LINK_OK && answer_rows(head) != 1)
        locked = LINK_REFUSED; /* the head was made when the bucket was found */
    if (locked == LINK_OK) {
        part->row = head_row_of(head, 0);
        postgres_bucket_saw(part->bucket, &part->row);
    }
    part->first_lsn = part->row.head.lsn;
    answer_free(head);
    return locked == LINK_OK ? asked : locked;
}

static enum link_end lock_heads(struct transaction *txn)
{
    enum link_end end, each;

    link_send(txn->link, SQL_BEGIN, NULL, 0);
    for (size_t i = 0; i < txn->part_count; i++)
        ask_part(txn, &txn->parts[i]);
    link_sync(txn->link);
    end = link_take(txn->link, NULL);
    for (size_t i = 0; i < txn->part_count; i++) {
        each = take_part(txn, &txn->parts[i]);
        end = end == LINK_OK ? each : end;
    }
    each = link_end(txn->link);
    return end == LINK_OK ? each : end;
}

static void forget_others(struct transaction *txn)
{
    for (size_t i = 0; i < txn->part_count; i++) {
        answer_free(txn->parts[i].others);
        txn->parts[i].others = NULL;
    }
}

/* The transaction is over on the server when somebody next uses the link. */
static void roll_back(struct transaction *txn)
{
    if (!link_is_sound(txn->link))
        return;
    link_send(txn->link, SQL_ROLLBACK, NULL, 0);
    link_sync(txn->link);
    link_leave(txn->link);
}

/* Twice: nothing was written yet, and the first link may have been lost while it rested. */
static bool begin(struct transaction *txn)
{
    struct links *calls = &txn->postgres->calls;
    enum link_end end = LINK_LOST;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        txn->link = links_take(calls);
        if (!txn->link)
            return false;
        end = lock_heads(txn);
        if (end == LINK_OK)
            return true;
        log_line(LOG_WARN, "store: no commit can begin: %s", link_error(txn->link));
        forget_others(txn);
        roll_back(txn);
        links_give(calls, txn->link);
        txn->link = NULL;
        if (end == LINK_LOST)
            links_forget_idle(calls);
    }
    return false;
}

/* ---- a transaction ---- */

static void refuse_all(struct transaction *txn)
{
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->status == ST_OK ? ST_UNAVAILABLE : each->status;
}

static bool is_any(const struct transaction *txn, enum status status)
{
    const struct submission_of_bucket *each = txn->first;

    while (each && each->status != status)
        each = each->next;
    return each != NULL;
}

/* What was not written may be committed again, as another batch would be. */
static void finish(struct transaction *txn)
{
    bool written = is_any(txn, ST_OK), redefines = false; /* then heads have another epoch than was read */

    for (struct submission_of_bucket *each = txn->first; each; each = each->next) {
        redefines |= each->batch->redefined != NULL;
        if (each->status == ST_OK)
            postgres_mark_own(each->bucket, each->batch);
        else if (each->status != ST_AMBIGUOUS)
            each->batch->lsn = 0;
    }
    for (size_t i = 0; written && i < txn->part_count; i++) {
        struct postgres_bucket *bucket = txn->parts[i].bucket;

        postgres_bucket_saw(bucket, &txn->parts[i].row);
        pthread_mutex_lock(&bucket->scopes_mutex);
        if (bucket->known_lsn < txn->parts[i].row.head.lsn) {
            bucket->known_lsn = txn->parts[i].row.head.lsn;
            bucket->known_row = redefines ? (struct head_row){ 0 } : txn->parts[i].row;
        }
        pthread_mutex_unlock(&bucket->scopes_mutex);
    }
}

static void count(struct transaction *txn)
{
    struct store_stats *stats = &txn->postgres->stats;

    pthread_mutex_lock(&txn->postgres->stats_mutex);
    stats->conflicts += txn->conflicts;
    if (is_any(txn, ST_OK)) {
        stats->groups++;
        stats->syncs++;
        stats->commits += txn->commits;
        stats->bytes_written += txn->bytes;
    } else if (txn->commits > 0) {
        stats->failures++;
    }
    pthread_mutex_unlock(&txn->postgres->stats_mutex);
}

static void run(struct transaction *txn)
{
    enum link_end end;

    postgres_judge(txn);
    forget_others(txn);
    if (txn->commits == 0) {
        roll_back(txn);
        return;
    }
    end = postgres_write_all(txn);
    if (end == LINK_REFUSED || end == LINK_SKIPPED) {
        roll_back(txn);
        refuse_all(txn);
    } else if (end != LINK_OK) {
        txn->lost =
            !link_is_sound(txn->link); /* else the server has ended the transaction, in whichever way */
        postgres_settle(txn);
    }
    if (is_any(txn, ST_OK))
        postgres_confirm(txn);
}

/* ---- at once ---- */

static bool is_plain(const struct submission_of_bucket *each, uint64_t known_lsn)
{
    const struct batch *batch = each->batch;

    for (size_t i = 0; i < batch->expectation_count; i++)
        if (batch->expectation[i].lsn > known_lsn) /* it has seen what others did since */
            return false;
    return !batch->redefined && !batch->expects_last && batch->above_lsn == 0;
}

/* Whether the head is known, as far as we know, and everything that was committed up to it. */
static bool knows_head(struct transaction *txn)
{
    struct part *part = &txn->parts[0];
    struct postgres_bucket *bucket = part->bucket;
    bool knows;

    if (txn->together)
        return false;
    pthread_mutex_lock(&bucket->scopes_mutex);
    knows = bucket->slot && bucket->others_write == 0 && bucket->known_lsn > 0 &&
            bucket->known_row.head.lsn == bucket->known_lsn &&
            atomic_load(&bucket->seen_lsn) <= bucket->known_lsn;
    if (bucket->others_write > 0)
        bucket->others_write--;
    part->known = bucket->known_row;
    pthread_mutex_unlock(&bucket->scopes_mutex);
    for (const struct submission_of_bucket *each = txn->first; knows && each; each = each->next)
        knows = is_plain(each, part->known.head.lsn);
    return knows;
}

/* It was tried, and not written. Entries that have been dated stay so. */
static void begin_anew(struct transaction *txn)
{
    struct postgres_bucket *bucket = txn->parts[0].bucket;

    pthread_mutex_lock(&bucket->scopes_mutex);
    bucket->others_write = OTHERS_WRITE;
    pthread_mutex_unlock(&bucket->scopes_mutex);
    for (struct submission_of_bucket *each = txn->first; each; each = each->next) {
        if (each->batch->lsn != 0)
            each->dated_ms = each->stamp.ts_ms;
        each->batch->lsn = 0;
        each->status = ST_OK;
    }
    txn->at_once = false;
    txn->mutation_count = txn->commits = txn->conflicts = txn->bytes = 0;
    memset(txn->parts[0].touched, 0, SCOPE_SLOTS * sizeof(*txn->parts[0].touched));
}

/* True once what was sent can no longer be done. */
static bool fence(struct transaction *txn)
{
    struct part *part = &txn->parts[0];
    struct head *head = &part->row.head;
    enum link_end end = LINK_OK;
    uint8_t bytes[4][8];

    if (!begin(txn))
        return false;
    forget_others(txn);
    if (head->lsn != part->known.head.lsn) {
        roll_back(txn); /* somebody has that LSN already */
    } else {
        head->lsn++;
        link_send(txn->link, SQL_COMMIT_ROW,
                  (struct sql_param[]){ sql_number(bytes[0], part->bucket->base.id),
                                        sql_number(bytes[1], head->lsn),
                                        sql_number(bytes[2], env_random_u64(env_system()) | 1),
                                        sql_number(bytes[3], (uint64_t)head->ts_ms),
                                        { "", 0 } },
                  5);
        postgres_send_advance(txn, part);
        link_send(txn->link, SQL_COMMIT, NULL, 0);
        link_sync(txn->link);
        end = postgres_take_write(txn, 2);
        if (end != LINK_OK)
            roll_back(
                txn); /* what was refused has left a transaction behind, which the link's next user would be in */
    }
    links_give(&txn->postgres->calls, txn->link);
    txn->link = NULL;
    return end == LINK_OK;
}

/* Nobody can tell yet what becomes of it. */
static void leave_unfenced(struct transaction *txn)
{
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        if (each->batch->lsn != 0) {
            each->batch->unfenced = true;
            each->status = ST_AMBIGUOUS;
        }
}

/* It may have arrived after it was first asked for, and before the fence. From now on it cannot. */
static bool ask_behind_fence(const struct transaction *txn, bool *committed)
{
    const struct submission_of_bucket *any = txn->first;

    while (any->batch->lsn == 0)
        any = any->next; /* one was sent */
    return postgres_find_outcome(txn->postgres, any->bucket->base.id, any->stamp.lsn, any->batch->incarnation,
                                 committed);
}

static void accept_late(struct transaction *txn)
{
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->batch->lsn != 0 ? ST_OK : each->status;
}

/* False: it is to be written in the other way. */
static bool write_at_once(struct transaction *txn)
{
    struct part *part = &txn->parts[0];
    struct head_row ours;
    bool committed = false;

    if (!knows_head(txn))
        return false;
    txn->link = links_take(&txn->postgres->calls);
    if (!txn->link)
        return false;
    txn->at_once = true;
    part->row = part->known;
    part->first_lsn = part->known_lsn = part->known.head.lsn;
    run(txn);
    links_give(&txn->postgres->calls, txn->link);
    txn->link = NULL;
    if (txn->commits == 0 || is_any(txn, ST_OK) || (is_any(txn, ST_AMBIGUOUS) && !txn->lost))
        return true;
    ours = part->row;
    if (txn->lost && (is_any(txn, ST_AMBIGUOUS) || !fence(txn) || !ask_behind_fence(txn, &committed))) {
        leave_unfenced(txn);
        return true;
    }
    part->row = ours; /* what others have done since is not known yet */
    if (committed) {
        accept_late(txn);
        return true;
    }
    begin_anew(txn);
    return false;
}

void postgres_write(struct postgres *postgres, struct op *op, struct submission_of_bucket *first,
                    bool together)
{
    struct transaction txn = { .postgres = postgres, .op = op, .first = first, .together = together };
    struct arena_mark mark = arena_mark(&op->arena);

    list_parts(&txn);
    for (struct submission_of_bucket *each = first; each; each = each->next)
        each->status = ST_OK;
    if (write_at_once(&txn)) {
        if (is_any(&txn, ST_OK))
            atomic_store(&postgres->writable, true);
    } else if (begin(&txn)) {
        run(&txn);
        links_give(&postgres->calls, txn.link);
        if (is_any(&txn, ST_OK))
            atomic_store(&postgres->writable, true);
    } else {
        atomic_store(&postgres->writable, false);
        refuse_all(&txn);
    }
    finish(&txn);
    count(&txn);
    free(txn.mutations);
    arena_rewind(&op->arena, mark);
}
