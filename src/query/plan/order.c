/* src/query/plan/order.c - which index has rows in the order that is asked for. */
#include "index/set.h"
#include "query/plan/composite.h"
#include "query/plan/order.h"

/* The ranges that every item must lie in. */
static const struct access *const *ranges_of(const struct access *access, size_t *count)
{
    *count = access->kind == ACCESS_AND ? access->kid_count : 0;
    return (const struct access *const *)access->kid;
}

static void narrow(struct order_walk *walk, const struct access *range, const struct index_path *path)
{
    if (!access_is_of_path(range, path))
        return;
    walk->needs_value = false;
    if (slice_compare(range->from, walk->from) > 0)
        walk->from = range->from;
    if (slice_compare(range->to, walk->to) < 0)
        walk->to = range->to;
}

static bool plain_path(const struct alias *alias, const struct expr *expr, struct item_path *path)
{
    *path = (struct item_path){ .count = 0 };
    return item_path_of(alias, expr, path) && path->count && !path->traits.has_place &&
           !path->traits.has_elements;
}

bool order_path_walk(struct planner *planner, const struct item_path *path, const struct access *access,
                     struct order_walk *walk)
{
    struct index_path steps = { path->step, path->count };
    uint8_t *prefix = arena_alloc(&planner->op->arena, TERM_PATH_BYTES);
    path_id id;
    size_t count;
    const struct access *const *range = ranges_of(access, &count);

    if (!access_path_id(planner, &steps, path->traits.computed, &id))
        return false;
    term_put_path(prefix, id);
    *walk = (struct order_walk){ .prefix = slice_make(prefix, TERM_PATH_BYTES), .needs_value = true };
    walk->from = walk->prefix;
    walk->to = index_prefix_end(&planner->op->arena, walk->prefix);
    narrow(walk, access, &steps);
    for (size_t i = 0; i < count; i++)
        narrow(walk, range[i], &steps);
    return true;
}

static bool walk_of_path(struct planner *planner, const struct alias *alias, const struct order_item *item,
                         const struct access *access, struct order_walk *walk)
{
    struct item_path path;

    if (!plain_path(alias, item->expr, &path) || !order_path_walk(planner, &path, access, walk))
        return false;
    walk->reverse = item->descending;
    return true;
}

/* ---- composite indexes ---- */

/* The clause's paths, from that part to the index's last, in its directions or all the other way round. */
static bool serves(const struct alias *alias, const struct select *select, const struct index_joined *joined,
                   size_t fixed, bool *reverse)
{
    struct item_path path;
    struct index_path steps;

    if (joined->part_count != fixed + select->order_count)
        return false;
    for (size_t i = 0; i < select->order_count; i++) {
        bool turned = joined->descending[fixed + i] != select->order[i].descending;

        if (!plain_path(alias, select->order[i].expr, &path))
            return false;
        steps = (struct index_path){ path.step, path.count };
        if (!access_same_path(&joined->part[fixed + i], &steps))
            return false;
        if (i == 0)
            *reverse = turned;
        if (turned != *reverse)
            return false;
    }
    return true;
}

static bool walk_of_joined(struct planner *planner, const struct alias *alias, const struct select *select,
                           const struct access *access, const struct index_joined *joined,
                           struct order_walk *walk)
{
    size_t fixed = joined->part_count - select->order_count;
    struct composite_range range;

    *walk = (struct order_walk){ .joined = joined, .fixed = fixed };
    if (joined->part_count < select->order_count || !serves(alias, select, joined, fixed, &walk->reverse) ||
        !composite_range_of(planner, access, joined, fixed, &range) || range.fixed < fixed)
        return false;
    walk->prefix = range.prefix;
    walk->from = range.from;
    walk->to = range.to;
    walk->ties_turned = walk->reverse != select->order[0].descending;
    return true;
}

/* The longest prefix that is fixed leaves the least to walk. */
static bool walk_of_composites(struct planner *planner, const struct alias *alias,
                               const struct select *select, const struct access *access,
                               struct order_walk *walk)
{
    size_t count;
    const struct index_joined *joined = index_policy_composites(planner->index->policy, &count);
    struct order_walk one;
    bool found = false;

    for (size_t i = 0; i < count; i++)
        if (walk_of_joined(planner, alias, select, access, &joined[i], &one) &&
            (!found || one.fixed > walk->fixed)) {
            *walk = one;
            found = true;
        }
    return found;
}

bool order_walk_of(struct planner *planner, const struct select *select, const struct access *access,
                   struct order_walk *walk)
{
    const struct source *first = &select->source[0];
    struct alias alias = { .source = first };
    struct order_walk joined;

    if (select->order_count == 0 || select->whole)
        return false;
    if (walk_of_composites(planner, &alias, select, access, &joined) &&
        (joined.fixed || select->order_count > 1)) {
        *walk = joined;
        return true;
    }
    return select->order_count == 1 && walk_of_path(planner, &alias, &select->order[0], access, walk);
}

static bool is_cut(struct slice value, bool descending)
{
    uint8_t first = (uint8_t)value.data[0], kind = descending ? (uint8_t)~first : first;

    return kind > JSON_STRING + 1 || (kind == JSON_STRING + 1 && value.size == ORDERED_BYTES_MAX);
}

bool order_term_is_cut(const struct order_walk *walk, struct slice term)
{
    struct slice left = slice_after(term, walk->prefix.size);

    for (size_t i = walk->fixed; walk->joined && i < walk->joined->part_count && left.size; i++) {
        size_t size = term_value_size(left, walk->joined->descending[i]);

        if (size == 0 || is_cut(slice_make(left.data, size), walk->joined->descending[i]))
            return true;
        left = slice_after(left, size);
    }
    return left.size && is_cut(left, false);
}
