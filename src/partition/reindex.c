/* src/partition/reindex.c - rewrites the entries of items that an older policy has indexed, in short steps. */
#include "base/limits.h"
#include "base/log.h"
#include "keys/keys.h"
#include "partition/indexed.h"
#include "partition/reindex.h"
#include "partition/scan.h"
#include "partition/txn.h"

/* A step is one commit: other writers wait for it, and its old images are in memory. */
enum { STEP_ITEMS_MAX = 256, STEP_BYTES_MAX = 2 * 1024 * 1024 };
enum { CALL_MS_MAX = 200, REST_MS_FAILED = 5 * 1000 };

unsigned reindex_progress(const struct container *container)
{
    const struct container *latest = container_latest(container);
    uint64_t seen = atomic_load_explicit(&latest->progress->reindex.seen, memory_order_relaxed);
    struct bucket_usage usage;

    if (latest->index_older_count == 0)
        return 100;
    if (!bucket_usage(latest->bucket, &usage) || seen >= usage.documents)
        return seen ? 99 : 0;
    return (unsigned)(99 * seen / usage.documents);
}

/* As it is but for the policy's version. Who was left out by an earlier policy is not, where all are indexed. */
static enum status put_record(struct op *op, struct partition_txn *txn, const struct record *old,
                              const struct record *new)
{
    struct slice key = key_document(&op->arena, bucket_id(txn->container->bucket), old->number);
    size_t size;
    uint8_t *value = record_encode(op, new, &size);

    if (!value)
        return op_fail_as(op, ST_TOO_LARGE);
    value_stamp(value, size, old->lsn, old->ts_ms);
    batch_put(txn->batch, key, slice_make(value, size));
    return ST_OK;
}

/* What has too many entries for the memory of a step is left out of the index: the pass goes on. */
static enum status index_anew(struct op *op, struct partition_txn *txn, const struct record *old,
                              bool leaves_out, struct record *new)
{
    const struct container *container = txn->container;

    *new = *old;
    new->policy_version = container->policy_version;
    if (!index_policy_is_manual(container->index))
        new->flags &= (uint8_t)~RECORD_UNINDEXED;
    if (leaves_out)
        new->flags |= RECORD_UNINDEXED;
    return indexed_change(op, txn, old, new);
}

/* `fits` is false when the step has no room for it beside others, of which there are some. */
static enum status rewrite(struct op *op, struct partition_txn *txn, const struct record *old, bool alone,
                           bool *fits)
{
    struct record new;
    enum status st = index_anew(op, txn, old, false, &new);

    *fits = alone || st != ST_TOO_LARGE;
    if (!*fits)
        return ST_OK;
    if (st == ST_TOO_LARGE)
        st = index_anew(op, txn, old, true, &new);
    TRY(st);
    txn_expect_item(txn, old->epk, json_string(json_get(old->document, "id")));
    TRY(put_record(op, txn, old, &new));
    TRY(txn_log(op, txn, (struct change){ .kind = CHANGE_REINDEX, .number = old->number }, old));
out:
    return st;
}

struct step {
    uint64_t seen, rewritten, after;
    bool ended; /* there are no more items */
};

static enum status collect(struct op *op, struct partition_scan *scan, struct partition_txn *txn,
                           struct step *step)
{
    struct record item;
    bool found = true, fits = true;
    enum status st = ST_OK;

    while (step->rewritten < STEP_ITEMS_MAX) {
        TRY(partition_scan_next(op, scan, &item, &found));
        if (!found)
            break;
        if (item.policy_version != txn->container->policy_version) {
            TRY(rewrite(op, txn, &item, step->rewritten == 0, &fits));
            if (!fits)
                break;
            step->rewritten++;
        }
        step->seen++;
        step->after = item.number;
    }
    step->ended = !found && !scan->paused;
out:
    return st;
}

/* The transaction is opened before the scan: what it expects unchanged, the scan has seen, or newer. */
static enum status take_step(struct op *op, struct container *container, struct step *step)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    enum status st;

    *step = (struct step){ .after = container->progress->reindex.after };
    TRY(txn_open(op, container, &txn));
    TRY(partition_scan_open(op, container, &everything, &scan));
    partition_scan_seek(&scan, step->after);
    scan.expired_too = true;
    scan.scanned_bytes_max = STEP_BYTES_MAX;
    TRY(collect(op, &scan, txn, step));
    if (step->rewritten)
        TRY(partition_commit(op, &txn, &stamp));
out:
    partition_scan_close(&scan);
    partition_abort(txn);
    return st;
}

/*
 * What is not settled in the store may have to be made again after a crash, from images of the old policies: it is
 * settled before they are forgotten.
 */
static enum status finish(struct op *op, struct catalog *catalog, struct container *container)
{
    enum status st;

    TRY(store_index_flush(op, catalog_store(catalog)));
    TRY(catalog_finish_reindex(op, catalog, container));
    log_line(LOG_INFO, "%.*s: every item is indexed by the policy of today", SLICE_ARGS(container->link));
out:
    return st;
}

/* Whoever wrote one of the step's items first has it, and has indexed it by the new policy. */
static enum status advance(struct op *op, struct catalog *catalog, struct container *container, bool *done)
{
    struct step step;
    enum status st;

    op_begin(op, OP_TIMEOUT_MS);
    op->may_block = true;
    st = take_step(op, container, &step);
    if (st == ST_WRITE_CONFLICT)
        return ST_OK;
    TRY(st);
    container->progress->reindex.after = step.after;
    atomic_fetch_add_explicit(&container->progress->reindex.seen, step.seen, memory_order_relaxed);
    *done = step.ended;
    if (step.ended)
        TRY(finish(op, catalog, container));
out:
    return st == ST_OWNER_NOT_FOUND || st == ST_NOT_FOUND ? ST_OK : st; /* it was dropped meanwhile */
}

static bool is_due(const struct container *container, struct env *env)
{
    return container_is_alone(container) &&
           env_monotonic_ms(env) >= container->progress->reindex.rested_after_ms;
}

static enum status reindex_one(struct op *op, struct catalog *catalog, struct container *container,
                               int64_t until_ms)
{
    bool done = false;
    enum status st = ST_OK;

    while (st == ST_OK && !done && is_due(container, op->env) && env_monotonic_ms(op->env) <= until_ms)
        st = advance(op, catalog, container, &done);
    if (st != ST_OK || done)
        container->progress->reindex.rested_after_ms = env_monotonic_ms(op->env) + REST_MS_FAILED;
    return st;
}

enum status reindex_items(struct op *op, struct catalog *catalog)
{
    int64_t until_ms = env_monotonic_ms(op->env) + CALL_MS_MAX;
    size_t databases, most, count;
    struct container **list;
    struct op steps;
    enum status st = ST_OK;

    catalog_count(catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(*list));
    count = catalog_list_reindexing(catalog, list, most);
    op_init(&steps, op->env, OP_MEMORY_BYTES_MAX);
    for (size_t i = 0; i < count && st == ST_OK; i++)
        st = reindex_one(&steps, catalog, list[i], until_ms);
    if (st != ST_OK)
        op_set_error(op, "%s", steps.error ? steps.error : error_row(st)->code);
    op_free(&steps);
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
    return st;
}
