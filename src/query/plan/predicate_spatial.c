/*
 * src/query/plan/predicate_spatial.c - from a filter on geometries to ranges of the cells that they lie in.
 * A cell says about where something is: the filter decides.
 */
#include <math.h>

#include "geo/cells.h"
#include "index/set.h"
#include "query/eval/builtin.h"
#include "query/plan/predicate.h"

/* Terms of the cells [first, last] behind the path's id. */
static struct access *cells(struct planner *planner, struct slice prefix, const struct index_path *path,
                            struct cell_range range)
{
    struct access access = { .kind = ACCESS_RANGE, .is_cells = true, .path = *path };
    uint8_t bytes[TERM_PATH_BYTES + CELL_BYTES];

    memcpy(bytes, prefix.data, prefix.size);
    cell_put(bytes + prefix.size, range.first);
    access.from = arena_copy(&planner->op->arena, slice_make(bytes, sizeof(bytes)));
    cell_put(bytes + prefix.size, range.last);
    access.to = index_prefix_end(&planner->op->arena, slice_make(bytes, sizeof(bytes)));
    return access_new(planner, access);
}

static struct access *near(struct planner *planner, const struct item_path *steps, struct json geometry,
                           double reach)
{
    struct index_path path = { steps->step, steps->count };
    struct access *access = access_none(planner);
    struct index_spatial spatial;
    struct cell_ranges ranges;
    uint8_t prefix[TERM_PATH_BYTES];

    if (!planner->index->has_spatial(planner->index, &path) ||
        !index_policy_spatial(planner->index->policy, &path, &spatial) ||
        cells_near(planner->op, geometry, reach, spatial.planar ? spatial.box : NULL, &ranges) != ST_OK)
        return access_any();
    path = access_keep_path(planner, steps);
    if (!path.step)
        return access_any();
    term_put_path(prefix, spatial.id);
    for (size_t i = 0; i < ranges.count; i++)
        access = access_or(planner, access,
                           cells(planner, slice_make(prefix, sizeof(prefix)), &path, ranges.range[i]));
    return access_and(planner, access, access_any());
}

/* One argument is a path, the other a constant: in either order. */
static struct access *near_path(struct planner *planner, const struct alias *aliases, const struct expr *call,
                                double reach)
{
    struct item_path path = { .count = 0 };
    struct value geometry;

    for (size_t i = 0; i < 2; i++) {
        if (!access_constant(call->kid[1 - i], &geometry) || !item_path_of(aliases, call->kid[i], &path))
            continue;
        return geometry.kind == JSON_OBJECT ? near(planner, &path, geometry.json, reach)
                                            : access_none(planner);
    }
    return access_any();
}

struct access *predicate_area(struct planner *planner, const struct alias *aliases, const struct expr *call)
{
    return near_path(planner, aliases, call, 0);
}

bool predicate_is_distance(const struct expr *expr)
{
    return expr->kind == EXPR_CALL && expr->builtin->claim.kind == CLAIM_DISTANCE;
}

struct access *predicate_distance(struct planner *planner, const struct alias *aliases,
                                  const struct expr *call, enum operator_kind operation, struct value value)
{
    if (operation != OPERATOR_LESS && operation != OPERATOR_LESS_EQUAL && operation != OPERATOR_EQUAL)
        return access_any();
    if (value.kind != JSON_NUMBER || !(value.number >= 0))
        return access_none(planner);
    return isfinite(value.number) ? near_path(planner, aliases, call, value.number) : access_any();
}
