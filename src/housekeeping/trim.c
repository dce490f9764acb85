/* src/housekeeping/trim.c - passes over the logs of containers, in steps that each commit. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "housekeeping/rounds.h"
#include "housekeeping/trim.h"
#include "keys/keys.h"
#include "store/entries.h"
#include "store/view.h"

/* A step is one commit, and other writers wait for it. */
enum { STEP_ROWS_MAX = 1024, STEP_BYTES_MAX = 4 * 1024 * 1024 };

enum {
    CALL_MS_MAX = 100,
    REST_MS_MIN = 1000,
    REST_MS_FAILED = 60 * 1000,
    REST_MS_UNSETTLED = 60 * 1000,
    UNWRITTEN_ROWS_MAX =
        64 * 1024, /* what needed no trimming is passed over without a commit, but not for ever */
};

/* How far it is with a container's log. */
struct progress {
    struct trimmed upto; /* nothing is left to trim so far */
    size_t unwritten;    /* entries that it passed since it wrote down how far it is */
    bool unsettled;      /* what comes next waits for the index */
    int64_t due_ms;      /* before then nothing is old enough */
};

struct trim {
    struct rounds *rounds;
    struct catalog *catalog;
    int64_t retention_ms; /* of the call at hand */
    bool unsettled;       /* a container waits for the index */
};

/* A version that was ended: the log's entry of it is removed. */
struct ended {
    uint64_t lsn, number;
};

struct step {
    const struct container *container;
    struct progress *progress;
    uint64_t bucket;
    struct view view;
    struct batch *batch;
    int64_t cutoff_ms; /* a change is old when it was made at this time or before */
    uint64_t settled_lsn;
    struct trimmed trimmed; /* so far */
    struct rows rows;
    size_t old_count; /* of the rows */
    size_t removals;
    struct ended *ended;
    size_t ended_count;
    struct arena memory; /* of a block of a transaction's entries, which may be more than a step can hold */
};

static struct slice key_behind(struct op *op, struct slice key)
{
    char *behind = arena_alloc(&op->arena, key.size + 1);

    memcpy(behind, key.data, key.size);
    behind[key.size] = '\0';
    return slice_make(behind, key.size + 1);
}

/* --- the changes of a step --- */

static enum status rewrite(struct op *op, struct step *step, struct slice key, struct change change)
{
    size_t size;
    uint8_t *value;

    if (change.old_record.size == 0)
        return ST_OK;
    change.old_record = (struct slice){ 0 };
    value = change_encode(op, &change, &size);
    if (!value)
        return op_fail(op, ST_TOO_LARGE, "A step of trimming has too little memory.");
    value_stamp(value, size, change.lsn, change.ts_ms);
    batch_put(step->batch, key, slice_make(value, size));
    step->removals++;
    return ST_OK;
}

static void remove_key(struct step *step, struct slice key)
{
    batch_delete(step->batch, key);
    step->removals++;
}

static enum status trim_change(struct op *op, struct step *step, const struct row *row,
                               const struct change *change)
{
    enum status st = ST_OK;

    if (change->kind == CHANGE_CREATE)
        goto out;
    if (change->kind == CHANGE_REPLACE)
        TRY(rewrite(op, step, row->key, *change));
    else
        remove_key(step, row->key);
    if (change->kind == CHANGE_REINDEX) /* it ended no version */
        goto out;
    remove_key(step, key_next(&op->arena, step->bucket, change->previous_lsn, change->number));
    assert(step->ended_count < step->rows.count); /* a row ends one version at most */
    step->ended[step->ended_count++] = (struct ended){ change->previous_lsn, change->number };
out:
    return st;
}

/* Trims the rows up to the first that is not old. */
static enum status trim_rows(struct op *op, struct step *step, int64_t *next_ms)
{
    struct change change;
    struct key_parts key;
    enum status st = ST_OK;

    step->ended = arena_alloc(&op->arena, (step->rows.count + 1) * sizeof(*step->ended));
    for (size_t i = 0; i < step->rows.count; i++) {
        TRY(change_decode(op, step->rows.row[i].value, &change));
        if (change.ts_ms > step->cutoff_ms) {
            *next_ms = change.ts_ms;
            break;
        }
        TRY(trim_change(op, step, &step->rows.row[i], &change));
        step->old_count++;
        if (key_parse(step->rows.row[i].key, &key))
            key_parse_log(&key, &step->trimmed.lsn, &step->trimmed.position);
        step->trimmed.ts_ms = change.ts_ms;
    }
out:
    return st;
}

/* --- entries of versions that were ended --- */

static int compare_ended(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;

    if (x->lsn != y->lsn)
        return x->lsn < y->lsn ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Most entries are the first of their transaction, where one get finds them. The others stay in the list. */
static enum status remove_single(struct op *op, struct step *step)
{
    struct slice *key = arena_alloc(&op->arena, (step->ended_count + 1) * sizeof(*key));
    struct slice *value = arena_alloc(&op->arena, (step->ended_count + 1) * sizeof(*value));
    size_t left = 0;
    enum status st;

    for (size_t i = 0; i < step->ended_count; i++)
        key[i] = key_log(&op->arena, step->bucket, step->ended[i].lsn, 0);
    TRY(view_get_many(op, &step->view, key, step->ended_count, value));
    for (size_t i = 0; i < step->ended_count; i++) {
        struct change change = { 0 };

        if (value[i].data)
            TRY(change_decode(op, value[i], &change));
        if (change.number == step->ended[i].number)
            remove_key(step, key[i]);
        else
            step->ended[left++] = step->ended[i];
    }
    step->ended_count = left;
out:
    return st;
}

static enum status remove_row(struct op *op, struct step *step, const struct row *row,
                              const struct ended *ended, size_t count)
{
    struct ended wanted = { .lsn = ended[0].lsn };
    struct change change;
    enum status st;

    TRY(change_decode(op, row->value, &change));
    wanted.number = change.number;
    if (bsearch(&wanted, ended, count, sizeof(*ended), compare_ended))
        remove_key(step, arena_copy(&op->arena, row->key));
out:
    return st;
}

/* Reads into the step's own memory, over the block before, because the op's arena holds the batch. */
static enum status read_entries(struct op *op, struct step *step, struct range range, struct rows *rows)
{
    struct arena batch = op->arena;
    enum status st;

    arena_reset(&step->memory);
    op->arena = step->memory;
    st = view_scan(op, &step->view, range, (struct scan_limit){ STEP_ROWS_MAX, STEP_BYTES_MAX }, rows);
    step->memory = op->arena;
    op->arena = batch;
    if (st != ST_OK && op->error)
        op->error = arena_text(&op->arena, slice_of(op->error));
    return st;
}

/* All of `ended` are of one transaction, in the order of their numbers. */
static enum status remove_of_transaction(struct op *op, struct step *step, const struct ended *ended,
                                         size_t count)
{
    struct range range = { key_log(&op->arena, step->bucket, ended[0].lsn, 0),
                           key_log(&op->arena, step->bucket, ended[0].lsn + 1, 0), false };
    struct rows rows = { .more = true };
    enum status st = ST_OK;

    assert(count > 0);
    while (rows.more) {
        TRY(read_entries(op, step, range, &rows));
        for (size_t i = 0; i < rows.count; i++)
            TRY(remove_row(op, step, &rows.row[i], ended, count));
        if (rows.count)
            range.from = key_behind(op, rows.row[rows.count - 1].key);
    }
out:
    return st;
}

static enum status remove_ended(struct op *op, struct step *step)
{
    enum status st = ST_OK;

    if (step->ended_count == 0)
        goto out;
    TRY(remove_single(op, step));
    qsort(step->ended, step->ended_count, sizeof(*step->ended), compare_ended);
    for (size_t i = 0, same; i < step->ended_count; i += same) {
        for (same = 1; i + same < step->ended_count && step->ended[i + same].lsn == step->ended[i].lsn;)
            same++;
        TRY(remove_of_transaction(op, step, &step->ended[i], same));
    }
out:
    return st;
}

/* --- a step --- */

/* Two servers may believe that they lead: who trims what another has trimmed since is refused. */
enum { TRIM_SCOPE = 1 };

/* Reads the log behind the part that was trimmed or passed over, as far as it is settled. */
static enum status read_rows(struct op *op, struct step *step)
{
    const struct trimmed *upto = &step->progress->upto;
    struct slice key = key_trimmed(&op->arena, step->bucket), value;
    struct head head;
    struct range range;
    enum status st;

    TRY(store_snapshot_head(op, step->view.snapshot, &head));
    batch_expect(step->batch, TRIM_SCOPE, head.lsn);
    TRY(view_get(op, &step->view, key, &value));
    TRY(trimmed_decode(op, value, &step->trimmed));
    if (upto->lsn > step->trimmed.lsn ||
        (upto->lsn == step->trimmed.lsn && upto->position > step->trimmed.position))
        step->trimmed = *upto;
    TRY(store_entries_settled(op, step->container->bucket, &step->settled_lsn));
    if (step->settled_lsn > head.lsn)
        step->settled_lsn = head.lsn;
    range = (struct range){ key_log(&op->arena, step->bucket, step->trimmed.lsn, step->trimmed.position + 1),
                            key_log(&op->arena, step->bucket, step->settled_lsn + 1, 0), false };
    TRY(view_scan(op, &step->view, range, (struct scan_limit){ STEP_ROWS_MAX, STEP_BYTES_MAX }, &step->rows));
out:
    return st;
}

/* Whether the next change is old enough, and waits only for the index to be settled. */
static enum status is_unsettled(struct op *op, const struct step *step, bool *unsettled, int64_t *next_ms)
{
    struct range range = { key_log(&op->arena, step->bucket, step->settled_lsn + 1, 0),
                           key_kind_end(&op->arena, step->bucket, KEY_LOG), false };
    struct change change;
    struct rows rows;
    enum status st;

    TRY(view_scan(op, &step->view, range, (struct scan_limit){ 1, STEP_BYTES_MAX }, &rows));
    if (rows.count == 0)
        goto out;
    TRY(change_decode(op, rows.row[0].value, &change));
    *unsettled = change.ts_ms <= step->cutoff_ms;
    *next_ms = change.ts_ms;
out:
    return st;
}

static enum status commit(struct op *op, struct step *step)
{
    uint8_t *value = arena_alloc(&op->arena, TRIMMED_BYTES);
    struct commit_stamp stamp;

    trimmed_encode(&step->trimmed, value);
    batch_put(step->batch, key_trimmed(&op->arena, step->bucket), slice_make(value, TRIMMED_BYTES));
    return store_commit(op, step->container->bucket, step->batch, &stamp);
}

/* Notes how far trimming is. After a commit whose outcome is not known, the next step reads it from the store. */
static enum status conclude(struct op *op, struct step *step)
{
    struct progress *progress = step->progress;
    enum status st = ST_OK;

    assert(step->trimmed.lsn >= progress->upto.lsn);
    progress->unwritten += step->old_count;
    if (step->removals || progress->unwritten >= UNWRITTEN_ROWS_MAX) {
        TRY(commit(op, step));
        progress->unwritten = 0;
    }
    progress->upto = step->trimmed;
out:
    return st;
}

/*
 * `next_ms` is the time of the first change that is left to trim. When none is left it is now: the next is yet to
 * come.
 */
static enum status take_step(struct op *op, struct step *step, int64_t *next_ms)
{
    bool unsettled = false;
    enum status st;

    step->batch = batch_new(op, step->bucket);
    *next_ms = op->now_ms;
    TRY(view_open(op, step->container->bucket, NULL, &step->view));
    TRY(read_rows(op, step));
    TRY(trim_rows(op, step, next_ms));
    TRY(remove_ended(op, step));
    if (step->old_count)
        TRY(conclude(op, step));
    if (step->old_count == step->rows.count && !step->rows.more)
        TRY(is_unsettled(op, step, &unsettled, next_ms));
    step->progress->unsettled = unsettled;
out:
    view_close(&step->view);
    return st;
}

/* --- containers --- */

static int64_t retention_of(const struct container *container, int64_t otherwise_ms)
{
    if (container->retention_minutes == RETENTION_DEFAULT)
        return otherwise_ms;
    return 60 * 1000 * (int64_t)container->retention_minutes;
}

static bool is_due(const struct visit *visit, struct env *env)
{
    const struct progress *progress = visit->state;

    return progress->due_ms <= env_now_ms(env);
}

/* The next step is due at once while there is more to trim, and else when the next change is old enough. */
static enum status advance(struct op *op, struct visit *visit)
{
    struct progress *progress = visit->state;
    struct trim *trim = visit->context;
    struct step step = { .container = visit->container,
                         .progress = progress,
                         .bucket = visit->container->bucket_id };
    int64_t retention_ms = retention_of(visit->container, trim->retention_ms), next_ms;
    enum status st;

    arena_init(&step.memory, OP_MEMORY_BYTES_MAX);
    step.cutoff_ms = op->now_ms - retention_ms;
    progress->due_ms = 0;
    st = take_step(op, &step, &next_ms);
    arena_free(&step.memory);
    if (st != ST_OK)
        return st;
    trim->unsettled |= progress->unsettled;
    if (progress->unsettled) {
        visit->rest_ms = REST_MS_UNSETTLED;
    } else if (step.old_count < step.rows.count || !step.rows.more) {
        visit->rest_ms = REST_MS_MIN;
        progress->due_ms = next_ms + retention_ms;
    }
    return ST_OK;
}

static const struct rounds_kind kind = {
    .state_bytes = sizeof(struct progress),
    .by_part = true,
    .call_ms_max = CALL_MS_MAX,
    .failed_ms = REST_MS_FAILED,
    .is_due = is_due,
    .advance = advance,
};

struct trim *trim_open(struct catalog *catalog)
{
    struct trim *trim = heap_allocate(sizeof(*trim));

    trim->catalog = catalog;
    trim->rounds = rounds_open(&kind, catalog, trim);
    return trim;
}

void trim_close(struct trim *trim)
{
    if (!trim)
        return;
    rounds_close(trim->rounds);
    free(trim);
}

enum status trim_logs(struct op *op, struct trim *trim, int64_t retention_ms)
{
    enum status st;

    trim->retention_ms = retention_ms;
    trim->unsettled = false;
    TRY(rounds_run(op, trim->rounds));
    if (trim->unsettled)
        TRY(store_entries_flush(op, catalog_store(trim->catalog)));
out:
    return st;
}
