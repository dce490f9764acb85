/* src/partition/sweep.c - passes over containers, in steps that are short and small. */
#include "base/limits.h"
#include "partition/expiry.h"
#include "partition/scan.h"
#include "partition/sweep.h"
#include "partition/txn.h"

/* A step is one commit: other writers wait for it, and its old images are in memory. */
enum { STEP_ITEMS_MAX = 256, STEP_BYTES_MAX = 4 * 1024 * 1024 };

enum {
    CALL_MS_MAX = 200,
    REST_MS_MIN = 5 * 1000,
    REST_SHARE = 9,                  /* rests so many times as long as it worked */
    REST_MS_FAILED = 60 * 1000,      /* after what will probably fail again */
    UNKNOWN_MS_MAX = 10 * 60 * 1000, /* items of which no pass knows yet wait at most so long */
};

/* When an item that was written after the pass began can be due; one with a ttl of its own may wait longer. */
static int64_t unknown_due_ms(const struct container *container)
{
    int64_t ttl_ms = 1000 * (int64_t)container->default_ttl;

    return container->progress->sweep.began_ms +
           (ttl_ms > 0 && ttl_ms < UNKNOWN_MS_MAX ? ttl_ms : UNKNOWN_MS_MAX);
}

static bool is_due(const struct container *container, struct env *env)
{
    const struct container_sweep *sweep = &container->progress->sweep;
    int64_t now_ms = env_now_ms(env);

    if (env_monotonic_ms(env) < sweep->rested_after_ms)
        return false;
    if (!sweep->began || sweep->passing || sweep->earliest_ms <= now_ms)
        return true;
    return bucket_lsn(container->bucket) != sweep->began_lsn && unknown_due_ms(container) <= now_ms;
}

static void begin_pass(struct container *container, int64_t now_ms)
{
    container->progress->sweep = (struct container_sweep){ .began = true,
                                                           .passing = true,
                                                           .began_ms = now_ms,
                                                           .began_lsn = bucket_lsn(container->bucket),
                                                           .earliest_ms = INT64_MAX };
}

static void end_pass(struct container_sweep *sweep, struct env *env, bool failed)
{
    int64_t rest_ms = REST_SHARE * sweep->spent_us / 1000;

    if (rest_ms < REST_MS_MIN)
        rest_ms = REST_MS_MIN;
    sweep->passing = false;
    sweep->began = !failed; /* one that failed knows nothing: the next is due when this one has rested */
    sweep->rested_after_ms = env_monotonic_ms(env) + (failed ? REST_MS_FAILED : rest_ms);
}

/* Puts the removal of what has expired into the transaction, until the step is full or the container ends. */
static enum status collect(struct op *op, struct partition_scan *scan, struct partition_txn *txn,
                           struct container_sweep *sweep, uint64_t limit, uint64_t *count)
{
    struct record item;
    bool found = true;
    enum status st = ST_OK;

    while (*count < limit && found) {
        int64_t expires_ms;

        TRY(partition_scan_next(op, scan, &item, &found));
        if (!found)
            break;
        expires_ms = item_expires_ms(scan->container, &item);
        if (expires_ms <= op->now_ms) {
            TRY(txn_remove_expired(op, txn, &item));
            ++*count;
        } else if (expires_ms < sweep->earliest_ms) {
            sweep->earliest_ms = expires_ms;
        }
    }
    sweep->passing = found || scan->paused;
    sweep->after = partition_scan_after(scan);
out:
    return st;
}

/* Whoever wrote one of the items first has it; the next pass comes soon, and looks at them all again. */
static enum status commit(struct op *op, struct partition_txn **txn, struct container_sweep *sweep,
                          uint64_t *count)
{
    struct commit_stamp stamp;
    enum status st = partition_commit(op, txn, &stamp);

    if (st == ST_OK && stamp.lsn == sweep->began_lsn + 1)
        sweep->began_lsn = stamp.lsn; /* nobody else wrote: nothing came that the pass does not know of */
    if (st != ST_OK)
        *count = 0;
    if (st != ST_WRITE_CONFLICT)
        return st;
    sweep->earliest_ms = op->now_ms;
    return ST_OK;
}

/*
 * The transaction is opened before the scan: what it expects unchanged, the scan has seen, or newer. When it becomes
 * too large, `count` is how many items fitted.
 */
static enum status step(struct op *op, struct container *container, uint64_t limit, uint64_t *count)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct partition_txn *txn = NULL;
    enum status st;

    *count = 0;
    TRY(txn_open(op, container, &txn));
    TRY(partition_scan_open(op, container, &everything, &scan));
    partition_scan_seek(&scan, container->progress->sweep.after);
    scan.expired_too = true;
    scan.scanned_bytes_max = STEP_BYTES_MAX;
    TRY(collect(op, &scan, txn, &container->progress->sweep, limit, count));
    if (*count)
        TRY(commit(op, &txn, &container->progress->sweep, count));
out:
    partition_scan_close(&scan);
    partition_abort(txn);
    return st;
}

static enum status advance(struct op *op, struct container *container, uint64_t *removed)
{
    struct container_sweep *sweep = &container->progress->sweep;
    int64_t began_us = env_monotonic_us(op->env);
    uint64_t count;
    enum status st;

    op_begin(op, OP_TIMEOUT_MS);
    if (!sweep->passing)
        begin_pass(container, op->now_ms);
    st = step(op, container, STEP_ITEMS_MAX, &count);
    if (st == ST_TOO_LARGE && count > 0) {
        op_begin(op, OP_TIMEOUT_MS);
        st = step(op, container, count, &count);
    }
    if (st == ST_OK)
        *removed += count;
    sweep->spent_us += env_monotonic_us(op->env) - began_us;
    if (st != ST_OK || !sweep->passing)
        end_pass(sweep, op->env, st != ST_OK);
    return st == ST_OWNER_NOT_FOUND ? ST_OK : st; /* it was dropped meanwhile */
}

/*
 * A step for each container that is due, in turn, until none is or the time is up. Any may be the first, so
 * that none waits for ever behind those that are always due.
 */
static enum status sweep_all(struct op *op, struct container **list, size_t count, uint64_t *removed)
{
    int64_t until_ms = env_monotonic_ms(op->env) + CALL_MS_MAX;
    size_t at = count ? (size_t)(env_random_u64(op->env) % count) : 0, idle = 0;
    enum status st = ST_OK;

    for (; idle < count && env_monotonic_ms(op->env) <= until_ms; at = (at + 1) % count) {
        idle++;
        if (!is_due(list[at], op->env))
            continue;
        idle = 0;
        TRY(advance(op, list[at], removed));
    }
out:
    return st;
}

enum status sweep_expired(struct op *op, struct catalog *catalog, uint64_t *removed)
{
    size_t databases, most, count;
    struct container **list;
    struct op steps;
    enum status st;

    catalog_count(catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(*list));
    count = catalog_list_expiring(catalog, list, most);
    op_init(&steps, op->env, OP_MEMORY_BYTES_MAX);
    st = sweep_all(&steps, list, count, removed);
    if (st != ST_OK)
        op_set_error(op, "%s", steps.error ? steps.error : error_row(st)->code);
    op_free(&steps);
    for (size_t i = 0; i < count; i++)
        container_release(list[i]);
    return st;
}
