/*
 * src/store/postgres_judge.c - whether a batch may be committed.
 * All commits up to `known_lsn` are in the bucket's slots. Those above it were read under the head's lock, each with its
 * scopes, whoever made them. A batch is refused when its bucket was dropped, or when anything under its scopes was
 * committed after the LSN that it expects.
 */
#include <assert.h>

#include "keys/epk.h"
#include "store/postgres_txn.h"

/* ---- scopes ---- */

static size_t slot_of(uint64_t scope)
{
    return (scope * 0x9e3779b97f4a7c15u >> 32) % SCOPE_SLOTS;
}

static void mark(struct postgres_bucket *bucket, uint64_t scope, uint64_t lsn)
{
    uint64_t *slot = &bucket->slot[slot_of(scope)];

    if (*slot < lsn)
        *slot = lsn;
}

struct slice postgres_scopes(struct arena *arena, const struct batch *batch)
{
    uint8_t *bytes = arena_alloc(arena, batch->expectation_count * 8 + 1);

    for (size_t i = 0; i < batch->expectation_count; i++)
        put_be(bytes + 8 * i, batch->expectation[i].scope, 8);
    return slice_make(bytes, batch->expectation_count * 8);
}

/* Below the oldest of those that came there may be more: we did not ask for so many, or they were trimmed. */
static void raise_floor(struct part *part, size_t count)
{
    struct postgres_bucket *bucket = part->bucket;
    uint64_t oldest = count ? (uint64_t)answer_number(part->others, count - 1, 0) : part->first_lsn + 1;

    if (oldest > part->known_lsn + 1 && bucket->floor_lsn < oldest - 1)
        bucket->floor_lsn = oldest - 1;
}

/* Newest first, as they came. */
static void learn_others(struct part *part)
{
    struct postgres_bucket *bucket = part->bucket;
    size_t count;

    if (!part->others) /* there are none: or the commit, which is made at once, is refused */
        return;
    count = answer_rows(part->others);
    for (size_t row = 0; row < count; row++) {
        struct slice scopes = answer_bytes(part->others, row, 1);

        for (size_t at = 0; at + 8 <= scopes.size; at += 8)
            mark(bucket, get_be(scopes.data + at, 8), (uint64_t)answer_number(part->others, row, 0));
    }
    raise_floor(part, count);
    if (bucket->known_lsn < part->first_lsn)
        bucket->known_lsn = part->first_lsn;
}

/* Under the mutex of the bucket's scopes. */
static bool expectations_hold(const struct part *part, const struct batch *batch)
{
    const struct postgres_bucket *bucket = part->bucket;

    for (size_t i = 0; i < batch->expectation_count; i++) {
        size_t slot = slot_of(batch->expectation[i].scope);
        uint64_t lsn = batch->expectation[i].lsn;

        if (part->touched[slot] || bucket->floor_lsn > lsn || bucket->slot[slot] > lsn)
            return false;
    }
    return true;
}

/* For the rest of the group. Others see it when it is written: until then they read its row under the head's lock. */
static void touch(struct part *part, const struct batch *batch)
{
    for (size_t i = 0; i < batch->expectation_count; i++)
        part->touched[slot_of(batch->expectation[i].scope)] = true;
}

void postgres_mark_own(struct postgres_bucket *bucket, const struct batch *batch)
{
    pthread_mutex_lock(&bucket->scopes_mutex);
    for (size_t i = 0; i < batch->expectation_count; i++)
        mark(bucket, batch->expectation[i].scope, batch->lsn);
    pthread_mutex_unlock(&bucket->scopes_mutex);
}

/* ---- judging ---- */

static struct part *part_of(const struct transaction *txn, const struct postgres_bucket *bucket)
{
    size_t at = 0;

    while (txn->parts[at].bucket != bucket)
        at++;
    assert(at < txn->part_count);
    return &txn->parts[at];
}

static enum status judge(const struct part *part, const struct batch *batch, int64_t dated_ms)
{
    if (part->row.dropped)
        return ST_OWNER_NOT_FOUND;
    if (batch->counter == COUNTER_NONE)
        return ST_UNAVAILABLE; /* no counter could be reserved for it */
    if (batch->follows < part->row.epoch)
        return ST_WRITE_CONFLICT; /* it was made by a definition of before */
    if (!batch_follows_last(batch, part->row.head.lsn))
        return ST_WRITE_CONFLICT;
    if (dated_ms &&
        (part->row.head.ts_ms > dated_ms ? part->row.head.ts_ms : dated_ms) / 1000 != dated_ms / 1000)
        return ST_WRITE_CONFLICT; /* its entries have the second of the first try */
    return expectations_hold(part, batch) ? ST_OK : ST_WRITE_CONFLICT;
}

static void accept(struct transaction *txn, struct part *part, struct submission_of_bucket *submission)
{
    struct batch *batch = submission->batch;

    assert(batch->lsn == 0); /* a batch is stamped once */
    batch_advance_head(batch, &part->row.head,
                       submission->dated_ms ? submission->dated_ms : env_now_ms(txn->postgres->env));
    submission->stamp = (struct commit_stamp){ part->row.head.lsn, part->row.head.ts_ms };
    batch->lsn = submission->stamp.lsn;
    do
        batch->incarnation = env_random_u64(env_system()); /* the token in its row */
    while (batch->incarnation == 0);
    touch(part, batch);
    txn->commits++;
}

static void judge_each(struct transaction *txn)
{
    struct part *part = &txn->parts[0];

    pthread_mutex_lock(&part->bucket->scopes_mutex);
    learn_others(part);
    for (struct submission_of_bucket *each = txn->first; each; each = each->next) {
        each->status = judge(part, each->batch, each->dated_ms);
        txn->conflicts += each->status == ST_WRITE_CONFLICT;
        if (each->status == ST_OK)
            accept(txn, part, each);
    }
    pthread_mutex_unlock(&part->bucket->scopes_mutex);
}

/* Nothing is marked before all were judged. */
static void judge_together(struct transaction *txn)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < txn->part_count; i++)
        pthread_mutex_lock(&txn->parts[i].bucket->scopes_mutex); /* in the order of ids, as the heads */
    for (size_t i = 0; i < txn->part_count; i++)
        learn_others(&txn->parts[i]);
    for (struct submission_of_bucket *each = txn->first; each && st == ST_OK; each = each->next)
        st = judge(part_of(txn, each->bucket), each->batch, each->dated_ms);
    txn->conflicts += st == ST_WRITE_CONFLICT;
    for (struct submission_of_bucket *each = txn->first; each; each = each->next) {
        each->status = st;
        if (st == ST_OK)
            accept(txn, part_of(txn, each->bucket), each);
    }
    for (size_t i = 0; i < txn->part_count; i++)
        pthread_mutex_unlock(&txn->parts[i].bucket->scopes_mutex);
}

void postgres_judge(struct transaction *txn)
{
    if (txn->together)
        judge_together(txn);
    else
        judge_each(txn);
}
