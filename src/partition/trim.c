/* src/partition/trim.c - passes over the logs of containers, in steps that each commit. */
#include <stdlib.h>

#include "base/limits.h"
#include "keys/keys.h"
#include "partition/trim.h"
#include "store/entries.h"
#include "store/view.h"

/* A step is one commit, which other writers wait for. */
enum { STEP_ROWS_MAX = 1024, STEP_BYTES_MAX = 4 * 1024 * 1024 };

enum {
    CALL_MS_MAX = 100,
    REST_MS_MIN = 1000,
    REST_MS_FAILED = 60 * 1000,
    REST_MS_UNSETTLED = 60 * 1000,
    UNWRITTEN_ROWS_MAX =
        64 * 1024, /* what needed no trimming is passed over without a commit, but not for ever */
};

/* A version that was ended: its own entry goes. */
struct ended {
    uint64_t lsn, number;
};

struct step {
    const struct container *container;
    uint64_t bucket;
    struct view view;
    struct batch *batch;
    int64_t cutoff_ms; /* what is not after it is old */
    uint64_t settled_lsn;
    struct log_place trimmed; /* so far */
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
    step->ended[step->ended_count++] = (struct ended){ change->previous_lsn, change->number };
out:
    return st;
}

/* Up to the first that is not old. */
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

/* Mostly an entry is the only one of its transaction. Those that are not are left in the list. */
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

/* Into the step's own memory, in place of the block before: the operation's is the batch's. */
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

/* `ended` are all of one transaction, in the order of their numbers. */
static enum status remove_of_transaction(struct op *op, struct step *step, const struct ended *ended,
                                         size_t count)
{
    struct range range = { key_log(&op->arena, step->bucket, ended[0].lsn, 0),
                           key_log(&op->arena, step->bucket, ended[0].lsn + 1, 0), false };
    struct rows rows = { .more = true };
    enum status st = ST_OK;

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

/* The log behind what was trimmed or passed over, as far as it is settled. */
static enum status read_rows(struct op *op, struct step *step)
{
    const struct container_trim *trim = &step->container->progress->trim;
    struct slice key = key_trimmed(&op->arena, step->bucket), value;
    struct head head;
    struct range range;
    enum status st;

    TRY(store_snapshot_head(op, step->view.snapshot, &head));
    TRY(view_get(op, &step->view, key, &value));
    TRY(trimmed_decode(op, value, &step->trimmed));
    if (trim->lsn > step->trimmed.lsn ||
        (trim->lsn == step->trimmed.lsn && trim->position > step->trimmed.position))
        step->trimmed = (struct log_place){ trim->lsn, trim->position };
    TRY(store_entries_settled(op, step->container->bucket, &step->settled_lsn));
    if (step->settled_lsn > head.lsn)
        step->settled_lsn = head.lsn;
    range = (struct range){ key_log(&op->arena, step->bucket, step->trimmed.lsn, step->trimmed.position + 1),
                            key_log(&op->arena, step->bucket, step->settled_lsn + 1, 0), false };
    TRY(view_scan(op, &step->view, range, (struct scan_limit){ STEP_ROWS_MAX, STEP_BYTES_MAX }, &step->rows));
out:
    return st;
}

/* Whether what comes next is old, and waits only until the index is settled. */
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

    trimmed_encode(step->trimmed, value);
    batch_put(step->batch, key_trimmed(&op->arena, step->bucket), slice_make(value, TRIMMED_BYTES));
    return store_commit(op, step->container->bucket, step->batch, &stamp);
}

/* What is kept of how far it is: a commit whose fate is not known is read from the store the next time. */
static enum status conclude(struct op *op, struct container *container, struct step *step)
{
    struct container_trim *trim = &container->progress->trim;
    enum status st = ST_OK;

    trim->unwritten += step->old_count;
    if (step->removals || trim->unwritten >= UNWRITTEN_ROWS_MAX) {
        TRY(commit(op, step));
        trim->unwritten = 0;
    }
    trim->lsn = step->trimmed.lsn;
    trim->position = step->trimmed.position;
out:
    return st;
}

/* `next_ms` is when the first change was made that is left to trim: that of none is yet to come. */
static enum status take_step(struct op *op, struct container *container, struct step *step, int64_t *next_ms)
{
    bool unsettled = false;
    enum status st;

    step->batch = batch_new(op, step->bucket);
    *next_ms = op->now_ms;
    TRY(view_open(op, container->bucket, NULL, &step->view));
    TRY(read_rows(op, step));
    TRY(trim_rows(op, step, next_ms));
    TRY(remove_ended(op, step));
    if (step->old_count)
        TRY(conclude(op, container, step));
    if (step->old_count == step->rows.count && !step->rows.more)
        TRY(is_unsettled(op, step, &unsettled, next_ms));
    container->progress->trim.unsettled = unsettled;
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

static bool is_due(const struct container *container, struct env *env)
{
    return container->progress->trim.due_ms <= env_now_ms(env) &&
           container->progress->trim.rested_after_ms <= env_monotonic_ms(env);
}

/* When the next step is due: at once while there is more, else when something is old. */
static enum status advance(struct op *op, struct container *container, int64_t retention_ms)
{
    struct step step = { .container = container, .bucket = bucket_id(container->bucket) };
    struct container_trim *trim = &container->progress->trim;
    int64_t next_ms, rest_ms = 0;
    enum status st;

    op_begin(op, OP_TIMEOUT_MS);
    op->may_block = true;
    arena_init(&step.memory, OP_MEMORY_BYTES_MAX);
    step.cutoff_ms = op->now_ms - retention_ms;
    st = take_step(op, container, &step, &next_ms);
    arena_free(&step.memory);
    if (st != ST_OK)
        rest_ms = REST_MS_FAILED;
    else if (trim->unsettled)
        rest_ms = REST_MS_UNSETTLED;
    else if (step.old_count < step.rows.count || !step.rows.more)
        rest_ms = REST_MS_MIN;
    trim->due_ms = st == ST_OK && rest_ms == REST_MS_MIN ? next_ms + retention_ms : 0;
    trim->rested_after_ms = env_monotonic_ms(op->env) + rest_ms;
    return st == ST_OWNER_NOT_FOUND ? ST_OK : st; /* it was dropped meanwhile */
}

/* A step for each container that is due, in turn, from any on, until none is or the time is up. */
static enum status trim_all(struct op *op, struct container **list, size_t count, int64_t retention_ms,
                            bool *unsettled)
{
    int64_t until_ms = env_monotonic_ms(op->env) + CALL_MS_MAX;
    size_t at = count ? (size_t)(env_random_u64(op->env) % count) : 0, idle = 0;
    enum status st = ST_OK;

    for (; idle < count && env_monotonic_ms(op->env) <= until_ms; at = (at + 1) % count) {
        idle++;
        if (!is_due(list[at], op->env))
            continue;
        idle = 0;
        TRY(advance(op, list[at], retention_of(list[at], retention_ms)));
        *unsettled |= list[at]->progress->trim.unsettled;
    }
out:
    return st;
}

enum status trim_logs(struct op *op, struct catalog *catalog, int64_t retention_ms)
{
    size_t databases, most, count;
    struct container **list;
    bool unsettled = false;
    struct op steps;
    enum status st;

    catalog_count(catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(*list));
    count = catalog_list_all(catalog, list, most);
    op_init(&steps, op->env, OP_MEMORY_BYTES_MAX);
    st = trim_all(&steps, list, count, retention_ms, &unsettled);
    if (st == ST_OK && unsettled)
        st = store_entries_flush(&steps, catalog_store(catalog));
    if (st != ST_OK)
        op_set_error(op, "%s", steps.error ? steps.error : error_row(st)->code);
    op_free(&steps);
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
    return st;
}
