/* src/query/plan/composite.c - which part of a filter a composite index has, and its terms. */
#include <assert.h>

#include "index/set.h"
#include "query/plan/composite.h"

/* The ranges that every item must lie in. */
static struct access *const *ranges_of(struct access *const *access, size_t *count)
{
    if ((*access)->kind != ACCESS_AND) {
        *count = 1;
        return access;
    }
    *count = (*access)->kid_count;
    return (*access)->kid;
}

static bool is_value(const struct access *range, const struct index_path *path)
{
    return access_is_of_path(range, path) && range->one_term;
}

static const struct access *value_among(const struct access *access, const struct index_path *path)
{
    if (is_value(access, path))
        return access;
    for (size_t i = 0; access->kind == ACCESS_AND && i < access->kid_count; i++)
        if (is_value(access->kid[i], path))
            return access->kid[i];
    return NULL;
}

/* The one value that the filter, or the scope, has for the path. */
static const struct access *value_of_part(struct planner *planner, const struct access *access,
                                          const struct index_path *path)
{
    const struct access *value = value_among(access, path);

    return value ? value : value_among(planner->key, path);
}

/* The path's prefix, and the value of each part that has but one, as far as they go. */
static bool find_prefix(struct planner *planner, const struct access *access, size_t fixed_max,
                        struct composite_range *range)
{
    uint8_t path[TERM_PATH_BYTES], value[ORDERED_BYTES_MAX];
    const struct index_joined *joined = range->joined;
    struct buf prefix;
    struct json json;

    buf_init(&prefix, &planner->op->arena);
    term_put_path(path, joined->id);
    buf_append(&prefix, path, sizeof(path));
    for (; range->fixed < fixed_max; range->fixed++) {
        const struct access *part = value_of_part(planner, access, &joined->part[range->fixed]);

        if (!part)
            break;
        json = value_to_json(planner->op, part->interval.low.value);
        if (json_kind(json) != part->interval.low.value.kind) /* out of memory */
            return false;
        range->value[range->fixed] = part;
        range->exact &= part->exact;
        buf_append(&prefix, value, term_put_value(value, json, joined->descending[range->fixed]));
    }
    range->prefix = range->from = buf_as_slice(&prefix);
    range->to = index_prefix_end(&planner->op->arena, range->prefix);
    return !prefix.failed;
}

/* What the filter says of the next part. */
static void narrow(struct planner *planner, const struct access *access, struct composite_range *range)
{
    const struct index_joined *joined = range->joined;
    struct slice from, to;

    assert(range->fixed < joined->part_count); /* there is a part behind those that are fixed */
    if (!access_is_of_path(access, &joined->part[range->fixed]))
        return;
    range->exact &= interval_terms(planner->op, range->prefix, &access->interval,
                                   joined->descending[range->fixed], &from, &to);
    range->exact &= access->exact;
    range->narrowed = true;
    if (from.data && slice_compare(from, range->from) > 0)
        range->from = from;
    if (to.data && slice_compare(to, range->to) < 0)
        range->to = to;
}

/* Whether every item has its entry, and in the place of its values. */
static bool is_usable(struct planner *planner, const struct index_joined *joined)
{
    path_id id;

    for (size_t i = 0; i < joined->part_count; i++) {
        struct slice name = joined->part[i].step[0].name;

        if (index_policy_query(planner->index->policy, name).data && !access_computes(planner, name, &id))
            return false;
    }
    return planner->index->has_composite(planner->index, joined->id);
}

bool composite_range_of(struct planner *planner, const struct access *access,
                        const struct index_joined *joined, size_t fixed_max, struct composite_range *range)
{
    assert(fixed_max <= joined->part_count);
    assert(joined->part_count <= INDEX_PARTS_MAX);
    *range = (struct composite_range){ .joined = joined, .exact = true };
    if (!is_usable(planner, joined) || !find_prefix(planner, access, fixed_max, range))
        return false;
    if (range->fixed == joined->part_count)
        return true;
    narrow(planner, access, range);
    for (size_t i = 0; access->kind == ACCESS_AND && i < access->kid_count; i++)
        narrow(planner, access->kid[i], range);
    return true;
}

/* ---- in place of single paths ---- */

/*
 * The filter may ask for two values of one path. Then no item passes, but the composite's range, with one value, has
 * items.
 */
static bool is_fixed(const struct composite_range *range, size_t part, const struct access *kid)
{
    return is_value(kid, &range->joined->part[part]) &&
           value_equal(kid->interval.low.value, range->value[part]->interval.low.value);
}

/* Whether the composite's range says all that this one says. */
static bool is_said(const struct composite_range *range, const struct access *kid)
{
    size_t i = 0;

    while (i < range->fixed && !is_fixed(range, i, kid))
        i++;
    return i < range->fixed ||
           (range->narrowed && access_is_of_path(kid, &range->joined->part[range->fixed]));
}

static size_t count_said(const struct composite_range *range, struct access *const *access)
{
    size_t count, said = 0;
    struct access *const *kid = ranges_of(access, &count);

    for (size_t i = 0; i < count; i++)
        said += is_said(range, kid[i]);
    return said;
}

/* The one that uses most of its paths; of two paths at least, else it is no better than the path's own terms. */
static bool find_best(struct planner *planner, struct access *const *access, struct composite_range *best)
{
    size_t count, used = 1;
    const struct index_joined *joined = index_policy_composites(planner->index->policy, &count);
    struct composite_range one;

    for (size_t i = 0; i < count; i++)
        if (value_of_part(planner, *access, &joined[i].part[0]) &&
            composite_range_of(planner, *access, &joined[i], joined[i].part_count, &one) &&
            one.fixed + one.narrowed > used && count_said(&one, access)) {
            used = one.fixed + one.narrowed;
            *best = one;
        }
    return used > 1;
}

static struct access *range_access(struct planner *planner, const struct composite_range *range)
{
    if (slice_compare(range->from, range->to) >= 0)
        return access_none(planner);
    return access_new(planner, (struct access){ .kind = ACCESS_RANGE,
                                                .exact = range->exact,
                                                .one_term = range->fixed == range->joined->part_count,
                                                .joined = range->joined,
                                                .joined_used = range->fixed + range->narrowed,
                                                .from = range->from,
                                                .to = range->to });
}

/* What the composite does not say is left beside it. Where memory ends nothing is changed. */
static struct access *replace_said(struct planner *planner, struct access *access,
                                   const struct composite_range *range)
{
    struct access *made = range_access(planner, range);
    size_t count;
    struct access *const *kid = ranges_of(&access, &count);

    for (size_t i = 0; i < count && made->kind != ACCESS_ANY; i++)
        if (!is_said(range, kid[i]))
            made = access_and(planner, made, kid[i]);
    if (made->kind == ACCESS_RANGE || made->kind == ACCESS_AND)
        made->exact &= access->exact; /* the filter may say more than any range does */
    return made;
}

static struct access *any_with_composites(struct planner *planner, const struct access *access)
{
    struct access *made = access_none(planner);

    for (size_t i = 0; i < access->kid_count; i++)
        made = access_or(planner, made, access_with_composites(planner, access->kid[i]));
    return made;
}

struct access *access_with_composites(struct planner *planner, struct access *access)
{
    struct composite_range best;
    struct access *made = access;
    size_t count;

    index_policy_composites(planner->index->policy, &count);
    if (count == 0)
        return access;
    if (access->kind == ACCESS_OR)
        made = any_with_composites(planner, access);
    else if (find_best(planner, &access, &best))
        made = replace_said(planner, access, &best);
    return made->kind == ACCESS_ANY ? access : made;
}
