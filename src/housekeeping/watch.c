/* src/housekeeping/watch.c - how much each range of a large container holds, measured in short steps. */
#include <assert.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "catalog/ranges.h"
#include "catalog/split.h"
#include "housekeeping/rounds.h"
#include "housekeeping/watch.h"
#include "partition/sample.h"
#include "partition/scan.h"

enum { STEP_BYTES_MAX = 4 * 1024 * 1024, CALL_MS_MAX = 200, LOOK_MS = 1000 };

/* A container is looked at again when it has grown by this part of what a range may hold. */
enum { GROWTH_SHARE = 8 };

/* One pass over a container, by the table of ranges that it had when the pass began. */
struct pass {
    struct rid container; /* of size 0: there is none */
    uint64_t version, after, began_bytes;
    bool ended;
    uint64_t bytes[CONTAINER_RANGES_MAX];
    struct sample sample;
    struct epk room[SAMPLE_MAX];
};

/* The watch's state of a container. */
struct measured {
    uint64_t bytes; /* how much it held when its ranges were last measured; 0: they never were */
};

struct watch {
    struct rounds *rounds;
    struct catalog *catalog;
    uint64_t range_bytes_max;
    int64_t looked_ms; /* on the monotonic clock */
    struct pass pass;
    bool stepped;   /* the call at hand took a step */
    uint64_t split; /* by the call at hand */
};

/* ---- which container ---- */

static uint64_t bytes_of(const struct container *container)
{
    struct bucket_usage usage;

    return container_usage(container, &usage) ? usage.bytes : 0;
}

static bool is_large(const struct container *container, const void *context)
{
    const struct watch *watch = context;

    return bytes_of(container) > watch->range_bytes_max;
}

static bool has_grown(const struct watch *watch, const struct container *container,
                      const struct measured *measured)
{
    return !container->system_key && container->ranges.count < CONTAINER_RANGES_MAX &&
           (measured->bytes == 0 ||
            bytes_of(container) > measured->bytes + watch->range_bytes_max / GROWTH_SHARE);
}

/* One container at a time: a pass that has begun goes on to its end before another begins. */
static bool is_due(const struct visit *visit, struct env *env)
{
    const struct watch *watch = visit->context;

    (void)env;
    return watch->pass.container.size ? rid_equal(&visit->container->rid, &watch->pass.container)
                                      : has_grown(watch, visit->container, visit->state);
}

/* ---- the pass ---- */

static void begin_pass(struct pass *pass, const struct container *container)
{
    pass->container = container->rid;
    pass->version = container->ranges.version;
    pass->after = 0;
    pass->began_bytes = bytes_of(container);
    pass->ended = false;
    pass->sample = (struct sample){ .epk = pass->room };
    memset(pass->bytes, 0, sizeof(pass->bytes));
}

static enum status take_step(struct op *op, const struct container *container, struct pass *pass)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct record item;
    bool found = true;
    enum status st;

    assert(rid_equal(&pass->container, &container->rid));
    assert(pass->version == container->ranges.version); /* what was measured is of these ranges */
    assert(container->ranges.count <= CONTAINER_RANGES_MAX);
    TRY(partition_scan_open(op, container, &everything, &scan));
    partition_scan_seek(&scan, pass->after);
    scan.expired_too = true;
    scan.scanned_bytes_max = STEP_BYTES_MAX;
    while (found) {
        TRY(partition_scan_next(op, &scan, &item, &found));
        if (!found)
            break;
        pass->after = item.number;
        pass->bytes[range_of_key(container, item.epk)] += item.stored.size;
        sample_add(op, &pass->sample, item.epk);
    }
    pass->ended = !scan.paused;
out:
    partition_scan_close(&scan);
    return st;
}

static enum status split_one(struct op *op, struct watch *watch, const struct container *container,
                             uint32_t index)
{
    const struct pass *pass = &watch->pass;
    struct range_split wanted = { .id = container->ranges.id[index] };
    struct container *after = NULL;
    struct epk min, max, cut;
    enum status st = ST_OK;

    range_bounds(container, index, &min, &max);
    if (!sample_cut(&pass->sample, &min, &max, &cut)) {
        log_line(LOG_WARN, "%s: range %u has %llu MB of one partition key and cannot be split",
                 log_quote(container->link).text, wanted.id, (unsigned long long)(pass->bytes[index] >> 20));
        return ST_OK;
    }
    wanted.cut = &cut;
    TRY(catalog_change_ranges(op, watch->catalog, container, range_split, &wanted, &after));
    log_line(LOG_INFO, "%s: range %u had %llu MB and was split", log_quote(container->link).text, wanted.id,
             (unsigned long long)(pass->bytes[index] >> 20));
    watch->split++;
out:
    container_release(after);
    return st;
}

/* A split or merge by somebody else meanwhile makes the figures of this pass worthless: the next pass comes soon. */
static enum status end_pass(struct op *op, const struct container *container, struct watch *watch,
                            struct measured *measured)
{
    struct pass *pass = &watch->pass;
    uint64_t before = watch->split;
    enum status st = ST_OK;

    assert(pass->ended);
    assert(pass->version == container->ranges.version);
    sample_sort(&pass->sample);
    for (uint32_t i = 0; i < container->ranges.count; i++)
        if (pass->bytes[i] > watch->range_bytes_max)
            TRY(split_one(op, watch, container, i));
out:
    measured->bytes = watch->split > before ? 0 : pass->began_bytes; /* parts may be too large too */
    pass->container.size = 0;
    return st;
}

/* After a split the visit still has the version of the container before it. The next call finds the new version. */
static enum status advance(struct op *op, struct visit *visit)
{
    struct watch *watch = visit->context;
    struct pass *pass = &watch->pass;
    enum status st;

    watch->stepped = true;
    if (pass->container.size == 0 || pass->version != visit->container->ranges.version)
        begin_pass(pass, visit->container);
    assert(!pass->ended);
    TRY(take_step(op, visit->container, pass));
    if (!pass->ended)
        goto out;
    visit->rest_ms = LOOK_MS;
    TRY(end_pass(op, visit->container, watch, visit->state));
out:
    if (st != ST_OK)
        pass->container.size = 0;
    return st == ST_RANGE_GONE ? ST_OK : st; /* it was split meanwhile */
}

static const struct rounds_kind kind = {
    .state_bytes = sizeof(struct measured),
    .call_ms_max = CALL_MS_MAX,
    .failed_ms = LOOK_MS,
    .concerns = is_large,
    .is_due = is_due,
    .advance = advance,
};

struct watch *watch_open(struct catalog *catalog, uint64_t range_bytes_max)
{
    struct watch *watch = heap_allocate(sizeof(*watch));

    watch->catalog = catalog;
    watch->range_bytes_max = range_bytes_max;
    watch->rounds = rounds_open(&kind, catalog, watch);
    return watch;
}

void watch_close(struct watch *watch)
{
    if (!watch)
        return;
    rounds_close(watch->rounds);
    free(watch);
}

enum status watch_ranges(struct op *op, struct watch *watch, uint64_t *split)
{
    enum status st;

    if (watch->pass.container.size == 0 && env_monotonic_ms(op->env) < watch->looked_ms + LOOK_MS)
        return ST_OK;
    watch->looked_ms = env_monotonic_ms(op->env);
    watch->stepped = false;
    watch->split = 0;
    st = rounds_run(op, watch->rounds);
    if (!watch->stepped)
        watch->pass.container.size = 0; /* it was dropped */
    *split += watch->split;
    return st;
}
