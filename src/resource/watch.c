/* src/resource/watch.c - how much each range of a large container holds, measured in short steps. */
#include <stdlib.h>

#include "base/heap.h"
#include "base/limits.h"
#include "base/log.h"
#include "catalog/split.h"
#include "partition/scan.h"
#include "resource/sample.h"
#include "resource/watch.h"

enum { STEP_BYTES_MAX = 4 * 1024 * 1024, CALL_MS_MAX = 200, LOOK_MS = 1000 };

/* A container is looked at again when it has grown by this part of what a range may hold. */
enum { GROWTH_SHARE = 8 };

/* One pass over a container, by its table of ranges of then. */
struct pass {
    struct rid container; /* of size 0: there is none */
    uint64_t version, after, began_bytes;
    bool ended;
    uint64_t bytes[CONTAINER_RANGES_MAX];
    struct sample sample;
    struct epk room[SAMPLE_MAX];
};

struct watch {
    uint64_t range_bytes_max;
    int64_t looked_ms; /* on the monotonic clock */
    struct pass pass;
};

struct watch *watch_open(uint64_t range_bytes_max)
{
    struct watch *watch = heap_allocate(sizeof(*watch));

    watch->range_bytes_max = range_bytes_max;
    return watch;
}

void watch_close(struct watch *watch)
{
    free(watch);
}

/* ---- which container ---- */

static uint64_t bytes_of(const struct container *container)
{
    struct bucket_usage usage;

    return container_usage(container, &usage) ? usage.bytes : 0;
}

static bool is_due(const struct watch *watch, const struct container *container)
{
    uint64_t bytes = bytes_of(container), known = container->progress->sized_bytes;

    return bytes > watch->range_bytes_max && !container->system_key &&
           container->ranges.count < CONTAINER_RANGES_MAX &&
           (known == 0 || bytes > known + watch->range_bytes_max / GROWTH_SHARE);
}

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

/* A reference to the container that is being passed over, or to one that is due; NULL for none. */
static struct container *choose(struct op *op, struct catalog *catalog, struct watch *watch)
{
    struct container *chosen = NULL, **list;
    size_t databases, most, count;

    if (watch->pass.container.size == 0 && env_monotonic_ms(op->env) < watch->looked_ms + LOOK_MS)
        return NULL;
    watch->looked_ms = env_monotonic_ms(op->env);
    catalog_count(catalog, &databases, &most);
    list = arena_alloc(&op->arena, (most + 1) * sizeof(*list));
    count = catalog_list_larger(catalog, watch->range_bytes_max, list, most);
    for (size_t i = 0; i < count; i++) {
        bool wanted = watch->pass.container.size ? rid_equal(&list[i]->rid, &watch->pass.container)
                                                 : is_due(watch, list[i]);

        if (wanted && !chosen)
            chosen = list[i];
        else
            container_release(list[i]);
    }
    if (!chosen)
        watch->pass.container.size = 0; /* it was dropped */
    return chosen;
}

/* ---- the pass ---- */

static enum status take_step(struct op *op, const struct container *container, struct pass *pass)
{
    const struct partition_scope everything = { 0 };
    struct partition_scan scan = { 0 };
    struct record item;
    bool found = true;
    enum status st;

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

static enum status split_one(struct op *op, struct catalog *catalog, const struct container *container,
                             const struct pass *pass, uint32_t index, uint64_t *split)
{
    struct range_split wanted = { .id = container->ranges.id[index] };
    struct container *after = NULL;
    struct epk min, max, cut;
    enum status st = ST_OK;

    range_bounds(container, index, &min, &max);
    if (!sample_cut(&pass->sample, &min, &max, &cut)) {
        log_line(LOG_WARN, "%.*s: range %u has %llu MB of one partition key and cannot be split",
                 SLICE_ARGS(container->link), wanted.id, (unsigned long long)(pass->bytes[index] >> 20));
        return ST_OK;
    }
    wanted.cut = &cut;
    TRY(catalog_change_ranges(op, catalog, container, range_split, &wanted, &after));
    log_line(LOG_INFO, "%.*s: range %u had %llu MB and was split", SLICE_ARGS(container->link), wanted.id,
             (unsigned long long)(pass->bytes[index] >> 20));
    ++*split;
out:
    container_release(after);
    return st;
}

/* Whoever split or merged meanwhile made what was measured worthless: the next pass comes soon. */
static enum status end_pass(struct op *op, struct catalog *catalog, const struct container *container,
                            struct watch *watch, uint64_t *split)
{
    struct pass *pass = &watch->pass;
    uint64_t before = *split;
    enum status st = ST_OK;

    sample_sort(&pass->sample);
    for (uint32_t i = 0; i < container->ranges.count; i++)
        if (pass->bytes[i] > watch->range_bytes_max)
            TRY(split_one(op, catalog, container, pass, i, split));
out:
    container->progress->sized_bytes =
        *split > before ? 0 : pass->began_bytes; /* parts may be too large too */
    pass->container.size = 0;
    return st;
}

static enum status go_on(struct op *op, struct catalog *catalog, const struct container *container,
                         struct watch *watch, uint64_t *split)
{
    int64_t until_ms = env_monotonic_ms(op->env) + CALL_MS_MAX;
    struct pass *pass = &watch->pass;
    enum status st = ST_OK;

    if (pass->container.size == 0 || pass->version != container->ranges.version)
        begin_pass(pass, container);
    while (!pass->ended && env_monotonic_ms(op->env) <= until_ms) {
        op_begin(op, OP_TIMEOUT_MS);
        TRY(take_step(op, container, pass));
    }
    if (pass->ended)
        TRY(end_pass(op, catalog, container, watch, split));
out:
    if (st != ST_OK)
        pass->container.size = 0;
    return st;
}

enum status watch_ranges(struct op *op, struct catalog *catalog, struct watch *watch, uint64_t *split)
{
    struct container *container = choose(op, catalog, watch);
    struct op steps;
    enum status st;

    if (!container)
        return ST_OK;
    op_init(&steps, op->env, OP_MEMORY_BYTES_MAX);
    steps.may_block = true;
    st = go_on(&steps, catalog, container, watch, split);
    if (st != ST_OK)
        op_set_error(op, "%s", steps.error ? steps.error : error_row(st)->code);
    op_free(&steps);
    container_release(container);
    return st == ST_NOT_FOUND || st == ST_RANGE_GONE ? ST_OK : st; /* it was dropped or split meanwhile */
}
