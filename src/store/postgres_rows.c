/* src/store/postgres_rows.c - what a transaction writes: rows, a row for each commit, heads; and whether it was written. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/log.h"
#include "keys/keys.h"
#include "store/postgres_txn.h"

/*
 * An index of the database takes keys of 2700 bytes at most, the shard's 8 among them. The longest of ours, the entry
 * of a composite index of eight long strings, has 2,215.
 */
enum { KEY_BYTES_MAX = 2600, TRIM_EVERY = 256, COMMITS_KEPT = 4096, COMMITS_KEPT_MS = 600 * 1000 };

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

/* ---- the statements ---- */

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
        scopes = postgres_scopes(&txn->op->arena, each->batch);
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

void postgres_send_advance(struct transaction *txn, const struct part *part)
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

enum link_end postgres_take_write(struct transaction *txn, size_t statements)
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

enum link_end postgres_write_all(struct transaction *txn)
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
            postgres_send_advance(txn, &txn->parts[i]);
            statements++;
        }
        statements += send_trim(txn, &txn->parts[i]);
    }
    link_send(txn->link, SQL_COMMIT, NULL, 0);
    link_sync(txn->link);
    return postgres_take_write(txn, statements);
}
