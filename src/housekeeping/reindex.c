/* src/housekeeping/reindex.c - rewrites the entries of items that an older policy has indexed, in short steps. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "housekeeping/reindex.h"
#include "housekeeping/rounds.h"
#include "partition/scan.h"
#include "partition/upkeep.h"
#include "store/entries.h"

/* A step is one commit. Other writers wait for it, and memory holds the old records of its items. */
enum { STEP_ITEMS_MAX = 256, STEP_BYTES_MAX = 2 * 1024 * 1024 };
enum { CALL_MS_MAX = 200, REST_MS = 5 * 1000 };

/* How far it is with a container. */
struct progress {
    uint32_t part;  /* of the container: those before it are done */
    uint64_t after; /* every item of the part up to this number is indexed by the policy of today */
    uint64_t seen;  /* items */
};

struct reindex {
    struct rounds *rounds;
    struct catalog *catalog;
};

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

    assert(scan->expired_too); /* an expired item may come back with another definition, and is indexed too */
    while (step->rewritten < STEP_ITEMS_MAX) {
        TRY(partition_scan_next(op, scan, &item, &found));
        if (!found)
            break;
        if (item.policy_version != scan->container->policy_version) {
            TRY(upkeep_index_anew(op, txn, &item, step->rewritten == 0, &fits));
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

static enum status take_step(struct op *op, const struct container *container, struct step *step)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct partition_txn *txn = NULL;
    struct commit_stamp stamp;
    enum status st;

    TRY(upkeep_begin(op, container, &txn));
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
 * After a crash, entries that are not settled are made again from old records, which needs the old policies. So the
 * entries are settled before the old policies are forgotten.
 */
static enum status finish(struct op *op, struct catalog *catalog, struct container *container)
{
    enum status st;

    TRY(store_entries_flush(op, catalog_store(catalog)));
    TRY(catalog_finish_reindex(op, catalog, container));
    log_line(LOG_INFO, "%s: every item is indexed by the policy of today", log_quote(container->link).text);
out:
    return st;
}

/* Items have an older policy's entries, or those of a container without a seed. */
static bool is_behind(const struct container *container, const void *context)
{
    (void)context;
    return container->index_older_count > 0 || hash_seed_is_none(container->seed);
}

static bool is_due(const struct visit *visit, struct env *env)
{
    (void)env;
    return container_is_alone(visit->container);
}

/* A conflict is no failure: another writer has changed an item of the step, and indexed it by the new policy. */
static enum status advance(struct op *op, struct visit *visit)
{
    const struct reindex *reindex = visit->context;
    struct progress *progress = visit->state;
    const struct container *part = visit->container->part[progress->part];
    struct step step = { .after = progress->after };
    enum status st;

    if (hash_seed_is_none(visit->container->seed)) {
        visit->rest_ms = REST_MS; /* the container that is there now is another version */
        return catalog_give_seed(op, reindex->catalog, visit->container);
    }
    assert(visit->container->index_older_count > 0); /* is_behind() lets no other through */
    st = take_step(op, part, &step);
    if (st == ST_WRITE_CONFLICT)
        return ST_OK;
    TRY(st);
    assert(step.after >= progress->after);
    progress->after = step.after;
    progress->seen += step.seen;
    container_note_indexed(visit->container, progress->seen);
    if (!step.ended)
        goto out;
    progress->after = 0;
    if (++progress->part < visit->container->part_count)
        goto out;
    progress->part = 0;
    visit->rest_ms = REST_MS; /* when the container was replaced meanwhile, finish() does nothing */
    TRY(finish(op, reindex->catalog, visit->container));
out:
    return st;
}

static const struct rounds_kind kind = {
    .state_bytes = sizeof(struct progress),
    .call_ms_max = CALL_MS_MAX,
    .failed_ms = REST_MS,
    .concerns = is_behind,
    .is_due = is_due,
    .advance = advance,
};

struct reindex *reindex_open(struct catalog *catalog)
{
    struct reindex *reindex = heap_allocate(sizeof(*reindex));

    reindex->catalog = catalog;
    reindex->rounds = rounds_open(&kind, catalog, reindex);
    return reindex;
}

void reindex_close(struct reindex *reindex)
{
    if (!reindex)
        return;
    rounds_close(reindex->rounds);
    free(reindex);
}

enum status reindex_items(struct op *op, struct reindex *reindex)
{
    return rounds_run(op, reindex->rounds);
}
