/* src/housekeeping/housekeeping.c - the chores, one after the other. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/reserve.h"
#include "base/thread.h"
#include "housekeeping/housekeeping.h"
#include "housekeeping/reindex.h"
#include "housekeeping/sweep.h"
#include "housekeeping/trim.h"
#include "housekeeping/watch.h"

struct housekeeping {
    struct housekeeping_options options;
    struct sweep *sweep;
    struct reindex *reindex;
    struct trim *trim;
    struct watch *watch;
    _Atomic uint64_t items_expired, ranges_split;
};

struct housekeeping *housekeeping_open(const struct housekeeping_options *options)
{
    struct housekeeping *made = heap_allocate(sizeof(*made));

    assert(options->catalog);
    made->options = *options;
    made->sweep = sweep_open(options->catalog);
    made->reindex = reindex_open(options->catalog);
    made->trim = trim_open(options->catalog);
    made->watch = watch_open(options->catalog, options->range_bytes_max);
    return made;
}

void housekeeping_close(struct housekeeping *housekeeping)
{
    if (!housekeeping)
        return;
    watch_close(housekeeping->watch);
    trim_close(housekeeping->trim);
    reindex_close(housekeeping->reindex);
    sweep_close(housekeeping->sweep);
    free(housekeeping);
}

static enum status drop_containers(struct op *op, struct housekeeping *housekeeping)
{
    return catalog_sweep(op, housekeeping->options.catalog);
}

static enum status drop_expired(struct op *op, struct housekeeping *housekeeping)
{
    uint64_t expired = 0;
    enum status st = sweep_expired(op, housekeeping->sweep, &expired);

    atomic_fetch_add(&housekeeping->items_expired, expired);
    return st;
}

static enum status index_again(struct op *op, struct housekeeping *housekeeping)
{
    return reindex_items(op, housekeeping->reindex);
}

static enum status trim(struct op *op, struct housekeeping *housekeeping)
{
    return trim_logs(op, housekeeping->trim, housekeeping->options.retention_ms);
}

static enum status split_ranges(struct op *op, struct housekeeping *housekeeping)
{
    uint64_t split = 0;
    enum status st = watch_ranges(op, housekeeping->watch, &split);

    atomic_fetch_add(&housekeeping->ranges_split, split);
    return st;
}

static enum status forget_transactions(struct op *op, struct housekeeping *housekeeping)
{
    return ledger_forget(op, housekeeping->options.ledger, housekeeping->options.transactions_kept_ms);
}

static enum status tend_store(struct op *op, struct housekeeping *housekeeping)
{
    return store_upkeep(op, catalog_store(housekeeping->options.catalog));
}

static enum status follow_others(struct op *op, struct housekeeping *housekeeping)
{
    return catalog_catch_up(op, housekeeping->options.catalog);
}

/* Of several processes over one store each tends what it has in memory. One does the rest: two at a time would do no harm. */
enum whose { EVERYBODYS, LEADERS };

static const struct chore {
    enum status (*run)(struct op *op, struct housekeeping *housekeeping);
    enum whose whose;
    const char *failure;
} chores[] = {
    { follow_others, EVERYBODYS, "cannot see what other processes have defined" },
    { drop_containers, EVERYBODYS, "cannot remove dropped containers" },
    { drop_expired, LEADERS, "cannot remove expired items" },
    { index_again, LEADERS, "cannot index items again" },
    { trim, LEADERS, "cannot trim the change logs" },
    { forget_transactions, LEADERS, "cannot forget what became of old transactions" },
    { split_ranges, LEADERS, "cannot split a range that is too large" },
    { tend_store, EVERYBODYS, "the store cannot be brought into fewer files" },
};

void housekeeping_run(struct op *op, struct housekeeping *housekeeping)
{
    bool leads = store_peers(catalog_store(housekeeping->options.catalog)).leads;

    thread_assert_may_block(); /* every chore waits for the store */
    for (size_t i = 0; i < sizeof(chores) / sizeof(chores[0]) && reserve_is_whole(); i++) {
        if (chores[i].whose == LEADERS && !leads)
            continue;
        op_begin(op, OP_TIMEOUT_MS);
        if (chores[i].run(op, housekeeping) != ST_OK)
            log_line(LOG_WARN, "%s: %s", chores[i].failure, op->error);
    }
}

void housekeeping_stats(const struct housekeeping *housekeeping, struct housekeeping_stats *stats)
{
    *stats = (struct housekeeping_stats){
        .items_expired = atomic_load(&housekeeping->items_expired),
        .ranges_split = atomic_load(&housekeeping->ranges_split),
    };
}
