/* src/ledger/ledger.c - records under their tokens, and a log of them, oldest first, by which they are forgotten. */
#include <assert.h>
#include <stdlib.h>

#include "base/encode.h"
#include "base/heap.h"
#include "base/limits.h"
#include "keys/keys.h"
#include "ledger/record.h"
#include "store/view.h"

/* The catalog is bucket 0 of container 0; this is the next. */
enum { LEDGER_BUCKET = 1 };

/* A step is one commit, and other writers wait for it. */
enum { STEP_LINES_MAX = 1024, STEP_BYTES_MAX = 1024 * 1024, STEPS_MAX = 64 };

struct ledger {
    struct bucket *bucket;
};

enum status ledger_open(struct op *op, struct store *store, struct ledger **ledger)
{
    struct bucket *bucket;
    enum status st;

    TRY(store_bucket(op, store, bucket_make(0, LEDGER_BUCKET), &bucket));
    *ledger = heap_allocate(sizeof(**ledger));
    (*ledger)->bucket = bucket;
out:
    return st;
}

void ledger_close(struct ledger *ledger)
{
    free(ledger);
}

/* ---- tokens ---- */

static bool is_hyphen_at(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

/* What a client has that made none. */
static bool is_empty(const struct ledger_token *token)
{
    static const struct ledger_token empty = { 0 };

    return memcmp(token, &empty, sizeof(empty)) == 0;
}

bool ledger_token_parse(struct slice text, struct ledger_token *token)
{
    enum { TEXT_BYTES = 36 };
    char digits[2 * LEDGER_TOKEN_BYTES];
    size_t count = 0, size;

    text = slice_trim(text);
    if (text.size != TEXT_BYTES)
        return false;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        if (is_hyphen_at(i) != (text.data[i] == '-'))
            return false;
        if (!is_hyphen_at(i))
            digits[count++] = text.data[i];
    }
    return hex_decode(slice_make(digits, count), token->bytes, LEDGER_TOKEN_BYTES, &size) && !is_empty(token);
}

/* Two tokens that share a hash make one of them try again, and no more. */
static uint64_t scope_of(const struct ledger_token *token)
{
    return murmur3_128(token->bytes, sizeof(token->bytes)).h1;
}

static struct slice key_of(struct op *op, const struct ledger_token *token)
{
    return key_token(&op->arena, bucket_make(0, LEDGER_BUCKET), slice_make(token->bytes, LEDGER_TOKEN_BYTES));
}

/* ---- records ---- */

uint64_t ledger_lsn(const struct ledger *ledger)
{
    return bucket_lsn(ledger->bucket);
}

void ledger_usage(const struct ledger *ledger, struct bucket_usage *usage)
{
    *usage = (struct bucket_usage){ 0 };
    bucket_usage(ledger->bucket, usage);
}

enum status ledger_check_room(struct op *op, const struct ledger *ledger)
{
    struct bucket_usage usage;

    ledger_usage(ledger, &usage);
    if (usage.bytes < LEDGER_BYTES_MAX)
        return ST_OK;
    return op_fail(op, ST_TOO_MANY_REQUESTS,
                   "The records of earlier transactions have no room for another. Please retry later.");
}

enum status ledger_find(struct op *op, struct ledger *ledger, const struct ledger_token *token,
                        struct ledger_record *record, bool *found)
{
    struct slice value;
    enum status st;

    TRY(store_get_latest(op, ledger->bucket, key_of(op, token), &value));
    *found = value.data != NULL;
    if (!*found)
        goto out;
    TRY(ledger_record_decode(op, value, record));
    record->token = *token;
out:
    return st;
}

void ledger_note(struct op *op, struct ledger *ledger, const struct ledger_record *record, uint64_t seen,
                 struct commit *witness)
{
    struct batch *batch = batch_new(op, bucket_id(ledger->bucket));
    size_t size, line_size;
    uint8_t *stamps, *value = ledger_record_encode(op, record, &size, &stamps);
    uint8_t *line = ledger_line_encode(op, &record->token, size, &line_size);

    batch_expect(batch, scope_of(&record->token), seen);
    batch_put_stamped(batch, key_of(op, &record->token), value, size);
    batch_log(batch, line, line_size);
    batch_counts(batch, 1, (int64_t)size);
    if (record->committed)
        batch_holds_stamps(batch, stamps);
    *witness = (struct commit){ .batch = batch, .bucket = ledger->bucket };
}

enum status ledger_commit(struct op *op, struct commit *witness)
{
    bool committed;
    enum status st = store_commit(op, witness->bucket, witness->batch, &witness->stamp);

    if (st != ST_AMBIGUOUS)
        return st;
    TRY(store_outcome(op, witness->bucket, witness->batch, &committed));
    if (!committed)
        st = op_fail(op, ST_UNAVAILABLE, "The write failed. Nothing was written.");
out:
    return st;
}

enum status ledger_noted(struct op *op, const struct commit *witness, const struct ledger_token *token,
                         struct ledger_record *record)
{
    const struct batch_entry *entry = batch_find(witness->batch, key_of(op, token));

    assert(entry); /* ledger_note() put it there */
    record->token = *token;
    return ledger_record_decode(op, entry->value, record);
}

/* ---- forgetting ---- */

enum { FORGET_SCOPE = 1 };

/*
 * Removes the lines that are old, and their records. Says how many there were. Two servers may believe that they lead: who forgets from
 * what another has forgotten since is refused, or the counts would be taken off twice.
 */
static enum status forget_some(struct op *op, struct ledger *ledger, int64_t cutoff_ms, size_t *removed)
{
    uint64_t bucket = bucket_id(ledger->bucket);
    struct range all = { key_kind_first(&op->arena, bucket, KEY_LOG),
                         key_kind_end(&op->arena, bucket, KEY_LOG), false };
    struct batch *batch = batch_new(op, bucket);
    struct view view = { 0 };
    struct commit_stamp stamp;
    struct rows rows;
    struct head head;
    enum status st;

    *removed = 0;
    TRY(view_open(op, ledger->bucket, NULL, &view));
    TRY(store_snapshot_head(op, view.snapshot, &head));
    batch_expect(batch, FORGET_SCOPE, head.lsn);
    TRY(view_scan(op, &view, all, (struct scan_limit){ STEP_LINES_MAX, STEP_BYTES_MAX }, &rows));
    for (; *removed < rows.count; ++*removed) {
        struct ledger_line line;

        TRY(ledger_line_decode(op, rows.row[*removed].value, &line));
        if (line.ts_ms > cutoff_ms)
            break;
        batch_delete(batch, rows.row[*removed].key);
        batch_delete(batch, key_of(op, &line.token));
        batch_counts(batch, -1, -(int64_t)line.record_bytes);
    }
    if (*removed)
        TRY(store_commit(op, ledger->bucket, batch, &stamp));
out:
    view_close(&view);
    return st;
}

enum status ledger_forget(struct op *op, struct ledger *ledger, int64_t kept_ms)
{
    struct bucket_usage usage;
    size_t removed = STEP_LINES_MAX;
    enum status st = ST_OK;

    ledger_usage(ledger, &usage);
    if (usage.bytes > LEDGER_BYTES_MAX / 2)
        kept_ms = LEDGER_KEPT_MS_MIN;
    for (int step = 0; removed == STEP_LINES_MAX && step < STEPS_MAX; step++) {
        struct op_mark mark = op_mark(op);

        TRY(forget_some(op, ledger, op->now_ms - kept_ms, &removed));
        op_rewind(op, mark);
    }
out:
    return st;
}

/* ---- checking ---- */

static enum status verify_line(struct op *op, struct ledger *ledger, struct slice value)
{
    struct ledger_record record;
    struct ledger_line line;
    bool found;
    enum status st;

    TRY(ledger_line_decode(op, value, &line));
    TRY(ledger_find(op, ledger, &line.token, &record, &found));
    if (!found)
        TRY(op_fail(op, ST_CORRUPT, "A line of the ledger has no record."));
out:
    return st;
}

enum status ledger_verify(struct op *op, struct ledger *ledger, uint64_t *records)
{
    uint64_t bucket = bucket_id(ledger->bucket);
    struct slice end = key_kind_end(&op->arena, bucket, KEY_LOG);
    struct rows rows = { .more = true };
    struct bucket_usage usage;
    struct view view = { 0 };
    struct buf from;
    enum status st;

    *records = 0;
    buf_init(&from, &op->arena);
    buf_slice(&from, key_kind_first(&op->arena, bucket, KEY_LOG));
    TRY(view_open(op, ledger->bucket, NULL, &view));
    while (rows.more) {
        TRY(view_scan(op, &view, (struct range){ buf_as_slice(&from), end, false },
                      (struct scan_limit){ STEP_LINES_MAX, STEP_BYTES_MAX }, &rows));
        for (size_t i = 0; i < rows.count; i++)
            TRY(verify_line(op, ledger, rows.row[i].value));
        if (rows.count)
            key_step_behind(&from, rows.row[rows.count - 1].key);
        *records += rows.count;
    }
    ledger_usage(ledger, &usage);
    if (usage.documents != *records)
        TRY(op_fail(op, ST_CORRUPT, "The ledger has another number of records than its head says."));
out:
    view_close(&view);
    return st;
}
