/*
 * src/query/plan/predicate_spatial.c - from a filter on geometries to ranges of the cells that they lie in.
 * A cell says only roughly where a geometry lies, so the filter decides.
 */
#include <assert.h>

#include "geo/cells.h"
#include "index/set.h"
#include "query/plan/predicate_spatial.h"

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

struct access *access_near(struct planner *planner, const struct filter *filter)
{
    const struct index_path *path = &filter->path.steps;
    struct access *access = access_none(planner);
    struct index_spatial spatial;
    struct cell_ranges ranges;
    uint8_t prefix[TERM_PATH_BYTES];

    assert(filter->kind == FILTER_NEAR);
    if (!planner->index->has_spatial(planner->index, path) ||
        !index_policy_spatial(planner->index->policy, path, &spatial) ||
        cells_near(planner->op, filter->geometry, filter->reach, spatial.planar ? spatial.box : NULL,
                   &ranges) != ST_OK)
        return access_any();
    term_put_path(prefix, spatial.id);
    for (size_t i = 0; i < ranges.count; i++)
        access = access_or(planner, access,
                           cells(planner, slice_make(prefix, sizeof(prefix)), path, ranges.range[i]));
    return access;
}
