/* src/housekeeping/sweep.c - passes over containers, in steps that are short and small. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "housekeeping/rounds.h"
#include "housekeeping/sweep.h"
#include "partition/expiry.h"
#include "partition/scan.h"
#include "partition/upkeep.h"

/* A step is one commit. Other writers wait for it, and memory holds the old records of its items. */
enum { STEP_ITEMS_MAX = 256, STEP_BYTES_MAX = 4 * 1024 * 1024 };

enum {
    CALL_MS_MAX = 200,
    REST_MS_MIN = 5 * 1000,
    REST_SHARE = 9, /* the sweep rests so many times as long as it worked */
    REST_MS_FAILED = 60 * 1000,
    UNKNOWN_MS_MAX = 10 * 60 * 1000, /* how long items that no pass has seen yet wait at most */
};

/* How far it is with a container. */
struct progress {
    bool began, passing;
    uint64_t after;      /* the pass at hand has looked at everything up to this number */
    int64_t began_ms;    /* the last pass, or the one at hand */
    uint64_t began_lsn;  /* the bucket's then */
    int64_t earliest_ms; /* the first expiry that the pass met and left */
};

struct sweep {
    struct rounds *rounds;
    uint64_t removed; /* by the call at hand */
};

/*
 * When an item that was written since the pass began may be due. One with a shorter ttl of its own may have to wait.
 */
static int64_t unknown_due_ms(const struct container *container, const struct progress *progress)
{
    int64_t ttl_ms = 1000 * (int64_t)container->default_ttl;

    return progress->began_ms + (ttl_ms > 0 && ttl_ms < UNKNOWN_MS_MAX ? ttl_ms : UNKNOWN_MS_MAX);
}

static bool may_expire(const struct container *container, const void *context)
{
    (void)context;
    return container->default_ttl != TTL_OFF;
}

static bool is_due(const struct visit *visit, struct env *env)
{
    const struct progress *progress = visit->state;
    int64_t now_ms = env_now_ms(env);

    if (!progress->began || progress->passing || progress->earliest_ms <= now_ms)
        return true;
    return bucket_lsn(visit->container->bucket) != progress->began_lsn &&
           unknown_due_ms(visit->container, progress) <= now_ms;
}

static void begin_pass(struct progress *progress, const struct container *container, int64_t now_ms)
{
    *progress = (struct progress){ .began = true,
                                   .passing = true,
                                   .began_ms = now_ms,
                                   .began_lsn = bucket_lsn(container->bucket),
                                   .earliest_ms = INT64_MAX };
}

/* A pass that failed knows nothing of later expiries, so the next pass is due as soon as the rest is over. */
static void end_pass(struct progress *progress, bool failed)
{
    assert(progress->began);
    progress->passing = false;
    progress->began = !failed;
}

/* Puts the removal of what has expired into the transaction, until the step is full or the container ends. */
static enum status collect(struct op *op, struct partition_scan *scan, struct partition_txn *txn,
                           struct progress *progress, uint64_t limit, uint64_t *count)
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
            TRY(upkeep_remove_expired(op, txn, &item));
            ++*count;
        } else if (expires_ms < progress->earliest_ms) {
            progress->earliest_ms = expires_ms;
        }
    }
    progress->passing = found || scan->paused;
    progress->after = partition_scan_after(scan);
out:
    return st;
}

/*
 * A conflict is no failure: another writer has changed one of the items. The next pass comes soon and looks at all
 * again.
 */
static enum status commit(struct op *op, struct partition_txn **txn, struct progress *progress,
                          uint64_t *count)
{
    struct commit_stamp stamp;
    enum status st;

    assert(*count > 0);
    st = partition_commit(op, txn, &stamp);
    assert(st != ST_OK || stamp.lsn > progress->began_lsn); /* LSNs only rise */
    if (st == ST_OK && stamp.lsn == progress->began_lsn + 1)
        progress->began_lsn = stamp.lsn; /* nobody else wrote, so the pass knows every item */
    if (st != ST_OK)
        *count = 0;
    if (st != ST_WRITE_CONFLICT)
        return st;
    progress->earliest_ms = op->now_ms;
    return ST_OK;
}

/* When the step is ST_TOO_LARGE, `count` is how many items fitted. */
static enum status step(struct op *op, const struct container *container, struct progress *progress,
                        uint64_t limit, uint64_t *count)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct partition_txn *txn = NULL;
    enum status st;

    assert(progress->passing);
    assert(limit > 0);
    *count = 0;
    TRY(upkeep_begin(op, container, &txn));
    TRY(partition_scan_open(op, container, &everything, &scan));
    partition_scan_seek(&scan, progress->after);
    scan.expired_too = true;
    scan.scanned_bytes_max = STEP_BYTES_MAX;
    TRY(collect(op, &scan, txn, progress, limit, count));
    if (*count)
        TRY(commit(op, &txn, progress, count));
out:
    partition_scan_close(&scan);
    partition_abort(txn);
    return st;
}

static enum status advance(struct op *op, struct visit *visit)
{
    struct progress *progress = visit->state;
    struct sweep *sweep = visit->context;
    uint64_t count;
    enum status st;

    if (!progress->passing)
        begin_pass(progress, visit->container, op->now_ms);
    st = step(op, visit->container, progress, STEP_ITEMS_MAX, &count);
    if (st == ST_TOO_LARGE && count > 0) {
        op_begin(op, OP_TIMEOUT_MS);
        st = step(op, visit->container, progress, count, &count);
    }
    if (st == ST_OK)
        sweep->removed += count;
    if (st != ST_OK || !progress->passing) {
        end_pass(progress, st != ST_OK);
        visit->rest_ms = REST_MS_MIN;
    }
    return st;
}

static const struct rounds_kind kind = {
    .state_bytes = sizeof(struct progress),
    .by_part = true,
    .call_ms_max = CALL_MS_MAX,
    .failed_ms = REST_MS_FAILED,
    .share = REST_SHARE,
    .concerns = may_expire,
    .is_due = is_due,
    .advance = advance,
};

struct sweep *sweep_open(struct catalog *catalog)
{
    struct sweep *sweep = heap_allocate(sizeof(*sweep));

    sweep->rounds = rounds_open(&kind, catalog, sweep);
    return sweep;
}

void sweep_close(struct sweep *sweep)
{
    if (!sweep)
        return;
    rounds_close(sweep->rounds);
    free(sweep);
}

enum status sweep_expired(struct op *op, struct sweep *sweep, uint64_t *removed)
{
    enum status st;

    sweep->removed = 0;
    st = rounds_run(op, sweep->rounds);
    *removed += sweep->removed;
    return st;
}
