/*
 * src/store/postgres_commit.c - one transaction, in two round trips, or at once in one.
 *
 *     BEGIN; UPDATE head ... RETURNING; commits of others since the last one that we know    the head is locked
 *     DELETE, INSERT rows; INSERT one row for each commit; UPDATE head; COMMIT
 *
 * Between the two, each batch is judged: whether its bucket was dropped, and whether anything under its scopes was
 * committed after the LSN that it expects. All commits up to `known_lsn` are in the bucket's slots. Those above it are
 * read under the head's lock, each with its scopes, whoever made them.
 *
 * At once. Where no other process writes to the bucket, the head is what it was after our last commit. Batches are judged by
 * that, and all is sent together, with an UPDATE of the head that is refused if the head is another. Then nothing was written,
 * and it is done the other way. What was sent on a connection that was lost may arrive later, when no lock tells of it: the LSN
 * that it would have is given to an empty commit, before anybody is told that nothing was written.
 *
 * Doubt. When the connection is lost at COMMIT, or the server refuses it for another reason than that of a conflict,
 * nobody knows whether it happened. The head is locked once more, which waits until the first transaction is over, and
 * the row at the LSN tells by its token. While the database cannot be reached, those who wait get ST_AMBIGUOUS.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/log.h"
#include "keys/epk.h"
#include "keys/keys.h"
#include "store/postgres_private.h"

/*
 * An index of the database takes keys of 2700 bytes at most, the shard's 8 among them. The longest of ours, the entry
 * of a composite index of eight long strings, has 2,215.
 */
enum {
    KEY_BYTES_MAX = 2600,
    OTHERS_MAX = 1000,
    TRIM_EVERY = 256,
    OTHERS_WRITE = 16, /* commits after one that others were found to have come before */
    COMMITS_KEPT = 4096,
    COMMITS_KEPT_MS = 600 * 1000
};

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

static struct slice scopes_encode(struct arena *arena, const struct batch *batch)
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

static void mark_own(struct postgres_bucket *bucket, const struct batch *batch)
{
    pthread_mutex_lock(&bucket->scopes_mutex);
    for (size_t i = 0; i < batch->expectation_count; i++)
        mark(bucket, batch->expectation[i].scope, batch->lsn);
    pthread_mutex_unlock(&bucket->scopes_mutex);
}

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

static struct part *part_of(const struct transaction *txn, const struct postgres_bucket *bucket)
{
    size_t at = 0;

    while (txn->parts[at].bucket != bucket)
        at++;
    assert(at < txn->part_count);
    return &txn->parts[at];
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

/* ---- judging ---- */

static enum status judge(const struct part *part, const struct batch *batch, int64_t dated_ms)
{
    if (part->row.dropped)
        return ST_OWNER_NOT_FOUND;
    if (batch->counter == COUNTER_NONE)
        return ST_UNAVAILABLE; /* no counter could be reserved for it */
    if (batch->follows < part->row.epoch)
        return ST_WRITE_CONFLICT; /* it was made by a definition of before */
    if (dated_ms &&
        (part->row.head.ts_ms > dated_ms ? part->row.head.ts_ms : dated_ms) / 1000 != dated_ms / 1000)
        return ST_WRITE_CONFLICT; /* its entries have the second of the first try */
    return expectations_hold(part, batch) ? ST_OK : ST_WRITE_CONFLICT;
}

static void advance_head(struct head *head, const struct batch *batch, int64_t now_ms)
{
    head->lsn = (head->lsn > batch->above_lsn ? head->lsn : batch->above_lsn) + 1;
    if (head->ts_ms < now_ms)
        head->ts_ms = now_ms;
    if (head->counter < batch->counter)
        head->counter = batch->counter;
    head->documents += (uint64_t)batch->documents;
    head->document_bytes += (uint64_t)batch->document_bytes;
}

static void accept(struct transaction *txn, struct part *part, struct submission_of_bucket *submission)
{
    struct batch *batch = submission->batch;

    assert(batch->lsn == 0); /* a batch is stamped once */
    advance_head(&part->row.head, batch,
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

/* ---- what is written ---- */

static void add_mutation(struct transaction *txn, struct slice key, struct slice value)
{
    heap_list_reserve(&txn->mutations, &txn->mutation_capacity, txn->mutation_count + 1,
                      sizeof(*txn->mutations));
    assert(key.size <= KEY_BYTES_MAX);
    txn->mutations[txn->mutation_count] = (struct mutation_of_group){ key, value, txn->mutation_count };
    txn->mutation_count++;
    txn->bytes += key.size + value.size;
}

/* The stamps of the batches before it in its set: written before its own checksums are made. */
static void tell_stamps(const struct transaction *txn, const struct submission_of_bucket *last)
{
    uint8_t *room = last->batch->stamps;

    for (const struct submission_of_bucket *each = txn->first; room && each != last;
         each = each->next, room += STAMP_BYTES)
        stamp_encode(&each->stamp, room);
}

static void add_batch(struct transaction *txn, const struct submission_of_bucket *submission)
{
    const struct commit_stamp stamp = submission->stamp;
    struct batch *batch = submission->batch;
    const struct batch_index_entry *entry;
    uint32_t position = 0;
    size_t count;

    tell_stamps(txn, submission);
    for (const struct batch_entry *each = batch_first(batch); each; each = batch_next(each)) {
        if (each->stamped) /* then the value is writable: batch_put_stamped() asked for it */
            value_stamp((uint8_t *)each->value.data, each->value.size, stamp.lsn, stamp.ts_ms);
        add_mutation(txn, each->key, each->value);
    }
    batch_index_date(batch, stamp.ts_ms);
    entry = batch_index_entries(batch, &count);
    for (size_t i = 0; i < count; i++)
        add_mutation(txn, entry[i].key, entry[i].present ? slice_of("") : (struct slice){ 0 });
    for (const struct batch_change *change = batch->changes; change; change = change->next) {
        value_stamp(change->value, change->size, stamp.lsn, stamp.ts_ms);
        add_mutation(txn, key_log(&txn->op->arena, batch->bucket, stamp.lsn, position++),
                     slice_make(change->value, change->size));
    }
}

static int by_key_then_order(const void *a, const void *b)
{
    const struct mutation_of_group *left = a, *right = b;
    int order = slice_compare(left->key, right->key);

    if (order != 0)
        return order;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* Of several changes of one key the last one is left. Rows in key order: two transactions meet them in one order. */
static void settle_mutations(struct transaction *txn)
{
    size_t kept = 0;

    if (txn->mutation_count == 0) /* a batch may be empty, and is a commit nevertheless */
        return;
    qsort(txn->mutations, txn->mutation_count, sizeof(*txn->mutations), by_key_then_order);
    for (size_t i = 0; i < txn->mutation_count; i++) {
        bool is_last = i + 1 == txn->mutation_count ||
                       slice_compare(txn->mutations[i].key, txn->mutations[i + 1].key) != 0;

        if (is_last)
            txn->mutations[kept++] = txn->mutations[i];
    }
    txn->mutation_count = kept;
}

/* ---- the second round trip ---- */

/* Rows of one bucket: they stand together, because a key begins with its bucket. */
struct rows_to_send {
    uint64_t bucket;
    const struct mutation_of_group *from, *end;
};

static size_t send_deletes(struct transaction *txn, const struct rows_to_send *rows)
{
    struct slice *keys = arena_alloc(&txn->op->arena, (size_t)(rows->end - rows->from) * sizeof(*keys));
    uint8_t bytes[8];
    struct sql_param params[2] = { sql_number(bytes, rows->bucket) };
    size_t count = 0;

    for (const struct mutation_of_group *each = rows->from; each < rows->end; each++)
        if (!each->value.data)
            keys[count++] = each->key;
    if (count == 0)
        return 0;
    params[1] = sql_key_array(&txn->op->arena, keys, count);
    link_send(txn->link, SQL_DELETE, params, 2);
    return 1;
}

static size_t send_puts(struct transaction *txn, const struct rows_to_send *rows)
{
    enum { PUT_PARAMS_MAX = 257 };
    struct sql_param params[PUT_PARAMS_MAX];
    const struct mutation_of_group *at = rows->from;
    uint8_t bytes[8];
    size_t left = 0, statements = 0;

    params[0] = sql_number(bytes, rows->bucket);
    for (const struct mutation_of_group *each = rows->from; each < rows->end; each++)
        left += each->value.data != NULL;
    while (left > 0) {
        size_t count, filled = 0;
        enum sql sql = sql_put(left, &count);

        for (; filled < count; at++) {
            if (!at->value.data)
                continue;
            params[1 + 2 * filled] = sql_key(at->key);
            params[2 + 2 * filled] = (struct sql_param){ at->value.data, at->value.size };
            filled++;
        }
        link_send(txn->link, sql, params, 1 + 2 * count);
        left -= count;
        statements++;
    }
    return statements;
}

static size_t send_rows(struct transaction *txn)
{
    const struct mutation_of_group *end = txn->mutations + txn->mutation_count;
    struct rows_to_send rows = { .end = txn->mutations };
    size_t statements = 0;

    while (rows.end < end) {
        rows.from = rows.end;
        rows.bucket = key_bucket(rows.from->key);
        while (rows.end < end && key_bucket(rows.end->key) == rows.bucket)
            rows.end++;
        statements += send_deletes(txn, &rows);
        statements += send_puts(txn, &rows);
    }
    return statements;
}

static size_t send_commit_rows(struct transaction *txn)
{
    size_t statements = 0;

    for (struct submission_of_bucket *each = txn->first; each; each = each->next) {
        uint8_t bytes[4][8];
        struct slice scopes;

        if (each->status != ST_OK)
            continue;
        scopes = scopes_encode(&txn->op->arena, each->batch);
        link_send(txn->link, SQL_COMMIT_ROW,
                  (struct sql_param[]){ sql_number(bytes[0], each->bucket->base.id),
                                        sql_number(bytes[1], each->stamp.lsn),
                                        sql_number(bytes[2], each->batch->incarnation),
                                        sql_number(bytes[3], (uint64_t)each->stamp.ts_ms),
                                        { scopes.data, scopes.size } },
                  5);
        statements++;
    }
    return statements;
}

/* Nobody writes by the definition of before from here on. Those who are about to have the lock of their head, and are waited for. */
static size_t send_redefined(struct transaction *txn)
{
    size_t statements = 0;

    for (const struct submission_of_bucket *each = txn->first; each; each = each->next) {
        const struct redefined *one = each->status == ST_OK ? each->batch->redefined : NULL;

        for (; one; one = one->next, statements++) {
            uint8_t bytes[3][8];

            link_send(txn->link, SQL_REDEFINE,
                      (struct sql_param[]){ sql_number(bytes[0], one->bucket),
                                            sql_number(bytes[1], each->stamp.lsn),
                                            sql_number(bytes[2], one->dropped) },
                      3);
        }
    }
    return statements;
}

/* Before anything else: it locks the head, or ends the transaction. */
static size_t send_begin_at_once(struct transaction *txn, const struct part *part)
{
    const struct head *head = &part->row.head, *known = &part->known.head;
    uint8_t bytes[8][8];

    link_send(txn->link, SQL_BEGIN, NULL, 0);
    link_send(txn->link, SQL_ADVANCE_FROM,
              (struct sql_param[]){
                  sql_number(bytes[0], part->bucket->base.id), sql_number(bytes[1], head->lsn),
                  sql_number(bytes[2], (uint64_t)head->ts_ms), sql_number(bytes[3], head->counter),
                  sql_number(bytes[4], head->documents - known->documents),
                  sql_number(bytes[5], head->document_bytes - known->document_bytes),
                  sql_number(bytes[6], known->lsn), sql_number(bytes[7], part->known.epoch) },
              8);
    return 2;
}

static void send_advance(struct transaction *txn, const struct part *part)
{
    const struct head *head = &part->row.head;
    uint8_t bytes[6][8];

    link_send(txn->link, SQL_ADVANCE,
              (struct sql_param[]){
                  sql_number(bytes[0], part->bucket->base.id), sql_number(bytes[1], head->lsn),
                  sql_number(bytes[2], (uint64_t)head->ts_ms), sql_number(bytes[3], head->counter),
                  sql_number(bytes[4], head->documents), sql_number(bytes[5], head->document_bytes) },
              6);
}

static size_t send_trim(struct transaction *txn, const struct part *part)
{
    const struct head *head = &part->row.head;
    uint8_t bytes[3][8];
    size_t statements = 0;

    if (head->lsn > COMMITS_KEPT && head->lsn / TRIM_EVERY != part->first_lsn / TRIM_EVERY) {
        link_send(txn->link, SQL_COMMITS_TRIM,
                  (struct sql_param[]){ sql_number(bytes[0], part->bucket->base.id),
                                        sql_number(bytes[1], head->lsn - COMMITS_KEPT),
                                        sql_number(bytes[2], (uint64_t)(head->ts_ms - COMMITS_KEPT_MS)) },
                  3);
        statements++;
    }
    return statements;
}

/* What a refused COMMIT says for certain: a conflict that the server found undoes the transaction. */
static bool is_certain(const char *state)
{
    return strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0 || strcmp(state, "23505") == 0;
}

/* SQL_ADVANCE_FROM has met another head than it was told: a division by zero. */
static bool is_head_of_others(const char *state)
{
    return strcmp(state, "22012") == 0;
}

/* LINK_REFUSED: nothing was written, for certain. LINK_LOST: nobody knows. */
static enum link_end take_write(struct transaction *txn, size_t statements)
{
    enum link_end before = LINK_OK, commit;

    for (size_t i = 0; i < statements; i++) {
        enum link_end each = link_take(txn->link, NULL);

        before = before == LINK_OK ? each : before;
    }
    if (before == LINK_REFUSED && !(txn->at_once && is_head_of_others(link_state(txn->link)))) {
        log_line(LOG_ERROR, "store: a write was refused: %s %s", link_state(txn->link),
                 link_error(txn->link));
        if (strcmp(link_state(txn->link), "53100") == 0)
            atomic_store(&txn->postgres->full, true);
    }
    commit = link_take(txn->link, NULL);
    if (commit == LINK_REFUSED && !is_certain(link_state(txn->link)))
        commit = LINK_LOST;
    if (link_end(txn->link) == LINK_LOST && commit != LINK_OK)
        return LINK_LOST;
    return before == LINK_REFUSED && commit == LINK_SKIPPED ? LINK_REFUSED : commit;
}

static enum link_end write_all(struct transaction *txn)
{
    size_t statements;

    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        if (each->status == ST_OK)
            add_batch(txn, each);
    settle_mutations(txn);
    statements = txn->at_once ? send_begin_at_once(txn, &txn->parts[0]) : 0;
    statements += send_rows(txn) + send_commit_rows(txn) + send_redefined(txn);
    for (size_t i = 0; i < txn->part_count; i++) {
        if (!txn->at_once) {
            send_advance(txn, &txn->parts[i]);
            statements++;
        }
        statements += send_trim(txn, &txn->parts[i]);
    }
    link_send(txn->link, SQL_COMMIT, NULL, 0);
    link_sync(txn->link);
    return take_write(txn, statements);
}

/* ---- doubt ---- */

/* Under the head's lock, which the transaction in doubt has until it is over. */
static enum link_end ask_token(struct link *link, uint64_t bucket, uint64_t lsn, struct answer **answer)
{
    uint8_t bytes[2][8];
    struct sql_param params[] = { sql_number(bytes[0], bucket), sql_number(bytes[1], lsn) };
    enum link_end end = LINK_OK, each;

    link_send(link, SQL_BEGIN, NULL, 0);
    link_send(link, SQL_LOCK, params, 1);
    link_send(link, SQL_TOKEN, params, 2);
    link_sync(link);
    for (int i = 0; i < 3; i++) {
        each = link_take(link, i == 2 ? answer : NULL);
        end = end == LINK_OK ? each : end;
    }
    each = link_end(link);
    if (link_is_sound(link)) {
        link_send(link, SQL_ROLLBACK, NULL, 0);
        link_sync(link);
        link_leave(link);
    }
    return end == LINK_OK ? each : end;
}

/* False while it cannot be told. */
static bool find_outcome(struct postgres *postgres, uint64_t bucket, uint64_t lsn, uint64_t token,
                         bool *committed)
{
    struct answer *answer = NULL;
    enum link_end end = LINK_LOST;

    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link;

        links_forget_idle(&postgres->calls);
        link = links_take(&postgres->calls);
        if (!link)
            return false;
        answer_free(answer);
        end = ask_token(link, bucket, lsn, &answer);
        links_give(&postgres->calls, link);
    }
    if (end == LINK_OK)
        *committed = answer_rows(answer) == 1 && (uint64_t)answer_number(answer, 0, 0) == token;
    answer_free(answer);
    return end == LINK_OK;
}

/* All of the transaction was written, or nothing: any of its rows tells. Who cannot be asked about one is not asked again. */
static void settle(struct transaction *txn)
{
    const struct submission_of_bucket *any = txn->first;
    enum status st = ST_AMBIGUOUS;
    bool committed = false;

    log_line(LOG_WARN, "store: the end of a commit is in doubt: %s %s", link_state(txn->link),
             link_error(txn->link));
    while (any->status != ST_OK)
        any = any->next; /* one was accepted, or nothing would have been sent */
    if (find_outcome(txn->postgres, any->bucket->base.id, any->stamp.lsn, any->batch->incarnation,
                     &committed))
        st = committed ? ST_OK : ST_UNAVAILABLE;
    atomic_store(&txn->postgres->writable, st != ST_AMBIGUOUS);
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->status == ST_OK ? st : each->status;
}

static void refuse_all(struct transaction *txn)
{
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->status == ST_OK ? ST_UNAVAILABLE : each->status;
}

/* ---- a commit over several databases ---- */

static const struct redefined *redefined_by(const struct submission_of_bucket *each)
{
    return each->status == ST_OK ? each->batch->redefined : NULL;
}

static bool spans_buckets(const struct transaction *txn)
{
    bool spans = txn->part_count > 1;

    for (const struct submission_of_bucket *each = txn->first; each && !spans; each = each->next)
        spans = redefined_by(each) != NULL;
    return spans;
}

static void send_for_head(struct link *link, uint64_t bucket)
{
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, bucket);

    link_send(link, SQL_HEAD, &shard, 1);
}

static bool head_has(struct link *link, uint64_t lsn, uint64_t epoch)
{
    struct answer *answer = NULL;
    bool has = link_take(link, &answer) == LINK_OK;

    if (has && answer_rows(answer) == 1) { /* of what was never used there is none, and nothing to see */
        struct head_row row = head_row_of(answer, 0);

        has = row.head.lsn >= lsn && row.epoch >= epoch;
    }
    answer_free(answer);
    return has;
}

/* The heads that were written, as anybody sees them. */
static bool is_shown(struct transaction *txn)
{
    bool shown = true;

    for (size_t i = 0; i < txn->part_count; i++)
        send_for_head(txn->link, txn->parts[i].bucket->base.id);
    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        for (const struct redefined *one = redefined_by(each); one; one = one->next)
            send_for_head(txn->link, one->bucket);
    link_sync(txn->link);
    for (size_t i = 0; i < txn->part_count; i++)
        shown = head_has(txn->link, txn->parts[i].row.head.lsn, 0) && shown;
    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        for (const struct redefined *one = redefined_by(each); one; one = one->next)
            shown = head_has(txn->link, 0, each->stamp.lsn) && shown;
    return link_end(txn->link) == LINK_OK && shown;
}

/* Who commits to a bucket waits for what is prepared there. So do we, by its head's lock. */
static bool is_over_everywhere(struct transaction *txn)
{
    bool over = true, unused;

    for (size_t i = 0; over && i < txn->part_count; i++)
        over = find_outcome(txn->postgres, txn->parts[i].bucket->base.id, 0, 0, &unused);
    for (const struct submission_of_bucket *each = txn->first; each; each = each->next)
        for (const struct redefined *one = redefined_by(each); over && one; one = one->next)
            over = find_outcome(txn->postgres, one->bucket, 0, 0, &unused);
    return over;
}

/* Citus ends a transaction in one database after the other. It is acknowledged when all of them show it. */
static void confirm(struct transaction *txn)
{
    if (!txn->postgres->is_distributed || !spans_buckets(txn) || is_shown(txn))
        return;
    log_line(LOG_WARN, "store: a commit is not shown everywhere yet, and is waited for");
    if (is_over_everywhere(txn))
        return;
    for (struct submission_of_bucket *each = txn->first; each; each = each->next)
        each->status = each->status == ST_OK ? ST_AMBIGUOUS : each->status;
}

/* ---- a transaction ---- */

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
            mark_own(each->bucket, each->batch);
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

    if (txn->together)
        judge_together(txn);
    else
        judge_each(txn);
    forget_others(txn);
    if (txn->commits == 0) {
        roll_back(txn);
        return;
    }
    end = write_all(txn);
    if (end == LINK_REFUSED || end == LINK_SKIPPED) {
        roll_back(txn);
        refuse_all(txn);
    } else if (end != LINK_OK) {
        txn->lost =
            !link_is_sound(txn->link); /* else the server has ended the transaction, in whichever way */
        settle(txn);
    }
    if (is_any(txn, ST_OK))
        confirm(txn);
}

/* ---- at once ---- */

static bool is_plain(const struct submission_of_bucket *each, uint64_t known_lsn)
{
    const struct batch *batch = each->batch;

    for (size_t i = 0; i < batch->expectation_count; i++)
        if (batch->expectation[i].lsn > known_lsn) /* it has seen what others did since */
            return false;
    return !batch->redefined && batch->above_lsn == 0;
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
        send_advance(txn, part);
        link_send(txn->link, SQL_COMMIT, NULL, 0);
        link_sync(txn->link);
        end = take_write(txn, 2);
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
    return find_outcome(txn->postgres, any->bucket->base.id, any->stamp.lsn, any->batch->incarnation,
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

/* ---- outcomes and drops ---- */

enum status postgres_outcome(struct op *op, struct bucket *bucket, const struct batch *batch, bool *committed)
{
    enum status st = ST_OK;

    *committed = false;
    if (batch->lsn == 0) /* never stamped, or found missing */
        return ST_OK;
    TRY(op_may_take_long(op));
    if (!find_outcome(postgres_of(bucket->store), bucket->id, batch->lsn, batch->incarnation, committed))
        TRY(op_fail(op, ST_UNAVAILABLE, "What became of the write cannot be told at the moment."));
    if (!*committed && batch->unfenced)
        TRY(op_fail(op, ST_UNAVAILABLE, "The write may still take place."));
out:
    return st;
}

/* Rows go a few thousand at a time, so that no transaction is large. */
enum link_end postgres_remove_rows(struct link *link, uint64_t id)
{
    enum { ROWS_AT_ONCE = 5000 };
    uint8_t bytes[2][8];
    struct sql_param params[] = { sql_number(bytes[0], id), sql_number(bytes[1], ROWS_AT_ONCE) };
    enum link_end end;
    size_t left = 1;

    while (left > 0) {
        struct answer *answer = NULL;

        link_send(link, SQL_DROP_ROWS, params, 2);
        link_sync(link);
        end = link_take(link, &answer);
        if (link_end(link) == LINK_LOST || end != LINK_OK)
            return end == LINK_OK ? LINK_LOST : end;
        left = answer_changed(answer);
        answer_free(answer);
    }
    link_send(link, SQL_DROP_COMMITS, params, 1);
    link_sync(link);
    end = link_take(link, NULL);
    return link_end(link) == LINK_LOST ? LINK_LOST : end;
}

static enum link_end drop(struct link *link, uint64_t id)
{
    uint8_t bytes[8];
    struct sql_param shard = sql_number(bytes, id);
    enum link_end end;

    link_send(link, SQL_DROP, &shard, 1);
    link_sync(link);
    end = link_take(link, NULL);
    if (link_end(link) == LINK_LOST)
        return LINK_LOST;
    return end == LINK_OK ? postgres_remove_rows(link, id) : end;
}

/* It may be repeated, so it is, when the first link was lost. */
enum status postgres_drop(struct op *op, struct store *store, uint64_t id)
{
    struct postgres *postgres = postgres_of(store);
    enum link_end end = LINK_LOST;
    struct bucket *bucket;
    enum status st;

    TRY(store_check_may_write(op, store));
    TRY(postgres_bucket(op, store, id, &bucket));
    for (int attempt = 0; end == LINK_LOST && attempt < 2; attempt++) {
        struct link *link = links_take(&postgres->calls);

        if (!link)
            TRY(postgres_failed(op, NULL));
        end = drop(link, id);
        st = end == LINK_OK ? ST_OK : postgres_failed(op, link);
        links_give(&postgres->calls, link);
        if (end == LINK_LOST)
            links_forget_idle(&postgres->calls);
    }
out:
    return st;
}
