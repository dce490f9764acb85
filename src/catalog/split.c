/*
 * src/catalog/split.c - the next table of ranges: kept ranges stay as they were, new ones take the place of others.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "catalog/parts.h"
#include "catalog/split.h"

/* A table that is being made, from left to right. */
struct draft {
    struct op *op;
    const struct container *now;
    struct key_range *range;
    uint32_t count_max; /* what `range` has room for */
    struct range_table table;
};

static void draft_begin(struct draft *draft, struct op *op, const struct container *now, uint32_t count_max)
{
    *draft = (struct draft){ .op = op, .now = now, .count_max = count_max, .table = now->ranges };
    draft->range = arena_alloc(&op->arena, count_max * sizeof(*draft->range));
    draft->table.version++;
    draft->table.count = 0;
}

static void draft_keep(struct draft *draft, uint32_t index)
{
    assert(draft->table.count < draft->count_max);
    draft->range[draft->table.count++] = draft->now->ranges.range[index];
}

static int by_gone(const void *a, const void *b)
{
    const struct range_ancestor *x = a, *y = b;

    if (x->gone != y->gone)
        return x->gone < y->gone ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Drops repeated ancestors: ranges that came from one range and merge again have ancestors in common. */
static uint32_t drop_repeated(struct range_ancestor *ancestor, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || ancestor[i].id != ancestor[kept - 1].id)
            ancestor[kept++] = ancestor[i];
    return kept;
}

/*
 * A new range's ancestors are the `count` old ranges and their ancestors. When there are too many, those that have
 * been gone for longest are left out.
 */
static void set_ancestors(struct draft *draft, uint32_t first, uint32_t count, struct key_range *range)
{
    const struct key_range *old = &draft->now->ranges.range[first];
    struct range_ancestor *all;
    uint32_t size = count, at = 0;

    for (uint32_t i = 0; i < count; i++)
        size += old[i].ancestor_count;
    all = arena_alloc(&draft->op->arena, size * sizeof(*all));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < old[i].ancestor_count; j++)
            all[at++] = old[i].ancestor[j];
        all[at++] = (struct range_ancestor){ old[i].id, draft->table.version };
    }
    assert(at == size);
    qsort(all, size, sizeof(*all), by_gone);
    size = drop_repeated(all, size);
    for (; size > RANGE_ANCESTORS_MAX; size--, all++)
        if (all->gone > draft->table.told_since)
            draft->table.told_since = all->gone;
    range->ancestor = all;
    range->ancestor_count = size;
}

/* Adds a new range that begins at `min` and takes the place of `count` old ranges, or of a part of one. */
static void draft_make(struct draft *draft, uint32_t first, uint32_t count, struct slice min)
{
    struct key_range *range = &draft->range[draft->table.count++];

    assert(draft->table.count <= draft->count_max);
    assert(first + count <= draft->now->ranges.count);
    *range = (struct key_range){ .id = draft->table.next_id++,
                                 .min = min,
                                 .version = draft->table.version,
                                 .lsn = container_lsn(container_part_of(draft->now, min)),
                                 .ts_ms = draft->op->now_ms };
    set_ancestors(draft, first, count, range);
}

static void draft_end(struct draft *draft, struct range_table *table)
{
    uint32_t *id = arena_alloc(&draft->op->arena, draft->table.count * sizeof(*id));

    assert(draft->table.count > 0);
    assert(draft->range[0].min.size ==
           0); /* the ranges tile all keys, so the first begins with the empty one */
    for (uint32_t i = 0; i < draft->table.count; i++) {
        assert(i == 0 || slice_compare(draft->range[i - 1].min, draft->range[i].min) < 0);
        id[i] = draft->range[i].id;
    }
    draft->table.id = id;
    draft->table.range = draft->range;
    *table = draft->table;
}

/* The first part begins where the old range began, and each other part at a cut. */
static void draft_split(struct draft *draft, uint32_t index, const struct slice *cut, uint32_t cut_count)
{
    draft_make(draft, index, 1, draft->now->ranges.range[index].min);
    for (uint32_t i = 0; i < cut_count; i++)
        draft_make(draft, index, 1, cut[i]);
}

/* ---- one into several ---- */

/* Gives the cuts in order; fewer than wanted when the range has too few keys. */
static uint32_t find_cuts(struct op *op, const struct container *now, uint32_t index, uint32_t parts,
                          struct slice *cut)
{
    struct epk min, max, at;
    uint32_t count = 0;

    range_bounds(now, index, &min, &max);
    for (uint32_t i = 1; i < parts; i++)
        if (epk_divide(now->epk_version, now->key_path_count, &min, &max, i, parts, &at) &&
            (count == 0 || slice_compare(cut[count - 1], epk_slice(&at)) < 0))
            cut[count++] = arena_copy(&op->arena, epk_slice(&at));
    return count;
}

static enum status check_cut(struct op *op, const struct container *now, uint32_t index,
                             const struct epk *cut)
{
    struct epk min, max;

    range_bounds(now, index, &min, &max);
    if (cut->size <= RANGE_CUT_BYTES_MAX && slice_compare(epk_slice(&min), epk_slice(cut)) < 0 &&
        slice_compare(epk_slice(cut), epk_slice(&max)) < 0)
        return ST_OK;
    return op_fail(op, ST_BAD_REQUEST, "The range cannot be split there: it has no such key inside.");
}

static enum status check_room(struct op *op, const struct container *now, uint32_t parts)
{
    if (now->system_key)
        return op_fail(op, ST_BAD_REQUEST, "A container without a partition key has one range.");
    if (parts < 2)
        return op_fail(op, ST_BAD_REQUEST, "A range is split into two parts or more.");
    if (parts > CONTAINER_RANGES_MAX - now->ranges.count + 1)
        return op_fail(op, ST_BAD_REQUEST, "A container has at most %d ranges.", CONTAINER_RANGES_MAX);
    return ST_OK;
}

static enum status find_range(struct op *op, const struct container *now, uint32_t id, uint32_t *index)
{
    struct buf name;

    if (range_find(&now->ranges, id, index))
        return ST_OK;
    buf_init(&name, &op->arena);
    buf_u64(&name, id);
    return range_gone(op, now, buf_as_slice(&name));
}

enum status range_split(struct op *op, const struct container *now, const void *wanted,
                        struct range_table *table)
{
    const struct range_split *split = wanted;
    uint32_t parts = split->cut ? 2 : split->parts, index, count = 1;
    struct draft draft;
    struct slice *cut;
    enum status st;

    TRY(find_range(op, now, split->id, &index));
    TRY(check_room(op, now, parts));
    cut = arena_alloc(&op->arena, parts * sizeof(*cut));
    if (split->cut) {
        TRY(check_cut(op, now, index, split->cut));
        cut[0] = epk_slice(split->cut);
    } else {
        count = find_cuts(op, now, index, parts, cut);
    }
    if (count == 0)
        TRY(op_fail(op, ST_BAD_REQUEST, "The range has no two keys."));
    draft_begin(&draft, op, now, now->ranges.count + count);
    for (uint32_t i = 0; i < now->ranges.count; i++)
        if (i == index)
            draft_split(&draft, i, cut, count);
        else
            draft_keep(&draft, i);
    draft_end(&draft, table);
out:
    return st;
}

/* ---- several into one ---- */

/* Checks that the ranges are neighbours, and gives the index of the first. */
static enum status find_neighbours(struct op *op, const struct container *now,
                                   const struct range_merge *merge, uint32_t *first)
{
    uint32_t last = 0, index;
    enum status st = ST_OK;

    *first = UINT32_MAX;
    for (uint32_t i = 0; i < merge->count; i++) {
        TRY(find_range(op, now, merge->id[i], &index));
        for (uint32_t j = 0; j < i; j++)
            if (merge->id[j] == merge->id[i])
                TRY(op_fail(op, ST_BAD_REQUEST, "A range is named twice."));
        *first = index < *first ? index : *first;
        last = index > last ? index : last;
    }
    if (merge->count < 2 || last - *first + 1 != merge->count)
        TRY(op_fail(op, ST_BAD_REQUEST, "Ranges that merge are two or more, and neighbours."));
    if (container_part_of(now, now->ranges.range[*first].min) !=
        container_part_of(now, now->ranges.range[last].min))
        TRY(op_fail(op, ST_BAD_REQUEST, "Ranges that lie in different buckets cannot merge."));
out:
    return st;
}

enum status range_merge(struct op *op, const struct container *now, const void *wanted,
                        struct range_table *table)
{
    const struct range_merge *merge = wanted;
    struct draft draft;
    uint32_t first;
    enum status st;

    TRY(find_neighbours(op, now, merge, &first));
    draft_begin(&draft, op, now, now->ranges.count);
    for (uint32_t i = 0; i < now->ranges.count; i++)
        if (i < first || i >= first + merge->count)
            draft_keep(&draft, i);
        else if (i == first)
            draft_make(&draft, first, merge->count, now->ranges.range[first].min);
    draft_end(&draft, table);
out:
    return st;
}

/* ---- as many as a throughput wants ---- */

static double share_of(const struct container *now, uint32_t index)
{
    struct epk min, max;

    range_bounds(now, index, &min, &max);
    return epk_share(now->epk_version, &min, &max);
}

/* Gives one more part to the range whose parts are the largest, until there are enough. */
static void plan_parts(const struct container *now, uint32_t wanted, const double *share, uint32_t *parts)
{
    for (uint32_t count = now->ranges.count; count < wanted; count++) {
        uint32_t largest = 0;

        for (uint32_t i = 1; i < now->ranges.count; i++)
            if (share[i] / parts[i] > share[largest] / parts[largest])
                largest = i;
        parts[largest]++;
    }
}

enum status range_spread(struct op *op, const struct container *now, const void *wanted,
                         struct range_table *table)
{
    uint32_t count = ((const struct range_spread *)wanted)->count;
    uint32_t *parts = arena_alloc(&op->arena, now->ranges.count * sizeof(*parts));
    double *share = arena_alloc(&op->arena, now->ranges.count * sizeof(*share));
    struct draft draft;

    if (now->system_key || count > CONTAINER_RANGES_MAX)
        return op_fail(op, ST_BAD_REQUEST, "The container cannot have that many ranges.");
    for (uint32_t i = 0; i < now->ranges.count; i++) {
        parts[i] = 1;
        share[i] = share_of(now, i);
    }
    plan_parts(now, count, share, parts);
    draft_begin(&draft, op, now, count > now->ranges.count ? count : now->ranges.count);
    for (uint32_t i = 0; i < now->ranges.count; i++) {
        struct slice *cut = arena_alloc(&op->arena, parts[i] * sizeof(*cut));
        uint32_t cuts = find_cuts(op, now, i, parts[i], cut);

        if (cuts)
            draft_split(&draft, i, cut, cuts);
        else
            draft_keep(&draft, i);
    }
    draft_end(&draft, table);
    return ST_OK;
}
